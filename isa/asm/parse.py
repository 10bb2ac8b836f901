"""Assembly text -> Program.

The reader takes LLVM's gfx11 syntax, as clang writes it with -S and as its disassembler prints it. It is line based:
a line is a label (possibly with something after it), a directive, an instruction or nothing. What it does not
interpret it keeps as text, so emit(parse(text)) == text for any input.

An instruction line is `mnemonic operand, operand, ... modifier modifier ; comment`; two halves joined by `::` are a
VOPD. Operands are split at commas outside of brackets; the last one is followed by the modifiers, words or
`name:value`. Operand syntax that is not known is an IsaError at its column. Whether the mnemonic exists is asked only
when somebody needs to know (`Instruction.desc`), so that a program with an undescribed instruction still reads.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import cast

from isa.asm.emit import emit
from isa.asm.program import Directive, Label, Line, Program, Written
from isa.errors import IsaError, Span
from isa.registers import Reg, parse_register
from isa.semantics.instruction import Fields, Imm, Instruction, Modified, ModifierValue, Operand, Special, Symbol
from isa.targets import GFX1100, TARGETS, Target, elsewhere, named_in, unsupported, who_has

# No pattern may match one text in many ways, or a hostile line takes forever; int() takes no more than 4300 digits.
LONGEST_INSTRUCTION = 4096
"""Characters of an instruction without its comment; LLVM's longest has under 300."""
_DEEPEST = 3
"""How far modifiers nest: neg(abs(lit(x)))."""
_LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$@]*):(?!:)")
_MNEMONIC = re.compile(r"\s*([a-z][a-z0-9_]*)(?=\s|$)")
_INT = re.compile(r"-?(0x[0-9a-fA-F]{1,32}|0b[01]{1,128}|[0-9]{1,40})$")
_FLOAT = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$")
_FIELD = re.compile(r"([A-Za-z_]\w*)\(([^()]*)\)")
_SYMBOL = re.compile(r"[-+(]*[A-Za-z_.$][\w.$@]*([-+*)( &<>]+[\w.$@]+)*\)*$")
_APERTURES = ("shared_base", "shared_limit", "private_base", "private_limit")
_SPECIAL = {"off": "off"} | {start + name: f"src_{name}" for name in _APERTURES for start in ("", "src_")}
_LOST = ("pops_exiting_wave_id", "vccz", "execz", "lds_direct")
_GONE = frozenset(start + name for name in _LOST for start in ("", "src_"))
"""Sources that GFX11 and later do not have, which assemblers know and refuse."""
# Modifiers that are bare words; anything else after an operand must be name:value.
_FLAGS = frozenset(
    "glc slc dlc clamp gds lds tfe lwe r128 a16 d16 unorm da idxen offen row_mirror row_half_mirror".split()
)
_FIELD_OPERANDS = frozenset(
    "s_waitcnt s_waitcnt_depctr s_wait_alu s_delay_alu s_getreg_b32 s_setreg_b32 s_setreg_imm32_b32 s_sendmsg "
    "s_sendmsghalt s_sendmsg_rtn_b32 s_sendmsg_rtn_b64".split()
)


def parse(text: str, file: str = "<text>", meant: Target | None = None) -> Program:
    """Read a whole assembly file. meant: its target where it names none. Raises IsaError at the first line that is not
    assembly, and where it is for a target that is not supported."""
    body, newline = (text[:-1], True) if text.endswith("\n") else (text, False)
    lines: list[Line] = []
    in_metadata = False
    stated: Target | None = None
    target, begun = meant, False
    for number, raw in enumerate(body.split("\n")):
        if in_metadata:
            in_metadata = ".end_amdgpu_metadata" not in raw
            lines.append(Line(raw))
            continue
        line = parse_line(raw, file, number, target)
        if isinstance(line.node, Directive):
            in_metadata = line.node.name == ".amdgpu_metadata"
            span = Span(file, number + 1, len(raw) - len(raw.lstrip()) + 1, raw)
            named, before = _target(line.node, span), stated or target or GFX1100
            if named and named is not before and (stated or (begun and named.family is not before.family)):
                raise IsaError(
                    "another target than before", span=span, expected=before.name, got=named.name,
                    hint="assembly is for one target, which is named before the first instruction",
                )  # fmt: skip
            stated, target = named or stated, named or target
        begun = begun or isinstance(line.node, Instruction)
        lines.append(line)
    return Program(file, tuple(lines), newline, meant=meant)


