"""The registers of V_WMMA_*'s matrices in memory: those of the wave, or copies of values in the frame.

A function that multiplies matrices gets a `Place` of each: a pointer to the first register, and how far the next strip
of lanes is. So it reads operands, and makes D of C, where the wave has them, and a kernel's own code says little more
than the call. Values are copied where they are none that registers in a row hold (modifiers, parts of registers), where
some lanes or halves of D have to stay, and where what D is made of has to be moved there, over A or B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from isa.registers import LANES
from isa.sim.ir.dots_llvm import Code
from isa.sim.ir.llvm_values import AllLanes, LlvmValue, Writer
from isa.sim.ir.shuffles import concatenate, shuffle


@dataclass(frozen=True)
class Place:
    """Registers that follow each other in memory, a strip of each, and after `apart` bytes those of the next lanes.
    target: they are the wave's, and the ones that the instruction writes."""

    pointer: str
    apart: int
    target: bool = False

    def __str__(self) -> str:
        """As two arguments of a call."""
        return f"ptr {self.pointer}, i64 {self.apart}"

    def part(self, w: Writer, register: int, strip: int, number: int) -> str:
        """Where a strip of a register is."""
        offset = number * self.apart + 4 * strip * register
        return w.function.emit(w.vector, f"getelementptr i8, ptr %s, i32 {offset}", self.pointer)


def place_of(registers: list[LlvmValue], name: str) -> Place:
    """Where values stand; if they are not the wave's registers in a row, copies in the frame, by that name."""
    whole = whole_of(registers[0])
    own = whole.place_of(registers)
    return Place(own, whole.apart) if own is not None else copied(registers, name)


def copied(registers: list[LlvmValue], name: str) -> Place:
    """Copies in the frame."""
    w, whole = registers[0].w, whole_of(registers[0])
    apart = 4 * whole.strip * len(registers)
    place = Place(w.function.place(name, f"[{LANES // whole.strip * apart} x i8]"), apart)
    for i, register in enumerate(registers):
        whole.store(register, partial(place.part, w, i, whole.strip))
    return place


def result_place(registers: list[LlvmValue], *, packed: bool = False) -> Place:
    """Where C is, to become D: in the wave's own registers, or in the frame where some lanes, or halves of packed
    results, may have to stay."""
    whole = whole_of(registers[0])
    if packed or whole.active(0) is not None:
        return copied(registers, "wmma")
    return Place(whole.hold(registers), whole.apart, target=True)


def read_back(like: LlvmValue, place: Place) -> tuple[LlvmValue, ...]:
    """The 8 registers of D."""
    w, whole = like.w, whole_of(like)
    if place.target:
        return whole.held(8)
    words = [whole.load(w.vector, partial(place.part, w, i, whole.strip)) for i in range(8)]
    return tuple(LlvmValue(w, "u32", LANES, word) for word in words)


def lanes_of(v: Code, strip: int, register: str, apart: str) -> list[str]:
    """The two halves of a register that is there, in a function: its lower 16 lanes, and the upper ones."""
    parts, narrow, place = [], Code(v.function, v.region, strip), register
    for number in range(LANES // strip):
        if number:
            place = v.emit("getelementptr i8, ptr %s, i64 %s", place, apart)
        parts.append(narrow.load(place))
    each = len(parts) // 2
    return [concatenate(v.function, v.region, part, strip) for part in (parts[:each], parts[each:])]


def row_places(v: Code, strip: int, place: str, apart: str, register: str, odd: str) -> list[str]:
    """Where 16 columns of a row of C are, in a function: those of its register's lower lanes, or the upper ones, a
    strip each. register, odd: i32."""
    first = v.at(place, v.emit("mul i32 %s, %s", register, 4 * strip))
    strips = v.emit("mul i64 %s, %s", v.emit("zext i32 %s to i64", odd), 16 // strip)
    places = [v.emit("getelementptr i8, ptr %s, i64 %s", first, v.emit("mul i64 %s, %s", strips, apart))]
    for _ in range(16 // strip - 1):
        places.append(v.emit("getelementptr i8, ptr %s, i64 %s", places[-1], apart))
    return places


def load_row(v: Code, strip: int, places: list[str]) -> str:
    narrow = Code(v.function, v.region, strip)
    return concatenate(v.function, v.region, [narrow.load(place) for place in places], strip)


def store_row(v: Code, strip: int, places: list[str], row: str) -> None:
    for i, place in enumerate(places):
        lanes = range(i * strip, (i + 1) * strip)
        part = row if strip == 16 else shuffle(v.function, v.region, row, "poison", 16, lanes)
        v.region.line(f"store <{strip} x i32> {part}, ptr {place}, align 4")


def whole_of(like: LlvmValue) -> AllLanes:
    """All lanes of the wave whose value this is."""
    assert like.w.whole is not None, "an instruction that works across lanes"
    return like.w.whole
