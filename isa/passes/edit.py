"""Edits of a kernel: lines inserted and removed, with hints, labels and register counts kept right.

An `Edit` collects insertions and removals by line number of one kernel and applies them at once. Hints that speak of
their neighbours (`s_delay_alu`: how long ago was my operand computed; `s_clause`: the next n belong together) are
dropped where those neighbours changed; both only steer speed. Text comes from the Jinja2 templates in `isa/templates`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from isa.analysis import cfg as flow_graph
from isa.analysis import defuse
from isa.asm.emit import instruction_line, set_directives
from isa.asm.encoding import LITERAL_AT
from isa.asm.parse import parse_line
from isa.asm.program import Directive, Kernel, Label, Line, Program
from isa.object import metadata
from isa.registers import SGPR_LIMIT
from isa.semantics.instruction import Imm, Instruction, lookup

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("isa"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,
    )


def render_text(template: str, **values: object) -> str:
    """What `isa/templates/<template>` gives for these values, blank lines left out. A value that is missing is an
    error."""
    text = _templates().get_template(template).render(values)
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


def render(template: str, **values: object) -> list[Line]:
    """The lines that `isa/templates/<template>` gives for these values. A value that is missing is an error."""
    lines = render_text(template, **values).splitlines()
    return [parse_line(raw, f"isa/templates/{template}", number) for number, raw in enumerate(lines)]


def instruction_lines(texts: Iterable[str]) -> list[Line]:
    """Lines of instructions that a pass wrote."""
    return [parse_line(f"\t{one}", "isa/passes") for one in texts]


@dataclass
class Changes:
    """Lines inserted into a program and removed. Line numbers are the program's throughout."""

    program: Program
    _before: dict[int, list[Line]] = field(default_factory=dict)
    _gone: set[int] = field(default_factory=set)

    def insert(self, number: int, lines: Iterable[Line]) -> None:
        """Put lines before line `number`, after what was inserted there already."""
        self._before.setdefault(number, []).extend(lines)

    def remove(self, numbers: Iterable[int]) -> None:
        self._gone.update(numbers)

    def applied(self) -> Program:
        """The changed program, hints put right; the program itself where nothing changed."""
        if not self._before and not self._gone:
            return self.program
        lines: list[Line] = []
        for number, line in enumerate(self.program.lines):
            lines += self._before.get(number, [])
            if number not in self._gone:
                lines.append(line)
        return self.program.with_lines(_true_hints(self.program.lines, lines))


