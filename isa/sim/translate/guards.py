"""Guards of a loop over strips: access patterns -> checks in front of the loop that they hold.

The fast version of a kernel assumes patterns (`lane_strides.py`) of VGPRs as they are when a loop over strips begins,
and checks each assumption, for all strips, in front of the loop:

    - the VGPR's lanes differ from the first lane of their granule as the pattern says;
    - what all strips' accesses with one base reach lies inside the LDS, or inside one allocation. Bases often differ in
      64-bit scalars only; how far the strips' lie apart is found once for these.

If a check fails the wave goes on in the plain version, from the instruction with which the loop begins, before anything
was changed. If all hold, the addresses of an access are the base, which is computed by scalar arithmetic from the first
lane, plus constants; no access in the loop is checked again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from isa.registers import LANES
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.shuffles import shuffle
from isa.sim.ir.state import VGPRS
from isa.sim.translate.forms import Form
from isa.sim.translate.lane_strides import GRANULE, Pattern

_FAR = 1 << 40
"""Bytes that the bases of a wave may lie apart."""


@dataclass
class Range:
    """What the accesses with one base reach: base + low .. base + high. `site` caches a global one's allocation."""

    space: str
    form: Form
    spread: int
    site: int
    low: int
    high: int

    @property
    def of_lanes(self) -> Form:
        """Of the base what may differ between lanes: of an address in memory, all but the 64-bit scalars."""
        return self.form if self.form.low is None else replace(self.form, scalars=(), constant=0)


