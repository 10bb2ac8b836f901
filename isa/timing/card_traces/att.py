"""The folder that rocprofv3 --att makes of a trace (`ui_output_...`) and ROCprof Compute Viewer shows: issues -> JSON.

    code.json        a row an instruction: text, line number, address, hits, cycles that it held its wave, and stalled
    seE_smS_slL_wvI.json   a wave of shader engine E, SIMD S, slot L: [time, category, stall, duration, line number] of
                     each instruction, in order
    filenames.json   which waves there are; occupancy.json: when each begins and ends

An instruction's time is when its wave could have issued it, the cycle after its last issue; it stalls until it issues,
and its duration is both. The format is that of rocprofiler-sdk, source/lib/att-tool; line numbers here are positions in
the kernel's code, from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isa.analysis.cfg import Cfg
from isa.errors import IsaError, contents
from isa.timing.card_traces.sqtt import Issued
from isa.timing.machine.scheduling_classes import cost
from isa.timing.native import engine_abi

_VERSION = "3.0.0"
_SMEM, _SALU, _VMEM, _LDS, _VALU, _JUMP, _IMMEDIATE = 1, 2, 3, 5, 6, 7, 9
_CATEGORIES = {
    engine_abi.VALU: _VALU, engine_abi.SALU: _SALU, engine_abi.SMEM: _SMEM, engine_abi.LDS_LOAD: _LDS,
    engine_abi.LDS_STORE: _LDS, engine_abi.LDS_EXCHANGE: _LDS, engine_abi.LOAD: _VMEM,
    engine_abi.STORE: _VMEM, engine_abi.BRANCH: _JUMP,
}  # fmt: skip


def files(name: str, cfg: Cfg, issues: Sequence[Issued], engine: int = 0, simd: int = 0) -> dict[str, Any]:
    """File name -> what stands in it. issues: in order of cycles."""
    n = len(cfg)
    hits, latency, stalls = [0] * n, [0] * n, [0] * n
    out: dict[str, Any] = {}
    names: dict[str, dict[str, list[object]]] = {}
    occupancy = []
    for slot, index, wave in _waves(issues, cfg):
        rows, before = [], wave[0].cycle - 1
        for issue in wave:
            duration = max(1, issue.cycle - before)
            kind = cost(cfg.instructions[issue.position]).kind
            rows.append([issue.cycle + 1 - duration, _CATEGORIES.get(kind, _IMMEDIATE), duration - 1, duration,
                         issue.position + 1])  # fmt: skip
            hits[issue.position] += 1
            latency[issue.position] += duration
            stalls[issue.position] += duration - 1
            before = issue.cycle
        begin, end = wave[0].cycle, wave[-1].cycle + 1
        file = f"se{engine}_sm{simd}_sl{slot}_wv{index}.json"
        out[file] = {
            "name": f"SE{engine}", "duration": end - begin, "num_insts": len(rows), "num_stitched": len(rows),
            "wave": {"cu": 0, "id": index, "simd": simd, "slot": slot, "begin": begin, "end": end,
                     "instructions": rows, "timeline": [[2, end - begin]], "waitcnt": []},
        }  # fmt: skip
        names.setdefault(str(slot), {})[str(index)] = [file, begin, end]
        occupancy += [[begin, 0, simd, slot, 1, 1], [end, 0, simd, slot, 0, 1]]
    addresses = [inst.address if inst.address is not None else 4 * i for i, inst in enumerate(cfg.instructions)]
    out["code.json"] = {
        "code": [["; " + name, 0, 0, name, 1, addresses[0], 0, 0, 0, 0]] + [
            [str(inst), 0, i + 1, "", 1, addresses[i], hits[i], latency[i], stalls[i], 0]
            for i, inst in enumerate(cfg.instructions)
        ],
        "version": _VERSION, "header": "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle",
    }  # fmt: skip
    out["filenames.json"] = {
        "global_begin_time": 0, "gfxv": "navi", "gfxip": 11, "version": _VERSION, "counter_names": [],
        "wave_filenames": {str(engine): {str(simd): names}},
    }  # fmt: skip
    out["occupancy.json"] = {str(engine): sorted(occupancy), "dispatches": {"1": name}, "version": _VERSION}
    return out


def _waves(issues: Sequence[Issued], cfg: Cfg) -> Iterator[tuple[int, int, list[Issued]]]:
    """(slot, which wave of it, what it issues) of each wave."""
    held: dict[int, list[Issued]] = {}
    counts: dict[int, int] = {}
    for issue in issues:
        held.setdefault(issue.wave, []).append(issue)
        if cost(cfg.instructions[issue.position]).kind == engine_abi.END:
            index = counts[issue.wave] = counts.get(issue.wave, -1) + 1
            yield issue.wave, index, held.pop(issue.wave)
    for slot, rest in held.items():
        yield slot, counts.get(slot, -1) + 1, rest


def write(folder: Path, made: Mapping[str, Any]) -> None:
    """IsaError where the folder takes nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, held in made.items():
            (folder / name).write_text(json.dumps(held), encoding="utf-8")
    except OSError as error:
        raise IsaError(f"cannot write {folder}: {error.strerror}") from error


def read(folder: Path) -> tuple[list[tuple[int, str]], list[Issued]]:
    """(address, text) of each line of the code, and what issued, by the lines' places. IsaError for no such folder."""
    try:
        code = [row for row in _json(folder / "code.json")["code"] if not row[0].startswith("; ")]
        places = {row[2]: i for i, row in enumerate(code)}
        issues = []
        for number, file in enumerate(sorted(folder.glob("se*_sm*_sl*_wv*.json"))):
            for time, _, _, duration, line in _json(file)["wave"]["instructions"]:
                issues.append(Issued(time + max(1, duration) - 1, number, places[line], "wave file"))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise IsaError(
            f"{folder} is no trace of rocprofv3: {error!r}", expected="code.json and wave files, as --att makes them"
        ) from error
    return [(row[5], row[0]) for row in code], sorted(issues, key=lambda issue: (issue.cycle, issue.wave))


def _json(file: Path) -> Any:
    try:
        return json.loads(contents(file))
    except OSError as error:
        raise IsaError(f"{file}: {error.strerror}", expected="a folder that rocprofv3 --att made") from error
