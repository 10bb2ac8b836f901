"""View of a kernel: a text, its options and its launch -> everything that the page shows of it, as JSON has it.

    instructions   text, line of the source, offset in the code object, registers live before it, banks that it reads
                   more than once, whom a wait waits for
    findings       of lint, as `hipgemm lint --json` has them
    numbers        of `hipgemm inspect`
    time           of `hipgemm time`, where there is a launch; what collides in LDS or is not coalesced, by line
    timeline       the page of `hipgemm timeline`
    check, run     of `hipgemm judge`; both when they are asked for

The text is written into a private folder under the name of the user's file, so that places in it are the user's;
headers beside the user's file are found by -I. Limit: wave32 kernels, one at a time.
"""

from __future__ import annotations

import dataclasses
import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.cli.findings import as_object
from hipgemm.judge import inspection
from hipgemm.judge.inspection.linting import lint
from hipgemm.kernels.build import Linked, linked
from hipgemm.kernels.files import read_kernel
from hipgemm.kernels.source_lines import in_source
from hipgemm.launch.launch import Launch
from hipgemm.launch.problem import Problem
from hipgemm.launch.requests import LaunchRequest, in_toml, launch_of
from isa.analysis import banks, liveness, regset, waits
from isa.asm.program import Label, Program
from isa.errors import IsaError, Span
from isa.mangling import meant_by, source_name

if TYPE_CHECKING:
    from hipgemm.judge.memory_use import MemoryUse
    from isa.analysis.cfg import Cfg
    from isa.timing.machine.cards import Card

LARGEST = 1 << 20
"""Bytes of a text."""
_TABLE = re.compile(r'^\s*\[\s*"?([^"\]]+?)"?\s*\]', re.M)
"""Of a launch file: the kernel that it is for."""


@dataclass(frozen=True)
class Asked:
    """What the page sends. name: of the file; launch: TOML, as in a launch file, "" where there is none; kernel: of
    several, the one that is looked at."""

    text: str
    name: str = "kernel.hip"
    launch: str = ""
    kernel: str = ""
    arch: str = "gfx1100"
    flags: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Asked:
        """Of a JSON object. IsaError for what is none."""
        fields = {f.name: given[f.name] for f in dataclasses.fields(cls) if f.name in given}
        fields["flags"] = tuple(fields.get("flags", ()))
        if not all(isinstance(value, str) for name, value in fields.items() if name != "flags"):
            raise IsaError(
                "a view is asked for with texts", expected=", ".join(f.name for f in dataclasses.fields(cls))
            )
        if any(not isinstance(flag, str) or flag[:2] not in ("-D", "-O", "-I") for flag in fields["flags"]):
            raise IsaError("the page takes flags of three kinds", expected="-D..., -O..., -I...")
        if len(fields["text"]) > LARGEST:
            raise IsaError("the text is too long", expected=f"at most {LARGEST} characters")
        return cls(**fields | {"name": Path(fields.get("name", cls.name)).name or cls.name})


@dataclass
class Bench:
    """Where texts are compiled. beside: the folder of the user's file, whose headers and arrays they may name."""

    beside: Path
    _folder: tempfile.TemporaryDirectory[str] = field(default_factory=lambda: tempfile.TemporaryDirectory("-hipgemm"))

    def opened(self, asked: Asked) -> Opened:
        """The kernel of a text, compiled; where none of its kernels is asked for, the first that has a launch, or the
        first. Raises what the compiler and the readers say, with the place of the first error in the text."""
        path = Path(self._folder.name) / asked.name
        path.write_text(asked.text, encoding="utf-8")
        flags = (*asked.flags, f"-I{self.beside}")
        try:
            kernel = dataclasses.replace(read_kernel(str(path), flags=flags), title=asked.name)
            made = linked(kernel, arch=asked.arch, runs=False)
            names = [*made.code_object.kernels]
            wanted = [asked.kernel, *_TABLE.findall(self.launch(asked))] if len(names) > 1 else []
            name = next((found for name in wanted if (found := meant_by(name, names))), (*names, "")[0])
            made = dataclasses.replace(made, kernel=dataclasses.replace(kernel, name=name))
            return Opened(made, dataclasses.replace(asked, kernel=name), self)
        except IsaError as error:
            error.message = error.message.replace(f"{self._folder.name}/", "")
            if error.span is None and (
                said := re.search(rf"^{re.escape(asked.name)}:(\d+):(\d+): ", error.message, re.M)
            ):
                line, col = int(said[1]), int(said[2])
                error.span = Span(asked.name, line, col, (asked.text.splitlines() or [""])[line - 1])
            raise

    def launch(self, asked: Asked) -> str:
        """TOML: what the page sends, or the file beside the user's; "" where there is neither."""
        file = self.beside / Path(asked.name).with_suffix(".toml").name
        return asked.launch if asked.launch.strip() or not file.is_file() else file.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Opened:
    """A kernel that was compiled. bench: where, which lives as long."""

    made: Linked
    asked: Asked
    bench: Bench

    @cached_property
    def program(self) -> Program:
        """Its assembly, under the name of the user's file where it is that."""
        assert self.made.program is not None
        return dataclasses.replace(self.made.program, title=self.asked.name)

    @cached_property
    def flow(self) -> Cfg:
        return inspection.flow_of(self.program, self.asked.name, self.made.name)

    def threads(self) -> int | None:
        """Of the launch's workgroups, None where there is no launch."""
        try:
            return math.prod(self.launch.block)
        except IsaError:
            return None

    @cached_property
    def launch(self) -> Launch:
        """BadLaunch where there is none."""
        text = self.bench.launch(self.asked)
        request = in_toml(text, self.made.name, self.bench.beside) if text.strip() else LaunchRequest()
        return launch_of(self.made, request, Problem.of(256))


