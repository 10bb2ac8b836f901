"""What a loop over strips relies on, and the checks of it in front of the loop.

The fast version of a kernel guesses patterns (`lane_strides.py`) for VGPRs as they are when a loop over strips begins,
and checks each guess, for all strips, in front of the loop:

    - the VGPR's lanes differ from the first lane of their granule as the guess says;
    - what all accesses with one base reach lies inside the LDS, or inside one allocation.

If a check fails the wave goes on in the plain version, from the instruction with which the loop begins, before anything
was changed. If all hold, the addresses of an access are the base, which is computed by scalar arithmetic from the first
lane, plus constants; no access in the loop is checked again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from isa.sim.forms import Form
from isa.sim.ir import Function, Region
from isa.sim.lane_strides import GRANULE, Pattern
from isa.sim.runtime import field_pointer
from isa.sim.state import LANES, VGPRS


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
        low, high = form.constant, form.constant + spread + size
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
            return f.emit(region, f"zext i32 {self._word(f, region, strip, form, granule, False)} to i64")
        assert form.low is not None
        low = self._word(f, region, strip, form.low, granule, True)
        total = f.emit(region, f"zext i32 {low} to i64")
        if form.high is not None:
            high = self._word(f, region, strip, form.high, granule, True)
            wide = f.emit(region, f"zext i32 {high} to i64")
            moved = f.emit(region, f"shl i64 {wide}, 32")
            total = f.emit(region, f"or i64 {total}, {moved}")
        for scalar in form.scalars:
            total = f.emit(region, f"add i64 {total}, {scalar.ref}")
        return total

    def _word(self, f: Function, region: Region, strip: str, form: Form, granule: int, whole: bool) -> str:
        """i32: the first lane's value of a 32-bit form. whole: with its constant."""
        total = str(form.constant) if whole and form.constant else ""
        parts = []
        for v, c in form.terms:
            place = self.register(f, region, strip, v, granule)
            lane = f.emit(region, f"load i32, ptr {place}")
            self.first_lanes.setdefault(v, []).append(lane)
            parts.append(lane if c == 1 else f.emit(region, f"mul i32 {lane}, {c}"))
        parts += [s.ref for s in form.scalars]
        for part in parts:
            total = f.emit(region, f"add i32 {total}, {part}") if total else part
        return total

    def register(self, f: Function, region: Region, strip: str, index: int, granule: int) -> str:
        """Address of a VGPR's first lane in a strip's granule."""
        skip = f.emit(region, f"mul nuw nsw i64 {strip}, {4 * self.strip * self.vgprs}")
        offset = VGPRS + 4 * (self.strip * index + self.granule * granule)
        plus = f.emit(region, f"add nuw nsw i64 {skip}, {offset}")
        return f.emit(region, f"getelementptr inbounds i8, ptr %w, i64 {plus}")

    def write(self, f: Function, region: Region, bail: str) -> None:
        """The checks, as a loop over strips that leaves to the label `bail` where one fails."""
        name, before = f.name("guard"), region.block
        strip = f"%{name}.strip"
        region.line(f"br label %{name}")
        region.label(name)
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
                good = f.emit(region, f"and i1 {good}, {self._inside(f, region, r, base, strip, granule)}")
        region.line(f"br i1 {good}, label %{name}.next, label %{name}.failed")
        region.label(f"{name}.failed")
        globals_ = [(r, base) for r, base in bases if r.space != "lds"]
        if globals_:
            # Perhaps the accesses have moved on to another allocation: look once.
            region.line(f"br i1 {refilled}, label %{bail}, label %{name}.refill")
            region.label(f"{name}.refill")
            table = f.emit(region, f"load i64, ptr {f.emit(region, field_pointer('C', 'table'))}")
            for r, base in globals_:
                at = f.emit(region, f"add i64 {base}, {r.low}")
                slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * r.site}")
                f.emit(region, f"call i1 @find(i64 {table}, i64 {at}, ptr {slot})")
            region.line(f"br label %{name}")
            again = f", [{strip}, %{name}.refill]"
            again_flag = f", [true, %{name}.refill]"
        else:
            region.line(f"br label %{bail}")
            again = again_flag = ""
        region.label(f"{name}.next")
        next_ = f.emit(region, f"add nuw nsw i64 {strip}, 1")
        more = f.emit(region, f"icmp ult i64 {next_}, {LANES // self.strip}")
        region.line(f"br i1 {more}, label %{name}, label %{name}.done")
        region.lines[strip_phi] = f"  {strip} = phi i64 [0, %{before}], [{next_}, %{name}.next]{again}"
        region.lines[strip_phi + 1] = f"  {refilled} = phi i1 [false, %{before}], [false, %{name}.next]{again_flag}"
        region.label(f"{name}.done")

    def _patterns_hold(self, f: Function, region: Region, strip: str) -> str:
        lanes = f"<{self.strip} x i32>"
        firsts = ", ".join(f"i32 {i // self.granule * self.granule}" for i in range(self.strip))
        every = None
        for v, pattern in self.patterns.items():
            place = self.register(f, region, strip, v, 0)
            value = f.emit(region, f"load {lanes}, ptr {place}, align {4 * self.strip}")
            first = f.emit(region, f"shufflevector {lanes} {value}, {lanes} poison, {lanes} <{firsts}>")
            apart = f.emit(region, f"sub {lanes} {value}, {first}")
            expected = ", ".join(f"i32 {pattern[i % self.granule] - pattern[0]}" for i in range(self.strip))
            different = f.emit(region, f"xor {lanes} {apart}, <{expected}>")
            every = f.emit(region, f"or {lanes} {every}, {different}") if every else different
        bits = f.emit(region, f"bitcast {lanes} {every} to i{32 * self.strip}")
        return f.emit(region, f"icmp eq i{32 * self.strip} {bits}, 0")

    def _inside(self, f: Function, region: Region, r: Range, base: str, strip: str, granule: int) -> str:
        if r.space == "lds":
            # base is below 2**32 and the distances are small, so signed 64-bit arithmetic is exact.
            high = f.emit(region, f"add nsw i64 {base}, {r.high}")
            fits = f.emit(region, f"icmp sle i64 {high}, %lds.size")
            low = f.emit(region, f"add nsw i64 {base}, {r.low}")
            above = f.emit(region, f"icmp sge i64 {low}, 0")
            return f.emit(region, f"and i1 {fits}, {above}")
        at = f.emit(region, f"add i64 {base}, {r.low}")
        slot = f.emit(region, f"getelementptr i64, ptr %sites, i64 {2 * r.site}")
        start = f.emit(region, f"load i64, ptr {slot}")
        size = f.emit(region, f"load i64, ptr {f.emit(region, f'getelementptr i64, ptr {slot}, i64 1')}")
        off = f.emit(region, f"sub i64 {at}, {start}")
        reach = r.high - r.low
        enough = f.emit(region, f"icmp uge i64 {size}, {reach}")
        room = f.emit(region, f"sub i64 {size}, {reach}")
        inside = f.emit(region, f"icmp ule i64 {off}, {room}")
        both = f.emit(region, f"and i1 {enough}, {inside}")
        assert r.form.low is not None
        # The lanes' 32-bit sums must not wrap before they are extended (nor carry into a pair's high register).
        low32 = self._word(f, region, strip, r.form.low, granule, True)
        flat = f.emit(region, f"icmp ule i32 {low32}, {(1 << 32) - 1 - r.spread}")
        return f.emit(region, f"and i1 {both}, {flat}")
