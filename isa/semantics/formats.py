"""Formats of typed buffers: the formats of MTBUF, and numbers in and out of them. RDNA3 ISA guide 9.1.3, 9.1.4.

A format's name has the sizes of its components, of which the last (in the lowest bits, or at the lowest address) is X,
and how they are to be taken; `FORMATS` has them by their number in the instruction (LLVM, SIDefines.h, UfmtGFX11).
With n bits:

    UINT, SINT          the integer                      USCALED, SSCALED    the integer as a float
    UNORM               integer / (2**n - 1)             SNORM               max(integer / (2**(n-1) - 1), -1)
    FLOAT               f32, f16; of 11 and 10 bits an f16 without its sign and its lowest bits

A load gives 32 bits a component, 0 for those that a format does not have (the guide's X000, XY00, XYZ0). Its d16 form
gives 16: floats as f16, f32 by truncation and others rounded to nearest; of integers the low half.

A store takes the same. Floats go towards zero, as the guide says of d16. What it leaves open is done as Direct3D 11's
functional specification asks (3.2.3): normalised numbers are clamped, a NaN is 0, and the scaled number is rounded with
+- 0.5; integers are clamped. Scaled integers are rejected, as no rule was found for them.

Limits: normalised numbers are rounded as the wave's MODE says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from isa.semantics.instruction import Instruction
from isa.semantics.values import Value, fma, select

_ALL = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT")
_WORDS = ("UINT", "SINT", "FLOAT")
FORMATS = ("INVALID", *(
    f"{sizes}_{kind}"
    for sizes, kinds in (
        ("8", _ALL), ("16", (*_ALL, "FLOAT")), ("8_8", _ALL), ("32", _WORDS), ("16_16", (*_ALL, "FLOAT")),
        ("10_11_11", ("FLOAT",)), ("11_11_10", ("FLOAT",)), ("10_10_10_2", ("UNORM", "SNORM", "UINT", "SINT")),
        ("2_10_10_10", _ALL), ("8_8_8_8", _ALL), ("32_32", _WORDS), ("16_16_16_16", (*_ALL, "FLOAT")),
        ("32_32_32", _WORDS), ("32_32_32_32", _WORDS),
    )
    for kind in kinds
))  # fmt: skip
"""The names by their numbers, without BUF_FMT_."""
DEFAULT = 1
_CUT = {16: 0, 11: 4, 10: 5}
"""Of a float of n bits: how many of an f16's lowest bits it does not have."""


