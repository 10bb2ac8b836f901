"""Assembly as people write it -> Program: macros, repetitions, conditions and symbols in registers, as LLVM reads them.

In: a text that the plain reader (`isa.asm.parse`) does not take as it is assembled, and the folder of its file. Out: a
Program of what LLVM's assembler makes of it, in which each line knows the text and the place that it comes from.

How: the assembler writes its input again as text (`-filetype asm`): nothing but instructions, labels and directives is
left; numbers between instructions (`.long`) are read as the instructions that they are. A symbol is set before each
line of the input, `.set .Lline12, \\@` in macros, where `\\@` is the number of the expansion; so the output says from
which line, and by which macros, each of its lines comes.

A line of the input with what became of it, or a macro's call, or a whole repetition, is a `Unit`. `text_of` writes a
program in the units' own words where none of their lines has changed, and as LLVM has it elsewhere; what it writes is
read again and compared, and where it would mean another program, all of it is written as LLVM has it.

`.include` and `.incbin` name regular files below the folder of the input; their contents take their place before the
assembler sees the text, and nothing else is opened (`isa.toolchain` guards that).

Limits: a clang is needed, since LLVM's C API writes a module's assembly as it was given, macros and all; no C
preprocessor; LARGEST bytes of a file and of all that is included, DEEPEST files in files; of what is expanded
`isa.toolchain.EXPANDER`. A text that another assembler accepts and LLVM rejects is rejected.
"""

from __future__ import annotations

import dataclasses
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from isa import packages, toolchain
from isa.asm.data import textual
from isa.asm.disassembler import disassemble
from isa.asm.emit import emit
from isa.asm.encoding import size_of
from isa.asm.parse import parse, parse_disassembly, parse_instruction, reread, without_comment
from isa.asm.program import Line, Program, Unit, Written
from isa.errors import IsaError, SourceLine, Span
from isa.semantics.instruction import Instruction
from isa.targets import GFX1100, TARGETS, Target, named_in

LARGEST = 16 << 20
DEEPEST = 16
_INCBIN = 1 << 20
"""Bytes of data from another file: each takes four characters."""
_STRANGE = re.compile(
    r"^[^;\n]*?\.(?:macro|rept?|irpc?|if\w*|include|incbin|altmacro)\b|\b(?:v|s|ttmp)\[[^\]\n]*[^\]\d:\n]|/\*"
    r"|^\s*[\w.$@]+:[ \t]*[^\s:;/]|^\s*[\w.$]+\s*=[^=]",
    re.M | re.I,
)
"""What no plain text has."""
_TARGET = re.compile(r'^\s*\.amdgcn_target\s+("[^"\n]*")', re.M)
_WAVE64 = re.compile(r"^\s*\.amdhsa_wavefront_size32\s+0\b", re.M)
_HEAD = re.compile(r"(?:\s*[A-Za-z_.$][\w.$@]*:(?!:))*\s*([.\w$\\@]+)")
_INCLUDE = re.compile(r'\s*\.(include|incbin)\s+"([^"]*)"\s*(?:,\s*(\d+)\s*)?(?:,\s*(\d+)\s*)?$', re.I)
_ENDS = {".macro": (".endm", ".endmacro"), **dict.fromkeys((".rept", ".rep", ".irp", ".irpc"), (".endr",))}
_BLOCKS = {
    ".amdhsa_kernel": ".end_amdhsa_kernel", ".amdgpu_metadata": ".end_amdgpu_metadata",
    ".amd_kernel_code_t": ".end_amd_kernel_code_t", ".amd_amdgpu_hsa_metadata": ".end_amd_amdgpu_hsa_metadata",
    ".amdgpu_pal_metadata": ".end_amdgpu_pal_metadata",
}  # fmt: skip
"""Directives whose lines are not statements."""
_NUMBERED = re.compile(r"[\s-]*(\.\w+):?\s+(\d+)$")
_WORD = re.compile(r"\s*\.long\s+(-?\d+)")
_SAID = re.compile(r"^(?P<file><instantiation>|[^\n]*?):(?P<line>\d+):(?P<col>\d+): error: (?P<what>.*)$", re.M)
_EXPANDS = re.compile(r"^[^\n]*?:(\d+):\d+: note: while in macro", re.M)


