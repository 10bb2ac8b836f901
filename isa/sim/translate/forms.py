"""Addresses as sums: how a value follows from registers as they are when a loop over strips begins.

    u32   sum of coefficient * VGPR, plus scalars, plus a constant, modulo 2**32
    u64   a u32 form extended by zeros (`low`), or a pair of VGPRs (`low`, `high`), plus 64-bit scalars, plus a constant

A form lets the first lane's address be computed by scalar arithmetic, in front of the loop as well as in it; together
with the patterns of its VGPRs it tells the addresses of the other lanes. `LlvmValue.form` is None where a value is no
such sum.
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
    32-bit one moved to the high word."""

    size: int
    terms: tuple[tuple[int, int], ...] = ()
    scalars: tuple[str, ...] = ()
    constant: int = 0
    low: Form | None = None
    high: Form | None = None
    shift: bool = False

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
        if isinstance(other, int):
            return None if self.shift else replace(self, constant=self.constant + other)
        if isinstance(other, Form):
            if self.size == 64 or self.shift or other.shift:
                return None
            terms = dict(self.terms)
            for v, c in other.terms:
                terms[v] = terms.get(v, 0) + c & _WORD
            rest = tuple((v, c) for v, c in terms.items() if c)
            return _short(Form(32, rest, self.scalars + other.scalars, self.constant + other.constant))
        return None if self.shift else _short(replace(self, scalars=(*self.scalars, other)))

    def times(self, factor: int) -> Form | None:
        """A 32-bit form multiplied by a constant; not one with scalars."""
        if self.size != 32 or self.scalars:
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
        """An extended register | a register that was moved up: a pair."""
        low, high = (other, self) if self.shift else (self, other)
        if not high.shift or low.shift or low.low is None or high.low is None or low.high is not None:
            return None
        if low.scalars or low.constant or not low.low.is_register or not high.low.is_register:
            return None
        return Form(64, low=low.low, high=high.low)

    def pattern(self, known: dict[int, Pattern]) -> Pattern | None:
        """Distances of the lanes from the first one of their granule, in bytes; None where they are not known, or so
        large that they might wrap before they are extended."""
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


def _short(form: Form) -> Form | None:
    return form if len(form.scalars) <= _LONGEST and len(form.terms) <= _LONGEST else None