def parse_disassembly(
    listing: Iterable[tuple[int, int, str]], file: str, arch: str = "", data: dict[int, str] | None = None
) -> list[Instruction]:
    """(address, size in bytes, text) rows, as `code_object.disassemble` gives them, -> instructions with addresses.
    arch: the target that they are for; data: takes the rows that are no instruction. IsaError for these where nothing
    takes them."""
    instructions, target = [], TARGETS.get(arch)
    for number, (address, size, text) in enumerate(listing):
        if data is not None and (text.startswith(".") or text == _ILLEGAL):
            data[address] = text
            continue
        if text.startswith("."):
            raise undecoded(address, text, file, arch)
        instructions.append(parse_instruction(text, file, number, target, address, size))
    return instructions


_ILLEGAL = "v_illegal"
"""What LLVM shows words of zeros and ones as that no instruction may have."""


def undecoded(address: int, text: str, name: str = "", arch: str = "") -> IsaError:
    """The error for bytes in the place of an instruction. text: the directive that the disassembler shows them as."""
    if text == _ILLEGAL:
        return IsaError(f"{name + ': ' if name else ''}at {address:#x} is {text}, which no kernel may run")
    words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]+)", text)]
    width = 4 if text.startswith(".long") else 1
    data = b"".join(word.to_bytes(width, "little") for word in words)
    return IsaError(
        f"{name + ': ' if name else ''}at {address:#x} is not an instruction that the disassembler knows",
        expected=f"an instruction of {arch or 'gfx11'}",
        got=f"bytes {data.hex(' ')}",
        hint="is this data, or code for a newer target? hipgemm reads what LLVM 22 reads",
    )


def aimed(program: Program, target: Target) -> Program:
    """A program that names no target, read for one; any other as it is."""
    if program.target:
        return program
    return dataclasses.replace(reread(dataclasses.replace(program, meant=target), program.file), title=program.title)


def reread(program: Program, file: str) -> Program:
    """A program's text read again, as that of a file. What its lines were written as goes along."""
    if not program.units:
        return parse(emit(program), file, program.meant)
    made = parse("".join(f"{line.text}\n" for line in program.lines), file, program.meant)
    lines = []
    for line, old in zip(made.lines, program.lines, strict=True):
        written = old.written
        if written is None and old.instruction and old.instruction.span:
            written = cast("Written | None", old.instruction.span.written)
        own = written is not None and written.unit.made[written.index].strip() == line.text.strip()
        node = _from(line.node, written) if written else line.node
        lines.append(Line(line.text, node, written if own or old.written else None))
    return dataclasses.replace(made, lines=tuple(lines), title=program.title, units=program.units,
                               newline_at_end=program.newline_at_end)  # fmt: skip


def _from(node: Instruction | Label | Directive | None, written: Written) -> Instruction | Label | Directive | None:
    """An instruction, at what it was written as."""
    if not isinstance(node, Instruction) or node.span is None:
        return node
    pair = None if node.pair is None else cast(Instruction, _from(node.pair, written))
    return dataclasses.replace(node, pair=pair, span=dataclasses.replace(node.span, written=written))


def _target(directive: Directive, span: Span) -> Target | None:
    """What `.amdgcn_target` names; None for other directives. IsaError for a target that is not supported."""
    name = named_in(directive.args) if directive.name == ".amdgcn_target" else ""
    if name and name not in TARGETS:
        raise unsupported("assembly", name, span)
    return TARGETS.get(name)


def parse_line(raw: str, file: str = "<text>", number: int = 0, target: Target | None = None) -> Line:
    """Read one line; `number` counts from 0. target: what the program is for."""
    code = without_comment(raw)
    if m := _LABEL.match(code):
        if code[m.end() :].strip():
            raise IsaError(
                "a label shares its line with something else",
                span=Span(file, number + 1, m.end() + 1, raw),
                hint="put what follows the label on its own line",
            )
        return Line(raw, Label(m[1]))
    stripped = code.strip()
    if not stripped:
        return Line(raw)
    if stripped.startswith("."):
        name, *args = stripped.split(None, 1)
        return Line(raw, Directive(name, *(args or [""])))
    if stripped.startswith("#"):
        return Line(raw)
    return Line(raw, parse_instruction(raw, file, number, target))


def parse_instruction(
    raw: str, file: str = "<text>", number: int = 0, target: Target | None = None, address: int | None = None,
    size: int = 0,
) -> Instruction:  # fmt: skip
    """Read one instruction, a VOPD pair included. The same line stands in many programs, those that a search makes of
    one kernel; what was found out about it, apart from where it stands, is kept."""
    key = (raw, target.name if target else "")
    if (known := _READ.get(key)) is None:
        if len(_READ) >= _MOST_READ:
            _READ.clear()
        known = _READ[key] = _parsed(raw, file, number, target)
        _ = known.facts
    elif "_writes" not in known.__dict__:  # a line that comes again is found out about once for all
        for half in filter(None, (known.pair, known)):
            with suppress(IsaError):
                _ = half._hash, half.counters, half.reads(), half.writes()
    return _placed(known, file, number, address, size)


