"""Memory accesses whose addresses have a known pattern: a few wide loads and shuffles instead of one access a lane.

The fast version of a kernel guesses patterns (`guess.py`) for VGPRs as they are when a loop over strips begins, and
checks each guess, for all strips, in front of the loop (`Guards`):

    - the VGPR's lanes differ from the first lane of their granule as the guess says;
    - what all accesses with one base reach lies inside the LDS, or inside one allocation.

If a check fails the wave goes on in the plain version, from the instruction with which the loop begins, before anything
was changed. If all hold, the addresses of an access are the base, which is computed by scalar arithmetic from the first
lane, plus constants; no access in the loop is checked again.

An access then is one of: the same address in each lane, a load and a broadcast; addresses close together, a few vector
loads and shuffles of their words; otherwise a load a lane at a constant distance. LDS has room on both sides, so that
whole vectors may be read there; nothing else is read beyond what was checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from isa.sim.forms import Form
from isa.sim.guess import GRANULE, Pattern
from isa.sim.ir import Function, Region
from isa.sim.lane_access import element_bytes, load_words, store_words
from isa.sim.llvm_values import LlvmValue, Writer
from isa.sim.runtime import field_pointer
from isa.sim.state import LANES, VGPRS

_WINDOW = 4 * GRANULE
"""Words that the lanes of a granule may be apart for vector loads."""


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


@dataclass
class WideAccess:
    """Writes accesses into the body of a loop over strips. index: the strip's number, i64."""

    writer: Writer
    guards: Guards
    body: Region
    index: str
    _pointers: dict[tuple[object, int], str] = field(default_factory=dict)
    _chunks: dict[tuple[object, int, int, int], str] = field(default_factory=dict)
    _transposed: dict[tuple[object, int, int], list[str]] = field(default_factory=dict)

    def pointer(self, key: object, granule: int) -> str:
        """Host pointer to a base."""
        at = (key, granule)
        if at not in self._pointers:
            f, r = self.writer.function, self.guards.ranges[key]
            base = self.guards.base(f, self.body, self.index, r.form, granule)
            if r.space == "lds":
                self._pointers[at] = f.emit(self.body, f"getelementptr i8, ptr %lds, i64 {base}")
            else:
                self._pointers[at] = f.emit(self.body, f"inttoptr i64 {base} to ptr")
        return self._pointers[at]

    def _at(self, key: object, granule: int, offset: int) -> str:
        pointer = self.pointer(key, granule)
        return self.writer.function.emit(self.body, f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def load(self, key: object, constant: int, pattern: Pattern, element: str) -> list[LlvmValue]:
        """The words of an element, one vector a register."""
        count = max(1, element_bytes(element) // 4)
        strips = [self._load_granule(key, constant, pattern, element, g) for g in range(self._granules)]
        results = []
        for j in range(count):
            parts = [s[j] for s in strips]
            ref = parts[0] if len(parts) == 1 else self._concatenated(parts)
            results.append(LlvmValue(self.writer, "u32", self.guards.strip, ref))
        return results

    @property
    def _granules(self) -> int:
        return self.guards.strip // self.guards.granule

    def _concatenated(self, parts: list[str]) -> str:
        n = self.guards.granule
        order = ", ".join(f"i32 {i}" for i in range(2 * n))
        return self.writer.function.emit(
            self.body, f"shufflevector <{n} x i32> {parts[0]}, <{n} x i32> {parts[1]}, <{2 * n} x i32> <{order}>"
        )

    def _load_granule(self, key: object, constant: int, pattern: Pattern, element: str, granule: int) -> list[str]:
        f, n, size = self.writer.function, self.guards.granule, element_bytes(element)
        distances = [d - pattern[0] for d in pattern[:n]]
        type_ = f"<{n} x i32>"
        if not any(distances):
            words = load_words(self.writer, self.body, self._at(key, granule, constant), element)
            return [self._splat(w, n) for w in words]
        if size >= 4 and all(d % 4 == 0 for d in distances) and (max(distances) + size) // 4 <= _WINDOW:
            return self._shuffled(key, constant, [d // 4 for d in distances], size // 4, granule)
        results = [f"{type_} poison"] * max(1, size // 4)
        for lane, d in enumerate(distances):
            words = load_words(self.writer, self.body, self._at(key, granule, constant + d), element)
            for j, w in enumerate(words):
                name = f.emit(self.body, f"insertelement {results[j]}, i32 {w}, i32 {lane}")
                results[j] = f"{type_} {name}"
        return [r.rpartition(" ")[2] for r in results]

    def _splat(self, word: str, n: int) -> str:
        f = self.writer.function
        one = f.emit(self.body, f"insertelement <{n} x i32> poison, i32 {word}, i32 0")
        return f.emit(self.body, f"shufflevector <{n} x i32> {one}, <{n} x i32> poison, <{n} x i32> zeroinitializer")

    def _shuffled(self, key: object, constant: int, words: list[int], count: int, granule: int) -> list[str]:
        """words: each lane's first word. Reads whole vectors of n words and picks from them."""
        n, span = self.guards.granule, max(words) + count
        lds = self.guards.ranges[key].space == "lds"
        if n == 8 and words == [4 * i for i in range(8)]:
            skip = constant % 16 // 4 if lds and constant % 4 == 0 else 0
            if skip + count <= 4 and (lds or count == 4):
                return self._columns(key, granule, constant - 4 * skip)[skip : skip + count]
        if span < n and not lds:
            width = span
            starts = [0]
        else:
            # Vectors begin where those of neighbouring accesses do (LDS), or end where the last word does.
            first = -(constant // 4 % n) if lds and constant % 4 == 0 else 0
            width = n
            starts = list(range(first, span, n))
            if not lds and starts[-1] + n > span:
                starts[-1] = span - n
        chunks = [self._chunk(key, granule, constant + 4 * s, width) for s in starts]
        f = self.writer.function
        results = []
        for j in range(count):
            picks = []
            for w in words:
                which = max(i for i, s in enumerate(starts) if s <= w + j)
                picks.append((which, w + j - starts[which]))
            results.append(_pick(f, self.body, chunks, width, picks))
        return results

    def _columns(self, key: object, granule: int, offset: int) -> list[str]:
        """Eight lanes with four words each, side by side: 8 x 4 words transposed into one vector a word."""
        at = (key, granule, offset)
        if at in self._transposed:
            return self._transposed[at]
        f, body = self.writer.function, self.body

        def two(a: str, b: str, order: tuple[int, ...], width: int = 8) -> str:
            picks = ", ".join(f"i32 {i}" for i in order)
            type_ = f"<{width} x i32>"
            return f.emit(body, f"shufflevector {type_} {a}, {type_} {b}, <{len(order)} x i32> <{picks}>")

        cells = [
            f.emit(body, f"load <4 x i32>, ptr {self._at(key, granule, offset + 16 * lane)}, align 4")
            for lane in range(8)
        ]
        # Lane i below lane i + 4, so that all further shuffles stay within 128 bits.
        rows = [two(cells[i], cells[i + 4], (0, 1, 2, 3, 4, 5, 6, 7), 4) for i in range(4)]
        low = [two(rows[i], rows[i + 1], (0, 8, 1, 9, 4, 12, 5, 13)) for i in (0, 2)]
        high = [two(rows[i], rows[i + 1], (2, 10, 3, 11, 6, 14, 7, 15)) for i in (0, 2)]
        first, second = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
        columns = [two(a, b, order) for a, b in (low, high) for order in (first, second)]
        self._transposed[at] = columns
        return columns

    def _chunk(self, key: object, granule: int, offset: int, width: int) -> str:
        at = (key, granule, offset, width)
        if at not in self._chunks:
            place = self._at(key, granule, offset)
            self._chunks[at] = self.writer.function.emit(self.body, f"load <{width} x i32>, ptr {place}, align 4")
        return self._chunks[at]

    def store(self, key: object, constant: int, pattern: Pattern, element: str, data: Sequence[LlvmValue]) -> None:
        """The reverse; where lanes meet at one address the last one's value stays."""
        self._chunks.clear()
        self._transposed.clear()
        f, n, size = self.writer.function, self.guards.granule, element_bytes(element)
        distances = [d - pattern[0] for d in pattern[:n]]
        count = max(1, size // 4)
        values = [d.vector(self.guards.strip) for d in data[:count]]
        type_ = f"<{self.guards.strip} x i32>"
        for granule in range(self._granules):
            if size >= 4 and distances == [size * i for i in range(n)] and count in (1, 2, 4):
                self._store_dense(key, constant, granule, values, n)
                continue
            for lane, d in enumerate(distances):
                words = [f.emit(self.body, f"extractelement {type_} {v.ref}, i32 {granule * n + lane}") for v in values]
                store_words(self.writer, self.body, self._at(key, granule, constant + d), element, words)

    def _store_dense(self, key: object, constant: int, granule: int, values: list[LlvmValue], n: int) -> None:
        """Lanes side by side without gaps: the registers' words interleaved, in whole vectors."""
        f, count = self.writer.function, len(values)
        refs = [v.ref for v in values]
        for chunk in range(count):
            picks = []
            for i in range(n):
                lane, j = divmod(chunk * n + i, count)
                picks.append((j, granule * n + lane))
            vector = _pick(f, self.body, refs, self.guards.strip, picks)
            place = self._at(key, granule, constant + 4 * n * chunk)
            self.body.line(f"store <{n} x i32> {vector}, ptr {place}, align 4")


def _pick(f: Function, region: Region, sources: list[str], width: int, picks: list[tuple[int, int]]) -> str:
    """A vector whose element i is element picks[i][1] of sources[picks[i][0]], by shuffles of two vectors at a time."""
    n = len(picks)
    used = sorted({s for s, _ in picks})
    type_ = f"<{width} x i32>"
    if len(used) <= 2:
        a, b = used[0], used[-1]
        order = ", ".join(f"i32 {i + (width if s == b and b != a else 0)}" for s, i in picks)
        second = sources[b] if b != a else "poison"
        return f.emit(region, f"shufflevector {type_} {sources[a]}, {type_} {second}, <{n} x i32> <{order}>")
    # Halve: what comes from the first sources, what from the rest, then the two merged lane by lane.
    middle = used[len(used) // 2]
    parts = []
    for half in ([s for s in used if s < middle], [s for s in used if s >= middle]):
        parts.append(_pick_some(f, region, sources, width, picks, half))
    order = ", ".join(f"i32 {i if s < middle else n + i}" for i, (s, _) in enumerate(picks))
    return f.emit(region, f"shufflevector <{n} x i32> {parts[0]}, <{n} x i32> {parts[1]}, <{n} x i32> <{order}>")


def _pick_some(
    f: Function, region: Region, sources: list[str], width: int, picks: list[tuple[int, int]], only: list[int]
) -> str:
    if len(only) > 2:
        chosen = [(s, i) if s in only else (only[0], 0) for s, i in picks]
        return _pick(f, region, sources, width, chosen)
    a, b = only[0], only[-1]
    type_ = f"<{width} x i32>"
    order = ", ".join(
        (f"i32 {i + (width if s == b and b != a else 0)}" if s in only else "i32 poison") for s, i in picks
    )
    second = sources[b] if b != a else "poison"
    return f.emit(region, f"shufflevector {type_} {sources[a]}, {type_} {second}, <{len(picks)} x i32> <{order}>")
