"""Typed bits, and the arithmetic of the pseudocode on them.

Kinds: U and I integers, B bits of no kind yet, F and BF floats, R an exact real number (a power of two, which a text
only multiplies by), D the property "denormal", which texts compare with. Integers compute as in C, in 32 bits at least:
`S0.u32[7 : 0] + S1.u32[7 : 0]` has its carry. Shifts are those of mathematics: by more than the width nothing is left.

`loose` names the places where the bits are a NaN that arithmetic made, of which the texts do not say which it is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pcode import floats
from pcode.floats import EVEN, FORMATS, Exact, Format


class Value(NamedTuple):
    """bits: the pattern as an unsigned number; of an R the number. loose: (first bit, format) each."""

    kind: str
    width: int
    bits: Any
    loose: tuple[tuple[int, Format], ...] = ()

    @property
    def number(self) -> int:
        """As an integer."""
        bits: int = self.bits
        return bits - (1 << self.width) if self.kind == "I" and bits >> self.width - 1 else bits

    @property
    def form(self) -> Format:
        return FORMATS[self.kind, self.width]

    @property
    def exact(self) -> Exact:
        """As a float; an integer, as the number it is."""
        if self.kind == "R":
            return self.bits
        form = FORMATS.get((self.kind, self.width))
        return floats.from_int(self.number) if form is None else floats.unpack(form, self.bits)

    @property
    def true(self) -> bool:
        return self.bits != 0

    @property
    def is_nan(self) -> bool:
        return self.kind in ("F", "BF") and self.form.is_nan(self.bits)


def flag(truth: object) -> Value:
    return ONE if truth else NO


ONE, NO = Value("U", 1, 1), Value("U", 1, 0)


def integer(kind: str, width: int, number: int) -> Value:
    return Value(kind, width, number & (1 << width) - 1)


def rounded(kind: str, width: int, number: Exact, rounding: int = EVEN) -> Value:
    """A float of a format; a NaN is one that arithmetic made."""
    form = FORMATS[kind, width]
    loose = ((0, form),) if number[0] == floats.NAN else ()
    return Value(kind, width, floats.pack(form, number, rounding), loose)


_VIEW = re.compile(r"(bf|fp|[uifb])(\d+)$")


def view_type(name: str) -> tuple[str, int] | None:
    """`u32` -> (U, 32); None where `name` is the name of a field."""
    m = _VIEW.match(name)
    return (m[1].upper(), int(m[2])) if m else None


def view(a: Value, kind: str, width: int) -> Value:
    """The low bits read as another type; a signed number that gets wider keeps its sign."""
    if a.kind == kind and a.width == width:
        return a
    if a.kind == "R" or a.kind == kind == "F":
        return cast(a, kind, width)
    bits = a.number if a.kind == kind == "I" else a.bits
    loose = tuple(row for row in a.loose if row[0] + row[1].width <= width)
    return Value(kind, width, bits & (1 << width) - 1, loose)


def piece(a: Value, first: int, count: int) -> Value:
    """`count` bits from bit `first`."""
    loose = tuple((at - first, form) for at, form in a.loose if first <= at and at + form.width <= first + count)
    return Value("B", count, a.bits >> first & (1 << count) - 1, loose)


def placed(old: Value, first: int, count: int, new: Value) -> Value:
    """`old` with `count` bits from bit `first` replaced; wider where they lie beyond its end."""
    width = max(old.width, first + count)
    mask = (1 << count) - 1
    bits = old.bits & ~(mask << first) | (new.bits & mask) << first
    loose = tuple(row for row in old.loose if row[0] + row[1].width <= first or row[0] >= first + count)
    return Value(old.kind, width, bits, loose + tuple((at + first, form) for at, form in new.loose))


def cast(a: Value, kind: str, width: int) -> Value:
    """The same number in another type: a float rounds, an integer is cut off or extended by its own sign."""
    if (a.kind, a.width) == (kind, width):
        return a
    if kind in ("F", "BF"):
        if a.kind in ("F", "BF"):
            return Value(kind, width, floats.convert(FORMATS[kind, width], a.form, a.bits), _moved(a, kind, width))
        return rounded(kind, width, a.exact)
    if a.kind in ("F", "BF"):
        return integer(kind, width, floats.integer(a.exact))
    return integer(kind, width, a.number)


def _moved(a: Value, kind: str, width: int) -> tuple[tuple[int, Format], ...]:
    return ((0, FORMATS[kind, width]),) if a.loose else ()


def stored(a: Value, kind: str, width: int) -> Value:
    """What an assignment to a place of that type puts there."""
    if kind in ("F", "BF") and a.kind in ("F", "BF", "R"):
        return cast(a, kind, width)
    if a.kind == "I" and kind in ("U", "I", "B"):
        return integer(kind, width, a.number)
    return view(a, kind, width)


# --- operators


def _floating(a: Value, b: Value) -> tuple[str, int] | None:
    """The type in which two values compute as floats."""
    kinds = [v for v in (a, b) if v.kind in ("F", "BF")]
    if not kinds:
        return None
    wide = max(kinds, key=lambda v: v.width)
    return wide.kind, wide.width


def _integral(a: Value, b: Value, least: int) -> tuple[str, int]:
    width = max(a.width, b.width, least)
    kinds = {v.kind for v in (a, b)} - {"B"}
    if len(kinds) == 2:
        kinds = {(a if a.width > b.width else b).kind} if a.width != b.width else {"U"}
    return (kinds.pop() if kinds else "U"), width


def _arithmetic(op: str, a: Value, b: Value) -> Value:
    type_ = _floating(a, b)
    if type_ is not None or "R" in (a.kind, b.kind):
        x, y = a.exact, b.exact
        number = {
            "+": lambda: floats.add(x, y),
            "-": lambda: floats.add(x, floats.negated(y)),
            "*": lambda: floats.multiply(x, y),
            "/": lambda: floats.divide(x, y),
        }[op]()
        return rounded(*type_, number) if type_ is not None else Value("R", 0, number)
    kind, width = _integral(a, b, 32)
    m, n = a.number, b.number
    if op == "/":
        return integer(kind, width, abs(m) // abs(n) * (1 if (m < 0) == (n < 0) else -1))
    if op == "%":
        return integer(kind, width, abs(m) % abs(n) * (-1 if m < 0 else 1))
    return integer(kind, width, m + n if op == "+" else m - n if op == "-" else m * n)


def _bitwise(op: str, a: Value, b: Value) -> Value:
    kind, width = _integral(a, b, 1)
    m, n = (integer(kind, width, v.number).bits for v in (a, b))
    return Value(kind, width, m & n if op == "&" else m | n if op == "|" else m ^ n)


def _shift(op: str, a: Value, b: Value) -> Value:
    kind, width = ("U" if a.kind == "B" else a.kind), max(a.width, 32)
    count = min(b.number, 2 * width)
    return integer(kind, width, a.number << count if op == "<<" else a.number >> count)


def _power(a: Value, b: Value) -> Value:
    """A power of two, exactly."""
    assert a.exact == floats.from_float(2.0) or floats.to_float(a.exact) == 2.0
    return Value("R", 0, (floats.FINITE, 0, 1, b.number))


_ORDERS = {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1), "==": (0,), "<>": (-1, 1), "!=": (-1, 1, None)}


def _compare(op: str, a: Value, b: Value) -> Value:
    if b.kind == "D":
        return flag(a.form.is_denormal(a.bits))
    if _floating(a, b) is not None:
        return flag(floats.order(a.exact, b.exact) in _ORDERS[op])
    m, n = a.number, b.number
    return flag((m > n) - (m < n) in _ORDERS[op])


def binary(op: str, a: Value, b: Value) -> Value:
    """a op b, of all operators but && and ||."""
    if op in _ORDERS:
        return _compare(op, a, b)
    if op in "&|^":
        return _bitwise(op, a, b)
    if op in ("<<", ">>"):
        return _shift(op, a, b)
    return _power(a, b) if op == "**" else _arithmetic(op, a, b)


def unary(op: str, a: Value) -> Value:
    """+ - ~ !: a float's sign is turned without looking at the rest."""
    if op == "+":
        return a
    if op == "!":
        return flag(not a.true)
    if op == "~":
        return Value(a.kind, a.width, ~a.bits & (1 << a.width) - 1)
    if a.kind in ("F", "BF"):
        return Value(a.kind, a.width, a.bits ^ a.form.sign, a.loose)
    return integer("I" if a.kind == "B" else a.kind, max(a.width, 32), -a.number)