_READ: dict[tuple[str, str], Instruction] = {}
_MOST_READ = 1 << 15


def _placed(known: Instruction, file: str, number: int, address: int | None = None, size: int = 0) -> Instruction:
    """The same instruction on another line of another file."""
    span = known.span
    assert span is not None
    held = known.__dict__.copy()
    held["span"], held["address"], held["size"] = Span(file, number + 1, span.col, span.text), address, size
    if known.pair is not None:
        held["pair"] = _placed(known.pair, file, number)
        held.pop("_first", None)
    inst = object.__new__(Instruction)
    object.__setattr__(inst, "__dict__", held)
    return inst


def _parsed(raw: str, file: str, number: int, target: Target | None) -> Instruction:
    code = without_comment(raw)
    if len(code) > LONGEST_INSTRUCTION:
        raise IsaError(
            "an instruction cannot have this length",
            span=Span(file, number + 1, 1, raw[:80] + " ..."),
            expected=f"at most {LONGEST_INSTRUCTION} characters",
            got=str(len(code)),
        )
    halves = []
    start = 0
    for part in code.split("::"):
        halves.append(_parse_half(raw, part, start, file, number, target))
        start += len(part) + 2
    if len(halves) > 2:
        raise IsaError("a VOPD has two halves", span=Span(file, number + 1, 1, raw), got=f"{len(halves)} halves")
    x = halves[0]
    if len(halves) == 2:
        return dataclasses.replace(x, pair=halves[1])
    return x


def without_comment(raw: str) -> str:
    """The line without `; comment` and `// comment`; text in quotes is left alone."""
    if ";" not in raw and "//" not in raw:
        return raw
    quoted = escaped = False
    for i, c in enumerate(raw):
        if c == '"' and not escaped:
            quoted = not quoted
        escaped = quoted and c == "\\" and not escaped
        if c == '"':
            continue
        if not quoted and (c == ";" or raw.startswith("//", i)):
            return raw[:i]
    return raw


def _parse_half(raw: str, part: str, start: int, file: str, number: int, target: Target | None) -> Instruction:
    """One instruction from `part`, which stands at index `start` of the line `raw`."""
    try:
        mnemonic, at, operands, places, modifiers = _read_half(part)
    except IsaError as error:
        error.span = Span(file, number + 1, start + (error.span.col if error.span else 1), raw)
        name = part.split()[0] if part.strip() else ""
        if who := who_has(name):  # its operands may be of kinds that gfx11 does not have
            raise elsewhere(name, who, error.span) from None
        raise
    span = Span(file, number + 1, start + at + 1, raw)
    columns = tuple(start + place + 1 for place in places)
    return Instruction(mnemonic, operands, modifiers, None, span, columns, target=target)


_Modifiers = tuple[tuple[str, ModifierValue], ...]


@lru_cache(1 << 14)
def _read_half(part: str) -> tuple[str, int, tuple[Operand, ...], tuple[int, ...], _Modifiers]:
    """(mnemonic, its index, operands, their indices, modifiers); an error's column counts from the start of `part`. The
    same text stands in many programs: a kernel's, each rewritten one's, and what their code disassembles to."""

    def at(index: int) -> Span:
        return Span("", 1, index + 1, part)

    m = _MNEMONIC.match(part)
    if not m:
        raise IsaError(
            "not an instruction",
            span=at(len(part) - len(part.lstrip())),
            expected="a label, a directive, a comment or a mnemonic such as v_fmac_f32_e32",
            got=repr(part.strip()),
        )
    mnemonic = m[1]
    operands: list[Operand] = []
    places: list[int] = []
    modifiers: list[tuple[str, ModifierValue]] = []
    for k, (place, piece) in enumerate(_split(part, m.end())):
        if mnemonic in _FIELD_OPERANDS and _FIELD.match(piece):
            operands.append(_parse_fields(piece))
            places.append(place)
            continue
        words = _words(piece)
        first = 0
        if not (k == 0 and words and _is_modifier(words[0][1])):
            if not words:
                raise IsaError("an operand is missing", span=at(place))
            operands.append(_parse_operand(words[0][1], at(place + words[0][0])))
            places.append(place + words[0][0])
            first = 1
        for offset, word in words[first:]:
            modifiers.append(_parse_modifier(word, at(place + offset)))
    return mnemonic, m.start(1), tuple(operands), tuple(places), tuple(modifiers)