@dataclass(frozen=True)
class Format:
    """bits: of each component, X first. kind: as in the names."""

    bits: tuple[int, ...]
    kind: str

    @property
    def packed(self) -> bool:
        """Whether its components lie in one dword that is not of whole bytes each."""
        return any(n % 8 for n in self.bits)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return sum(self.bits) // 8

    def reach(self, components: int) -> int:
        """How many bytes of an element so many components lie in."""
        return self.size if self.packed else sum(self.bits[:components]) // 8

    def fields(self, components: int) -> list[tuple[int, int, int]]:
        """(word, first bit, bits) of so many components, or of those that there are."""
        starts = [sum(self.bits[:i]) for i in range(len(self.bits))]
        return [(at // 32, at % 32, n) for at, n in zip(starts, self.bits, strict=True)][:components]


@cache
def _format(name: str) -> Format:
    *sizes, kind = name.split("_")
    return Format(tuple(int(n) for n in reversed(sizes)), kind)


def format_of(inst: Instruction) -> Format:
    """The format of an MTBUF instruction. IsaError where it is none."""
    given = inst.modifier("format", DEFAULT)
    if isinstance(given, str):
        name = given.strip("[]").removeprefix("BUF_FMT_")
        given = FORMATS.index(name) if name in FORMATS else 0
    if not isinstance(given, int) or not 0 < given < len(FORMATS):
        raise inst.error(
            "this format of a buffer is not described", expected=f"1 to {len(FORMATS) - 1}, or [BUF_FMT_...]",
            got=str(inst.modifier("format")),
        )  # fmt: skip
    return _format(FORMATS[given])


def expand(words: Sequence[Value], form: Format, components: int, halves: bool) -> list[Value]:
    """An element's words -> its components, u32 each; halves: of 16 bits."""
    found = [_expanded(words[word] >> first, n, form.kind, halves) for word, first, n in form.fields(components)]
    return found + [words[0] & 0] * (components - len(found))


def narrow(values: Sequence[Value], form: Format, halves: bool) -> list[Value]:
    """Components, u32 each, or of 16 bits -> the words of an element that hold them."""
    fields = form.fields(len(values))
    words = [values[0] & 0] * (fields[-1][0] + 1)
    for value, (word, first, n) in zip(values, fields, strict=False):
        words[word] = words[word] | _narrowed(value, n, form.kind, halves) << first
    return words


def _signed(field: Value, n: int) -> Value:
    return (field << 32 - n).bits("i32") >> 32 - n


def _expanded(field: Value, n: int, kind: str, halves: bool) -> Value:
    if n < 32:
        field = field & (1 << n) - 1
    if kind in ("UINT", "SINT"):
        whole = _signed(field, n).bits("u32") if kind == "SINT" and n < 32 else field
        return whole & 0xFFFF if halves else whole
    if kind == "FLOAT":
        if n == 32:
            return _half_of(field) if halves else field
        half = field << _CUT[n]
        return half if halves else _word_of(half)
    number = (_signed(field, n) if kind in ("SNORM", "SSCALED") else field).to("f32")
    if kind == "UNORM":
        number = number.div(float((1 << n) - 1))
    elif kind == "SNORM":
        number = number.div(float((1 << n - 1) - 1))
        number = select(number < -1.0, -1.0, number)
    return number.to("f16").bits("u16").to("u32") if halves else number.bits("u32")


def _narrowed(value: Value, n: int, kind: str, halves: bool) -> Value:
    if kind in ("UINT", "SINT"):
        return _clamped(value, n, kind == "SINT", halves)
    if kind == "FLOAT":
        if n == 32:
            return _word_of(value) if halves else value
        half = value & 0xFFFF if halves else _half_of(value)
        if n == 16:
            return half
        positive = select(((half & 0x8000) != 0) & ((half & 0x7FFF) <= 0x7C00), 0, half & 0x7FFF)
        short = positive >> _CUT[n]
        return select(positive > 0x7C00, 0x7C00 >> _CUT[n] | 1, short)
    number = (_word_of(value & 0xFFFF) if halves else value).bits("f32")
    if kind == "UNORM":
        inside = select(number > 0.0, select(number < 1.0, number, 1.0), 0.0)
        return fma(inside, float((1 << n) - 1), 0.5).to_int("u32")
    finite = select(number == number, number, 0.0)
    inside = select(finite > -1.0, select(finite < 1.0, finite, 1.0), -1.0)
    half = ((inside.bits("u32") & 0x80000000) | 0x3F000000).bits("f32")
    whole = fma(inside, float((1 << n - 1) - 1), half).to_int("i32")
    return whole.bits("u32") & (1 << n) - 1


def _clamped(value: Value, n: int, signed: bool, halves: bool) -> Value:
    if n == 32:
        return _signed(value, 16).bits("u32") if halves and signed else value & 0xFFFF if halves else value
    if not signed:
        most = (1 << n) - 1
        value = value & 0xFFFF if halves else value
        return select(value > most, most, value)
    most, number = (1 << n - 1) - 1, _signed(value, 16) if halves else value.bits("i32")
    inside = select(number > most, most, select(number < -most - 1, -most - 1, number))
    return inside.bits("u32") & (1 << n) - 1


def _word_of(half: Value) -> Value:
    """The bits of an f16 -> those of the same f32; denormals count, whatever MODE says."""
    size, sign = half & 0x7FFF, (half & 0x8000) << 16
    small = (size.to("f32") * 2.0**-24).bits("u32")
    normal = (size << 13) + select(size >= 0x7C00, (size & 0) + (224 << 23), 112 << 23)
    return select(size < 0x400, small, normal) | sign


def _half_of(word: Value) -> Value:
    """The bits of an f32 -> those of the f16 next to it towards zero."""
    size, sign = word & 0x7FFFFFFF, word >> 16 & 0x8000
    exponent = size >> 23
    normal = (size >> 13) - (112 << 10)
    shift = select(exponent < 103, (size & 0) + 24, 126 - select(exponent > 112, 112, exponent))
    small = ((size & 0x7FFFFF) | 0x800000) >> shift
    half = select(exponent < 113, small, select(exponent < 143, normal, 0x7BFF))
    special = select(size > 0x7F800000, size >> 13 & 0x3FF | 0x7E00, 0x7C00)
    return select(exponent == 255, special, half) | sign
