"""Data of a program: the bytes at its labels, from the directives of its sections, without an assembler.

In: a `Program`. Out: what a label marks: `Contents`, a run of pieces, each bytes or the text of an expression whose
value only a linker or loader knows (`f`, `.LBB0_3-.LJTI0_0`); or code; or a symbol without a place (`.comm`,
`.amdgpu_lds`). An object ends where its `.size` says, or with the data that follow it.

How: sections grow as the text switches between them. Between two instructions positions are known only from the last
label on, so a section is cut there into runs. What follows an alignment larger than a run's own starts another run.

Limits, each an IsaError: conditions, repetitions, macros and files (`TEXTUAL`), and numbers that are expressions of
labels where they decide how much there is.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from isa.asm import expression
from isa.asm.program import Directive, Label, Program
from isa.errors import IsaError
from isa.semantics.instruction import Instruction

TEXTUAL = frozenset(
    ".macro .rept .rep .irp .irpc .if .ifdef .ifndef .ifnotdef .ifb .ifnb .ifc .ifnc .ifeq .ifeqs .ifge .ifgt .ifle "
    ".iflt .ifne .ifnes .include .incbin .altmacro".split()
)
"""Directives by which the text is not what is assembled."""
_INTEGERS = {
    ".byte": 1, ".dc.b": 1, ".short": 2, ".value": 2, ".2byte": 2, ".dc": 2, ".dc.w": 2, ".long": 4, ".int": 4,
    ".4byte": 4, ".dc.l": 4, ".quad": 8, ".8byte": 8, ".dc.a": 8, ".octa": 16,
}  # fmt: skip
_FLOATS = {".float": 4, ".single": 4, ".dc.s": 4, ".double": 8, ".dc.d": 8}
_TEXTS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
ALIGNS = {".p2align": (2, 1), ".p2alignw": (2, 2), ".p2alignl": (2, 4), ".balign": (0, 1), ".balignw": (0, 2),
           ".balignl": (0, 4), ".align": (0, 1)}  # fmt: skip
"""Directives of alignment: whether the number is a power of two's, and the bytes of what is filled in."""
_SPACES = frozenset({".zero", ".skip", ".space"})
_OTHERS = frozenset({
    *".fill .uleb128 .sleb128 .org .base64 .reloc .nops .bundle_align_mode .tfill".split(),
    *(f".{name}{suffix}" for name in ("dc", "dcb", "ds") for suffix in ("", *(f".{c}" for c in "abdlpswx"))),
})  # fmt: skip
"""Directives that make bytes, of which only `.fill` is read here."""
MAKES_BYTES = frozenset({*_INTEGERS, *_FLOATS, *_TEXTS, *_SPACES, *_OTHERS})
LARGEST = 256 << 20
"""Bytes of an object, and of all that directives of a program repeat; a code object in memory has no more."""
_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ESCAPE = re.compile(rb"\\(?:[xX]([0-9a-fA-F]+)|([0-7]{1,3})|(.))", re.S)
_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*')


def textual(program: Program) -> tuple[str, int] | None:
    """The first directive by which a text is not what is assembled, and its line."""
    nodes = ((line.node, number) for number, line in enumerate(program.lines))
    return next(((n.name, number) for n, number in nodes if isinstance(n, Directive) and n.name in TEXTUAL), None)


@dataclass(frozen=True, slots=True)
class Piece:
    """at: from the run's, or the object's first byte. content: bytes; a number, so many zeros; or an expression.
    line: of the directive."""

    at: int
    size: int
    content: bytes | int | str
    line: int


@dataclass(frozen=True, slots=True)
class Contents:
    """size and alignment in bytes; 1 where no alignment is asked for. held: False of what the loader allocates, of
    which only size and alignment are known (`.comm`, LDS). writable: whether its section is. line: of the label."""

    size: int
    align: int
    pieces: tuple[Piece, ...]
    line: int
    held: bool = True
    writable: bool = False


