"""Programs as data: the lines of an assembly text, each with its instruction, label or directive.

`Program` is a list of lines. Each line keeps the text that it was read from, so that an unchanged program
emits as the same bytes, and a change to one instruction changes that one line. A line holds an `Instruction`, a
`Label`, a `Directive`, or nothing that this project interprets (comments, blank lines, metadata).

A `Kernel` is a view on a program: the lines from its label to its end, its `.amdhsa_` directives and its lines of the
metadata. Views hold line numbers, so take new ones (`program.kernel(name)`) after each change.

Programs are values: passes build a new one with `with_lines` and leave the old one as it was.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from isa import instructions, mangling  # noqa: F401 - the table is whole wherever there are programs
from isa.asm import expression
from isa.errors import IsaError, SourceLine, Span
from isa.semantics.instruction import Instruction
from isa.targets import TARGETS, Target, named_in


@dataclass(frozen=True, slots=True)
class Label:
    name: str


@dataclass(frozen=True, slots=True)
class Directive:
    """An assembler directive: `.amdhsa_next_free_vgpr 11` is (".amdhsa_next_free_vgpr", "11")."""

    name: str
    args: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that somebody wrote, and those that an assembler makes of them: a macro's call and its instructions
    (`isa.asm.expand`). loose: what is made depends on other lines, too."""

    number: int
    texts: tuple[str, ...]
    made: tuple[str, ...]
    loose: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What a line was made from: the index-th of its unit, and its place in what somebody wrote."""

    unit: Unit
    index: int
    origin: SourceLine


@dataclass(frozen=True)
class Line:
    """One line. `text` has no newline; `node` is what it means, None where this project leaves it alone. written: where
    the text is not what somebody wrote; where: as of a `Span`."""

    text: str
    node: Instruction | Label | Directive | None = None
    written: Written | None = dataclasses.field(default=None, compare=False, repr=False)
    where: str = dataclasses.field(default="", compare=False, repr=False)

    @property
    def instruction(self) -> Instruction | None:
        return self.node if isinstance(self.node, Instruction) else None


def _aimed(line: Line, target: Target) -> Line:
    inst = line.instruction
    if inst is None or inst.target is not None:
        return line
    halves = [dataclasses.replace(half, target=target) for half in inst.halves]
    return dataclasses.replace(line, node=dataclasses.replace(halves[0], pair=halves[1] if inst.pair else None))


@dataclass(frozen=True)
class Kernel:
    """A kernel of a program. `start` is its label's line, `end` the line after its last (its `.Lfunc_end` label).

    descriptor: `.amdhsa_` name (without the prefix) -> line number of the directive.
    metadata:   key of the kernel's metadata map (`.vgpr_count`) -> line number.
    """

    program: Program
    name: str
    start: int
    end: int
    descriptor: Mapping[str, int]
    metadata: Mapping[str, int]

    @property
    def lines(self) -> Sequence[Line]:
        return self.program.lines[self.start : self.end]

    def instructions(self) -> Iterator[tuple[int, Instruction]]:
        """(line number, instruction) in order."""
        for number in range(self.start, self.end):
            if (inst := self.program.lines[number].instruction) is not None:
                yield number, inst

    def directive(self, name: str) -> int:
        """The value of `.amdhsa_<name>`; IsaError where the descriptor does not say it as a number."""
        number = self.descriptor.get(name)
        if number is None:
            raise IsaError(
                f"kernel {self.name} has no .amdhsa_{name}",
                span=self.program.span(self.start),
                hint="read a .s that the compiler wrote with -S",
            )
        value = self.number(name)
        if value is None:
            node = self.program.lines[number].node
            got = node.args if isinstance(node, Directive) else ""
            raise IsaError(
                f".amdhsa_{name} is not a number", span=self.program.span(number),
                expected="a number, or an expression of numbers and symbols defined by .set", got=got,
            )  # fmt: skip
        return value

    def number(self, name: str) -> int | None:
        """The same; None where it is not given or is an expression without a value."""
        number = self.descriptor.get(name)
        node = self.program.lines[number].node if number is not None else None
        if not isinstance(node, Directive):
            return None
        try:
            return int(node.args, 0)
        except ValueError:
            return expression.value(node.args, self.program.symbols)


@dataclass(frozen=True)
class Program:
    """A whole assembly file. `newline_at_end` says whether the last line ends in one; `title`: what a user calls it,
    where that is not its file; `units`: all that was written, where the lines are what an assembler made of it;
    `meant`: its target, where it names none."""

    file: str
    lines: tuple[Line, ...]
    newline_at_end: bool = True
    title: str = ""
    units: tuple[Unit, ...] = dataclasses.field(default=(), compare=False, repr=False)
    meant: Target | None = None

    @property
    def called(self) -> str:
        return self.title or self.file

    def span(self, number: int, col: int = 1) -> Span:
        """The place of line `number` (from 0)."""
        line = self.lines[number]
        return Span(self.file, number + 1, col, line.text, line.written, line.where)

    def with_lines(self, lines: Sequence[Line]) -> Program:
        """The program with other lines; instructions that name no target, as passes write them, are for its own."""
        target = self.target
        return dataclasses.replace(self, lines=tuple(_aimed(line, target) if target else line for line in lines))

    @cached_property
    def target(self) -> Target | None:
        """What `.amdgcn_target` names, if it is known; `meant` where there is none."""
        nodes = (line.node for line in self.lines)
        args = next((n.args for n in nodes if isinstance(n, Directive) and n.name == ".amdgcn_target"), "")
        return TARGETS.get(named_in(args)) or self.meant

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """Label -> line number."""
        return {line.node.name: i for i, line in enumerate(self.lines) if isinstance(line.node, Label)}

    @cached_property
    def symbols(self) -> Mapping[str, str]:
        """Symbol -> the expression that `.set` gives it; without those that have several."""
        found: dict[str, set[str]] = {}
        for line in self.lines:
            if isinstance(line.node, Directive) and line.node.name in (".set", ".equ"):
                name, _, text = line.node.args.partition(",")
                found.setdefault(name.strip(), set()).add(text.strip())
        return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}

    def code_end(self, start: int) -> int:
        """The line after the last of the function that starts at line `start`."""
        for i in range(start + 1, len(self.lines)):
            node = self.lines[i].node
            if isinstance(node, Label) and node.name.startswith(".Lfunc_end"):
                return i
            if isinstance(node, Directive) and node.name in (".section", ".amdhsa_kernel", ".size"):
                return i
        return len(self.lines)

    @cached_property
    def kernels(self) -> Mapping[str, Kernel]:
        """Kernel name -> view, in the order of their `.amdhsa_kernel` blocks."""
        return _find_kernels(self)

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel `name`, by its symbol or as the source calls it, or the only one there is. IsaError that lists the
        names otherwise."""
        return mangling.chosen(name, self.kernels, self.called, "an .amdhsa_kernel block")