@dataclass
class Guards:
    """What a loop over strips relies on. `strip`: lanes of a strip, `vgprs`: of a wave. `first_lanes`: names of values
    that were loaded from each VGPR for a base, which must be done before the VGPR changes."""

    strip: int
    vgprs: int
    patterns: dict[int, Pattern] = field(default_factory=dict)
    ranges: dict[object, Range] = field(default_factory=dict)
    first_lanes: dict[int, list[str]] = field(default_factory=dict)

    @property
    def granule(self) -> int:
        return min(self.strip, GRANULE)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def plan(
        self, space: str, form: Form, known: dict[int, Pattern], size: int, site: int
    ) -> tuple[object, Pattern] | None:
        """Rely on `known` for an access of `size` bytes. Gives the key of its base and the distances of the lanes; None
        where it is not to be had, or contradicts what was relied on before."""
        if any(self.patterns.get(v, known.get(v)) != known.get(v) for v in form.vgprs):
            return None
        pattern = form.pattern(known)
        if pattern is None or not form.vgprs:
            return None
        n = self.granule
        if any(
            p[i] - p[i // n * n] != p[i % n] - p[0] for p in map(known.__getitem__, form.vgprs) for i in range(GRANULE)
        ):
            return None  # strips shorter than a granule would differ
        key = (space, form.key, pattern)
        spread = max(pattern[:n])
        low, high = form.constant + min(pattern[:n]), form.constant + spread + size
        if not -(1 << 30) < low < 1 << 30:
            return None
        for v in form.vgprs:
            self.patterns[v] = known[v]
        if key in self.ranges:
            r = self.ranges[key]
            r.low, r.high = min(r.low, low), max(r.high, high)
        else:
            self.ranges[key] = Range(space, form, spread, site, low, high)
        return key, pattern

    def base(self, f: Function, region: Region, strip: str, form: Form, granule: int) -> str:
        """i64: the first lane's address of a strip's granule, without the form's outer constant. strip: i64."""
        return self._base(_Words(f, region, 1), strip, form, granule)

    def _base(self, w: _Words, strip: str, form: Form, granule: int) -> str:
        """The same of as many granules as `w` has words, from that one on."""
        if form.size == 32:
            return w.wide(self._word(w, strip, form, granule, False))
        assert form.low is not None
        total = w.wide(self._word(w, strip, form.low, granule, True))
        if form.high is not None:
            high = w.wide(self._word(w, strip, form.high, granule, True))
            total = w.of("or", 64, total, w.of("shl", 64, high, 32))
        for scalar in form.scalars:
            total = w.of("add", 64, total, w.spread(64, scalar))
        return total

    def _word(self, w: _Words, strip: str, form: Form, granule: int, whole: bool) -> str:
        """The first lanes' values of a 32-bit form. whole: with its constant."""
        parts = [w.constant(32, form.constant)] if whole and form.constant else []
        for v, c in form.terms:
            lanes = self._firsts(w, strip, v, granule)
            self.first_lanes.setdefault(v, []).append(lanes)
            parts.append(lanes if c == 1 else w.of("mul", 32, lanes, c))
        parts += [w.spread(32, scalar) for scalar in form.scalars]
        return functools.reduce(functools.partial(w.of, "add", 32), parts)

    def _firsts(self, w: _Words, strip: str, index: int, granule: int) -> str:
        """A VGPR's values in the first lanes of granules."""
        f, region = w.f, w.region
        place = self.register(f, region, strip, index, granule)
        if w.count == 1:
            return f.emit(region, "load i32, ptr %s", place)
        every = f.emit(region, f"load <{self.strip} x i32>, ptr %s, align {4 * self.strip}", place)
        return shuffle(f, region, every, "poison", self.strip, range(0, self.strip, self.granule))

    def register(self, f: Function, region: Region, strip: str, index: int, granule: int) -> str:
        """Address of a VGPR's first lane in a strip's granule."""
        skip = f.emit(region, "mul nuw nsw i64 %s, %s", strip, 4 * self.strip * self.vgprs)
        offset = VGPRS + 4 * (self.strip * index + self.granule * granule)
        plus = f.emit(region, "add nuw nsw i64 %s, %s", skip, offset)
        return f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", plus)

    def write(self, f: Function, region: Region, bail: str) -> None:
        """The checks, which go to the label `bail` where one fails. A loop over strips finds lanes that do not have
        their pattern, and of each granule the lowest and the highest base; what is reached from there is then checked
        at once."""
        name, before = f.name("guard"), region.block
        loop = _Loop(_Words(f, region, self.strip // self.granule), f"%{name}.strip")
        region.go_on(name)
        begin = len(region.lines)
        odd = loop.carry(f"<{self.strip} x i32>", "zeroinitializer", "or", self._different(f, region, loop.index))
        groups: dict[object, list[Range]] = {}
        for r in self.ranges.values():
            groups.setdefault((r.space == "lds", r.of_lanes.key), []).append(r)
        extents = [self._extent(loop, ranges) for ranges in groups.values()]
        next_ = f.emit(region, "add nuw nsw i64 %s, 1", loop.index)
        more = f.emit(region, "icmp ult i64 %s, %s", next_, LANES // self.strip)
        region.branch(more, name, f"{name}.all", f"{name}.all")
        region.branch(self._same(f, region, odd), f"{name}.reach", bail, f"{name}.reach")
        phis = [(loop.index, "i64", "0", next_), *loop.carried]
        region.lines[begin:begin] = [f"  {x} = phi {t} [{old}, %{before}], [{new}, %{name}]" for x, t, old, new in phis]
        reached = list(zip(extents, groups.values(), strict=True))
        far = [(extent, rs) for extent, ranges in reached for rs in _by_site(ranges) if rs[0].space != "lds"]
        inside = self._inside(loop.w, reached)
        if far:  # perhaps the accesses have moved on to another allocation: look once
            region.branch(inside, f"{name}.done", f"{name}.moved", f"{name}.moved")
            table = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "table")))
            for extent, rs in far:
                slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * rs[0].site}")
                at = loop.w.first(self._lowest(loop.w, extent, rs)[0])
                f.emit(region, "call i1 @find(i64 %s, i64 %s, ptr %s)", table, at, slot)
            inside = self._inside(loop.w, reached)
        region.branch(inside, f"{name}.done", bail, f"{name}.done")

    def _different(self, f: Function, region: Region, strip: str) -> str:
        """Zero in each lane in which the VGPRs have their patterns."""
        lanes = f"<{self.strip} x i32>"
        firsts = ", ".join(f"i32 {i // self.granule * self.granule}" for i in range(self.strip))
        every = ""
        for v, pattern in self.patterns.items():
            place = self.register(f, region, strip, v, 0)
            value = f.emit(region, f"load {lanes}, ptr %s, align {4 * self.strip}", place)
            first = f.emit(region, f"shufflevector {lanes} %s, {lanes} poison, {lanes} <{firsts}>", value)
            apart = f.emit(region, f"sub {lanes} %s, %s", value, first)
            expected = ", ".join(f"i32 {pattern[i % self.granule] - pattern[0]}" for i in range(self.strip))
            different = f.emit(region, f"xor {lanes} %s, <{expected}>", apart)
            every = f.emit(region, f"or {lanes} %s, %s", every, different) if every else different
        return every

    def _same(self, f: Function, region: Region, odd: str) -> str:
        bits = f.emit(region, f"bitcast <{self.strip} x i32> %s to i{32 * self.strip}", odd)
        return f.emit(region, f"icmp eq i{32 * self.strip} %s, 0", bits)

    def _extent(self, loop: _Loop, ranges: Sequence[Range]) -> _Extent:
        """Of ranges whose bases differ in scalars only."""
        w, form = loop.w, ranges[0].of_lanes
        base = self._base(w, loop.index, form, 0)
        low = loop.carry(w.type(64), w.constant(64, -1), "umin", base)
        high = word = loop.carry(w.type(64), w.constant(64, 0), "umax", base)
        if form.low is not None and form.high is not None:
            low32 = w.wide(self._word(w, loop.index, form.low, 0, True))
            word = loop.carry(w.type(64), w.constant(64, 0), "umax", low32)
        return _Extent(low, high, word)

    def _inside(self, w: _Words, reached: Iterable[tuple[_Extent, Sequence[Range]]]) -> str:
        """i1: whether all that is reached lies where it may."""
        return w.all_of([condition for extent, ranges in reached for condition in self._within(w, extent, ranges)])

    def _within(self, w: _Words, extent: _Extent, ranges: Sequence[Range]) -> Iterator[str]:
        """What must hold for what is reached from the lowest to the highest base."""
        if ranges[0].space == "lds":
            # A base is below 2**32 and the distances are small, so signed 64-bit arithmetic is exact.
            high = w.of("add nsw", 64, extent.high, max(r.high for r in ranges))
            yield w.of("icmp sle", 64, high, w.spread(64, "%lds.size"))
            yield w.of("icmp sge", 64, w.of("add nsw", 64, extent.low, min(r.low for r in ranges)), 0)
            return
        # The lanes' 32-bit sums must not wrap before they are extended (nor carry into a pair's high register).
        yield w.of("icmp ule", 64, extent.word, (1 << 32) - 1 - max(r.spread for r in ranges))
        apart = w.of("sub", 64, extent.high, extent.low)
        yield w.of("icmp ult", 64, apart, _FAR)
        for rs in _by_site(ranges):
            start, size = (w.spread(64, bound) for bound in allocation(w.f, w.region, rs[0].site))
            lowest, moved = self._lowest(w, extent, rs)
            off, reach = w.of("sub", 64, lowest, start), apart
            if moved:
                wide = w.spread(64, moved)
                yield w.of("icmp ult", 64, wide, _FAR)
                reach = w.of("add", 64, apart, wide)
            yield w.of("icmp ult", 64, off, size)
            yield w.of(
                "icmp ule", 64, w.of("add", 64, w.of("add", 64, off, reach), max(r.high - r.low for r in rs)), size
            )

    def _lowest(self, w: _Words, extent: _Extent, ranges: Sequence[Range]) -> tuple[str, str]:
        """The first addresses that the ranges of one instruction reach, and how far apart the first and the last one
        begin ("" for a single one)."""
        one = _Words(w.f, w.region, 1)
        begins = []
        for r in ranges:
            parts = [*r.form.scalars, str(r.low)] if r.low or not r.form.scalars else r.form.scalars
            begins.append(functools.reduce(functools.partial(one.of, "add", 64), parts))
        low, high = (functools.reduce(functools.partial(one.extreme, name), begins) for name in ("smin", "smax"))
        return w.of("add", 64, extent.low, w.spread(64, low)), one.of("sub", 64, high, low) if len(begins) > 1 else ""


