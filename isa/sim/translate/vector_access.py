"""Memory accesses whose addresses have a known pattern: a few wide loads and shuffles instead of one access a lane.

What a loop over strips may rely on stands in `guards.py`. Once it holds, an access is one of: the same address in each
lane, a load and a broadcast; addresses close together, a few vector loads and shuffles of their words; otherwise a load
a lane at a constant distance. LDS has room on both sides, so that whole vectors may be read there; nothing else is read
beyond what was checked.

A loop that moves its address registers on by scalars will read there in its next iteration, so the host is told to
fetch that (`next_iteration`); it is a hint, which reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isa.semantics.instruction import bit_width
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue, Writer
from isa.sim.ir.shuffles import columns, concatenate, shuffle
from isa.sim.translate.forms import Form
from isa.sim.translate.guards import Guards
from isa.sim.translate.lane_strides import GRANULE, Pattern
from isa.sim.translate.scalar_access import load_words, store_words

_WINDOW = 4 * GRANULE
"""Words that the lanes of a granule may be apart for vector loads."""

_LINE = 64
"""Bytes that the host fetches at once."""


@dataclass
class VectorAccess:
    """Writes accesses into the body of a loop over strips. index: the strip's number, i64. far: base and constant of
    each load that is not from LDS."""

    writer: Writer
    guards: Guards
    body: Region
    index: str
    far: list[tuple[object, int]] = field(default_factory=list)
    _pointers: dict[tuple[object, int], str] = field(default_factory=dict)
    _chunks: dict[tuple[object, int, int, int], str] = field(default_factory=dict)
    _transposed: dict[tuple[object, int, int, tuple[int, ...]], list[str]] = field(default_factory=dict)
    _quads: dict[tuple[object, int], str] = field(default_factory=dict)

    def pointer(self, key: object, granule: int) -> str:
        """Host pointer to a base."""
        at = (key, granule)
        if at not in self._pointers:
            f, r = self.writer.function, self.guards.ranges[key]
            base = self.guards.base(f, self.body, self.index, r.form, granule)
            if r.space == "lds":
                self._pointers[at] = f.emit(self.body, "getelementptr i8, ptr %s, i64 %s", "%lds", base)
            else:
                self._pointers[at] = f.emit(self.body, "inttoptr i64 %s to ptr", base)
        return self._pointers[at]

    def _at(self, key: object, granule: int, offset: int) -> str:
        pointer = self.pointer(key, granule)
        return self.writer.function.emit(self.body, "getelementptr i8, ptr %s, i64 %s", pointer, offset)

    def load(self, key: object, constant: int, pattern: Pattern, element: str) -> list[LlvmValue]:
        """The words of an element, one vector a register."""
        count = max(1, bit_width(element) // 8 // 4)
        if self.guards.ranges[key].space != "lds":
            self.far.append((key, constant))
        elif self._granules == 2 and constant % 4 == 0 and bit_width(element) >= 32:
            words: Sequence[str] = ()
            if not any(pattern):
                words = [self._of_halves(key, constant + 4 * j) for j in range(count)]
            elif pattern == tuple(range(0, 16 * GRANULE, 16)) and constant % 16 + 4 * count <= 16:
                words = self._of_rows(key, constant - constant % 16)[constant % 16 // 4 :]
            if words:
                return [LlvmValue(self.writer, "u32", self.guards.strip, word) for word in words[:count]]
        strips = [self._load_granule(key, constant, pattern, element, g) for g in range(self._granules)]
        results = []
        for j in range(count):
            parts = [s[j] for s in strips]
            ref = concatenate(self.writer.function, self.body, parts, self.guards.granule)
            results.append(LlvmValue(self.writer, "u32", self.guards.strip, ref))
        return results

    def next_iteration(self, new: Mapping[int, Form | None]) -> list[str]:
        """Where the loads of `far` will be in the loop's next iteration, as far as that is known. new: the form of each
        VGPR that the loop writes, at its end."""
        places = []
        f = self.writer.function
        for key, constant in {(key, constant // _LINE): (key, constant) for key, constant in self.far[::-1]}.values():
            step = _step(self.guards.ranges[key].form, new)
            if step is None:
                continue
            total = str(step.constant)
            for scalar in step.scalars:
                total = f.emit(self.body, "add i32 %s, %s", total, scalar)
            wide = f.emit(self.body, "sext i32 %s to i64", total)
            moved = f.emit(self.body, "add i64 %s, %s", wide, constant)
            for granule in range(self._granules):
                at = self.pointer(key, granule)
                places.append(f.emit(self.body, "getelementptr i8, ptr %s, i64 %s", at, moved))
        return places

    @property
    def _granules(self) -> int:
        return self.guards.strip // self.guards.granule

    def _of_halves(self, key: object, offset: int) -> str:
        """A word of LDS for each half of a strip of two granules. Four words are loaded, each half's into its vectors
        of 128 bits, and shuffled within these."""
        word = offset % 16 // 4
        f, first, every = self.writer.function, offset - 4 * word, range(2 * GRANULE)
        at = key, first
        if at not in self._quads:
            low, high = (self._chunk(key, granule, first, 4) for granule in (0, 1))
            self._quads[at] = shuffle(f, self.body, low, high, 4, [i // GRANULE * 4 + i % 4 for i in every])
        return shuffle(f, self.body, self._quads[at], "poison", len(every), [i - i % 4 + word for i in every])

    def _of_rows(self, key: object, offset: int) -> list[str]:
        """Four words of LDS for each lane of a strip of two granules, where a granule's lie side by side: one vector a
        word."""
        at = (key, 0, offset, ())
        if at not in self._transposed:
            f, body, n = self.writer.function, self.body, 2 * GRANULE
            rows = [[self._chunk(key, granule, offset + skip, n) for skip in (0, 4 * n)] for granule in (0, 1)]
            picks = [list(range(word, 2 * n, 4)) * 2 for word in range(4)]
            halves = [[shuffle(f, body, a, b, n, pick) for a, b in rows] for pick in picks]
            both = [*range(GRANULE), *range(n + GRANULE, 2 * n)]
            self._transposed[at] = [shuffle(f, body, low, high, n, both) for low, high in halves]
        return self._transposed[at]

    def _load_granule(self, key: object, constant: int, pattern: Pattern, element: str, granule: int) -> list[str]:
        f, n, size = self.writer.function, self.guards.granule, bit_width(element) // 8
        constant, distances = _upwards(constant, pattern[:n])
        type_ = f"<{n} x i32>"
        if not any(distances):
            words = load_words(f, self.body, self._at(key, granule, constant), element)
            return [f.splat(self.body, "i32", n, w) for w in words]
        if size >= 4 and all(d % 4 == 0 for d in distances) and (max(distances) + size) // 4 <= _WINDOW:
            return self._shuffled(key, constant, [d // 4 for d in distances], size // 4, granule)
        results = ["poison"] * max(1, size // 4)
        for lane, d in enumerate(distances):
            words = load_words(f, self.body, self._at(key, granule, constant + d), element)
            for j, w in enumerate(words):
                results[j] = f.emit(self.body, f"insertelement {type_} %s, i32 %s, i32 %s", results[j], w, lane)
        return results

    def _shuffled(self, key: object, constant: int, words: list[int], count: int, granule: int) -> list[str]:
        """words: each lane's first word. Reads whole vectors of n words and picks from them."""
        n, span = self.guards.granule, max(words) + count
        lds = self.guards.ranges[key].space == "lds"
        if n == 8 and not any(w % 4 for w in words) and len(set(words)) == 8:
            skip = constant % 16 // 4 if lds and constant % 4 == 0 else 0
            if skip + count <= 4 and (lds or count == 4):
                return self._columns(key, granule, constant - 4 * skip, tuple(words))[skip : skip + count]
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

    def _columns(self, key: object, granule: int, offset: int, words: tuple[int, ...]) -> list[str]:
        """Eight lanes with four words each, from `words` on: 8 x 4 words transposed into one vector a word."""
        at = (key, granule, offset, words)
        if at in self._transposed:
            return self._transposed[at]
        f, body = self.writer.function, self.body
        cells = [
            f.emit(body, "load <4 x i32>, ptr %s, align 4", self._at(key, granule, offset + 4 * word)) for word in words
        ]
        self._transposed[at] = columns(f, body, cells, 4)
        return self._transposed[at]

    def _chunk(self, key: object, granule: int, offset: int, width: int) -> str:
        at = (key, granule, offset, width)
        if at not in self._chunks:
            place = self._at(key, granule, offset)
            self._chunks[at] = self.writer.function.emit(self.body, f"load <{width} x i32>, ptr %s, align 4", place)
        return self._chunks[at]

    def store(self, key: object, constant: int, pattern: Pattern, element: str, data: Sequence[LlvmValue]) -> None:
        """The reverse; where lanes meet at one address the last one's value stays."""
        self._chunks.clear()
        self._transposed.clear()
        self._quads.clear()
        f, n, size = self.writer.function, self.guards.granule, bit_width(element) // 8
        constant, distances = _upwards(constant, pattern[:n])
        count = max(1, size // 4)
        values = [d.vector(self.guards.strip) for d in data[:count]]
        type_ = f"<{self.guards.strip} x i32>"
        for granule in range(self._granules):
            if size >= 4 and distances == [size * i for i in range(n)] and count in (1, 2, 4):
                self._store_dense(key, constant, granule, values, n)
                continue
            for lane, d in enumerate(distances):
                number, form = granule * n + lane, f"extractelement {type_} %s, i32 %s"
                words = [f.emit(self.body, form, v.ref, number) for v in values]
                store_words(f, self.body, self._at(key, granule, constant + d), element, words)

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
            self.body.lines.append(("", f"store <{n} x i32> %s, ptr %s, align 4", (vector, place)))


def _upwards(constant: int, pattern: Pattern) -> tuple[int, list[int]]:
    """The constant of the lowest lane, and how far the others are above it."""
    lowest = min(pattern)
    return constant + lowest - pattern[0], [d - lowest for d in pattern]


def _step(address: Form, new: Mapping[int, Form | None]) -> Form | None:
    """By how much an address grows when its VGPRs become `new`; None if not at all, or not by scalars alone."""
    step = Form(32)
    for v, c in (address.low or address).terms:
        was = Form(32, ((v, 1),))
        now = new.get(v, was)
        grown = now.plus(was.times(-1) or was) if now is not None and now.size == 32 else None
        scaled = grown if grown is None or c == 1 else grown.times(c)
        sum_ = step.plus(scaled) if scaled is not None and not scaled.terms else None
        if sum_ is None:
            return None
        step = sum_
    return step if step.scalars or step.constant else None


def _pick(f: Function, region: Region, sources: list[str], width: int, picks: list[tuple[int, int]]) -> str:
    """A vector whose element i is element picks[i][1] of sources[picks[i][0]], by shuffles of two vectors at a time."""
    n = len(picks)
    used = sorted({s for s, _ in picks})
    type_ = f"<{width} x i32>"
    if len(used) <= 2:
        a, b = used[0], used[-1]
        order = ", ".join(f"i32 {i + (width if s == b and b != a else 0)}" for s, i in picks)
        second = sources[b] if b != a else "poison"
        return f.emit(region, f"shufflevector {type_} %s, {type_} %s, <{n} x i32> <{order}>", sources[a], second)
    # Halve: what comes from the first sources, what from the rest, then the two merged lane by lane.
    middle = used[len(used) // 2]
    parts = []
    for half in ([s for s in used if s < middle], [s for s in used if s >= middle]):
        parts.append(_pick_some(f, region, sources, width, picks, half))
    order = ", ".join(f"i32 {i if s < middle else n + i}" for i, (s, _) in enumerate(picks))
    return f.emit(region, f"shufflevector <{n} x i32> %s, <{n} x i32> %s, <{n} x i32> <{order}>", parts[0], parts[1])


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
    return f.emit(region, f"shufflevector {type_} %s, {type_} %s, <{len(picks)} x i32> <{order}>", sources[a], second)