def read(text: str, file: str = "<text>", folder: Path | None = None, meant: Target | None = None) -> Program:
    """A whole assembly file; folder: the one that files to include lie below, None where there is none; meant: its
    target where it names none. Raises what `parse` does, and IsaError where LLVM rejects the text, and where there is
    no LLVM for a text that needs it."""
    plain, first = None, None
    try:
        plain = parse(text, file, meant)
        if textual(plain) is None:
            return plain
    except IsaError as error:
        named = named_in(found[1]) if (found := _TARGET.search(text)) else ""
        if (named and named not in TARGETS) or not _STRANGE.search(text):
            raise
        first = error
    try:
        return _expanded(_spliced(text, file, folder), file, text.endswith("\n"), meant)
    except toolchain.ToolchainMissing as missing:
        if plain is not None:
            return plain
        assert first is not None
        first.hint = f"clang's assembler expands macros and symbols: {missing.hint}"
        raise first from missing


def text_of(program: Program) -> str:
    """A program's text, in the words that it was written in where they still hold."""
    units = program.units
    if not units:
        return emit(program)
    end = "\n" if program.newline_at_end else ""
    if _unchanged(program):
        return "\n".join(text for unit in units for text in unit.texts) + end
    text = "\n".join(_lines(program)) + end
    try:
        again = _expanded(_spliced(text, program.file, None), program.file, True, program.meant)
    except IsaError:
        return emit(program)
    same = [x.node for x in again.lines if x.node] == [x.node for x in program.lines if x.node]
    return text if same and _metadata(again) == _metadata(program) else emit(program)


def _metadata(program: Program) -> list[str]:
    return [line.text for line in program.lines if line.node is None and re.match(r"\s*-?\s*\.\w+:", line.text)]


def _unchanged(program: Program) -> bool:
    now = [(line.written.unit.number, line.text) if line.written else None for line in program.lines]
    return now == [(unit.number, made) for unit in program.units for made in unit.made]


def _lines(program: Program) -> Iterator[str]:
    """Of a program that has changed."""
    at, lines = 0, program.lines
    while at < len(lines):
        written = lines[at].written
        if written is not None and written.index == 0:
            unit = written.unit
            part = lines[at : at + len(unit.made)]
            own = len(part) == len(unit.made) and all(
                x.written is None or x.written.unit.number == unit.number for x in part
            )
            texts = _merged(unit, [x.text for x in part]) if own and not unit.loose else None
            if texts is not None:
                yield from texts
                at += len(part)
                continue
        yield lines[at].text
        at += 1


def _merged(unit: Unit, now: Sequence[str]) -> Sequence[str] | None:
    """A unit's own words with what its lines are now: where nothing has changed, or no more than numbers of a
    descriptor or of metadata, each of which the unit has once. Else None."""
    texts = [*unit.texts]
    for old, new in zip(unit.made, now, strict=True):
        if old == new:
            continue
        key, number = _NUMBERED.match(old), _NUMBERED.match(new)
        if key is None or number is None or key[1] != number[1]:
            return None
        mine = re.compile(rf"(?<![\w.]){re.escape(key[1])}(?P<gap>\s*:\s*|\s+)(?P<value>[^\s,}};/]+)")
        hits = [(k, match) for k, text in enumerate(texts) for match in mine.finditer(text)]
        if len(hits) != 1:
            return None
        ((k, match),) = hits
        texts[k] = texts[k][: match.start("value")] + number[2] + texts[k][match.end("value") :]
    return texts


