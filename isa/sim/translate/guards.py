"""Guards of a loop over strips: access patterns -> checks in front of the loop that they hold.

The fast version of a kernel assumes patterns (`lane_strides.py`) of VGPRs as they are when a loop over strips begins,
and checks each assumption, for all strips, in front of the loop:

    - the VGPR's lanes differ from the first lane of their granule as the pattern says;
    - what all accesses with one base reach lies inside the LDS, or inside one allocation.

If a check fails the wave goes on in the plain version, from the instruction with which the loop begins, before anything
was changed. If all hold, the addresses of an access are the base, which is computed by scalar arithmetic from the first
lane, plus constants; no access in the loop is checked again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from isa.registers import LANES
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.runtime import field_pointer
from isa.sim.ir.state import VGPRS
from isa.sim.translate.forms import Form
from isa.sim.translate.lane_strides import GRANULE, Pattern


@dataclass
class Range:
    """What the accesses with one base reach: base + low .. base + high. `site` caches a global one's allocation."""

    space: str
    form: Form
    spread: int
    site: int
    low: int
    high: int


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
        if form.size == 32:
            return f.emit(region, "zext i32 %s to i64", self._word(f, region, strip, form, granule, False))
        assert form.low is not None
        low = self._word(f, region, strip, form.low, granule, True)
        total = f.emit(region, "zext i32 %s to i64", low)
        if form.high is not None:
            high = self._word(f, region, strip, form.high, granule, True)
            wide = f.emit(region, "zext i32 %s to i64", high)
            moved = f.emit(region, "shl i64 %s, 32", wide)
            total = f.emit(region, "or i64 %s, %s", total, moved)
        for scalar in form.scalars:
            total = f.emit(region, "add i64 %s, %s", total, scalar)
        return total

    def _word(self, f: Function, region: Region, strip: str, form: Form, granule: int, whole: bool) -> str:
        """i32: the first lane's value of a 32-bit form. whole: with its constant."""
        total = str(form.constant) if whole and form.constant else ""
        parts = []
        for v, c in form.terms:
            place = self.register(f, region, strip, v, granule)
            lane = f.emit(region, "load i32, ptr %s", place)
            self.first_lanes.setdefault(v, []).append(lane)
            parts.append(lane if c == 1 else f.emit(region, "mul i32 %s, %s", lane, c))
        parts += form.scalars
        for part in parts:
            total = f.emit(region, "add i32 %s, %s", total, part) if total else part
        return total

    def register(self, f: Function, region: Region, strip: str, index: int, granule: int) -> str:
        """Address of a VGPR's first lane in a strip's granule."""
        skip = f.emit(region, "mul nuw nsw i64 %s, %s", strip, 4 * self.strip * self.vgprs)
        offset = VGPRS + 4 * (self.strip * index + self.granule * granule)
        plus = f.emit(region, "add nuw nsw i64 %s, %s", skip, offset)
        return f.emit(region, "getelementptr inbounds i8, ptr %s, i64 %s", "%w", plus)

    def write(self, f: Function, region: Region, bail: str) -> None:
        """The checks, as a loop over strips that leaves to the label `bail` where one fails."""
        name, before = f.name("guard"), region.block
        strip = f"%{name}.strip"
        region.go_on(name)
        strip_phi = len(region.lines)
        region.line("")
        refilled = f"%{name}.refilled"
        region.line("")
        good = self._patterns_hold(f, region, strip)
        bases = []
        for granule in range(self.strip // self.granule):
            for r in self.ranges.values():
                base = self.base(f, region, strip, r.form, granule)
                bases.append((r, base))
                good = f.emit(region, "and i1 %s, %s", good, self._inside(f, region, r, base, strip, granule))
        region.branch(good, f"{name}.next", f"{name}.failed", f"{name}.failed")
        globals_ = [(r, base) for r, base in bases if r.space != "lds"]
        if globals_:
            # Perhaps the accesses have moved on to another allocation: look once.
            region.branch(refilled, bail, f"{name}.refill", f"{name}.refill")
            table = f.emit(region, "load i64, ptr %s", f.emit(region, field_pointer("C", "table")))
            for r, base in globals_:
                at = f.emit(region, "add i64 %s, %s", base, r.low)
                slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * r.site}")
                f.emit(region, "call i1 @find(i64 %s, i64 %s, ptr %s)", table, at, slot)
            region.line(f"br label %{name}")
            again = f", [{strip}, %{name}.refill]"
            again_flag = f", [true, %{name}.refill]"
        else:
            region.line(f"br label %{bail}")
            again = again_flag = ""
        region.label(f"{name}.next")
        next_ = f.emit(region, "add nuw nsw i64 %s, 1", strip)
        more = f.emit(region, "icmp ult i64 %s, %s", next_, LANES // self.strip)
        region.line(f"br i1 {more}, label %{name}, label %{name}.done")
        region.lines[strip_phi] = f"  {strip} = phi i64 [0, %{before}], [{next_}, %{name}.next]{again}"
        region.lines[strip_phi + 1] = f"  {refilled} = phi i1 [false, %{before}], [false, %{name}.next]{again_flag}"
        region.label(f"{name}.done")

    def _patterns_hold(self, f: Function, region: Region, strip: str) -> str:
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
        bits = f.emit(region, f"bitcast {lanes} %s to i{32 * self.strip}", every)
        return f.emit(region, f"icmp eq i{32 * self.strip} %s, 0", bits)

    def _inside(self, f: Function, region: Region, r: Range, base: str, strip: str, granule: int) -> str:
        if r.space == "lds":
            # base is below 2**32 and the distances are small, so signed 64-bit arithmetic is exact.
            high = f.emit(region, "add nsw i64 %s, %s", base, r.high)
            fits = f.emit(region, "icmp sle i64 %s, %s", high, "%lds.size")
            low = f.emit(region, "add nsw i64 %s, %s", base, r.low)
            above = f.emit(region, "icmp sge i64 %s, 0", low)
            return f.emit(region, "and i1 %s, %s", fits, above)
        at = f.emit(region, "add i64 %s, %s", base, r.low)
        start, size = allocation(f, region, r.site)
        off = f.emit(region, "sub i64 %s, %s", at, start)
        reach = r.high - r.low
        enough = f.emit(region, "icmp uge i64 %s, %s", size, reach)
        room = f.emit(region, "sub i64 %s, %s", size, reach)
        inside = f.emit(region, "icmp ule i64 %s, %s", off, room)
        both = f.emit(region, "and i1 %s, %s", enough, inside)
        assert r.form.low is not None
        # The lanes' 32-bit sums must not wrap before they are extended (nor carry into a pair's high register).
        low32 = self._word(f, region, strip, r.form.low, granule, True)
        flat = f.emit(region, "icmp ule i32 %s, %s", low32, (1 << 32) - 1 - r.spread)
        return f.emit(region, "and i1 %s, %s", both, flat)


def allocation(f: Function, region: Region, site: int) -> tuple[str, str]:
    """i64: base and size of the one that a site was in last."""
    slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * site}")
    start = f.emit(region, "load i64, ptr %s", slot)
    return start, f.emit(region, "load i64, ptr %s", f.emit(region, "getelementptr i64, ptr %s, i64 1", slot))
