"""Integers as affine functions: a run at one size that stands for all sizes of a range.

`Sloped` waves are calculated at one *point*, a K and a number of K blocks that are left, like any others. Beside what a
register holds there stands its *slopes*: what it grows by for each step of a symbol. So a register says

    value at the point + the sum over symbols of slope * (symbol - its value at the point)

and the run stands for all points of a domain, a polytope given by its corners, as long as each instruction keeps that
so. Registers without slopes hold the same everywhere, and what is calculated from them does, whatever the instruction.
With slopes there are rules, and what has none, or whose condition does not hold, leaves its target *open*: known for no
size but this one, so that a proof that needs it ends with an error.

    sums, differences, multiples    the slopes' ones; the result modulo 2^32 must lose the same multiple of 2^32 at
                                    each corner, hence everywhere between: the quotient of an affine function is
                                    between those at the corners
    x >> n, x mod 2^n               all slopes multiples of 2^n
    high half of a product          the same at each corner
    the smaller, the larger         it is the same one at each corner
    comparisons                     the difference has the same sign at each corner, or is 0 at all of them
    both halves of a product        where it has more than 32 bits: neither half is affine, but both together are. They
                                    are `wide`: only a shift of both, and sums of both with an address, take them
    halves of an address            modulo 2^32 and 2^64, exactly; a carry belongs to a low half with the same slopes
    loads of A and B                the address is that of an element whose k goes with the symbols as `Domain.step`
                                    says, its row or column fixed, inside the matrix at all corners
    LDS addresses, stores, EXEC, branches, all other loads      without slopes only

So at each point of the domain the run takes the same path, with the elements of A and B renamed: k by so much more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition.launch import OPEN, SymbolicLaunch
from isa.prove.definition.memory import SymbolicMemory
from isa.prove.definition.operands import scalar_index
from isa.prove.definition.waves import SCC, Fault, Waves
from isa.registers import Reg
from isa.semantics.instruction import Operand

Longs = NDArray[np.int64]
SCALAR_KEY = 256
"""Keys of slopes: VGPRs by their number, SGPRs by this and theirs."""
SCC_KEY = SCALAR_KEY + SCC
FIRST_SPECIAL = SCALAR_KEY + 106
LOW_BITS = np.int64((1 << 32) - 1)
_MOST = 2.0**61


def keys_of(operands: Sequence[Operand]) -> tuple[int, ...]:
    """Keys of all registers among them."""
    found: list[int] = []
    for reg in operands:
        if isinstance(reg, Reg) and not reg.is_null:
            first = reg.index if reg.is_vgpr else SCALAR_KEY + scalar_index(reg)
            found += range(first, first + reg.count)
    return tuple(found)


@dataclass(frozen=True)
class Domain:
    """What the symbols may be.

    corners: (corners, symbols, waves): symbols less their value at the point.
    size:    of each symbol: what K grows by with it, in packs where steps of k lie in such.
    step:    of each symbol: what the k of the elements that are loaded grows by with it.
    """

    corners: Longs
    size: tuple[int, ...]
    step: tuple[int, ...]

    @property
    def symbols(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Wide:
    """Of each wave: which half of a number a register holds (0 none, 1 the low one, 2 the high one), and that number,
    whose slopes the register has: it is no integer with these slopes itself."""

    half: Longs
    number: Longs


class Open(Exception):
    """A result is not known for all sizes; the text says why."""


class Sloped(Waves):
    """Waves whose registers have slopes. slopes: key -> (symbols, waves[, 32]), of those that have any: of SCC where it
    is the carry of an address, those of its two parts one after the other. wide: SGPRs that are half of a number, SCC
    where it is the carry of an address and the low half of that number. why: key -> why that register is open;
    told: the same where it was so from the beginning."""

    def __init__(
        self, launches: Sequence[SymbolicLaunch], memory: SymbolicMemory, lds_bytes: int, vgprs: int, domain: Domain
    ) -> None:
        super().__init__(launches, memory, lds_bytes, vgprs)
        self.domain = domain
        self.slopes: dict[int, Longs] = {}
        self.wide: dict[int, Wide] = {}
        self.why: dict[int, str] = {}
        self.told: dict[int, str] = {}
        self._span = float(np.abs(domain.corners).max(initial=0)) * domain.symbols

    def slope(self, key: int) -> Longs:
        """Of the selected waves, (symbols, waves[, 32])."""
        found = self.slopes.get(key)
        if found is None:
            return np.zeros((self.domain.symbols, 1, 1) if key < SCALAR_KEY else (self.domain.symbols, 1), np.int64)
        mine = found[:, self.at]
        return mine if key >= SCALAR_KEY or self.mask is None else np.where(self.mask, mine, 0)

    def sloped(self, keys: Sequence[int]) -> bool:
        """Whether one of them has slopes in the selected waves and the active lanes."""
        return any(key in self.slopes and self.slope(key).any() for key in keys)

    def put_slope(self, key: int, slopes: Longs | None) -> None:
        """In the active lanes; None for no slopes."""
        self.why.pop(key, None)
        if (wide := self.wide.get(key)) is not None:
            wide.half[self.at] = 0
        old = self.slopes.get(key)
        if old is None and (slopes is None or not slopes.any()):
            return
        new: Longs = np.zeros(1, np.int64) if slopes is None else slopes
        if old is None:
            assert slopes is not None
            shape = (len(slopes), self.count, 32) if key < SCALAR_KEY else (len(slopes), self.count)
            old = self.slopes[key] = np.zeros(shape, np.int64)
        if key < SCALAR_KEY and self.mask is not None:
            new = np.where(self.mask, new, old[:, self.at])
        old[:, self.at] = new
        if not old.any():
            del self.slopes[key]

    def put_wide(self, key: int, half: int, number: Form) -> None:
        """An SGPR, or SCC, gets half of a number."""
        self.put_slope(key, number.slopes)
        wide = self.wide.setdefault(key, Wide(np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)))
        wide.half[self.at] = half
        wide.number[self.at] = number.value

    def half_of(self, key: int) -> Wide | None:
        """Of the selected waves; None where a register is an integer in all of them."""
        if (wide := self.wide.get(key)) is None or not wide.half[self.at].any():
            return None
        return Wide(wide.half[self.at], wide.number[self.at])

    def without_halves(self) -> None:
        """Registers that are half of a number are open."""
        for key, wide in self.wide.items():
            if (slopes := self.slopes.get(key)) is not None and (bad := (wide.half != 0) & slopes.any(axis=0)).any():
                self.why[key] = "it is half of a number that depends on K"
                self.s[key - SCALAR_KEY][:, bad] = OPEN[:, None]
                slopes[:, bad] = 0
        self.wide = {}

    def leave_open(self, key: int, why: str) -> None:
        self.put_slope(key, None)
        if key < SCALAR_KEY:
            self.put(key, OPEN[:, None, None])
        else:
            self.put_scalar(key - SCALAR_KEY, OPEN[:, None])
        self.why[key] = why

    def explained(self, fault: Fault, keys: Iterable[int]) -> Fault:
        """With the reason why one of the operands is open."""
        reasons = [of[key] for of in (self.why, self.told) for key in sorted(keys) if key in of]
        return Fault(fault.kind, f"{fault}: {reasons[0]}", fault.lane, refused=fault.refused) if reasons else fault

    def at_corners(self, form: Form) -> Longs:
        """(corners, *shape of the form)."""
        if float(np.abs(form.slopes).astype(float).max(initial=0)) * self._span > _MOST:
            raise Open("is too large to follow")
        corners = self.domain.corners[:, :, self.at]
        if form.slopes.ndim == 3:
            corners = corners[..., None]
        found: Longs = form.value + (corners * form.slopes).sum(axis=1)
        return found


@dataclass(frozen=True)
class Form:
    """An integer of the selected waves: value at the point, (waves[, lanes]), and slopes, (symbols, waves[, lanes])."""

    value: Longs
    slopes: Longs

    def __add__(self, other: Form) -> Form:
        return Form(self.value + other.value, self.slopes + other.slopes)

    def __sub__(self, other: Form) -> Form:
        return Form(self.value - other.value, self.slopes - other.slopes)


# --- rules: of sources, the result; whoever calls cuts it to 32 bits
def times(a: Form, b: Form) -> Form:
    if (a.slopes.any(axis=0) & b.slopes.any(axis=0)).any():
        raise Open("is a product of two numbers that depend on K")
    largest = [float(np.abs(x).astype(float).max(initial=0)) for x in (a.value, a.slopes, b.value, b.slopes)]
    if max(largest[:2]) * max(largest[2:]) > _MOST:
        raise Open("is too large to follow")
    return Form(a.value * b.value, a.value * b.slopes + b.value * a.slopes)


def constant(form: Form) -> Longs:
    if form.slopes.any():
        raise Open("is shifted by a number that depends on K")
    return form.value


def _shifted(a: Form, by: Form) -> Form:
    count = constant(by) & 31
    return times(a, Form(np.int64(1) << count, np.zeros_like(by.slopes)))


def cut(w: Sloped, a: Form, bits: int = 32) -> Form:
    lost = a.value >> bits
    if (w.at_corners(a) >> bits != lost).any():
        raise Open(f"has more than {bits} bits for some K, or less than 0")
    return Form(a.value - (lost << bits), a.slopes)


def high(w: Sloped, a: Form) -> Form:
    quotient = a.value >> 32
    if (w.at_corners(a) >> 32 != quotient).any():
        raise Open("has a high half that depends on K")
    return Form(quotient, np.zeros_like(a.slopes))


def _right(a: Form, by: Form) -> Form:
    count = constant(by) & 31
    if (a.slopes & ((np.int64(1) << count) - 1)).any():
        raise Open("drops bits that depend on K")
    return Form(a.value >> count, a.slopes >> count)


def _and(a: Form, b: Form) -> Form:
    if a.slopes.any():
        a, b = b, a
    if a.slopes.any() or (a.value & (a.value + 1)).any() or (b.slopes & a.value).any():
        raise Open("masks bits that depend on K")
    return Form(a.value & b.value, np.zeros_like(b.slopes))


def _extreme(w: Sloped, a: Form, b: Form, sign: int) -> Form:
    more = sign * w.at_corners(a - b)
    first, second = (more >= 0).all(axis=0), (more <= 0).all(axis=0)
    if not (first | second).all():
        raise Open("is one of two numbers, which depends on K")
    return Form(np.where(first, a.value, b.value), np.where(first, a.slopes, b.slopes))


def _times_24(w: Sloped, a: Form, b: Form) -> Form:
    for x in (a, b):
        if (w.at_corners(x) >> 24).any():
            raise Open("is a product of 24 bits, of which a factor has more for some K")
    return times(a, b)


RULES: dict[str, Callable[..., Form]] = {
    "s_mov_b32": lambda w, a: a,
    "v_mov_b32": lambda w, a: a,
    "s_add_u32": lambda w, a, b: a + b,
    "s_add_i32": lambda w, a, b: a + b,
    "v_add_nc_u32": lambda w, a, b: a + b,
    "v_add3_u32": lambda w, a, b, c: a + b + c,
    "s_sub_u32": lambda w, a, b: a - b,
    "s_sub_i32": lambda w, a, b: a - b,
    "v_sub_nc_u32": lambda w, a, b: a - b,
    "v_subrev_nc_u32": lambda w, a, b: b - a,
    "s_mul_i32": lambda w, a, b: times(a, b),
    "v_mul_lo_u32": lambda w, a, b: times(a, b),
    "s_mul_hi_u32": lambda w, a, b: high(w, times(a, b)),
    "v_mul_hi_u32": lambda w, a, b: high(w, times(a, b)),
    "v_mul_u32_u24": _times_24,
    "v_mad_u32_u24": lambda w, a, b, c: _times_24(w, a, b) + c,
    "s_min_u32": lambda w, a, b: _extreme(w, a, b, -1),
    "s_max_u32": lambda w, a, b: _extreme(w, a, b, 1),
    "v_min_u32": lambda w, a, b: _extreme(w, a, b, -1),
    "v_max_u32": lambda w, a, b: _extreme(w, a, b, 1),
    "s_lshl_b32": lambda w, a, b: _shifted(a, b),
    "v_lshlrev_b32": lambda w, a, b: _shifted(b, a),
    "v_lshl_add_u32": lambda w, a, b, c: _shifted(a, b) + c,
    "s_lshr_b32": lambda w, a, b: _right(a, b),
    "v_lshrrev_b32": lambda w, a, b: _right(b, a),
    "s_and_b32": lambda w, a, b: _and(a, b),
    "v_and_b32": lambda w, a, b: _and(a, b),
}
SCC_HOLDS = frozenset(("s_mov_b32", "s_mul_i32", "s_mul_hi_u32", "s_add_u32", "s_sub_u32"))
"""SCC is as it was, or known where the result has been cut."""
