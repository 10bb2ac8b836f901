"""One value: `Term`, and how it is shown. What terms mean, and how they are made, stands in `terms`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

Monomial = tuple["Term", ...]
NOTHING: dict[Monomial, int] = {}
LONGEST = 400


class Term:
    """One value, compared by identity.

    op:        "sum", or the name of a function or unknown.
    args:      Terms, tuples and sets of them, and plain Python values; none for sums.
    width:     of a sum: modulo 2**width (32 or 64); of an atom: its value is below 2**width.
    const, monomials: the term as a polynomial; those of an atom are 0 and itself.
    """

    __slots__ = ("args", "const", "id", "monomials", "op", "width")

    def __init__(
        self, number: int, op: str, args: tuple[Any, ...], width: int, const: int = 0, monomials: Any = None
    ) -> None:
        self.id, self.op, self.args, self.width = number, op, args, width
        self.const = const
        self.monomials: dict[Monomial, int] = {(self,): 1} if monomials is None else monomials

    @property
    def is_const(self) -> bool:
        return not self.monomials

    def children(self) -> Iterable[Term]:
        """The terms that this one is made of."""
        if self.op == "sum":
            for monomial in self.monomials:
                yield from monomial
        yield from _terms_in(self.args)

    def __repr__(self) -> str:
        return show(self)


def _terms_in(container: Iterable[Any]) -> Iterable[Term]:
    for item in container:
        if isinstance(item, Term):
            yield item
        elif isinstance(item, (frozenset, tuple)):
            yield from _terms_in(item)


def ordered(monomial: Iterable[Term]) -> Monomial:
    return tuple(sorted(monomial, key=lambda t: t.id))


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials; the square of a truth value is itself."""
    if not a:
        return b
    if not b:
        return a
    extra = [t for t in b if t.width != 1 or t not in a]
    return ordered((*a, *extra)) if extra else a


def truth_table(a: Term) -> list[tuple[dict[Term, bool], int]] | None:
    """The values of a sum of a few truth values for all that these can be; None where it is no such sum."""
    atoms = {t for m in a.monomials for t in m}
    if len(atoms) > 5 or any(t.width != 1 for t in atoms):
        return None
    rows = []
    for choice in product((False, True), repeat=len(atoms)):
        values = dict(zip(atoms, choice, strict=True))
        rows.append((values, a.const + sum(c for m, c in a.monomials.items() if all(values[t] for t in m))))
    return rows


def show(term: Term) -> str:
    """The term as text that a kernel engineer reads, cut after LONGEST characters:
    `*(B + 4*N*(8*t + 1) + 512*group_x + 4*tid)`."""
    text = _show(term, 6)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."


def _show(t: Term, depth: int) -> str:
    if t.op == "sum":
        return _sum(t, depth)
    if depth == 0:
        return "..."
    args = t.args
    inner = depth - 1
    if t.op == "unknown":
        return str(args[0]) if args[1] == 1 else f"({args[0]}/{args[1]})"
    if t.op == "bit":
        return f"{args[0]}[{args[1]}]"
    if t.op == "counter":
        return f"t{args[0]}" if args[0] else "t"
    if t.op == "state":
        return f"{args[1]} at {args[0]}"
    if t.op == "undefined":
        return f"{args[1]}, never written"
    if t.op == "load":
        return f"{args[0]}[{_show(args[2], inner)}]"
    if t.op == "ult":
        return f"({_show(args[0], inner)} < {_show(args[1], inner)})"
    if t.op == "zero":
        return f"({_show(args[0], inner)} == 0)"
    return f"{t.op}({', '.join(_show(a, inner) for a in args if isinstance(a, Term))})"


def _sum(t: Term, depth: int) -> str:
    pieces: list[tuple[int, str]] = []
    bits: dict[tuple[Monomial, str], dict[int, int]] = {}
    for m, c in t.monomials.items():
        own = [u for u in m if u.op == "bit"]
        if len(own) == 1 and c > 0:
            rest = tuple(u for u in m if u is not own[0])
            bits.setdefault((rest, own[0].args[0]), {})[own[0].args[1]] = c
        else:
            pieces.append(_product(c, m, depth))
    for (rest, what), coefficients in bits.items():
        for first, last, c in _runs(coefficients):
            field = f"{what}[{first}]" if first == last else f"{what}[{last}:{first}]"
            if first == 0 and c == coefficients[0] and len(coefficients) == last + 1 and last > 3:
                field = what
            c, factors = _product(c, rest, depth)
            pieces.append((c, f"{factors}*{field}" if factors else field))
    pieces.sort(key=lambda p: (p[0] < 0, p[1]))
    if t.const or not pieces:
        pieces.append((t.const, ""))
    text = ""
    for c, what in pieces:
        size = abs(c)
        number = hex(size) if size > 4096 else str(size)
        word = what if what and size == 1 else f"{number}*{what}" if what else number
        text += (" - " if text else "-") + word if c < 0 else (" + " if text else "") + word
    return text


def _product(c: int, m: Monomial, depth: int) -> tuple[int, str]:
    """A coefficient and its unknowns as text; 128 * (N/128) is N."""
    words = []
    for t in m:
        if t.op == "unknown" and t.args[1] > 1 and c % t.args[1] == 0:
            c //= t.args[1]
            words.append(str(t.args[0]))
        else:
            words.append(_show(t, depth))
    return c, "*".join(words)


def _runs(coefficients: dict[int, int]) -> list[tuple[int, int, int]]:
    """(first bit, last bit, coefficient of the first) of runs whose coefficients double."""
    runs: list[tuple[int, int, int]] = []
    for bit in sorted(coefficients):
        if runs and runs[-1][1] == bit - 1 and coefficients[bit] == runs[-1][2] << (bit - runs[-1][0]):
            runs[-1] = (runs[-1][0], bit, runs[-1][2])
        else:
            runs.append((bit, bit, coefficients[bit]))
    return runs
