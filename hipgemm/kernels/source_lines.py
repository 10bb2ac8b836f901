"""Source lines: instructions -> assembly lines, and lines of the HIP source where the compiler named them (-g).

    places(lines, instructions, source)    for each instruction its line of assembly, and of the source
    source_of(program)        line of assembly -> line of the source, by the `.file` and `.loc` directives (`chains`)
    with_origins(findings, source)    findings in assembly with their lines of the source
    in_source(findings, given, source)    the same, those of one line of the source, as of an unrolled loop, as one

What was inlined comes from the line of the function, with those that call it; what was inlined from a compiler's or
HIP's own header, from the line that calls that. Of HIP source, the place in it leads, and what a text says of other
lines of the assembly (`line 25`) says so.

A file of assembly may name any file of the machine. Shown are lines of what lies below the folder of the input, or of
what was compiled: regular files, no longer than `isa.asm.expand.LARGEST`, wherever links lead. Others are named, and
not opened.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from isa.asm.expand import regular_file
from isa.asm.program import Program
from isa.errors import Finding, Related, SourceLine, Span
from isa.object.lines import Lines
from isa.semantics.instruction import Instruction

if TYPE_CHECKING:
    from isa.object.code_object import CodeObject
    from isa.prove.proof import Proof, ProofPlace

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_NAMED = re.compile(r"\bline (\d+)\b")
_MORE = re.compile(r"; \d+ more with this cause$")
_BY_SOURCE = ("LDS001", "LANE001")
_WORDS = ("message", "expected", "got", "hint")
Source: TypeAlias = Callable[[], Mapping[int, SourceLine]]
"""Gives what `source_of` does."""
Chain: TypeAlias = tuple[tuple[str, int], ...]
"""File and line that an instruction comes from, then of the calls by which that was inlined, innermost first."""
_OF_TOOLS = re.compile(
    r"/include/hip/|/include/ocml/|/lib/clang/|/ziglang/|/(standard-headers|host-api)/[0-9a-f]{32}/|^/usr/|^/opt/rocm|^<"
)
"""Headers of compilers and of HIP: what was inlined from them comes from the line that calls it."""
_CALLED = re.compile(r"@\[ (.*?):(\d+):\d+")


def source_of(
    program: Program, below: Path | None = None, given: tuple[str, str] | None = None
) -> Mapping[int, SourceLine]:
    """Number of a line, as `Program.lines` counts -> where it comes from. Empty where that is not known. below: the
    folder of files that may be shown, by default the program's own; given: the source that a user gave and what that
    user called it, where it was not the program."""
    if below is None and Path(program.called).is_file():
        below = Path(program.called).parent
    if program.units:
        return {n: line.written.origin for n, line in enumerate(program.lines) if line.written}
    return shown(chains(program, given[0] if given else ""), below, given)


def chains(program: Program, given: str = "") -> dict[int, Chain]:
    """Number of a line -> what its directives say of it. given: the path of the source that a user gave."""
    files: dict[int, str] = {}
    paths: dict[str, str] = {}  # what a compiler calls a file where it tells calls -> its path
    found: dict[int, Chain] = {}
    now: Chain = ()
    for line in program.lines:
        if ".file" in line.text and (match := _FILE.match(line.text)):
            folder, name = (match[2], match[3]) if match[3] else ("", match[2])
            files[int(match[1])] = paths[name] = str(Path(folder) / name)
    if given:  # a file that nothing but calls is in has no directive
        paths |= {name: given for name in _ends(given) if name not in paths}
    for number, line in enumerate(program.lines):
        text = line.text
        if ".loc" in text and (match := _LOC.match(text)):
            chain = [(files.get(int(match[1]), ""), int(match[2]))]
            chain += [(paths.get(file, file), int(at)) for file, at in _CALLED.findall(text)]
            now = tuple(c for c in chain if c[1])  # line 0: the compiler made it up
        elif text.lstrip().startswith(".cfi_endproc") or text.startswith(".Lfunc_end"):
            now = ()
        if now and line.instruction is not None:
            found[number] = now
    return found


def shown(chains: Mapping[int, Chain], below: Path | None, given: tuple[str, str] | None) -> Mapping[int, SourceLine]:
    """The same with the texts of the lines. below, given: as for `source_of`."""
    lines = {chain: _line(chain, below, given) for chain in set(chains.values())}
    return {number: lines[chain] for number, chain in chains.items()}


def _ends(path: str) -> list[str]:
    """What a compiler may call a file below a folder that it has in common with where it works."""
    parts = Path(path).parts
    return [str(Path(*parts[n:])) for n in range(1, len(parts))]


def _line(chain: Chain, below: Path | None, given: tuple[str, str] | None) -> SourceLine:
    own = [c for c in chain if not _OF_TOOLS.search(c[0])] or chain[-1:]

    def shown(file: str) -> str:
        if given is None or file == given[0]:
            return given[1] if given else ""
        path = Path(file)
        return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file

    lines = [SourceLine(file, at, _text(file, at, below), shown(file)) for file, at in own]
    return replace(lines[0], callers=tuple(lines[1:]))


def _text(file: str, line: int, below: Path | None) -> str:
    held = _lines(file, below) if below is not None else ()
    return held[line - 1].strip() if 0 < line <= len(held) else ""


@functools.lru_cache(maxsize=64)
def _lines(file: str, below: Path) -> Sequence[str]:
    """Empty where the file may not be shown."""
    return (regular_file(Path(file), below) or b"").decode(errors="replace").splitlines()


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Of one instruction. line: of assembly, from 1; source: where it comes from, if that is known."""

    file: str
    line: int
    source: SourceLine | None = None

    def __str__(self) -> str:
        own = f"{Path(self.file).name}:{self.line}"
        if self.source is None:
            return own
        if self.source.macro is not None:
            return " in ".join([self.source.brief, *(f"{c.brief}" for c in self.source.callers)])
        return f"{self.source.brief} ({own})" if self.source.shown else f"{own} ({self.source.brief})"