@dataclass(slots=True)
class _Run:
    """Bytes one after another. aligned: at which position an alignment was last asked for, and which."""

    pieces: list[Piece] = field(default_factory=list)
    size: int = 0
    aligned: tuple[int, int] = (0, 1)
    first: bool = False
    """Whether it begins its section, which is aligned to whatever it asks for."""
    cut: bool = False
    """Whether data follow it at a place that is not known."""

    def add(self, content: bytes | int | str, size: int, line: int) -> None:
        if self.size + size > LARGEST:
            raise IsaError(f"data of more than {LARGEST} bytes")
        if size:
            self.pieces.append(Piece(self.size, size, content, line))
        self.size += size


@dataclass(frozen=True, slots=True)
class _Mark:
    run: _Run
    at: int
    align: int
    line: int
    writable: bool


class ProgramData:
    """See the module's docstring. code: the labels that mark instructions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.code: set[str] = set()
        self._marks: dict[str, _Mark] = {}
        self._placeless: dict[str, Contents | IsaError] = {}
        self._sizes: dict[str, str | int] = {}
        self._wrong: dict[int, IsaError] = {}
        self._repeated = 0
        self._read()

    def contents(self, name: str) -> Contents | None:
        """What a symbol marks; None where it marks no data. IsaError where that is not known."""
        if (placeless := self._placeless.get(name)) is not None:
            if isinstance(placeless, IsaError):
                raise placeless
            return placeless
        mark = self._marks.get(name)
        if mark is None or name in self.code:
            return None
        if self._textual:
            what, line = self._textual
            raise IsaError(f"what {name} holds is not known, because of {what}", span=self.program.span(line))
        if id(mark.run) in self._wrong:
            raise self._wrong[id(mark.run)]
        said = self._sizes.get(name)
        if isinstance(said, str):
            found = expression.value(said, self.program.symbols)
            said = found if found is not None else self.distance(said)
        rest = mark.run.size - mark.at
        size = said if isinstance(said, int) else rest
        if size > rest or (mark.run.cut and not isinstance(said, int)):
            raise IsaError(f"where the data of {name} end is not known", span=self.program.span(mark.line))
        return Contents(size, mark.align, tuple(self._cut(mark, size)), mark.line, writable=mark.writable)

    @cached_property
    def _textual(self) -> tuple[str, int] | None:
        return textual(self.program)

    def alignment(self, name: str) -> int:
        """What a label is aligned to in its section, as far as that is asked for."""
        return self._marks[name].align if name in self._marks else 1

    @staticmethod
    def _cut(mark: _Mark, size: int) -> Iterator[Piece]:
        for piece in mark.run.pieces:
            start, end = max(piece.at, mark.at), min(piece.at + piece.size, mark.at + size)
            if start >= end:
                continue
            content, whole = piece.content, end - start == piece.size
            if isinstance(content, bytes):
                content = content[start - piece.at : end - piece.at]
            elif isinstance(content, int):
                content = end - start
            elif not whole:
                content = f"bytes {start - piece.at} to {end - piece.at} of {content}"
            yield Piece(start - mark.at, end - start, content, piece.line)

    def distance(self, text: str) -> int | None:
        """What the difference of two labels of one run is."""
        last, minus, first = (part.strip() for part in text.partition("-"))
        a, b = self._marks.get(last), self._marks.get(first)
        return a.at - b.at if minus and a and b and a.run is b.run else None

    # --- the text
    def _read(self) -> None:
        sections: dict[str, _Run] = {".text": _Run(first=True)}
        now, before, stack = ".text", ".text", list[tuple[str, str]]()
        unloaded, writable = set[str](), {".data", ".bss"}
        inside = False  # a kernel's descriptor
        waiting: list[str] = []  # labels after which nothing has come yet
        for number, line in enumerate(self.program.lines):
            node = line.node
            if isinstance(node, Instruction):
                self.code.update(waiting)
                waiting.clear()
                if sections[now].pieces or sections[now].first:
                    sections[now] = _Run()
                else:
                    sections[now].aligned = (0, 1)
                continue
            if isinstance(node, Label):
                run = sections[now]
                where, align = run.aligned
                self._marks[node.name] = _Mark(
                    run, run.size, math.gcd(align, run.size - where), number, now in writable
                )
                if now in unloaded:
                    what = f"{node.name} lies in section {now}, which is not loaded"
                    self._placeless[node.name] = IsaError(what, span=self.program.span(number))
                waiting.append(node.name)
                continue
            if not isinstance(node, Directive):
                continue
            name, args = node.name, node.args
            if name == ".amdhsa_kernel":
                inside = True
                sections[now].add(f"descriptor of {args}", 64, number)
            elif name == ".end_amdhsa_kernel":
                inside = False
            if name in (".section", ".pushsection") and _named(args) not in sections and not _loaded(args):
                unloaded.add(_named(args))
            if name in (".section", ".pushsection") and _named(args) not in sections and _writable(args):
                writable.add(_named(args))
            to = _section(name, args)
            if to is not None:
                now, before = to, now
            elif name == ".pushsection":
                stack.append((now, before))
                now, before = _named(args), now
            elif name == ".popsection" and stack:
                now, before = stack.pop()
            elif name == ".previous":
                now, before = before, now
            elif name == ".subsection":
                now, before = f"{now.partition(' ')[0]} {args}", now
            sections.setdefault(now, _Run(first=True))
            if inside:
                continue
            if name in ALIGNS or name in MAKES_BYTES:
                size = sections[now].size
                sections[now] = self._directive(sections[now], name, args, number)
                if sections[now].size != size:
                    waiting.clear()
                else:  # an alignment that began another run: labels stand before it
                    continue
            elif name == ".size":
                self._sized(args, sections[now])
            elif name in (".comm", ".lcomm", ".amdgpu_lds"):
                self._allocated(args, number)

    def _sized(self, args: str, run: _Run) -> None:
        name, _, text = (part.strip() for part in args.partition(","))
        if (mark := self._marks.get(name)) and re.sub(r"\s", "", text) == f".-{name}" and mark.run is run:
            self._sizes[name] = run.size - mark.at
        else:
            self._sizes[name] = text

    def _allocated(self, args: str, line: int) -> None:
        name, *numbers = (part.strip() for part in args.split(","))
        values = [self._value(text) for text in numbers]
        if None in values or not values:
            error = IsaError(f"how much there is of {name} is not known", span=self.program.span(line))
            self._placeless[name] = error
            return
        size, align = (value or 0 for value in (*values, 1)[:2])
        self._placeless[name] = Contents(size, align, (), line, held=False)

    def _directive(self, run: _Run, name: str, args: str, line: int) -> _Run:
        """What comes after a directive. What it makes that is not known spoils the run for who asks."""
        try:
            if name in ALIGNS:
                return self._align(run, name, args, line)
            self._data(run, name, args, line)
        except IsaError as error:
            span = self.program.span(line)
            self._wrong[id(run)] = IsaError(f"{name} {args}: {error.message}", span=span)
        return run

    def _value(self, text: str) -> int | None:
        """What a number is, or an expression; None where that is not known."""
        try:
            return int(text, 0)
        except ValueError:
            return expression.value(text, self.program.symbols)

    def _number(self, text: str) -> int:
        if (found := self._value(text)) is None:
            raise IsaError("is no number here")
        return found

    def _repeat(self, content: bytes, count: int) -> bytes:
        """IsaError where that is more than a program may have."""
        self._repeated += len(content) * max(0, count)
        if self._repeated > LARGEST:
            raise IsaError(f"data of more than {LARGEST} bytes")
        return content * count

    def _align(self, run: _Run, name: str, args: str, line: int) -> _Run:
        power, width = ALIGNS[name]
        words = [word.strip() for word in args.split(",")]
        asked = self._number(words[0])
        if asked < 0:
            raise IsaError("is no alignment")
        align = (1 << min(asked, 32) if power else asked) or 1
        if align & align - 1:
            raise IsaError("is no alignment")
        most = self._number(words[2]) if len(words) > 2 and words[2] else None
        at, known = run.aligned
        if not run.first and align > math.gcd(known, run.size - at):
            run.cut = True
            return _Run(aligned=(0, align if most is None else 1))
        # Positions are counted from a place that is aligned: the run's first byte, or that of the last alignment.
        missing = -(run.size if run.first else run.size - at) % align
        if most is not None and missing > most:
            return run
        fill = self._number(words[1]) if len(words) > 1 and words[1] else 0
        if missing:
            one = (fill & (1 << 8 * width) - 1).to_bytes(width, "little")
            whole = fill and missing % width == 0
            run.add(self._repeat(one, missing // width) if whole else missing, missing, line)
        run.aligned = (run.size, align)
        return run

    def _data(self, run: _Run, name: str, args: str, line: int) -> None:
        if size := _INTEGERS.get(name):
            for text in _split(args):
                if (number := self._value(text)) is None:
                    run.add(re.sub(r"\s", "", text), size, line)
                else:
                    run.add((number & (1 << 8 * size) - 1).to_bytes(size, "little"), size, line)
        elif size := _FLOATS.get(name):
            for text in _split(args):
                run.add(_float(text, size), size, line)
        elif name in _TEXTS:
            for content in _texts(args):
                run.add(content + _TEXTS[name], len(content + _TEXTS[name]), line)
        elif name in _SPACES:
            count, fill, *_ = [*(self._number(text) for text in _split(args)), 0, 0]
            run.add(self._repeat(bytes([fill & 255]), count) if fill else max(0, count), max(0, count), line)
        elif name == ".fill":
            numbers = [self._number(text) for text in _split(args)]
            if not numbers:
                raise IsaError("lacks its count")
            count, size, value = [*numbers, *(1, 0)[len(numbers) - 1 :]][:3]
            if not 0 <= size <= 8:
                raise IsaError("is too large")
            one = (value & 0xFFFFFFFF).to_bytes(8, "little")[:size]
            run.add(self._repeat(one, count), size * max(0, count), line)
        else:
            raise IsaError("what it makes is not known here")


def _section(name: str, args: str) -> str | None:
    if name == ".section":
        return _named(args)
    return name if name in (".text", ".data", ".bss") else None


def _named(args: str) -> str:
    return args.partition(",")[0].strip().strip('"')


def _loaded(args: str) -> bool:
    """Whether a section that `.section` begins is loaded: its flags say so, or where there are none, its name."""
    flags = args.split(",")[1:2]
    return (
        "a" in flags[0] if flags else _named(args).startswith((".text", ".rodata", ".data", ".bss", ".init", ".fini"))
    )


def _writable(args: str) -> bool:
    """Whether a section that `.section` begins may be written while a program runs: that of relocations may not."""
    flags, name = args.split(",")[1:2], _named(args)
    return not name.startswith(".data.rel.ro") and ("w" in flags[0] if flags else name.startswith((".data", ".bss")))


def _split(args: str) -> list[str]:
    """At commas outside of brackets."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(args):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            found.append(args[start:i].strip())
            start = i + 1
    return [*found, args[start:].strip()] if args.strip() else []


def _float(text: str, size: int) -> bytes | str:
    try:
        return struct.pack("<f" if size == 4 else "<d", float(text))
    except (ValueError, OverflowError):
        return f"{text} as a float of {size} bytes"


def _texts(args: str) -> Iterator[bytes]:
    at = 0
    while at < len(args):
        found = _QUOTED.match(args, at)
        if not found:
            raise IsaError("is no text in quotes")
        yield _ESCAPE.sub(_unescaped, found[1].encode("utf-8", "surrogateescape"))
        at = found.end()
        if at < len(args) and args[at] in ",":
            at += 1


def _unescaped(found: re.Match[bytes]) -> bytes:
    for digits, base in ((found[1], 16), (found[2], 8)):
        if digits is not None:
            return bytes([int(digits, base) & 255])
    return _ESCAPES.get(found[3], found[3])