class Edit(Changes):
    """Changes to one kernel of a program."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel.program)
        self.name = kernel.name

    def apply(self) -> Program:
        """The changed program, hints and register counts put right."""
        return recount(self.applied().kernel(self.name))


def _true_hints(old: Sequence[Line], new: Sequence[Line]) -> list[Line]:
    """`new` without hints whose neighbourhood is another than in `old`, hints that `new` brings itself apart."""
    before = {id(line): _speaks_of(old, i) for i, line in enumerate(old) if _is_hint(line)}
    return [
        line for i, line in enumerate(new)
        if not _is_hint(line) or id(line) not in before or before[id(line)] == _speaks_of(new, i)
    ]  # fmt: skip


def _is_hint(line: Line) -> bool:
    return line.instruction is not None and line.instruction.mnemonic in ("s_delay_alu", "s_clause")


def _speaks_of(lines: Sequence[Line], at: int) -> list[int]:
    """The lines, by identity, from the earliest to the latest that the hint at `at` says something of."""
    hint = lines[at].instruction
    assert hint is not None
    back = ahead = 0
    if hint.mnemonic == "s_clause":
        count = hint.operands[0]
        assert isinstance(count, Imm)
        ahead = int(count.value) + 1
    else:
        text = str(hint)
        back = max((int(n) for n in re.findall(r"(?:DEP|CYCLE)_(\d)", text)), default=4)
        skip = re.search(r"instskip\((\w+)\)", text)
        ahead = 1 if not skip or skip[1] == "SAME" else 2 if skip[1] == "NEXT" else int(skip[1][-1]) + 2
    found = [id(line) for line in _nearby(lines, at, -1, back)]
    return found + [id(line) for line in _nearby(lines, at, 1, ahead)]


def _nearby(lines: Sequence[Line], at: int, step: int, count: int) -> list[Line]:
    """Instructions and labels from `at` in one direction, until `count` VALU ones (ahead: any) are seen."""
    found: list[Line] = []
    while count > 0 and 0 <= (at := at + step) < len(lines):
        node = lines[at].node
        if isinstance(node, Label):
            found.append(lines[at])
            if step < 0:
                break
        elif isinstance(node, Instruction) and not _is_hint(lines[at]):
            found.append(lines[at])
            count -= step > 0 or node.desc.is_valu
    return found


def named(program: Program, kernel: str) -> list[str]:
    """The kernel of that name; all of them where there is no name."""
    return [program.kernel(kernel).name] if kernel else list(program.kernels)


def each_kernel(program: Program, kernel: str, change: Callable[[Kernel], Program]) -> Program:
    """The program after a change of these kernels (`named`), one after the other."""
    for name in named(program, kernel):
        program = change(program.kernel(name))
    return program


def recount(kernel: Kernel) -> Program:
    """The program with the kernel's register counts as its instructions have them, VCC aside; as they are where M0
    chooses registers.

    Counts that the compiler wrote elsewhere (`.set kernel.num_vgpr`) follow; its comment block "Kernel info" goes.
    """
    if any(inst.desc.relative for _, inst in kernel.instructions()):
        return kernel.program
    vgprs = sgprs = 0
    for _, inst in kernel.instructions():
        for unit in inst.reads() | inst.writes():
            if unit.is_vgpr:
                vgprs = max(vgprs, unit.index + 1)
            elif unit.file == "s" and unit.index < SGPR_LIMIT:
                sgprs = max(sgprs, unit.index + 1)
    sgprs = max(sgprs, kernel.directive("user_sgpr_count"))  # the hardware writes them whether they are read or not
    extra = (metadata.number(kernel, ".sgpr_count") or 0) - kernel.directive("next_free_sgpr")
    program = set_directives(
        kernel,
        {"next_free_vgpr": vgprs, "next_free_sgpr": sgprs},
        {".vgpr_count": vgprs, ".sgpr_count": sgprs + extra},
    )
    values = {f"{kernel.name}.num_vgpr": vgprs, f"{kernel.name}.numbered_sgpr": sgprs}
    lines = []
    info = False
    for line in program.lines:
        node = line.node
        if isinstance(node, Directive) and node.name == ".set" and (name := node.args.partition(",")[0]) in values:
            line = Line(f"\t.set {name}, {values[name]}", Directive(".set", f"{name}, {values[name]}"))
        info = line.text.startswith("; Kernel info:") or (info and line.text.startswith("; "))
        if not info:
            lines.append(line)
    return program.with_lines(lines)


def remove_dead(kernel: Kernel) -> Program:
    """The program without arithmetic of this kernel from which nothing follows: no store, no branch, nothing else that
    has an effect. What only feeds itself around a loop goes too."""
    graph = flow_graph.of_kernel(kernel)
    chains = defuse.analyse(graph)
    halves = [inst.halves for inst in graph.instructions]
    needed: set[tuple[int, int]] = set()
    work = [(i, h) for i, both in enumerate(halves) for h, half in enumerate(both) if not _only_computes(half)]
    while work:
        i, h = work.pop()
        if (i, h) in needed:
            continue
        needed.add((i, h))
        for register in halves[i][h].reads():
            sources = chains.defs_of(i, register) - {defuse.ENTRY}
            work.extend((d, k) for d in sources for k, half in enumerate(halves[d]) if register in half.writes())
    edit = Edit(kernel)
    for i, both in enumerate(halves):
        kept = [half for h, half in enumerate(both) if (i, h) in needed]
        alone = by_itself(kept[0]) if len(kept) < len(both) and kept else None
        if alone or not kept:
            edit.remove([graph.lines[i]])
        if alone:
            edit.insert(graph.lines[i], [instruction_line(alone)])
    return edit.apply()


def by_itself(half: Instruction) -> Instruction | None:
    """Half of a VOPD as an instruction of its own (VOP1 or VOP2); None where no encoding computes just that."""
    name = lookup(half).name
    if name.startswith("v_dot2"):
        return None
    operands = tuple(operand for _, operand in lookup(half).roles_of(half))
    mnemonic = name if name in LITERAL_AT else f"{name}_e32"
    return dataclasses.replace(half, mnemonic=mnemonic, operands=operands)


def _only_computes(inst: Instruction) -> bool:
    """Whether all that an instruction does is to write registers."""
    desc = inst.desc
    return (desc.is_valu or desc.is_salu) and not desc.effect and desc.access is None and bool(inst.writes())
