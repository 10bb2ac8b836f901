"""Lane strides: blocks -> the probable pattern of each vector value: the same for some neighbouring lanes, plus
distances.

In:  blocks of code.
Out: for each vector instruction, patterns of the VGPRs before it: d[0..7] such that in each run of `GRANULE` lanes lane
     i holds U + d[i], U being anything. A VGPR of which nothing is known has no entry.

How: the bodies of the instructions are run once more, on values that know only d and how many low bits of U are zero.
v0 begins as work-item numbers: U + 0..7 with three zero bits. Blocks are taken in the order of their addresses; where
two paths meet, what they agree on stays; backward branches are not followed.

A pattern may be wrong, and need not be safe: `vector_access.py` checks it at run time before it relies on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.errors import IsaError
from isa.semantics.engine import Request, Straight
from isa.semantics.execute import execute
from isa.semantics.values import DispatchedValue, Number, Value
from isa.sim.translate.cfg import Block

GRANULE = 8
Pattern = tuple[int, ...]
_ZERO: Pattern = (0,) * GRANULE
_EXACT = 64


def _signed(x: int, size: int) -> int:
    """The low bits of a distance, as a number that may be negative."""
    x &= (1 << size) - 1
    return x - (1 << size) if x >> size - 1 else x


class LanePattern(DispatchedValue):
    """`d` None: nothing is known. `align`: U is a multiple of 2**align; 64 says that U is 0."""

    __slots__ = ("align", "d", "type")

    def __init__(self, type_: str, d: Pattern | None, align: int = 0) -> None:
        self.type, self.d, self.align = type_, d, align if d is not None else 0

    @property
    def size(self) -> int:
        return 1 if self.type == "b1" else int(self.type.lstrip("bfui"))

    @property
    def uniform(self) -> bool:
        return self.d is not None and len(set(self.d)) == 1

    @property
    def constant(self) -> int | None:
        return self.d[0] if self.d is not None and self.uniform and self.align == _EXACT else None

    @property
    def _fits(self) -> bool:
        """Whether d lies in the bits in which U is zero."""
        return self.d is not None and min(self.d) >= 0 and max(self.d) < 1 << self.align

    def _other(self, other: Number) -> LanePattern:
        if isinstance(other, LanePattern):
            return other
        if isinstance(other, int) and self.type[0] in "ui":
            return LanePattern(self.type, (other & (1 << self.size) - 1,) * GRANULE, _EXACT)
        return LanePattern(self.type, _ZERO)

    def operation(self, name: str, *operands: Number, type_: str = "") -> LanePattern:
        return self._any(*operands, type_=type_)

    def _any(self, *others: Number, type_: str = "") -> LanePattern:
        """The same in all lanes if all inputs are, else unknown."""
        same = self.uniform and all(self._other(o).uniform for o in others)
        return LanePattern(type_ or self.type, _ZERO if same else None)

    def _map(self, other: LanePattern, function: Callable[[int, int], int], align: int) -> LanePattern:
        if self.d is None or other.d is None:
            return LanePattern(self.type, None)
        wrap = (1 << self.size) - 1
        d = [function(a, b) & wrap for a, b in zip(self.d, other.d, strict=True)]
        # Small negative steps stay small: 2**32 - 4 is -4.
        d = [x - (1 << self.size) if x >> self.size - 1 and align != _EXACT else x for x in d]
        return LanePattern(self.type, tuple(d), align)

    # --- arithmetic
    def __add__(self, other: Number) -> LanePattern:
        o = self._other(other)
        return self._any(o) if self.type[0] == "f" else self._map(o, lambda a, b: a + b, min(self.align, o.align))

    def __sub__(self, other: Number) -> LanePattern:
        o = self._other(other)
        return self._any(o) if self.type[0] == "f" else self._map(o, lambda a, b: a - b, min(self.align, o.align))

    def __mul__(self, other: Number) -> LanePattern:
        o = self._other(other)
        for a, b in ((self, o), (o, self)):
            if (c := b.constant) is not None and a.d is not None and self.type[0] != "f":
                zeros = (c & -c).bit_length() - 1 if c else _EXACT
                return a._map(b, lambda x, y: x * y, min(_EXACT, a.align + zeros))
        return self._any(o)

    # --- bits
    def __and__(self, other: Number) -> LanePattern:
        o = self._other(other)
        for a, b in ((self, o), (o, self)):
            if (mask := b.constant) is not None and a._fits and a.d is not None:
                exact = mask < 1 << a.align
                return LanePattern(self.type, tuple(x & mask for x in a.d), _EXACT if exact else a.align)
        return self._any(o)

    def __or__(self, other: Number) -> LanePattern:
        o = self._other(other)
        for a, b in ((self, o), (o, self)):
            if (bits := b.constant) is not None and a._fits and a.d is not None:
                low = bits & (1 << a.align) - 1
                return LanePattern(self.type, tuple(x | low for x in a.d), a.align)
        return self._any(o) if self.uniform and o.uniform else self + o  # as if the bits were disjoint

    def __xor__(self, other: Number) -> LanePattern:
        o = self._other(other)
        for a, b in ((self, o), (o, self)):
            if (bits := b.constant) is not None and a._fits and a.d is not None:
                low = bits & (1 << a.align) - 1
                return LanePattern(self.type, tuple(x ^ low for x in a.d), min(a.align, _EXACT - 1))
        return self._any(o)

    def __lshift__(self, other: Number) -> LanePattern:
        n = self._other(other).constant
        if n == 32 and self.size == 64 and self.d is None:
            return LanePattern(self.type, _ZERO)  # the high word of a pair: it must not hide the low one
        if n is None or self.d is None:
            return self._any(other)
        return self._map(self._other(0), lambda a, _: a << n, min(_EXACT, self.align + n))

    def __rshift__(self, other: Number) -> LanePattern:
        n = self._other(other).constant
        if n is None or self.d is None or min(self.d) < 0:
            return self._any(other)
        if self.align >= n:
            return LanePattern(
                self.type, tuple(x >> n for x in self.d), self.align if self.align == _EXACT else self.align - n
            )
        return LanePattern(self.type, _ZERO) if max(self.d) < 1 << n else self._any(other)  # as if no lane crossed over

    def select(self, yes: Number, no: Number) -> LanePattern:
        typed = yes if isinstance(yes, LanePattern) else no
        assert isinstance(typed, LanePattern)
        a, b = typed._other(yes), typed._other(no)
        if not self.uniform or a.d is None or b.d is None:
            return LanePattern(typed.type, None)
        if a.d != b.d:
            return LanePattern(typed.type, _ZERO if a.uniform and b.uniform else None)
        return LanePattern(typed.type, a.d, min(a.align, b.align))

    # --- conversion
    def bits(self, type_: str) -> LanePattern:
        return LanePattern(type_, self.d, self.align)

    def to(self, type_: str) -> LanePattern:
        if self.type == "b1":
            return LanePattern(type_, _ZERO)  # a carry, mostly: the same for neighbours, mostly
        if type_[0] == "f" or self.type[0] == "f":
            return self._any(type_=type_)
        if self.constant is not None:
            return LanePattern(type_, (self.constant & (1 << int(type_[1:])) - 1,) * GRANULE, _EXACT)
        if self.d is None:
            return LanePattern(type_, None)
        size = int(type_[1:])
        return LanePattern(type_, tuple(_signed(x, size) for x in self.d), self.align)

    # --- lanes
    def lane(self, index: Number) -> LanePattern:
        return LanePattern(self.type, _ZERO)

    def with_lane(self, index: Number, value: Number) -> LanePattern:
        return LanePattern(self.type, None)

    def mask(self) -> LanePattern:
        return LanePattern("u32", _ZERO)

    def lanes(self) -> LanePattern:
        return LanePattern("b1", None)


_Known = tuple[dict[int, LanePattern], dict[int, LanePattern]]
"""What is known at some point: of VGPRs, of SGPRs."""


class _Machine(Straight):
    """The engine that patterns are worked out on. `vgprs`, `scalars`: what is known at this point."""

    def __init__(self) -> None:
        self.vgprs: dict[int, LanePattern] = {}
        self.scalars: dict[int, LanePattern] = {}

    def constant(self, type_: str, number: float) -> LanePattern:
        return LanePattern(type_, _ZERO)._other(int(number)) if type_[0] in "ui" else LanePattern(type_, _ZERO)

    def lane_ids(self) -> LanePattern:
        return LanePattern("u32", tuple(range(GRANULE)), 3)

    def read_vgpr(self, index: int, relative: Value | None = None) -> LanePattern:
        return LanePattern("u32", None) if relative is not None else self.vgprs.get(index, LanePattern("u32", None))

    def write_vgpr(self, index: int, value: LanePattern, mask: Value | None, relative: Value | None = None) -> None:
        if relative is not None:
            self.vgprs.clear()
        elif value.d is None:
            self.vgprs.pop(index, None)
        else:
            self.vgprs[index] = value

    def read_sgpr(self, index: int, relative: Value | None = None) -> LanePattern:
        return self.scalars.get(index, LanePattern("u32", _ZERO)) if relative is None else LanePattern("u32", _ZERO)

    def write_sgpr(self, index: int, value: LanePattern, relative: Value | None = None) -> None:
        if relative is not None:
            self.scalars.clear()
        elif value.constant is None:
            self.scalars.pop(index, None)
        else:
            self.scalars[index] = value

    def read_scc(self) -> LanePattern:
        return LanePattern("b1", _ZERO)

    def write_scc(self, value: Value) -> None: ...

    def special(self, name: str) -> LanePattern:
        return LanePattern("u64", _ZERO)

    def next_address(self) -> LanePattern:
        return LanePattern("u64", _ZERO)

    def hardware(self, name: str) -> LanePattern:
        return LanePattern("u64", _ZERO)

    def load(self, at: Request[LanePattern]) -> tuple[LanePattern, ...]:
        return (LanePattern("u32", _ZERO if at.access.space == "scalar" else None),) * at.words

    def store(self, *arguments: object) -> None: ...

    def atomic(self, at: Request[LanePattern], *rest: object) -> LanePattern:
        return LanePattern({"b32": "u32", "b64": "u64"}.get(at.access.element, at.access.element), None)


def lane_strides(blocks: Sequence[Block]) -> dict[int, dict[int, Pattern]]:
    """Address of a vector instruction -> {VGPR: its pattern before that instruction}."""
    found: dict[int, dict[int, Pattern]] = {}
    entries: dict[int, _Known] = {}
    machine = _Machine()
    entries[0] = ({0: LanePattern("u32", tuple(range(GRANULE)), 3)}, {})
    for block in blocks:
        vgprs, scalars = entries.get(block.number, ({}, {}))
        machine.vgprs, machine.scalars = dict(vgprs), dict(scalars)
        for inst in block.instructions:
            if inst.address is not None and inst.desc.exec_masked:
                found[inst.address] = {i: g.d for i, g in machine.vgprs.items() if g.d is not None}
            try:
                execute(machine, inst)
            except IsaError:
                raise
            except (AssertionError, TypeError, ValueError):
                for r in inst.writes():  # a body that wants more of its values than patterns have
                    (machine.vgprs if r.is_vgpr else machine.scalars).pop(r.index, None)
        for number in (block.next, block.target):
            if number > block.number:
                _join(entries, number, machine)
    return found


def _join(entries: dict[int, _Known], number: int, machine: _Machine) -> None:
    if number not in entries:
        entries[number] = (dict(machine.vgprs), dict(machine.scalars))
        return
    for mine, theirs in zip(entries[number], (machine.vgprs, machine.scalars), strict=True):
        for index in list(mine):
            other = theirs.get(index)
            if other is None or other.d != mine[index].d:
                del mine[index]
            else:
                mine[index].align = min(mine[index].align, other.align)