def _by_site(ranges: Iterable[Range]) -> Iterable[list[Range]]:
    """What an instruction reaches in several iterations lies in one allocation."""
    sites: dict[int, list[Range]] = {}
    for r in ranges:
        sites.setdefault(r.site, []).append(r)
    return sites.values()


@dataclass(frozen=True)
class _Extent:
    """Of each granule, over all strips: the lowest and the highest base, and the highest low word of one."""

    low: str
    high: str
    word: str


@dataclass(frozen=True)
class _Words:
    """Writes arithmetic on a word of 32 or 64 bits for each of `count` granules: scalars for one, else vectors."""

    f: Function
    region: Region
    count: int

    def type(self, bits: int) -> str:
        return f"i{bits}" if self.count == 1 else f"<{self.count} x i{bits}>"

    def constant(self, bits: int, number: int) -> str:
        return str(number) if self.count == 1 else f"splat (i{bits} {number})"

    def spread(self, bits: int, scalar: str) -> str:
        return scalar if self.count == 1 else self.f.splat(self.region, f"i{bits}", self.count, scalar)

    def of(self, operation: str, bits: int, a: str, b: str | int) -> str:
        b = self.constant(bits, b) if isinstance(b, int) else b
        return self.f.emit(self.region, f"{operation} {self.type(bits)} %s, %s", a, b)

    def extreme(self, name: str, a: str, b: str) -> str:
        """name: smin or smax, umin or umax; of 64 bits."""
        type_ = self.type(64)
        intrinsic = f"{type_} @llvm.{name}.{type_.replace('<', 'v').replace(' x ', '').replace('>', '')}"
        self.f.declare(f"declare {intrinsic}({type_}, {type_})")
        return self.f.emit(self.region, f"call {intrinsic}({type_} %s, {type_} %s)", a, b)

    def wide(self, word: str) -> str:
        return self.f.emit(self.region, f"zext {self.type(32)} %s to {self.type(64)}", word)

    def first(self, word: str) -> str:
        """The first granule's of 64 bits."""
        return word if self.count == 1 else self.f.emit(self.region, f"extractelement {self.type(64)} %s, i32 0", word)

    def all_of(self, conditions: Sequence[str]) -> str:
        """i1: whether all hold, of all granules."""
        every = functools.reduce(functools.partial(self.of, "and", 1), conditions)
        if self.count == 1:
            return every
        bits = self.f.emit(self.region, f"bitcast {self.type(1)} %s to i{self.count}", every)
        return self.f.emit(self.region, f"icmp eq i{self.count} %s, -1", bits)


@dataclass
class _Loop:
    """A loop over strips that is being written. carried: of each value that goes from strip to strip its name, type,
    first and next value."""

    w: _Words
    index: str
    carried: list[tuple[str, str, str, str]] = field(default_factory=list)

    def carry(self, type_: str, begin: str, operation: str, value: str) -> str:
        """What the operation gives of all strips' values."""
        old, w = f"{self.index}.{len(self.carried)}", self.w
        is_or = operation == "or"
        new = w.f.emit(w.region, f"or {type_} %s, %s", old, value) if is_or else w.extreme(operation, old, value)
        self.carried.append((old, type_, begin, new))
        return new


def allocation(f: Function, region: Region, site: int) -> tuple[str, str]:
    """i64: base and size of the one that a site was in last."""
    slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * site}")
    start = f.emit(region, "load i64, ptr %s", slot)
    return start, f.emit(region, "load i64, ptr %s", f.emit(region, "getelementptr i64, ptr %s, i64 1", slot))
