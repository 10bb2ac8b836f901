"""Term: one value of a kernel, made once by `isa.algebra.terms`, and its text.

Of a sum of the bits of one unknown the text names the field: `4*v0[6:3]`; a mark in the text of a bit says where."""

from __future__ import annotations

from typing import Any


class Term:
    """One value. op: "const", "sum", "ite" (a decision diagram), or the name of a function or unknown. owners: whose
    unknowns it is made of (see `Terms.unknown`). ones: the bits that may be 1."""

    __slots__ = ("args", "id", "ones", "op", "owners", "uniform", "width")

    def __init__(
        self, number: int, op: str, width: int, args: tuple[Any, ...], uniform: bool, owners: frozenset[Any], ones: int
    ) -> None:
        self.id, self.op, self.width, self.args = number, op, width, args
        self.uniform, self.owners, self.ones = uniform, owners, ones

    @property
    def value(self) -> int | None:
        """Of a constant: the number."""
        return self.args[0] if self.op == "const" else None

    def __repr__(self) -> str:
        return show(self)


def age(t: Term) -> int:
    """Terms that were made earlier come first."""
    return t.id


def in_order(a: Term, b: Term) -> tuple[Term, Term]:
    """Both, the older one first."""
    return (a, b) if a.id <= b.id else (b, a)


def trailing_zeros(n: int) -> int:
    """How many low bits are 0; 64 of the number 0."""
    return (n & -n).bit_length() - 1 if n else 64


LONGEST = 300


def show(t: Term) -> str:
    """A term as text, cut where it is long."""
    budget = [40]
    text = _show(t, budget).replace(_BIT, "")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _show(t: Any, budget: list[int]) -> str:
    if not isinstance(t, Term):
        return str(t)
    budget[0] -= 1
    if budget[0] < 0:
        return "..."
    if t.op == "const":
        return str(t.args[0]) if t.args[0] < 1 << 16 else hex(t.args[0])
    if t.op == "unknown":
        name = t.args[0]
        return f"{name[0]}{_BIT if _bit(t) is not None else ''}" if isinstance(name, tuple) else str(name)
    if t.op == "product":
        return "*".join(_show(u, budget) for u in t.args)
    if t.op == "load":
        return f"{t.args[0]}[{_show(t.args[4], budget)}]"
    if t.op == "sum":
        fields: dict[tuple[str, int], list[int]] = {}
        for u, c in t.args[1]:
            i = _bit(u) or 0
            fields.setdefault((_show(u, budget), near(c, t.width) >> i if c % (1 << i) == 0 else c), []).append(i)
        parts = [f"{'' if c == 1 else f'{c}*'}{_field(text, bits)}" for (text, c), bits in fields.items()]
        parts += [str(near(t.args[0], t.width))] if t.args[0] else []
        return f"({' + '.join(parts)})"
    if t.op == "ite" and t.args[1].value == 1 and t.args[2].value == 0:
        return _show(t.args[0], budget)
    return f"{t.op}({', '.join(_show(a, budget) for a in t.args if isinstance(a, Term))})"


_BIT = "\0"


def _bit(t: Any) -> int | None:
    """The number of the bit of which a term is made, alone or in a product."""
    if t.op == "unknown" and isinstance(t.args[0], tuple) and isinstance(t.args[0][1], int):
        return int(t.args[0][1])
    bits = [i for u in t.args if (i := _bit(u)) is not None] if t.op in ("zext", "product") else []
    return bits[0] if len(bits) == 1 else None


def _field(text: str, bits: list[int]) -> str:
    """Bits of one unknown, each as often as its number says, as what they are of it."""
    low, high = min(bits), max(bits)
    if _BIT not in text or high - low + 1 != len(bits):
        return text
    field = "" if low == 0 and high > 5 else f"[{high}:{low}]" if high > low else f"[{low}]"
    scale = f"{1 << low}*" if low else ""
    return scale + text.replace(_BIT, field, 1)


def near(n: int, width: int) -> int:
    """A number modulo 2**width, as the one nearest to 0."""
    return n - (1 << width) if n >> (width - 1) else n


def parted(a: Term, b: Term) -> tuple[Term, Term]:
    """Of two terms that differ, the parts in which they do, as deep as they differ in one operand only."""
    while a.op == b.op and len(a.args) == len(b.args) and a.op not in ("const", "unknown", "sum", "ite"):
        differing = [(x, y) for x, y in zip(a.args, b.args, strict=True) if x is not y and x != y]
        if len(differing) != 1 or not isinstance(differing[0][0], Term) or not isinstance(differing[0][1], Term):
            break
        a, b = differing[0]
    return a, b
