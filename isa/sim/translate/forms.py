"""Addresses as sums: how a value follows from registers as they are when a loop over strips begins.

    u32   sum of coefficient * VGPR, plus scalars, plus a constant, modulo 2**32
    u64   a u32 form extended by zeros (`low`), or a pair of VGPRs (`low`, `high`), plus 64-bit scalars, plus a constant

A form lets the first lane's address be computed by scalar arithmetic, in front of the loop as well as in it; together
with the patterns of its VGPRs it tells the addresses of the other lanes. `LlvmValue.form` is None where a value is no
such sum.

A pair of VGPRs to which code adds 64-bit scalars, word by word with a carry, stays a sum: the carry knows of what sum
it is (`Carry`), and the high word of what pair (`Pair`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from isa.sim.translate.lane_strides import GRANULE, Pattern

_WORD = (1 << 32) - 1
_LONGEST = 8
"""Scalars in one sum; a longer one is not worth it."""


@dataclass(frozen=True, eq=False)
class Form:
    """`terms`: (VGPR, coefficient). `scalars`: names of scalar values that are added. `shift`: a 64-bit form that is a
    32-bit one moved to the high word. `carry`: it is this carry, 0 or 1. `pair`: this pair's high word is added."""

    size: int
    terms: tuple[tuple[int, int], ...] = ()
    scalars: tuple[str, ...] = ()
    constant: int = 0
    low: Form | None = None
    high: Form | None = None
    shift: bool = False
    carry: Carry | None = None
    pair: Pair | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for forms that differ only in their constant."""
        parts = [p and (p.key, p.constant) for p in (self.low, self.high)]
        return (self.size, self.terms, self.scalars, *parts)

    @property
    def vgprs(self) -> frozenset[int]:
        parts = [p.vgprs for p in (self.low, self.high) if p is not None]
        return frozenset(v for v, _ in self.terms).union(*parts)

    @property
    def is_register(self) -> bool:
        """Whether it is one VGPR as it was."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and not self.scalars and not self.constant

    def plus(self, other: Form | str | int) -> Form | None:
        """The sum, None where it is no form."""
        if self.carry is not None:
            return None
        if isinstance(other, int):
            return None if self.shift else replace(self, constant=self.constant + other)
        if isinstance(other, Form):
            if self.size == 64 or self.shift or other.shift or self.pair or other.carry or other.pair:
                return None
            terms = dict(self.terms)
            for v, c in other.terms:
                terms[v] = terms.get(v, 0) + c & _WORD
            rest = tuple((v, c) for v, c in terms.items() if c)
            return _short(Form(32, rest, self.scalars + other.scalars, self.constant + other.constant))
        return None if self.shift else _short(replace(self, scalars=(*self.scalars, other)))

    def times(self, factor: int) -> Form | None:
        """A 32-bit form multiplied by a constant; not one with scalars."""
        if self.size != 32 or self.scalars or self.carry or self.pair:
            return None
        return Form(32, tuple((v, c * factor & _WORD) for v, c in self.terms), (), self.constant * factor)

    def extended(self) -> Form | None:
        """A 32-bit form as 64 bits, the high ones zero."""
        return Form(64, low=self) if self.size == 32 else None

    def moved_up(self) -> Form | None:
        """An extended form shifted left by 32."""
        plain = self.size == 64 and self.low is not None and self.high is None and not self.scalars
        return Form(64, low=self.low, shift=True) if plain and not self.constant else None

    def joined(self, other: Form) -> Form | None:
        """An extended low word | a high word that was moved up: a pair."""
        low, high = (other, self) if self.shift else (self, other)
        if not high.shift or low.shift or low.low is None or high.low is None or low.high is not None:
            return None
        if low.scalars or low.constant:
            return None
        if (pair := high.low.pair) is not None:
            return pair.sum if high.low.is_high_word and low.low.same(pair.low) else None
        if not low.low.is_register or not high.low.is_register:
            return None
        return Form(64, low=low.low, high=high.low)

    def same(self, other: Form) -> bool:
        """Whether two 32-bit sums are the same value."""
        plain = not (self.carry or self.pair or other.carry or other.pair)
        equal = (self.terms, sorted(self.scalars)) == (other.terms, sorted(other.scalars))
        return plain and equal and not (self.constant - other.constant) & _WORD

    @property
    def is_high_word(self) -> bool:
        """Whether it is a pair's high word and nothing else."""
        return self.pair is not None and not self.scalars and not self.constant

    def carry_of(self, addend: Form | str | int, word: str) -> Form | None:
        """The carry of the 32-bit sum that this is, `word` being its name. addend: one of its two addends; None where
        the other one is neither a scalar nor a constant."""
        if self.size != 32 or self.carry or self.pair:
            return None
        if isinstance(addend, Form):
            if addend.carry or addend.pair or addend.terms != self.terms:
                return None
            more = list(self.scalars)
            for scalar in addend.scalars:
                if scalar not in more:
                    return None
                more.remove(scalar)
            apart = self.constant - addend.constant & _WORD
            if len(more) + bool(apart) != 1:
                return None
            return Form(32, carry=Carry(addend, self, more[0] if more else apart, word))
        if isinstance(addend, int):
            return Form(32, carry=Carry(replace(self, constant=self.constant - addend), self, addend & _WORD, word))
        if addend not in self.scalars:
            return None
        at = self.scalars.index(addend)
        before = replace(self, scalars=self.scalars[:at] + self.scalars[at + 1 :])
        return Form(32, carry=Carry(before, self, addend, word))

    def pattern(self, known: dict[int, Pattern]) -> Pattern | None:
        """Distances of the lanes from the first one of their granule, in bytes; None where they are not known, or so
        large that they might wrap before they are extended."""
        if self.carry or self.pair:
            return None
        if self.low is not None:
            inner = self.low.pattern(known)
            if inner is not None and min(inner) < 0:
                return None
            if self.high is not None:
                high = self.high.pattern(known)
                if high is None or any(high):
                    return None
            return None if self.shift else inner
        total = [0] * GRANULE
        for v, c in self.terms:
            if v not in known:
                return None
            for lane, d in enumerate(known[v]):
                total[lane] += c * (d - known[v][0])
        signed = [(x & _WORD) - (1 << 32 if x >> 31 & 1 else 0) for x in total]
        return tuple(signed) if all(abs(x) < 1 << 20 for x in signed) else None


@dataclass(frozen=True, eq=False)
class Carry:
    """Of the sum `after` = `before` + `step`, the name of which is `word`."""

    before: Form
    after: Form
    step: str | int
    word: str


@dataclass(frozen=True, eq=False)
class Pair:
    """sum: a pair of VGPRs, plus scalars and a constant. low: its low word. since: what has been added, as a scalar
    and a constant, since its high word was `high`."""

    sum: Form
    low: Form
    high: str
    since: tuple[str, int] = ("", 0)


def _short(form: Form) -> Form | None:
    return form if len(form.scalars) <= _LONGEST and len(form.terms) <= _LONGEST else None