def shown(opened: Opened) -> dict[str, Any]:
    """All that needs no launch."""
    made, program, name = opened.made, opened.program, opened.made.name
    found = in_source(lint(program, opened.asked.name, name), program, lambda: made.source)
    seen = inspection.inspect(program, opened.asked.name, name, opened.threads())
    return {
        "arch": made.arch,
        "kernel": name,
        "kernels": [[name, source_name(name)] for name in made.code_object.kernels],
        "instructions": _instructions(opened),
        "findings": [as_object(f) for f in found],
        "numbers": seen.to_dict(),
        "made_by": made.made_by,
        "warnings": list(made.warnings),
    }


def _instructions(opened: Opened) -> list[dict[str, Any]]:
    """Labels and instructions in the order of the text."""
    made, flow = opened.made, opened.flow
    live, waiting = liveness.analyse(flow), _waited(flow)
    at = {inst.span.line: i for i, inst in enumerate(flow.instructions) if inst.span}
    offsets = {span.line: address for address, _, _ in made.code_object.disassembled(made.name)
               if (span := made.lines.at(address))} if made.image else {}  # fmt: skip
    entry = made.facts.descriptor.entry if made.image else 0
    out: list[dict[str, Any]] = []
    kernel = opened.program.kernel(made.name)
    for number, line in enumerate(kernel.lines, kernel.start):
        if isinstance(line.node, Label):
            out.append({"text": f"{line.node.name}:"})
        elif line.instruction is not None and (i := at.get(number + 1)) is not None:
            source = made.source.get(number)
            row: dict[str, Any] = {
                "text": line.text.split(";")[0].strip(),
                "line": number + 1,
                "source": source.line if source and Path(source.file).name == opened.asked.name else None,
                "vgprs": (live.before[i] & regset.VGPRS).bit_count(),
                "live": [str(reg) for reg in regset.members(live.before[i])],
            }
            if (address := offsets.get(number + 1)) is not None:
                row["offset"] = address - entry
            inst = flow.instructions[i]
            if banks.clashes(inst):
                row["banks"] = [f"{s.reg} in {s.reg.bank}" for s in banks.sources(inst) if s.slot != 2]
            if waiting[i]:
                row["waits"] = [span.line for k in waiting[i] if (span := flow.instructions[k].span)]
            out.append(row)
    return out


def _waited(flow: Cfg) -> list[list[int]]:
    """For each wait the accesses that it waits for."""
    flight = waits.analyse(flow)
    return [
        sorted({k for (k, counter), later in flight.before[i].items() if counter in said and later >= said[counter]})
        for i, said in enumerate(flight.waits)
    ]


def timed(opened: Opened, on: Card) -> dict[str, Any]:
    """The prediction of the launch. Raises what says why there is none."""
    from hipgemm.judge.predict import predicted
    from hipgemm.report.timing import as_json, guidance

    ready, found = predicted(opened.made, opened.launch, on)
    notes = _dear(opened, found.use, ready.prepared.cfg) if found.use else []
    return {"time": as_json(found), "guidance": guidance(found, found.timing.occupancy.advice), "notes": notes}


def _dear(opened: Opened, use: MemoryUse, code: Cfg) -> list[dict[str, Any]]:
    """Accesses that take more than their width does, as findings are shown, those of one line as one."""
    from hipgemm.report.timing import collided, touched

    where = {str(place): place for place in opened.made.places(code.instructions) if place}
    found: dict[tuple[str, int], dict[str, Any]] = {}
    told = [("bank conflict", c.place, f"{c.text}: {collided(c)}") for c in use.conflicts]
    told += [("not coalesced", s.place, f"{s.text}: {touched(s)}") for s in use.scattered]
    for what, at, said in told:
        if (place := where.get(at)) is None:
            continue
        line = place.source.line if place.source else place.line
        here = {"message": said, "assembly": {"line": place.line}}
        first = found.setdefault((what, line), {
            "severity": "note", "id": what, "where": f"{opened.asked.name}:{line}",
            "place": {"file": opened.asked.name, "line": line}, "related": [], **here,
        })  # fmt: skip
        if first["assembly"] != here["assembly"]:
            first["related"].append(here)
    return list(found.values())


def played(opened: Opened, on: Card) -> str:
    """The page of `hipgemm timeline`."""
    from hipgemm.judge import predict
    from hipgemm.report import timeline

    return timeline.page(predict.played(opened.made, opened.launch, on)[0])


def judged(opened: Opened, on: Card) -> dict[str, Any]:
    """Run and checked: what `hipgemm judge` says."""
    from hipgemm.judge import judgement
    from hipgemm.judge.checking import Schedules

    found = judgement.judged(opened.made, opened.launch, on, Schedules(1))
    return judgement.as_object(found, [as_object(f) for f in found.findings])
