"""A workgroup of which only the work-items' numbers are known: its registers, and one instruction on them.

An engine of `isa.semantics.execute` on `Numbers`. It serves all waves at once; only those that are `active` write. What
is loaded from memory is not known, but for the workgroup's own size (`isa.lint.known`) and for the work-item's own
variables in scratch memory, which unoptimised code keeps all of its numbers in: dwords at offsets that are the same in
all lanes are followed like registers.

Masks are always known. Where a comparison into a mask, or the condition of a branch, is not known, the machine asks
`choose` once for all lanes that it does not know, and goes on with the answer: one of the paths that data can take.

A store through a pointer that is not known is taken to leave the variables in scratch alone. Flat addresses are those
of LDS or scratch where they lie in the apertures; others, and those not known, reach neither here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from isa.lint.known import NOWHERE, Sizes
from isa.lint.lds.footprint import Footprint, footprint
from isa.lint.lds.values import Numbers, constant, merged, unknown
from isa.registers import EXEC_LO, LANES, Reg
from isa.semantics.engine import UNKNOWN, Request, Straight
from isa.semantics.execute import Bound, bind, run
from isa.semantics.instruction import Instruction
from isa.semantics.values import Value
from isa.semantics.wave_start import work_item_ids
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE

Place = tuple[str, int]
"""("v" or "s", number), ("scc", 0), ("scratch", byte offset), or ("k", number): what a compared number may be."""
_EXEC: Place = ("s", EXEC_LO.index)
_SCC: Place = ("scc", 0)
_POWERS = 1 << np.arange(LANES, dtype=np.int64)
_ALL_ON = np.uint32(0xFFFFFFFF)
_LANE_IDS = Numbers.of("u32", np.arange(LANES, dtype=np.uint32).reshape(1, LANES))


@dataclass(frozen=True)
class Start:
    """What a workgroup starts with. workgroup: its shape; packed: v0 holds three numbers of ten bits each."""

    workgroup: tuple[int, int, int]
    packed: bool = False
    sizes: Sizes = NOWHERE

    @property
    def waves(self) -> int:
        return -(-math.prod(self.workgroup) // LANES)

    def state(self) -> dict[Place, Numbers]:
        """The registers that are known."""
        flat = np.arange(self.waves * LANES, dtype=np.uint32).reshape(self.waves, LANES)
        numbers = work_item_ids(flat, self.workgroup, 3 if self.packed else 1)
        state = {
            ("v", 0): Numbers.of("u32", numbers),
            _EXEC: Numbers.of("b1", flat < math.prod(self.workgroup)).mask(),
        }
        for sgpr, base in self.sizes.bases():
            state |= {("s", sgpr + k): constant("u32", base >> 32 * k & 0xFFFFFFFF) for k in range(2)}
        return state


@dataclass(frozen=True)
class StepResult:
    """What an instruction made of values: what it wrote where, what of LDS it reached, and of a branch its condition.
    values: kept alive with it, since their ids name it."""

    values: tuple[Numbers | None, ...]
    puts: tuple[tuple[Place, Numbers, Any], ...]
    reached: tuple[Footprint, ...]
    taken: Numbers | None


@dataclass
class Results:
    """sources: instruction -> what `source` says. kept: by its number, active waves, whether it is blind, values read
    (their ids), and the answer where it asks for one, as those in `asking` do. Values of one content are one object."""

    sources: dict[Instruction, tuple[int, tuple[Place, ...]]] = field(default_factory=dict)
    kept: dict[tuple[object, ...], StepResult] = field(default_factory=dict)
    asking: set[tuple[object, ...]] = field(default_factory=set)
    contents: dict[tuple[object, ...], Numbers] = field(default_factory=dict)
    bounds: dict[Instruction, Bound] = field(default_factory=dict)

    def source(self, inst: Instruction) -> tuple[int, tuple[Place, ...]]:
        """The number of an instruction and the places that it reads."""
        found = self.sources.get(inst)
        if found is None:
            places = tuple(place(reg) for reg in sorted(inst.reads(), key=str))
            found = self.sources[inst] = len(self.sources), places
        return found

    def bound(self, inst: Instruction) -> Bound:
        """What an instruction does."""
        found = self.bounds.get(inst)
        if found is None:
            found = self.bounds[inst] = bind(inst)
        return found

    def one(self, value: Numbers) -> Numbers:
        """The one value of this content."""
        if not value.shared:
            value = self.contents.setdefault(value.content, value)
            value.shared = True
        return value


class WorkgroupMachine(Straight):
    """state: what each place holds; a place that is not there was never written. only: the waves that run now, as bits,
    where these are not all; active: the same as an array of one column, None for all. blind: sources count as unknown.
    reached: what LDS accesses touched.

    What an instruction makes of the same values is computed once and kept in `results`.
    """

    def __init__(self, start: Start, choose: Callable[[], bool], results: Results, only: int | None = None) -> None:
        self.start, self._ask, self._results = start, choose, results
        self.waves = start.waves
        self._puts: list[tuple[Place, Numbers, Any]] = []
        self._answers: list[bool] = []
        self._asked: list[bool] = []
        self.state: dict[Place, Numbers] = {}
        self._who = 0 if only is None else only + 1
        self.active = None if only is None else (only >> np.arange(self.waves) & 1).astype(np.bool_).reshape(-1, 1)
        self.blind = False
        self.reached: list[Footprint] = []
        self.taken: Numbers | None = None
        self._inst: Instruction | None = None

    def run(self, inst: Instruction, source: tuple[int, tuple[Place, ...]]) -> None:
        """One instruction, and what `Results` says of its source. What it cannot follow it forgets."""
        access = inst.desc.access
        if inst.desc.relative or (access is not None and access.space != "lds"):
            self._run(inst)
            return
        results = self._results
        values = tuple([self.state.get(p) for p in source[1]])
        key = (source[0], self._who, self.blind, *map(id, values))
        self._answers, self._asked = [self._ask()] if key in results.asking else [], []
        kept = results.kept.get(tuple(chain(key, self._answers)))
        if kept is not None:
            for at, value, mask in kept.puts:
                self._write(at, value, mask)
            self.reached += kept.reached
            self.taken = kept.taken
            return
        self._puts, before = [], len(self.reached)
        self._run(inst)
        if len(self._asked) == 1:
            results.asking.add(key)
        if len(self._asked) < 2:
            made = StepResult(values, tuple(self._puts), tuple(self.reached[before:]), self.taken)
            results.kept[tuple(chain(key, self._asked))] = made

    def choose(self) -> bool:
        """The answer to what is not known here."""
        answer = self._answers.pop() if self._answers else self._ask()
        self._asked.append(answer)
        return answer

    def first_wave(self) -> Any:
        """The lanes of the first wave that are on, where it runs now."""
        on = np.broadcast_to(self.state[_EXEC].lanes().a, (self.waves, LANES))[0]
        return on if self.active is None else on & self.active[0]

    def operand(self, reg: Reg) -> tuple[Any, Any]:
        """(what a register holds in each lane of the first wave, whether that is known)."""
        held = self._read(place(reg))
        return tuple(
            np.broadcast_to(x, np.broadcast_shapes(np.shape(x), (self.waves, LANES)))[0]
            for x in (held.a, held.known_whole)
        )

    def sight(self, reg: Reg) -> tuple[int, bool, Numbers, Numbers | None]:
        """All that `first_wave` and `operand` answer from; numbers of one content are one object."""
        return self._who, self.blind, self.state[_EXEC], self.state.get(place(reg))

    def _run(self, inst: Instruction) -> None:
        self._inst, self.taken = inst, None
        try:
            run(self, self._results.bound(inst))
        except UNKNOWN:
            self.forget(inst)

    def forget(self, inst: Instruction) -> None:
        """What an instruction writes is not known."""
        mask = self.exec_mask() if inst.desc.exec_masked else None
        for reg in inst.writes():
            if reg.is_vgpr:
                self.write_vgpr(reg.index, unknown("u32"), mask)
            elif reg.file == "scc":
                self.write_scc(unknown("b1"))
            else:
                self.write_sgpr(reg.index, unknown("u32"))

    # --- registers
    def constant(self, type_: str, number: float) -> Numbers:
        return constant(type_, number)

    def lane_ids(self) -> Numbers:
        return _LANE_IDS

    def exec_mask(self) -> Numbers | None:
        held = self.state[_EXEC]
        return None if (held.a == _ALL_ON).all() else held.lanes()

    def _read(self, place: Place, type_: str = "u32") -> Numbers:
        held = self.state.get(place)
        return unknown(type_) if held is None or (self.blind and place != _EXEC) else held

    def _write(self, place: Place, value: Numbers, mask: Any = None) -> None:
        """mask: where, as an array; everywhere in the active waves if there is none."""
        value = self._results.one(value)
        self._puts.append((place, value, mask))
        if self.active is not None:
            mask = self.active if mask is None else mask & self.active
        old = self.state.get(place)
        # Where nothing was ever written anything may stand: the new value, too.
        self.state[place] = value if mask is None or old is None else self._results.one(merged(mask, value, old))

    def read_vgpr(self, index: int, relative: Value | None = None) -> Numbers:
        return unknown("u32") if relative is not None else self._read(("v", index))

    def write_vgpr(self, index: int, value: Numbers, mask: Numbers | None, relative: Value | None = None) -> None:
        if relative is not None:
            self.state = {p: v if p[0] != "v" else unknown("u32") for p, v in self.state.items()}
            return
        # A lane of a mask that is not known (of DPP) leaves the value unknown there.
        if mask is not None and mask.known is not True:
            value, mask = unknown("u32"), None
        self._write(("v", index), value, None if mask is None else mask.a)

    def read_sgpr(self, index: int, relative: Value | None = None) -> Numbers:
        return unknown("u32") if relative is not None else self._read(("s", index))

    def write_sgpr(self, index: int, value: Numbers, relative: Value | None = None) -> None:
        assert self._inst is not None
        if relative is not None:
            self.state = {p: v if p[0] != "s" or p == _EXEC else unknown("u32") for p, v in self.state.items()}
            return
        if value.either is not None:
            yes, no = value.either
            if not self._inst.desc.is_compare:
                value = unknown("u32")
            else:
                value = yes if self._in_active(yes.a == no.a) or self.choose() else no
        if index == EXEC_LO.index and value.known is not True:
            sure = np.broadcast_to(value.known_whole, (self.waves, 1))
            other = self.state[_EXEC] if self._in_active(sure) or self.choose() else constant("u32", 0)
            value = merged(sure, value, other)
        self._write(("s", index), value)

    def _in_active(self, truth: Any) -> bool:
        """Whether it holds in all waves that run now."""
        rows = truth if self.active is None else truth | ~self.active
        return bool(np.all(rows))

    def read_scc(self) -> Numbers:
        held = self._read(_SCC, "b1")
        assert self._inst is not None
        if held.known is not True and self._inst.mnemonic.startswith(("s_cbranch", "s_cselect")):
            held = self._chosen(held)
            self._write(_SCC, held)
        return held

    def knows_scc(self) -> bool:
        """Whether SCC is known in some of the waves that run now."""
        held = self.state.get(_SCC)
        return held is not None and not self._in_active(~np.broadcast_to(held.known_whole, (self.waves, 1)))

    def _chosen(self, truth: Numbers) -> Numbers:
        """A truth value with one answer in all waves where it is not known."""
        answer = False if self._in_active(truth.known_whole) else self.choose()
        return Numbers.of("b1", np.where(truth.known_whole, truth.a, answer))

    def write_scc(self, value: Numbers) -> None:
        self._write(_SCC, value)

    def special(self, name: str) -> Numbers:
        high = SHARED_APERTURE if "shared" in name else PRIVATE_APERTURE
        return constant("u64", high << 32 | (0xFFFFFFFF if "limit" in name else 0))

    def next_address(self) -> Numbers:
        return unknown("u64")

    # --- memory
    def load(self, at: Request[Numbers]) -> tuple[Numbers, ...]:
        if at.access.space == "scalar":
            return tuple(self._scalar(at.address, 4 * k) for k in range(at.words))
        place, element = self._reach(at), at.access.element
        if place is None:
            return (unknown("u32"),) * at.words
        if at.bytes < 4:
            word = self._read(("scratch", place & ~3)) >> 8 * (place & 3)
            return (word.to(element.replace("b", "u")).to("i32" if element[0] == "i" else "u32").bits("u32"),)
        return tuple(self._read(("scratch", place + 4 * k)) for k in range(at.words))

    def _scalar(self, address: Numbers, offset: int) -> Numbers:
        """A dword of what the runtime hands to the kernel."""
        if address.known is not True or (address.a != address.a.flat[0]).any():
            return unknown("u32")
        value, known = self.start.sizes.word(int(address.a.flat[0]) + offset, self.start.workgroup)
        return Numbers.of("u32", np.uint32(value), np.asarray(np.uint32(known)))

    def store(self, at: Request[Numbers], values: tuple[Numbers, ...]) -> None:
        offset = self._reach(at)
        if offset is None:
            return
        for k, value in enumerate(values):
            place = ("scratch", (offset & ~3) + 4 * k)
            if at.bytes < 4:
                bits, shift = (1 << 8 * at.bytes) - 1, 8 * (offset & 3)
                old = self.state.get(place, constant("u32", 0))
                value = (old & (~(bits << shift) & 0xFFFFFFFF)) | (value & bits) << shift
            self._write(place, value, None if at.mask is None else at.mask.a)

    def atomic(self, at: Request[Numbers], *rest: object) -> Numbers:
        offset = self._reach(at)
        if offset is not None:
            self._write(("scratch", offset & ~3), unknown("u32"))
        return unknown(at.access.element.replace("b", "u"))

    def _reach(self, at: Request[Numbers]) -> int | None:
        """Notes what of LDS is touched; gives the offset in scratch, where it is one and known."""
        address, space, size = at.address, at.access.space, at.bytes
        if space in ("scalar", "global") or address.known is False:
            return None
        on = np.ones((self.waves, LANES), np.bool_)
        for part in (self.active, None if at.mask is None else at.mask.a):
            on = on if part is None else on & part
        known = on & address.known_whole
        numbers = np.broadcast_to(address.a, on.shape)
        if space == "flat":
            shared = known & (numbers >> np.uint64(32) == np.uint64(SHARED_APERTURE))
            self._touched(numbers, shared, size)
            known, on = (x & (numbers >> np.uint64(32) == np.uint64(PRIVATE_APERTURE)) for x in (known, on))
        elif space == "lds":
            self._touched(numbers, known, size)
            return None
        if not known.any() or not (known == on).all():
            return None
        offsets = numbers[known] & 0xFFFFFFFF
        first = int(offsets[0])
        aligned = first % min(size, 4) == 0
        return first if aligned and (offsets == first).all() else None

    def _touched(self, addresses: Any, on: Any, size: int) -> None:
        if on.any() and (found := footprint(addresses[on] & 0xFFFFFFFF, np.nonzero(on)[0], size)) is not None:
            self.reached.append(found)

    # --- control
    def branch(self, inst: Instruction, condition: Numbers | None) -> None:
        if condition is None:
            self.taken = constant("b1", 1)
            return
        self.taken = condition if condition.known is True else self._chosen(condition)


def place(reg: Reg) -> Place:
    """Of a single register."""
    return ("scc", 0) if reg.file == "scc" else (reg.file, reg.index)