_AMDHSA = ".amdhsa_"


def _find_kernels(program: Program) -> Mapping[str, Kernel]:
    """The kernels of a program: those with an `.amdhsa_kernel` block."""
    descriptors: dict[str, dict[str, int]] = {}
    current: dict[str, int] | None = None
    for number, line in enumerate(program.lines):
        if not isinstance(line.node, Directive):
            continue
        if line.node.name == ".amdhsa_kernel":
            current = descriptors.setdefault(line.node.args, {})
        elif line.node.name == ".end_amdhsa_kernel":
            current = None
        elif current is not None and line.node.name.startswith(_AMDHSA):
            current[line.node.name[len(_AMDHSA) :]] = number
    if current is not None:
        raise IsaError(
            f"{program.file}: .amdhsa_kernel {[*descriptors][-1]} has no end",
            expected=".end_amdhsa_kernel",
            hint="is the .s whole?",
        )
    metadata = _find_metadata(program)
    kernels = {}
    for name, descriptor in descriptors.items():
        start = program.labels.get(name)
        if start is None:
            raise IsaError(
                f"{program.file}: .amdhsa_kernel {name} has no code",
                expected=f"a label {name}:",
                hint="is the .s complete?",
            )
        end = program.code_end(start)
        kernels[name] = Kernel(program, name, start, end, MappingProxyType(descriptor), metadata.get(name, {}))
    return MappingProxyType(kernels)


def _find_metadata(program: Program) -> dict[str, dict[str, int]]:
    """Kernel name -> {key: line number} from the YAML of `.amdgpu_metadata` (clang's layout: two spaces a level)."""
    result: dict[str, dict[str, int]] = {}
    entry: dict[str, int] = {}
    inside = False
    for number, line in enumerate(program.lines):
        if ".amdgpu_metadata" in line.text:
            inside = not line.text.strip().startswith(".end")
        elif inside and (m := re.match(r"  (- |  )(\.\w+):\s*(.*)$", line.text)):
            if m[1] == "- ":
                entry = {}
            entry[m[2]] = number
            if m[2] == ".name":
                result[m[3].strip().strip("'\"")] = entry
    return result
