"""Errors and findings: the place, what is wrong there, what was expected, and what to do.

`IsaError` is the one exception root of the project: every error that a user can cause derives from it, and only the
command line catches it. An error names a place (`Span`), what was expected, what was found and a next step; its text
is complete, so that `print(error)` is all a front end needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

_TOLD = 8
"""How many related places the text of a finding names."""


class HasOrigin(Protocol):
    """What text was made from (`isa.asm.program.Written`)."""

    @property
    def origin(self) -> SourceLine: ...


@dataclass(slots=True, unsafe_hash=True)  # each instruction has one, and frozen they take four times as long
class Span:
    """A place in a text file. `line` and `col` count from 1; `text` is that whole line without its newline. written:
    where the text comes from, if it knows that itself; where: of a disassembler's text, which nobody has, the symbol
    and address that it was made of."""

    file: str
    line: int
    col: int
    text: str
    written: HasOrigin | None = field(default=None, compare=False, repr=False)
    where: str = ""

    @property
    def origin(self) -> SourceLine | None:
        return self.written.origin if self.written else None

    @property
    def row(self) -> str:
        """The place without its column."""
        return f"{self.file}:{self.where or self.line}"

    def __str__(self) -> str:
        return self.row if self.where else f"{self.row}:{self.col}"

    def excerpt(self) -> str:
        """The line and a caret under the column; tabs keep their width so that the caret stands right."""
        pad = "".join("\t" if c == "\t" else " " for c in self.text[: self.col - 1])
        return f"    {self.text}\n    {pad}^"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source file that assembly comes from.

    text:    what stands there, "" where the file cannot be read.
    shown:   what a user calls the file, where the assembly was made of what that user gave: then this line is the place
             that is said first. "" where the assembly itself was given.
    callers: of a function that was inlined, the lines that call it, innermost first.
    macro:   of assembly that an assembler expanded, the macro in whose body the line is, "" outside; else None.
    """

    file: str
    line: int
    text: str
    shown: str = ""
    callers: tuple[SourceLine, ...] = ()
    macro: str | None = None

    def __str__(self) -> str:
        return f"{self.shown}:{self.line}" if self.shown else self.brief

    @property
    def brief(self) -> str:
        """Without its folder."""
        return f"{Path(self.file).name}:{self.line}"

    @property
    def span(self) -> Span:
        """As a place in a text."""
        return Span(self.shown or self.file, self.line, 1, self.text)

    def calls(self) -> Iterator[str]:
        """The lines that call it, or expand the macro that it is in, as compilers name them."""
        inner = self
        for caller in self.callers:
            word = f"in expansion of macro {inner.macro} at" if inner.macro else "called from:"
            yield f"{word} {caller}: {caller.text}"
            inner = caller


def _leading(origin: SourceLine | None, span: Span | None) -> Span | None:
    origin = origin or (span.origin if span else None)
    return origin.span if origin and origin.shown else span