def places(
    lines: Lines, instructions: Iterable[Instruction], source: Mapping[int, SourceLine]
) -> list[LinePlace | None]:
    """For each instruction its place; None where that is not known. source: as `source_of` gives it."""
    spans = map(lines.of, instructions) if lines.program else (None for _ in instructions)
    return [LinePlace(s.file, s.line, source.get(s.line - 1)) if s else None for s in spans]


def proof_with_origins(proof: Proof, original: Source, rewritten: Source) -> Proof:
    """The places of its difference with their lines of either source, given as `with_origins` takes it."""

    def placed(place: ProofPlace | None, source: Source) -> ProofPlace | None:
        return (place and place.span and replace(place, origin=source().get(place.span.line - 1))) or place

    if (found := proof.difference) is None:
        return proof
    places = placed(found.original, original), placed(found.rewritten, rewritten)
    return replace(proof, difference=replace(found, original=places[0], rewritten=places[1]))


def with_origins(findings: Sequence[Finding], source: Source) -> list[Finding]:
    """source: gives what `source_of` does; it is asked only where there is a finding."""
    known = source() if findings else {}

    def of(span: Span | None) -> SourceLine | None:
        return known.get(span.line - 1) if span else None

    return [
        _led(replace(f, origin=of(f.span), related=tuple(replace(r, origin=of(r.span)) for r in f.related)), known)
        for f in findings
    ]


def in_source(findings: Sequence[Finding], given: Program | CodeObject, source: Source) -> list[Finding]:
    """The same; those of a program that have one cause are told as one."""
    found = with_origins(findings, source)
    return together(found, given) if isinstance(given, Program) else found


def together(findings: Sequence[Finding], program: Program) -> list[Finding]:
    """One missing barrier of a loop that the compiler unrolled as one finding: of a kernel's LDS001 and LANE001 those
    that stand at one line of the source, by the same calls, are related to the first. So are those of any rule at a
    line that the assembler repeated (`.rept`): where an instruction has several, the first with the first, and so on.
    """
    groups: dict[object, list[Finding]] = {}
    of_one: Counter[tuple[int, str]] = Counter()
    for k, f in enumerate(findings):
        line = f.span.line - 1 if f.span else -1
        kernel = next((name for name, x in program.kernels.items() if x.start <= line < x.end), "")
        repeated = f.origin is not None and f.origin.macro is not None
        of_one[line, f.id] += repeated
        is_one = repeated or (f.id in _BY_SOURCE and f.origin is not None)
        groups.setdefault((f.id, f.origin, kernel, of_one[line, f.id]) if is_one else k, []).append(f)
    return [_one(group) for group in groups.values()]


def _one(group: Sequence[Finding]) -> Finding:
    head, *others = group
    if not others:
        return head
    related = [*head.related]
    for f in others:
        related += [Related(_MORE.sub("", f.message), f.span, f.where, f.origin), *f.related]
    message = f"{_MORE.sub('', head.message)}; {len(related)} more with this cause"
    return replace(head, message=message, related=tuple(related))


def _led(finding: Finding, known: Mapping[int, SourceLine]) -> Finding:
    """With the lines that its words name said to be those of the assembly, where another text's leads."""
    if finding.user_place is finding.span:
        return finding

    def place(match: re.Match[str]) -> str:
        origin = known.get(int(match[1]) - 1)
        if origin and origin.macro is not None:
            return str(origin)
        return f"{origin}, assembly line {match[1]}" if origin else f"assembly line {match[1]}"

    told: dict[str, Any] = {
        name: _NAMED.sub(place, text) for name in _WORDS if isinstance(text := getattr(finding, name), str)
    }
    return replace(finding, **told)