def _split(part: str, begin: int) -> Iterable[tuple[int, str]]:
    """(index, text) of the pieces of part[begin:] between commas that stand outside of brackets; spaces trimmed."""
    if not part[begin:].strip():
        return
    depth, last = 0, begin
    for i in range(begin, len(part) + 1):
        c = part[i] if i < len(part) else ","
        if c in "[(":
            depth += 1
        elif c in "])":
            depth -= 1
        elif c == "," and (depth <= 0 or i == len(part)):
            piece = part[last:i]
            yield last + len(piece) - len(piece.lstrip()), piece.strip()
            last = i + 1


def _words(piece: str) -> list[tuple[int, str]]:
    """(index, word) of the space-separated words; brackets and a colon (`offset: 8`) hold a word together."""
    return [(m.start(), m[0]) for m in re.finditer(r"(?:\[[^\]]*\]|\([^)]*\)|:\s+|\S)+", piece)]


def _is_modifier(word: str) -> bool:
    return word in _FLAGS or bool(re.match(r"[a-z_0-9]+:", word))


def _parse_fields(piece: str) -> Fields:
    return Fields(tuple((m[1], tuple(a.strip() for a in m[2].split(","))) for m in _FIELD.finditer(piece)), piece)


def _parse_operand(word: str, span: Span, depth: int = 0) -> Operand:
    if depth > _DEEPEST:
        raise IsaError("modifiers are nested too deeply", span=span, expected=f"at most {_DEEPEST}, as in -abs(lit(x))")
    if (reg := parse_register(word)) is not None:
        return reg
    if _INT.match(word):
        return Imm(int(word, 0) if not re.match(r"-?0[0-9]", word) else int(word, 10), word)
    if _FLOAT.match(word):
        if abs(number := float(word)) == float("inf"):
            raise IsaError("a number beyond 64-bit floats", span=span, expected="at most 1.8e308", got=word)
        return Imm(number, word)
    if word in _SPECIAL:
        return Special(_SPECIAL[word])
    if word in _GONE:
        raise IsaError("a source that targets before gfx11 have", span=span, expected="another source", got=word)
    if m := re.match(r"(-?)\|(.+)\|$", word) or re.match(r"(-?)abs\((.+)\)$", word):
        return Modified(_inner(m[2], span, depth), neg=m[1] == "-", abs=True)
    if m := re.match(r"sext\((.+)\)$", word):
        return Modified(_inner(m[1], span, depth), sext=True)
    if m := re.match(r"-(?![0-9.])(.+)$", word) or re.match(r"neg\((.+)\)$", word):
        inner = _parse_operand(m[1], span, depth + 1)
        if isinstance(inner, Modified):
            return Modified(inner.operand, neg=True, abs=inner.abs, sext=inner.sext)
        if isinstance(inner, Reg | Imm | Special):
            return Modified(inner, neg=True)
    if m := re.match(r"(lit|lit64)\((.+)\)$", word):
        inner = _parse_operand(m[2], span, depth + 1)
        return dataclasses.replace(inner, text=word) if isinstance(inner, Imm) else inner
    if _FIELD.fullmatch(word):
        return _parse_fields(word)
    if _SYMBOL.match(word) and not re.match(r"[vs]\[|[vs][0-9]+$|ttmp", word):
        return Symbol(word)
    raise IsaError(
        "not an operand",
        span=span,
        expected="a register of the wave (v0 to v255, s0 to s105, vcc_lo, ...), a number or a symbol",
        got=repr(word),
    )


def _inner(word: str, span: Span, depth: int) -> Reg | Imm | Special | Symbol:
    operand = _parse_operand(word, span, depth + 1)
    if isinstance(operand, Fields | Modified):
        raise IsaError("not a source that can be modified", span=span, expected="a register or a number", got=word)
    return operand


def _parse_modifier(word: str, span: Span) -> tuple[str, ModifierValue]:
    name, colon, value = word.partition(":")
    value = value.lstrip()
    if not colon:
        if name in _FLAGS:
            return name, None
    elif _INT.match(value):
        return name, int(value, 0)
    elif m := re.match(r"\[([-\w, ]*)\]$", value):
        parts = [p.strip() for p in m[1].split(",")]
        if all(_INT.match(p) for p in parts):
            return name, tuple(int(p, 0) for p in parts)
        return name, value
    elif re.match(r"[\w.()-]+$|swizzle\([\w\", ]+\)$", value):
        return name, value
    raise IsaError("not a modifier", span=span, expected="a word such as glc or name:value", got=repr(word))
