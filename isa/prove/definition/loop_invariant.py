"""Invariant of the loop over K: the state at its head as a form of the iteration's number (see `induction`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import pointers
from isa.prove.definition.affine import SCALAR_KEY, Longs, Sloped
from isa.prove.definition.launch import ALPHA, BETA, BETA_SIZE, ELEMENTS, OPEN, UNWRITTEN, SymbolicLaunch
from isa.prove.definition.names import Names, leaves
from isa.prove.definition.waves import Fault

Bools = NDArray[np.bool_]
Indices = NDArray[np.int64]
_LOW = np.array(list(pointers.LOW.values()), np.uint64)
_HIGH = np.array(list(pointers.HIGH.values()), np.uint64)
_NO = np.zeros(0, np.intp)


@dataclass(frozen=True)
class Arrival:
    """Names that waves hold at the head of the loop, and their slopes."""

    v: Names
    s: Names
    lds: Names
    slopes: dict[int, Longs]

    @staticmethod
    def of(w: Sloped, number: int, count: int) -> Arrival:
        """The waves of one of `count` equal sets of launches."""
        size, groups = w.count // count, len(w.ids) // count
        waves, part = slice(number * size, (number + 1) * size), slice(number * groups, (number + 1) * groups)
        slopes = {key: x[:, waves] for key, x in w.slopes.items()}
        return Arrival(w.v[:, :, waves], w.s[:, :, waves], w.lds[:, part], slopes)


@dataclass
class Head:
    """The form. Registers are as at the first arrival with nothing lacking and `left` K blocks left.

    v, s:   names; OPEN where nothing is known.
    depth:  steps of k in a K block.
    slopes: key -> (3, waves[, 32]): what `lacking`, `left` and `done` add to an integer or an offset, each by one.
    matrix, line, k: of each dword of LDS: 0 for A, 1 for B, -1 for neither; row of A or column of B; step of k after
            the first one at hand.
    sums:   (register, wave, lane) of each accumulator, its element of all C's, one after the other, and whether it lies
            in the upper half, where sums have 16 bits.
    why:    key -> why that register is open, where it was an integer.
    """

    v: Names
    s: Names
    left: int
    depth: int
    matrix: Indices
    line: Indices
    k: Indices
    slopes: dict[int, Longs] = field(default_factory=dict)
    sums: tuple[NDArray[np.intp], ...] = (_NO,) * 5
    why: dict[int, str] = field(default_factory=dict)

    # --- from the first arrivals
    @staticmethod
    def of(arrivals: Sequence[Arrival], launches: Sequence[SymbolicLaunch], left: int, depth: int) -> Head:
        """From those where nothing is lacking, and one step: what this changes, and the slopes of `left`. What `done`
        adds is taken to be what `left` does, so that the loop changes nothing; see `step`."""
        first, second = arrivals
        head = Head(first.v.copy(), first.s.copy(), left, depth, *_elements(first.lds, launches))
        for names, key in ((head.v, 0), (head.s, SCALAR_KEY)):
            head.open(names, ~_same_for_all(names), key)
        for key, here in registers(head.v, head.s):
            there = second.v[key] if key < SCALAR_KEY else second.s[key - SCALAR_KEY]
            slope = first.slopes.get(key)
            if slope is None and (here == there).all():
                continue
            whole = is_whole(here) & (here[1] == there[1])
            p = np.where(whole, (there[0] - here[0]).astype(np.int64), 0)
            q = np.zeros_like(p) if slope is None or len(slope) != 1 else np.where(whole, slope[0], 0)
            head.slopes[key] = np.stack((p, q, q))
        return head

    def check(self, arrival: Arrival, lacking: int, launches: Sequence[SymbolicLaunch]) -> None:
        """Opens what is not as the form says where the loop is first reached."""
        for have, wanted, first in ((arrival.v, self.v, 0), (arrival.s, self.s, SCALAR_KEY)):
            wrong = _differ(have, wanted)
            for key in {*self.slopes, *arrival.slopes}:
                if first <= key < first + len(have):
                    i, got = key - first, arrival.slopes.get(key, np.zeros(1, np.int64))
                    p, q, _ = self.slopes.get(key, np.zeros((3, *wrong.shape[1:]), np.int64))
                    change = (have[i, 0] - wanted[i, 0]).astype(np.int64) - lacking * p
                    wrong[i] = (((change | (got[0] - q)) & _ring(wanted[i])) != 0) | (have[i, 1] != wanted[i, 1])
                    wrong[i] |= len(got) != 1
            wrong &= (wanted[:, 0] != OPEN[0]) | (wanted[:, 1] != OPEN[1])  # those are open
            self.open(wanted, wrong, first, "where the loop is reached it does not grow with K by the same")
        self.matrix[(arrival.lds != self.lds(launches, -lacking)).any(axis=0)] = -1

    def step(self, key: int, before: Names, after: Names, blocks: int) -> None:
        """What `done` adds to a register, from what it held at the head before and after so many K blocks."""
        whole = is_whole(before) & (before[1] == after[1])
        change = np.where(whole, (after[0] - before[0]).astype(np.int64), 0)
        change = np.where(_ring(before) == -1, change, change.astype(np.int32))
        if change.any():
            slopes = self.slopes.setdefault(key, np.zeros((3, *change.shape), np.int64))
            slopes[2] = slopes[1] + change // blocks
        # Half of what a low half changed by in two K blocks is not known modulo 2^32: its high half knows.
        if key > SCALAR_KEY and (slopes_high := self.slopes.get(key)) is not None:
            of_high = np.isin(before[1], _HIGH) & np.isin(self.s[key - 1 - SCALAR_KEY][1], _LOW)
            if of_high.any():
                slopes = self.slopes.setdefault(key - 1, np.zeros((3, *change.shape), np.int64))
                slopes[2] = np.where(of_high, slopes_high[2], slopes[2])

    # --- what it says
    def names(self, left: int, done: int = 0) -> tuple[Names, Names]:
        """Of VGPRs and SGPRs where nothing is lacking."""
        v, s = self.v.copy(), self.s.copy()
        for key, slopes in self.slopes.items():
            names = v[key] if key < SCALAR_KEY else s[key - SCALAR_KEY]
            names[0] += (slopes[1] * (left - self.left) + slopes[2] * done).astype(np.uint64)
            names[0] &= _ring(names).astype(np.uint64)
        return v, s

    def lds(self, launches: Sequence[SymbolicLaunch], shift: int) -> Names:
        """Names in LDS in these launches where the first step at hand is `shift`; elements before the first are 0."""
        found = np.empty((2, *self.matrix.shape), np.uint64)
        found[:] = OPEN[:, None, None]
        for launch, groups in _groups(launches):
            for number, name in enumerate("AB"):
                here = self.matrix[groups] == number
                line, k = self.line[groups][here], self.k[groups][here] + shift
                if (k >= launch.units).any():
                    raise Fault("every", "LDS holds elements after the last K block", refused=True)
                if launch.narrow:
                    found[:, groups][:, here] = launch.narrow_matrix(name).word(line, k)
                    continue
                index = k * len(launch.columns) + line if number else line * launch.k + k
                names = leaves(ELEMENTS[name], int(index.max(initial=0)) + 1)[:, np.maximum(index, 0)]
                found[:, groups][:, here] = np.where(k >= 0, names, np.uint64(0))
        return found

    def bound(self, left: int, corners: Longs) -> None:
        """Opens integers that would have more than 32 bits, or less than 0, somewhere. corners: (corners, 3), of
        lacking, left and done, less (0, left, 0)."""
        for key, mine in registers(self.v, self.s):
            if (slopes := self.slopes.get(key)) is not None:
                here = mine[0].astype(np.int64) + slopes[1] * (left - self.left)
                over = np.zeros(here.shape, bool)
                for corner in corners:
                    over |= (here + sum(x * int(by) for x, by in zip(slopes, corner, strict=True))) >> 32 != 0
                over &= mine[1] == 0
                if over.any():
                    self.why[key] = "at the head of the loop it would have more than 32 bits for some K, or less than 0"
                mine[:, over] = OPEN[:, None]
                slopes[:, over] = 0

    def goes_on(self, w: Sloped, blocks: int) -> bool:
        """Opens what waves do not hold as the form says, sums apart: they began with `blocks` K blocks left, none done,
        and came back to the head with none left. False where there was any."""
        v, s = self.names(0, blocks)
        good = True
        for have, wanted, known, first in ((w.v, v, self.v, 0), (w.s, s, self.s, SCALAR_KEY)):
            bad = _differ(have, wanted)
            for key in {*self.slopes, *w.slopes}:
                if first <= key < first + len(have):
                    mine, got = (x.get(key, np.zeros((3, *bad.shape[1:]), np.int64)) for x in (self.slopes, w.slopes))
                    bad[key - first] |= (
                        ((got - mine) & _ring(wanted[key - first])).any(axis=0) if len(got) == 3 else True
                    )
            bad &= (known[:, 0] != OPEN[0]) | (known[:, 1] != OPEN[1])
            if first == 0:
                bad[self.sums[:3]] = False
            good &= not self.open(known, bad, first, "from one iteration to the next it does not grow by the same")
        wrong = (self.matrix >= 0) & (w.lds != self.lds(w.launches, w.launches[0].units - self.depth)).any(axis=0)
        self.matrix[wrong] = -1
        return good and not wrong.any()

    def open(self, names: Names, wrong: Bools, first: int, why: str = "") -> bool:
        """Nothing is known of these registers any more, keys from `first`. Whether there are any. why: of integers."""
        for i in np.nonzero(wrong.reshape(len(wrong), -1).any(axis=1))[0]:
            if why and is_whole(names[i])[wrong[i]].any():
                self.why[first + int(i)] = why
            names[i][:, wrong[i]] = OPEN[:, None]
            if (slope := self.slopes.get(first + int(i))) is not None:
                slope[:, wrong[i]] = 0
        return bool(wrong.any())


def _differ(have: Names, wanted: Names) -> Bools:
    """Of registers, (registers, 2, ...)."""
    differ: Bools = (have[:, 0] != wanted[:, 0]) | (have[:, 1] != wanted[:, 1])
    return differ


def registers(v: Names, s: Names) -> Iterator[tuple[int, Names]]:
    """Key and names of each."""
    yield from enumerate(v)
    yield from enumerate(s, SCALAR_KEY)


def is_whole(names: Names) -> Bools:
    """Integers and halves of addresses."""
    whole: Bools = (names[1] == 0) | np.isin(names[1], _LOW) | np.isin(names[1], _HIGH)
    return whole


def find(table: Names, names: Names) -> Indices:
    """Where in the table, (2, count), each name stands, -1 where it does not."""
    order = np.argsort(table[1], kind="stable")
    at = order[np.minimum(np.searchsorted(table[1][order], names[1]), len(order) - 1)]
    found: Indices = np.where((table[:, at] == names).all(axis=0), at, -1)
    return found


def _elements(lds: Names, launches: Sequence[SymbolicLaunch]) -> tuple[Indices, Indices, Indices]:
    """Of each dword of LDS: its matrix, row of A or column of B, and k, of narrow elements that of the first."""
    matrix = np.full(lds.shape[1:], -1, np.int64)
    line, k = np.zeros_like(matrix), np.zeros_like(matrix)
    for launch, groups in _groups(launches):
        elements = {} if launch.narrow else launch.elements()
        for number, name in enumerate("AB"):
            if launch.narrow:
                mine = launch.narrow_matrix(name).find(lds[:, groups])
                there = mine[0] >= 0
                matrix[groups][there] = number
                line[groups][there], k[groups][there] = mine[0][there], mine[1][there]
                continue
            at = find(elements[name].reshape(2, -1), lds[:, groups])
            there = at >= 0
            matrix[groups][there] = number
            first, second = at // elements[name].shape[2], at % elements[name].shape[2]
            line[groups][there] = (second if number else first)[there]
            k[groups][there] = (first if number else second)[there]
    return matrix, line, k


def _groups(launches: Sequence[SymbolicLaunch]) -> Iterator[tuple[SymbolicLaunch, slice]]:
    """Each launch and its workgroups among all."""
    first = 0
    for launch in launches:
        yield launch, slice(first, first + launch.groups)
        first += launch.groups


def _ring(names: Names) -> Longs:
    """The bits in which offsets and slopes count: all, or 32 of a low half of an address."""
    found: Longs = np.where(np.isin(names[1], _LOW), np.int64((1 << 32) - 1), np.int64(-1))
    return found


def _same_for_all(names: Names) -> Bools:
    """Of registers, (registers, 2, ...): integers, addresses, and names of one thing whatever K is. An element of A is
    none: its number counts K, so that one name is of other elements at another K."""
    same: Bools = np.isin(names[:, 1], np.concatenate((np.zeros(1, np.uint64), _LOW, _HIGH)))
    for name in (ALPHA, BETA, BETA_SIZE, UNWRITTEN):
        same |= (names[:, 0] == name[0]) & (names[:, 1] == name[1])
    return same
