"""Telling two terms apart: values of the unknowns for which they differ.

Terms that are not the same object may still be equal, where the algebra of `Terms` is not clever enough. Before two of
them are called different they are evaluated with random unknowns that keep to the facts of the launch: integer
functions as what they are, loads as what the work-item's own stores left there, all else as random functions of their
arguments. Equal in all trials means that nothing is claimed. Nor is anything where one of them counts with a loop's
state (`isa.prove.equivalence.induction`) that the other has not: a number for which no form was found may still be
the other's.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from isa.prove.equivalence.bounds import Bounds
from isa.prove.equivalence.term import Term

TRIALS = 200


def told_apart(a: Term, b: Term, bounds: Bounds) -> bool:
    """Whether some trial gives the two terms different values."""
    if _counted([a]) != _counted([b]):
        return False
    for trial in range(TRIALS):
        values = Trial(bounds, random.Random(1000 + trial))
        if values.of(a) != values.of(b):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Outline:
    """One path of a program: the conditions under which it is taken, whether it ends the program, and its barriers and
    stores as (space, address)."""

    literals: tuple[tuple[Term, bool], ...]
    ends: bool
    events: tuple[tuple[str, Term | None], ...]


def go_apart(left: Sequence[Outline], right: Sequence[Outline], bounds: Bounds) -> bool:
    """Whether in some trial the two programs take paths of which one ends and the other does not, or that store at
    other addresses or between other barriers."""
    if _counted(_named(left)) != _counted(_named(right)):
        return False
    for trial in range(TRIALS):
        values = Trial(bounds, random.Random(1000 + trial))
        taken = [
            [path for path in paths if all(bool(values.of(t)) is held for t, held in path.literals)]
            for paths in (left, right)
        ]
        if len(taken[0]) == len(taken[1]) == 1:
            a, b = taken[0][0], taken[1][0]
            if a.ends is not b.ends or _seen(a, values) != _seen(b, values):
                return True
    return False


def _named(paths: Sequence[Outline]) -> list[Term]:
    """The terms of paths."""
    conditions = [term for path in paths for term, _ in path.literals]
    return conditions + [address for path in paths for _, address in path.events if address is not None]


def _counted(terms: Sequence[Term]) -> set[Term]:
    """The states of loops within integers and addresses."""
    found, seen = set[Term](), set[tuple[Term, bool]]()
    work = [(term, False) for term in terms]
    while work:
        term, within = work.pop()
        if (term, within) in seen:
            continue
        seen.add((term, within))
        if term.op == "state" and within:
            found.add(term)
        within = within or term.op in FUNCTIONS or term.op in ("sum", "load")
        work += [(child, within) for child in term.children() if child is not term]
    return found


def _seen(path: Outline, values: Trial) -> list[frozenset[tuple[str, int]]]:
    """The stores of each epoch."""
    epochs: list[set[tuple[str, int]]] = [set()]
    for space, address in path.events:
        if address is None:
            epochs.append(set())
        else:
            epochs[-1].add((space, values.of(address)))
    return [frozenset(e) for e in epochs]


class Trial:
    """One trial: a value for every term that is asked for."""

    def __init__(self, bounds: Bounds, rng: random.Random) -> None:
        self.bounds, self.rng, self.seed = bounds, rng, rng.getrandbits(64)
        self.memo: dict[Term, int] = {}
        self.extreme = rng.random() < 0.5  # only least and largest sizes and ids: what wraps, wraps there
        self._sizes()

    def _sizes(self) -> None:
        """Arguments that are sizes: anything from the least to the most that their products allow."""
        bounds = self.bounds
        atoms = sorted(bounds.lower, key=lambda t: t.id)
        self.rng.shuffle(atoms)
        for t in atoms:
            low, high = bounds.lower[t], bounds.atom_top(t)
            for factors, limit in bounds.products.items():
                if t in factors:
                    others = list(factors)
                    others.remove(t)
                    high = min(high, limit // prod(self.memo.get(u, bounds.lower.get(u, 1)) for u in others))
            corners = [low, high]
            doublings = self.rng.randrange(max(1, high // low).bit_length())
            between = [min(high, low * self.rng.randint(1, 8)), low << doublings]
            self.memo[t] = self.rng.choice(corners if self.extreme else corners + between)

    def of(self, term: Term) -> int:
        """The value, as an unsigned number of the term's width; computed without recursion, for long sums."""
        stack = [term]
        while stack:
            t = stack[-1]
            if t in self.memo:
                stack.pop()
                continue
            waiting = [c for c in self._needs(t) if c not in self.memo]
            if waiting:
                stack.extend(waiting)
            else:
                self.memo[t] = self._value(t)
                stack.pop()
        return self.memo[term]

    def _needs(self, t: Term) -> list[Term]:
        if t in self.bounds.upper:
            return [u for m in self.bounds.upper[t][1] for u in m]
        return [c for c in t.children() if c is not t]

    def _value(self, t: Term) -> int:
        memo, mask = self.memo, (1 << t.width) - 1
        if t.op == "sum":
            total = t.const
            for m, c in t.monomials.items():
                for u in m:
                    c *= memo[u]
                total += c
            return total & mask
        if t in self.bounds.upper:
            const, monomials = self.bounds.upper[t]
            top = const
            for m, c in monomials.items():
                for u in m:
                    c *= memo[u]
                top += c
            top = max(0, top)
            corners = [0, top, max(0, top - 1)]
            return self.rng.choice(corners if self.extreme else [*corners, self.rng.randint(0, top)])
        if t.op in ("unknown", "counter"):
            return self.rng.getrandbits(t.width)
        if t.op == "bit":
            return self.rng.getrandbits(1)
        function = FUNCTIONS.get(t.op)
        if function is not None:
            return function(*(memo[x] if isinstance(x, Term) else x for x in t.args)) & mask
        return (self._loaded(t) if t.op == "load" else self._random_function(t.op, t.args)) & mask

    def _loaded(self, t: Term) -> int:
        """What the work-item stored there itself, else what was there before its stores."""
        space, version, where = t.args
        if version.op == "own":
            before, stored = version.args
            met = [(a, value) for a, value in stored if abs(self.memo[a] - self.memo[where]) < 4]
            if not met:
                return self._random_function("load", (space, before, where))
            if len(met) == 1 and self.memo[met[0][0]] == self.memo[where]:
                return self.memo[met[0][1]]
        return self._random_function("load", t.args)

    def _random_function(self, op: str, given: Sequence[Any]) -> int:
        args = [self._flat(x) for x in given]
        if op in ("fma", "fmul"):
            args[:2] = sorted(args[:2])
        text = f"{self.seed} {op} {args}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def _flat(self, x: Any) -> str:
        if isinstance(x, Term):
            return str(self.memo[x])
        if isinstance(x, frozenset):
            return "{" + " ".join(sorted(self._flat(y) for y in x)) + "}"
        if isinstance(x, tuple):
            return "(" + " ".join(self._flat(y) for y in x) + ")"
        return str(x)


def _signed(x: int, width: int = 32) -> int:
    return x - (1 << width) if x >> (width - 1) & 1 else x


_M32 = (1 << 32) - 1
FUNCTIONS: dict[str, Callable[..., int]] = {
    "zext": lambda x: x & _M32,
    "sext": lambda x: _signed(x & _M32),
    "hi": lambda x: x >> 32 & _M32,
    "ult": lambda x, y: (x & _M32) < (y & _M32),
    "slt": lambda x, y: _signed(x & _M32) < _signed(y & _M32),
    "zero": lambda x: (x & _M32) == 0,
    "zero64": lambda x: x == 0,
    "ult64": lambda x, y: x < y,
    "slt64": lambda x, y: _signed(x, 64) < _signed(y, 64),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shr": lambda x, n, width: (x & (1 << width) - 1) >> n,
    "sar": lambda x, n, width: _signed(x & (1 << width) - 1, width) >> n,
}