# --- other files
def regular_file(file: Path, below: Path, largest: int = LARGEST) -> bytes | None:
    """The contents of a regular file below a folder, wherever links lead; None where it is none, or longer."""
    try:
        real = file.resolve()
        if not real.is_relative_to(below.resolve()):
            return None
        # Neither waits for who writes to a pipe, nor follows a link that was put there meanwhile.
        with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY), "rb") as held:
            about = os.fstat(held.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > largest:
                return None
            return held.read(largest)
    except (OSError, ValueError, RuntimeError):  # no such file, a null byte, links in a circle
        return None


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the input: its text, where it stands, and as it was written, where that is another text."""

    text: str
    file: str
    line: int
    written: str = ""


def _spliced(text: str, file: str, folder: Path | None) -> list[_Row]:
    """The lines of a text with those of the files that it includes."""
    rows: list[_Row] = []
    left = LARGEST

    def add(text: str, name: str, here: Path | None, depth: int) -> None:
        nonlocal left
        if "\0" in text:
            raise IsaError(f"{name} is no text: it has a null byte")
        inside, comment = 0, False
        for number, raw in enumerate(text.removesuffix("\n").split("\n"), start=1):
            code, comment = _code(raw, comment)
            head = found[1].lower() if (found := _HEAD.match(code)) else ""
            inside += (head == ".macro") - (head in _ENDS[".macro"])
            match = _INCLUDE.match(code)
            if match is None:
                rows.append(_Row(raw, name, number))
                continue
            span = Span(name, number, len(raw) - len(raw.lstrip()) + 1, raw)
            if folder is None or here is None:
                raise IsaError("a text without a folder includes no files", span=span, hint="give it as a file")
            path, kind = here / match[2], match[1].lower()
            held = regular_file(path, folder, left)
            if held is None and here != folder:
                path = folder / match[2]
                held = regular_file(path, folder, left)
            if held is None:
                lacking = f'.error "no regular file {_quoted(match[2])} below the folder of this one"'
                rows.append(_Row(lacking, name, number, raw))
                continue
            left -= len(held)
            if kind == "incbin":
                skip = int(match[3] or 0)
                data = held[skip : skip + int(match[4])] if match[4] else held[skip:]
                if len(data) > _INCBIN:
                    raise IsaError(f"{match[2]} has too much data", span=span, expected=f"at most {_INCBIN} bytes")
                rows.extend(_Row(row, name, number) for row in _ascii(data))
                continue
            try:
                inner = held.decode()
            except UnicodeDecodeError as error:
                raise IsaError(f"{match[2]} is no text", span=span) from error
            if depth == DEEPEST:
                raise IsaError("files include each other too deeply", span=span, expected=f"at most {DEEPEST}")
            if inside and "\\" in inner:
                raise IsaError(
                    f"{match[2]} is included by a macro, and has arguments of macros itself", span=span,
                    hint="include it before the macro",
                )  # fmt: skip
            shown = str(Path(name).parent / match[2])
            add(inner, shown, path.parent, depth + 1)

    add(text, file, folder, 0)
    return rows


def _quoted(name: str) -> str:
    return re.sub(r"[^\w./-]", "?", name)


def _ascii(data: bytes) -> list[str]:
    parts = [data[k : k + 32] for k in range(0, len(data), 32)]
    return ['\t.ascii "' + "".join(f"\\{byte:03o}" for byte in part) + '"' for part in parts] or [""]


# --- one text
def _code(raw: str, comment: bool) -> tuple[str, bool]:
    """A line without comments, and whether one goes on after it. comment: whether it begins in one."""
    out: list[str] = []
    at, quoted = 0, False
    while at < len(raw):
        two = raw[at : at + 2]
        if comment:
            end = raw.find("*/", at)
            if end < 0:
                return "".join(out), True
            comment, at = False, end + 2
            out.append(" ")
        elif quoted:
            step = 2 if raw[at] == "\\" else 1
            quoted = raw[at] != '"'
            out.append(raw[at : at + step])
            at += step
        elif two == "/*":
            comment, at = True, at + 2
        elif raw[at] == ";" or two == "//" or (raw[at] == "#" and not "".join(out).strip()):
            break
        else:
            quoted = raw[at] == '"'
            out.append(raw[at])
            at += 1
    return "".join(out), comment


@dataclass(slots=True)
class _Place:
    """A line of the input. top: the first line of its unit; macro: the innermost definition that it is in."""

    top: int
    macro: str = ""
    marked: bool = True
    nested: bool = False


def _places(rows: Sequence[_Row]) -> list[_Place]:
    found: list[_Place] = []
    stack: list[tuple[str, str]] = []  # directive, name of a macro
    block, comment, top = "", False, 0
    for number, row in enumerate(rows):
        began = comment
        code, comment = (row.text, False) if block else _code(row.text, comment)
        head = match[1].lower() if (match := _HEAD.match(code)) else ""
        place = _Place(top, next((name for what, name in reversed(stack) if what == ".macro"), ""))
        place.nested = bool(stack)
        place.marked = not (block or began)
        if place.marked and not stack:
            place.top = top = number
        found.append(place)
        if block:
            block = "" if head == block else block
        elif head in _BLOCKS:
            block = _BLOCKS[head]
        elif stack and head in _ENDS[stack[-1][0]]:
            stack.pop()
        elif head in _ENDS and (not stack or stack[-1][0] != ".macro" or head == ".macro"):
            words = code.split(None, 2) if head == ".macro" else []
            stack.append((head, re.split(r"[,\s]", words[1])[0] if len(words) > 1 else ""))
    return found


def _expanded(rows: Sequence[_Row], file: str, newline: bool, meant: Target | None) -> Program:
    places = _places(rows)
    whole = "\n".join(row.text for row in rows)
    prefix = ".Lline"
    while prefix in whole:
        prefix = f"{prefix}_"
    given: list[str] = []
    back: list[int] = []  # line of what the assembler gets -> of `rows`
    for number, (row, place) in enumerate(zip(rows, places, strict=True)):
        if place.marked:
            given.append(f".set {prefix}{number}, {chr(92) + '@' if place.macro else -1}")
            back.append(number)
        given.append(row.text)
        back.append(number)
    arch = named_in(match[1]) if (match := _TARGET.search(whole)) else (meant or GFX1100).name
    wave64 = bool(_WAVE64.search(whole))
    try:
        out = toolchain.find().expand("\n".join(given) + "\n", arch=arch, wave64=wave64)
    except toolchain.ToolError as error:
        raise _rejected(error, rows, places, given, back) from error
    made = _Output(rows, places, file, prefix)
    made.read(out)
    with suppress(packages.PackageMissing):
        made.decode(arch, wave64)
    return made.program(file, newline, meant)


_LOCAL = re.compile(r"\s*local\s+[\w.$]", re.I)


def _rejected(
    error: toolchain.ToolError, rows: Sequence[_Row], places: Sequence[_Place], given: Sequence[str],
    back: Sequence[int],
) -> toolchain.ToolError:  # fmt: skip
    """What the assembler said, at the line of the input; of a macro or a repetition, that of its body."""
    said = _SAID.search(error.message)
    if said is None:
        return error
    other = _SAID.search(error.message, said.end())
    text = error.message[said.start() : other.start() if other else None]
    *inside, at = [int(n) - 1 for n in (said["line"], *_EXPANDS.findall(text))]
    what = f"LLVM's assembler: {said['what']}"
    if not 0 <= at < len(back):
        return toolchain.ToolError(what)

    def line(at: int, callers: tuple[SourceLine, ...]) -> SourceLine:
        row = rows[back[at]]
        return SourceLine(
            row.file, row.line, (row.written or row.text).strip(), row.file, callers, places[back[at]].macro
        )

    callers: tuple[SourceLine, ...] = ()
    for within in reversed(inside):
        body = _body(given, at)
        if not body:
            break
        if given[body.start - 1] is not given[at]:
            callers = (line(at, callers), *callers)
        at = body[within % len(body)]
    row = rows[back[at]]
    if not inside:
        if row.written:  # what this module says through the assembler, where a condition lets it
            return toolchain.ToolError(said["what"], span=Span(row.file, row.line, 1, row.written))
        return toolchain.ToolError(what, span=Span(row.file, row.line, int(said["col"]), row.text))
    hint = "LLVM's .altmacro has no LOCAL: name\\@ is a label of one expansion" if _LOCAL.match(row.text) else None
    raised = toolchain.ToolError(what, span=Span(row.file, row.line, 1, text.split("\n")[1].strip()), hint=hint)
    raised.origin = line(at, callers)
    return raised


def _body(given: Sequence[str], at: int) -> range:
    """The lines that the repetition at a line repeats, or the macro that it calls has; none where that is not found."""
    codes = [_code(text, False)[0] for text in given]
    heads = [match[1] if (match := _HEAD.match(code)) else "" for code in codes]
    if (opens := heads[at].lower()) not in _ENDS:
        defined = re.compile(rf"\s*\.macro\s+{re.escape(heads[at])}(?![\w.$])", re.I)
        at = next((n for n in reversed(range(at)) if defined.match(codes[n])), len(given))
        opens = ".macro"
    depth = 0
    for n in range(at, len(given)):
        head = heads[n].lower()
        depth += (_ENDS.get(head) == _ENDS[opens]) - (head in _ENDS[opens])
        if depth == 0:
            return range(at + 1, n)
    return range(0)


def _sized(inst: Instruction, code: bytes) -> str:
    """The text of a decoded instruction: with `lit()` where its literal is a number that would not need to be one."""
    text, end = str(inst), (inst.address or 0) + inst.size
    if size_of(inst) == inst.size:
        return text
    literal = f"lit({int.from_bytes(code[end - 4 : end], 'little'):#x})"
    text = re.sub(r"^(.*, )-?\d[\w.]*", rf"\1{literal}", text)
    if size_of(parse_instruction(text)) != inst.size:
        raise inst.error("an encoding that no text has")
    return text


class _Output:
    """Reads what the assembler wrote."""

    def __init__(self, rows: Sequence[_Row], places: Sequence[_Place], file: str, prefix: str) -> None:
        self.rows, self.places = rows, places
        self.unnamed = not any(_TARGET.match(row.text) for row in rows)
        self.mark = re.compile(rf"\s*\.set {re.escape(prefix)}(\d+), (-?\w+)")
        self.strip = re.compile(r"\s*\.no_dead_strip\s+(\S+)")
        self.prefix = prefix
        self.out: dict[int, list[tuple[str, SourceLine]]] = {}  # of each unit by its first line
        self.stack: list[tuple[str, int]] = []  # expansions: their number, the line that is read
        self.base = 0
        self.sets: Counter[str] = Counter()
        self.words: list[list[tuple[int, int, int]]] = []  # runs of numbers in code: unit, index in it, number
        self.code = False

    def read(self, text: str) -> None:
        raw, last, begun = False, "", False
        for line in text.split("\n"):
            if raw:
                raw = ".end_amdgpu_metadata" not in line
                self._add(line)
                continue
            if match := self.mark.match(line):
                self._at(int(match[1]), match[2])
                begun = True
                continue
            if (match := self.strip.match(line)) and (match[1] == last or match[1].startswith(self.prefix)):
                continue
            bare = line if "hipgemm:" in line else without_comment(line).rstrip()
            if (self.unnamed or not begun) and bare.lstrip().startswith(".amdgcn_target"):
                continue  # is the assembler's, not the text's
            if not bare.strip() or (bare.strip().startswith(";") and "hipgemm:" not in bare):
                continue
            last = ""
            if match := re.match(r"\s*\.set\s+([^,\s]+),", bare):
                last = match[1]
                self.sets[last] += 1
            raw = bare.strip() == ".amdgpu_metadata"
            self._add(bare)

    def _at(self, number: int, expansion: str) -> None:
        """The assembler is at a line of the input."""
        if expansion == "-1":
            self.stack.clear()
            self.base = number
            return
        while self.stack and expansion in (known for known, _ in self.stack[:-1]):
            self.stack.pop()
        if self.stack and self.stack[-1][0] == expansion:
            self.stack[-1] = (expansion, number)
        else:
            self.stack.append((expansion, number))

    def _line(self, number: int, callers: tuple[SourceLine, ...] = ()) -> SourceLine:
        row = self.rows[number]
        return SourceLine(row.file, row.line, row.text.strip(), row.file, callers, self.places[number].macro)

    def _add(self, text: str) -> None:
        chain: tuple[SourceLine, ...] = (self._line(self.base),)
        for _, number in self.stack:
            chain = (self._line(number, chain), *chain)
        top = self.places[self.base].top
        made = self.out.setdefault(top, [])
        if (word := _WORD.fullmatch(text)) and self.code:
            self.words[-1].append((top, len(made), int(word[1]) & 0xFFFFFFFF))
        elif text.rstrip().endswith(":"):
            self.words.append([])
        elif (head := _HEAD.match(text)) and not head[1].startswith((".set", ".p2align")):
            self.code = not head[1].startswith((".", "s_endpgm"))
            self.words.append([])
        made.append((text, chain[0]))

    def decode(self, arch: str, wave64: bool) -> None:
        """Numbers between instructions become the instructions that they are, at the place of their first word."""
        for run in filter(None, self.words):
            code = b"".join(number.to_bytes(4, "little") for *_, number in run)
            rows = disassemble(code, arch=arch, wave64=wave64)
            try:
                made = [_sized(inst, code) for inst in parse_disassembly(rows, "", arch)]
            except IsaError:
                continue  # no instructions, or not all
            for (at, size, _), text in zip(rows, made, strict=True):
                for k, (top, index, _) in enumerate(run[at // 4 : (at + size) // 4]):
                    self.out[top][index] = ("" if k else f"\t{text}", self.out[top][index][1])

    def _units(self) -> Iterator[tuple[Unit, list[SourceLine]]]:
        tops = [n for n, place in enumerate(self.places) if place.top == n]
        again = {name for name, count in self.sets.items() if count > 1}
        bodies = "\n".join(r.text for r, p in zip(self.rows, self.places, strict=True) if p.nested)
        loose_macros = "\\@" in bodies or not again.isdisjoint(re.findall(r"[\w.$]+", bodies))
        for k, top in enumerate(tops):
            rows = self.rows[top : tops[k + 1] if k + 1 < len(tops) else len(self.rows)]
            texts = tuple(row.text for row in rows)
            if made := self.out.get(top):
                expands = any(o.callers for _, o in made) or (len(rows) > 1 and self.places[top + 1].marked)
                loose = (expands and loose_macros) or not again.isdisjoint(re.findall(r"[\w.$]+", "\n".join(texts)))
                loose = loose and not re.match(r"\s*\.set\s", made[0][0])
                yield Unit(k, texts, tuple(text for text, _ in made), loose), self._spread(top, rows, made)
            else:
                bare = texts[0].strip()
                shown = bare if len(texts) == 1 and bare.startswith((";", "//")) else ""
                yield Unit(k, texts, (shown,), False), [self._line(top)]

    def _spread(
        self, top: int, rows: Sequence[_Row], made: Sequence[tuple[str, SourceLine]]
    ) -> list[SourceLine]:  # fmt: skip
        """The places of lines that come from a block, such as metadata, which the assembler lays out anew."""
        if len(rows) == 1 or made[0][1].callers or self.places[top + 1].marked:
            return [origin for _, origin in made]
        dashes = [(len(dash[1]), k) for k, row in enumerate(rows) if (dash := re.match(r"(\s*)- *[.{]", row.text))]
        begins = [k for indent, k in dashes if indent == min(dashes)[0]]  # entries of the metadata's list of kernels
        regions = [(0, len(rows)), *pairwise((*begins, len(rows)))]
        found: list[SourceLine] = []
        entry = at = 0
        for text, _ in made:
            entry += text.startswith("  - ") and entry + 1 < len(regions)
            low, high = regions[entry]
            at = min(max(at, low), high - 1)
            word = re.escape(key[0]) if (key := re.search(r"\.\w+", text)) else "(?!)"
            hits = (k for k in (*range(at, high), *range(low, at)) if re.search(rf"{word}\b", rows[k].text))
            at = next(hits, at)
            found.append(self._line(top + at))
        return found

    def program(self, file: str, newline: bool, meant: Target | None) -> Program:
        units = list(self._units())
        lines = [
            (text, unit, k, origin)
            for unit, origins in units
            for k, (text, origin) in enumerate(zip(unit.made, origins, strict=True))
        ]
        name = f"{file} (expanded)"
        try:
            plain = parse("".join(f"{text}\n" for text, *_ in lines), name, meant)
        except IsaError as error:
            if error.span is not None and error.span.file == name:
                _, unit, k, origin = lines[error.span.line - 1]
                error.span = dataclasses.replace(error.span, written=Written(unit, k, origin))
            raise
        rows = [
            Line(x.text, x.node, Written(unit, k, origin))
            for x, (_, unit, k, origin) in zip(plain.lines, lines, strict=True)
        ]
        held = dataclasses.replace(
            plain, lines=tuple(rows), newline_at_end=newline, title=file, units=tuple(u for u, _ in units)
        )
        return reread(held, name)
