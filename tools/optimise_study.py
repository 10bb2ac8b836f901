"""Study of `hipgemm opt`: kernels of others -> what their optimised versions gain.

    python tools/optimise_study.py FILE ... [--launches launches.json] [--kernels N] [--budget S] -o rows.jsonl

FILE: HIP source, assembly, code objects, host libraries that hold some; a kernel's text is what its code object
disassembles to. launches.json: by the name of a kernel, or of a file of one kernel, without its suffix. Taken are
kernels that loop, do arithmetic of floats or on matrix units or exchange data through LDS, call nothing and have 60 to
3,000 instructions: those that the launches name, of any size, and of each file as many by chance (--seed) as make N.
Each is optimised by the default search: for its launch, where there is one, else without. The result is held against
the original by the provers and by lint; with a launch both run on the simulated card, and what they leave in memory
must agree bit for bit.

Each kernel is a line of the output the moment it is known, and is not done again. At the end stands what
docs/record/optimise-figures.md tells: how many are slower, the geometric mean of the predicted gain, how many of the
rewritten are proved, and the share of eligible instructions in pairs before and after.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipgemm.judge import proving
from hipgemm.kernels.build import assembled, linked
from hipgemm.kernels.files import read_kernels
from hipgemm.kernels.object import Kernel
from hipgemm.launch.launch import Launch
from hipgemm.launch.words import argument
from hipgemm.optimise import clock as opt_clock
from hipgemm.optimise import search as optimise
from isa.analysis import cfg
from isa.asm.program import Program
from isa.errors import IsaError
from isa.object.code_object import CodeObject
from isa.object.to_text import text_of
from isa.sim.run.card import Card
from isa.timing.machine import cards

LEAST, MOST = 60, 3000
ANY = 1 << 20
CAPACITY = 64 << 20
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One kernel. said: its launch, as the file of launches has it."""

    file: str
    kernel: Kernel
    program: Program
    name: str
    said: Mapping[str, Any] | None

    @property
    def launch(self) -> Launch | None:
        if self.said is None:
            return None
        arguments = tuple(argument(text, i) for i, text in enumerate(self.said["args"]))
        return Launch(tuple(self.said["grid"]), tuple(self.said["block"]), arguments, self.said.get("lds", 0))


def suits(program: Program, name: str, most: int) -> bool:
    """Whether a kernel is one of those that are studied."""
    flow = cfg.of_kernel(program.kernel(name))
    works = any(i.desc.space == "lds" or i.desc.is_matrix or i.desc.name.endswith("f32") for i in flow.instructions)
    return LEAST <= len(flow) <= most and bool(flow.loops) and works and not (flow.calls or flow.indirect_jumps)


