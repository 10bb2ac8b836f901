"""Assembler expressions as numbers: `max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)` with what `.set` says of both.

LLVM writes the counts of a kernel that calls as expressions of symbols, which `.set` gives their values anywhere in the
text. Taken are numbers, symbols, parentheses, the operators of LLVM's GNU dialect with their precedence, `max`, `or`,
`alignto`, and of the AMDGPU functions `totalnumvgprs` and `extrasgprs` as GFX10 and later have them (LLVM,
`AMDGPUMCExpr`). Numbers are signed, of 64 bits; what compares is -1 or 0.

Limits: labels and their differences, functions that ask for a target, a symbol that is set twice to different things,
and one that is defined by itself have no value here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+|[A-Za-z_.$@][\w.$@]*|<<|>>|==|!=|<>|<=|>=|&&|\|\||\S)")
_BITS = 64


class _NoValue(Exception):
    """The expression is no number here."""


def _quotient(a: int, b: int) -> int:
    """Rounded towards 0."""
    if b == 0:
        raise _NoValue
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shifted(a: int, b: int) -> int:
    if not 0 <= b < _BITS:
        raise _NoValue
    return a << b


def _shifted_right(a: int, b: int) -> int:
    if not 0 <= b < _BITS:
        raise _NoValue
    return a % (1 << _BITS) >> b


_BINARY: tuple[Mapping[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: bool(a or b)},
    {"&&": lambda a, b: bool(a and b)},
    {"==": lambda a, b: -(a == b), "!=": lambda a, b: -(a != b), "<>": lambda a, b: -(a != b),
     "<": lambda a, b: -(a < b), "<=": lambda a, b: -(a <= b),
     ">": lambda a, b: -(a > b), ">=": lambda a, b: -(a >= b)},
    {"+": operator.add, "-": operator.sub},
    {"|": operator.or_, "^": operator.xor, "&": operator.and_, "!": lambda a, b: a | ~b},
    {"*": operator.mul, "/": _quotient, "%": lambda a, b: a - _quotient(a, b) * b,
     "<<": _shifted, ">>": _shifted_right},
)  # fmt: skip
"""The loosest first; LLVM, `getGNUBinOpPrecedence`."""
_UNARY: Mapping[str, Callable[[int], int]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert, "!": lambda a: int(not a),
}  # fmt: skip


def _either(values: Sequence[int]) -> int:
    found = 0
    for value in values:
        found |= value
    return found


def _aligned(values: Sequence[int]) -> int:
    value, to = values
    if to <= 0:
        raise _NoValue
    return -(-value // to) * to


_FUNCTIONS: Mapping[str, tuple[int, Callable[[Sequence[int]], int]]] = {
    "max": (0, max),
    "or": (0, _either),
    "alignto": (2, _aligned),
    "totalnumvgprs": (2, max),  # without the joint file of GFX90A
    "extrasgprs": (3, lambda v: 2 if v[0] else 0),  # VCC: GFX10 has no room for others
}
"""Name -> how many arguments, 0 for any number from 1, and what it gives."""


def value(text: str, symbols: Mapping[str, str]) -> int | None:
    """What an expression is; None where it has no value. symbols: what each is set to, as text."""
    return _Reader(text, symbols, frozenset()).whole()


class _Reader:
    """One expression. within: symbols whose values are being read."""

    def __init__(self, text: str, symbols: Mapping[str, str], within: frozenset[str]) -> None:
        self.tokens = [*_TOKEN.findall(text), ""]
        self.at = 0
        self.symbols, self.within = symbols, within

    def whole(self) -> int | None:
        try:
            found = self._binary(0)
        except (_NoValue, RecursionError):
            return None
        return found if self.tokens[self.at] == "" else None

    def _take(self, token: str = "") -> str:
        found: str = self.tokens[self.at]
        if found == "" or (token and found != token):
            raise _NoValue
        self.at += 1
        return found

    def _binary(self, level: int) -> int:
        if level == len(_BINARY):
            return self._one()
        left = self._binary(level + 1)
        while (sign := self.tokens[self.at]) in _BINARY[level]:
            self.at += 1
            left = _signed(_BINARY[level][sign](left, self._binary(level + 1)))
        return left

    def _one(self) -> int:
        token = self._take()
        if token in _UNARY:
            return _signed(_UNARY[token](self._one()))
        if token == "(":
            inner = self._binary(0)
            self._take(")")
            return inner
        if token[0].isdigit():
            octal = re.fullmatch(r"0[0-7]+", token)
            try:
                return _signed(int(token, 8 if octal else 0))
            except ValueError:
                raise _NoValue from None
        if self.tokens[self.at] == "(" and token in _FUNCTIONS:
            return self._call(token)
        return self._symbol(token)

    def _call(self, name: str) -> int:
        self._take("(")
        given = [self._binary(0)]
        while self.tokens[self.at] == ",":
            self.at += 1
            given.append(self._binary(0))
        self._take(")")
        count, function = _FUNCTIONS[name]
        if count not in (0, len(given)):
            raise _NoValue
        return _signed(function(given))

    def _symbol(self, name: str) -> int:
        if name in self.within or name not in self.symbols:
            raise _NoValue
        found = _Reader(self.symbols[name], self.symbols, self.within | {name}).whole()
        if found is None:
            raise _NoValue
        return found


def _signed(number: int) -> int:
    """In 64 bits, with sign."""
    return (number + (1 << _BITS - 1)) % (1 << _BITS) - (1 << _BITS - 1)