class IsaError(Exception):
    """Wrong input. `str(error)` says where, what was expected, what was found, and what to do.

    message:  one sentence.
    span:     the place in a text file, when there is one.
    expected, got: what was expected and what was found there.
    hint:     what to do next.
    origin:   the line of the source that the place was made from, where whoever passes the error on knows it.
    """

    _origin: SourceLine | None = None

    def __init__(
        self,
        message: str,
        *,
        span: Span | None = None,
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message, self.span, self.expected, self.got, self.hint = message, span, expected, got, hint
        super().__init__(message)

    @property
    def origin(self) -> SourceLine | None:
        return self._origin or (self.span.origin if self.span else None)

    @origin.setter
    def origin(self, line: SourceLine | None) -> None:
        self._origin = line

    @property
    def user_place(self) -> Span | None:
        """In what a user gave: the source or the text that was made of it."""
        return _leading(self.origin, self.span)

    def __str__(self) -> str:
        origin = self.origin
        if origin and origin.shown:
            lines = [f"{origin}: {self.message}", *([f"    {origin.text}"] if origin.text else [])]
            lines += [f"  {call}" for call in origin.calls()]
            if self.span and origin.macro is None:
                lines.append(f"  assembly: {self.span}: {self.span.text.strip()}")
            elif self.span and self.span.text.strip() != origin.text:
                lines.append(f"  assembled: {self.span.text.strip()}")
        else:
            lines = [f"{self.span}: {self.message}" if self.span else self.message]
            lines += [self.span.excerpt()] if self.span else []
        lines += [
            f"  {word}: {value}"
            for word, value in (("expected", self.expected), ("found", self.got), ("help", self.hint))
            if value
        ]
        if origin and not origin.shown:
            lines.append(f"  source: {origin}: {origin.text}")
        return "\n".join(lines)


@contextmanager
def writing(what: object) -> Iterator[None]:
    """IsaError that names `what` in the place of an OSError while it is written."""
    import shutil

    try:
        yield
    except shutil.Error as error:  # of a folder: (from, to, why) of each file
        raise IsaError(f"cannot write {what}: {error.args[0][0][2]}") from error
    except OSError as error:
        raise IsaError(f"cannot write {what}: {error.strerror or error}") from error


LARGEST_STREAM = 64 << 20


def contents(path: str | Path, most: int = LARGEST_STREAM) -> bytes:
    """The bytes of a file, of stdin for "-"; of a pipe or device, which has no length, no more than `most`. OSError
    where it cannot be read."""
    import sys
    from contextlib import nullcontext

    with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        if path != "-" and Path(path).is_file():
            return stream.read()
        data = stream.read(most + 1)
    if len(data) > most:
        raise IsaError(f"{path} does not end", expected=f"at most {most} bytes")
    return data


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` at the end, whole or not at all. Until then it has a name that nobody can
    know, so that nobody can put a link there. A device or pipe is written as it is, and so is a file in a folder that
    takes no other."""
    import os
    import tempfile

    taken = path.exists()
    if taken and not (path.is_file() and os.access(path.resolve().parent, os.W_OK)):
        with path.open("wb") as place:
            yield place
        return
    path = path.resolve()
    mask = os.umask(0)
    os.umask(mask)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:99]}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fchmod(file.fileno(), path.stat().st_mode if taken else 0o666 & ~mask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def write(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all. IsaError where it cannot be written."""
    with writing(path), replacing(path) as file:
        file.write(data)


def meant(word: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """The `hint` for a word that is none of the known ones: the nearest of them, or `otherwise` where none is near."""
    import difflib

    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]}?" if near else otherwise


def _own_origin(found: Finding | Related) -> None:
    """What the text of a place itself knows."""
    if found.origin is None and found.span is not None and found.span.origin is not None:
        object.__setattr__(found, "origin", found.span.origin)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place of a finding that has the same cause. where, origin: as of a `Finding`."""

    message: str
    span: Span | None = None
    where: str = ""
    origin: SourceLine | None = None

    def __post_init__(self) -> None:
        _own_origin(self)

    @property
    def user_place(self) -> Span | None:
        """As of an `IsaError`."""
        return _leading(self.origin, self.span)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a checker says of a program that could be read: a rule that is broken, where, and its source.

    severity: "fault" (the program is wrong), or "note" (it could be better).
    where:    the place where there is no text: `kernel:0x1c: instruction` in a code object.
    id:       of the rule (`isa.lint.registry`).
    related:  the other places that what settles this one settles too.
    origin:   as of an `IsaError`.
    binding:  whether a note says what no verdict passes over: a runtime may take it for true.
    """

    rule: str
    message: str
    span: Span | None = None
    hint: str | None = None
    expected: str | None = None
    got: str | None = None
    source: str = ""
    severity: str = "fault"
    where: str = ""
    id: str = ""
    related: tuple[Related, ...] = ()
    origin: SourceLine | None = None
    binding: bool = False

    def __post_init__(self) -> None:
        _own_origin(self)

    @property
    def user_place(self) -> Span | None:
        """As of an `IsaError`."""
        return _leading(self.origin, self.span)

    def error(self) -> IsaError:
        """The finding as an exception, for a caller that stops at the first."""
        told = IsaError(self._headline(), span=self.span, expected=self.expected, got=self.got, hint=self.hint)
        told.origin = self.origin
        return told

    def _headline(self) -> str:
        named = f"{self.id} {self.rule}" if self.id else self.rule
        rule = f"{named}; {self.source}" if self.source else named
        where = f"{self.where}: " if self.where and self.span is None else ""
        return f"{where}{self.message} [{rule}]"

    def __str__(self) -> str:
        text = str(self.error())
        if self.related:
            led = self.user_place is not self.span
            places = [
                place
                for place in dict.fromkeys(
                    str(r.origin) if led and r.origin and r.origin.macro is not None
                    else f"{r.origin or r.span.file}, assembly line {r.span.line}" if led and r.span
                    else str(r.span.line) if r.span else r.where
                    for r in self.related
                )
                if place != str(self.origin)
            ]  # fmt: skip
            word = ("lines " if len(places) > 1 else "line ") if self.span and not led else ""
            more = f" and {len(places) - _TOLD} more" if len(places) > _TOLD else ""
            text += f"\n  also: {word}{('; ' if led else ', ').join(places[:_TOLD])}{more}" if places else ""
        return text if self.severity == "fault" else f"note: {text}"