def cases(files: list[str], count: int, seed: int, launches: Mapping[str, Any]) -> Iterator[Case]:
    """Those that the launches name, and of each file the same share of what they leave of `count`. One file and one
    code object is held at a time: libraries have gigabytes of them."""
    for file in files if launches else ():
        for kernel, name in _named(file):
            said = launches.get(Path(file).stem, launches.get(name))
            if said is not None and (program := _text(kernel, name, ANY)) is not None:
                count -= 1
                yield Case(Path(file).name, kernel, program, name, said)
    for left, file in zip(range(len(files), 0, -1), files, strict=True):
        rows = [row for row in _named(file) if Path(file).stem not in launches and row[1] not in launches]
        random.Random(seed).shuffle(rows)
        share = -(-max(count, 0) // left)
        for kernel, name in rows:
            if share == 0:
                break
            if (program := _text(kernel, name)) is not None:
                count, share = count - 1, share - 1
                yield Case(Path(file).name, kernel, program, name, None)


def _named(file: str) -> list[tuple[Kernel, str]]:
    """The kernels for gfx1100 in a file: (its code object's, name)."""
    rows = []
    for kernel in read_kernels(file):
        code = linked(kernel, runs=False).code_object
        if code.arch == "gfx1100":
            rows += [(kernel, name) for name in sorted(code.kernels)]
    return rows


_LOADED: list[tuple[Kernel, CodeObject]] = []


def _code(kernel: Kernel) -> CodeObject:
    """Its code object, the last one kept."""
    if not (_LOADED and _LOADED[0][0] is kernel):
        _LOADED[:] = [(kernel, linked(kernel, runs=False).code_object)]
    return _LOADED[0][1]


def _text(kernel: Kernel, name: str, most: int = MOST) -> Program | None:
    """A kernel's text, if it is one of those that are studied. most: instructions."""
    code = _code(kernel)
    facts = code.kernel(name)
    if not 4 * LEAST <= facts.code_size <= 12 * most or not facts.descriptor.wave32:
        return None
    try:
        program = text_of(code, name)
        return program if suits(program, name, most) else None
    except IsaError:
        return None


def left_in_memory(program: Program, case: Case) -> list[bytes]:
    """What a launch on the simulated card leaves in its arrays."""
    launch = case.launch
    assert launch is not None
    card = Card(capacity=CAPACITY)
    kernel = card.load(assembled(program)).kernels[case.name]
    launch = launch.bound(kernel.facts)
    places = [card.memory.allocate(max(array.nbytes, 4)) for array in launch.arrays]
    launch.fill(places)
    card.launch(kernel, launch.grid, launch.block, launch.kernarg(kernel.facts, places), launch.dynamic_lds)
    return [ctypes.string_at(at, array.nbytes) for at, array in zip(places, launch.arrays, strict=True)]


def study(case: Case, budget: float) -> Row:
    """What came of one kernel."""
    row: Row = {"file": case.file, "kernel": case.name}
    on = cards.card(cards.DEFAULT)
    began = time.process_time()
    try:
        clock, row["without_launch"] = opt_clock.of_kernel(case.program, case.name, case.launch, on)
        found = optimise.optimise(
            case.program, case.name, clock, budget,
            same=lambda made: proving.same(case.program, made, case.kernel, case.name).proved, processor=True,
        )  # fmt: skip
    except IsaError as error:
        return {**row, "refused": error.message}
    row |= {"gain": found.gain, "passes": [step.passes for step in found.steps[1:]]}
    for key, step in (("before", found.steps[0]), ("after", found.steps[-1])):
        f = step.figures
        row[key] = {
            "vgprs": f.vgprs, "instructions": f.instructions, "pairs": f.pairs, "eligible": f.eligible,
            "conflicts": f.conflicts, "matrix": f.matrix, "loop": dict(f.loop),
        }  # fmt: skip
    if found.program is not case.program:
        proof = proving.same(case.program, found.program, case.kernel, case.name)
        row["proof"] = proof.verdict
        if not proof.proved:
            row["why"] = str(proof)
        if case.said is not None:
            try:
                row["same"] = left_in_memory(case.program, case) == left_in_memory(found.program, case)
            except IsaError as error:
                row["not_run"] = error.message
    row["processor_s"] = time.process_time() - began
    return row


def summary(rows: list[Row]) -> list[str]:
    """The figures, as lines."""
    done = [row for row in rows if "gain" in row]
    if not done:
        return ["nothing was optimised"]
    rewritten = [row for row in done if "proof" in row]
    gains = sorted(row["gain"] for row in done)

    def mean(of: list[Row]) -> float:
        return 1 - math.exp(sum(math.log(1 - row["gain"]) for row in of) / max(len(of), 1))

    def share(key: str) -> float:
        eligible = sum(row[key]["eligible"] for row in done)
        return 2 * sum(row[key]["pairs"] for row in done) / eligible if eligible else 0.0

    out = [
        f"{len(done)} kernels, {len(rewritten)} rewritten, {len(rows) - len(done)} rejected",
        f"slower: {sum(g < 0 for g in gains)}; geometric mean {mean(done):.1%} less, of the rewritten "
        f"{mean(rewritten):.1%}; median {gains[len(gains) // 2]:.1%}, most {gains[-1]:.1%}",
        f"proved: {sum(row['proof'] == 'proved' for row in rewritten)} of {len(rewritten)}",
        f"run bit for bit: {sum(row.get('same') is True for row in rewritten)} the same, "
        f"{sum(row.get('same') is False for row in rewritten)} not",
        f"eligible instructions in pairs: {share('before'):.1%} before, {share('after'):.1%} after",
    ]
    for key in ("conflicts", "matrix"):
        before, after = (sum(row[k]["loop"][key] for row in done) for k in ("before", "after"))
        out.append(f"{key} in loops: {before} before, {after} after")
    for file in dict.fromkeys(row["file"] for row in rows):
        mine = [row for row in done if row["file"] == file]
        out.append(f"  {file}: {len(mine)} kernels, {mean(mine):.1%} less")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--launches", type=Path)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of processor time a kernel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    launches = json.loads(given.launches.read_text()) if given.launches else {}
    rows = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    known = {(row["file"], row["kernel"]) for row in rows}
    with given.out.open("a") as out:
        for case in cases(given.files, given.kernels, given.seed, launches):
            if (case.file, case.name) not in known:
                known.add((case.file, case.name))
                rows.append(study(case, given.budget))
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()
    for line in summary(rows):
        print(line)


if __name__ == "__main__":
    main()
