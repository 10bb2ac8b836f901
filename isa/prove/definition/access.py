"""Loads and stores -> steps on `Waves`: scalar, LDS and global memory, a dword at a time.

What a store may do is decided here: into C or the workspace only, each dword of C once. A load reads A, B, the
arguments, the workspace, and C where beta is not 0, or C is a gate, never after C was stored. LDS: two waves that touch
one dword between two barriers, one of them storing, are a race, so the order in which waves run between barriers does
not matter.

What another workgroup stored into the workspace was complete, by a wait for stores, when that workgroup's atomic told
of it: a wave's own stores, or those of a wave that met it at a barrier. It is loaded after L0 and L1 were invalidated,
or past them (glc and dlc, or scope), after the wave's last atomic, by which it learnt of the store: caches of a CU and
of a shader array do not see what others store (LLVM's AMDGPU memory model: a release and an acquire at agent scope; on
gfx12 the atomic names that scope).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from isa.display import number_of
from isa.prove.definition import halves, lds, matrix_units, native, pointers
from isa.prove.definition.epilogue import VECTORS
from isa.prove.definition.launch import MATRICES
from isa.prove.definition.lds import Indices, lane_of, upto
from isa.prove.definition.memory import Places
from isa.prove.definition.names import MASK32, Names
from isa.prove.definition.operands import lane_ints, lanes, plain, refused, scalar, scalar_ints, sgpr, vgpr
from isa.prove.definition.waves import STORED, Fault, Ints, Step, Waves
from isa.prove.definition.weights import WEIGHTS
from isa.registers import LANES, Reg
from isa.semantics.instruction import Instruction, Operand, Special
from isa.semantics.waits import parse_wait, wait_text
from isa.targets import Family

_ACCESS = re.compile(r"(global|ds)_(load|store)_(2addr_)?(?:stride(64)_)?b(32|64|96|128)$")
_SCALAR = re.compile(r"s_load_b(32|64|128|256|512)$")


def decode(inst: Instruction, number: int) -> Step | None:
    """None for what does not access memory; `number` is the instruction's position. Raises Beyond."""
    if (left := parse_wait(inst).get(_counter_of_stores(inst))) is not None:
        return lambda w: w.completed(left)
    if inst.mnemonic == "global_atomic_add_u32":
        return _atomic_add(inst)
    if level := _emptied(inst.family, str(inst)):
        return lambda w: w.invalidated(level)
    if m := _SCALAR.match(inst.mnemonic):
        return _scalar_load(inst, int(m[1]) // 32)
    if inst.mnemonic == "global_load_u16":
        return _load_alone(inst)
    if matrix_units.half_load(inst.mnemonic) or matrix_units.half_store(inst.mnemonic):
        return _global(inst, number, None)
    if m := _ACCESS.match(inst.mnemonic):
        return _global(inst, number, m) if m[1] == "global" else lds.decode(inst, m)
    return None


# --- global and scalar memory
def _scalar_load(inst: Instruction, count: int) -> Step:
    plain(inst, "offset")
    target, base = sgpr(inst, inst.operands[0]), [scalar(inst, inst.operands[1], i) for i in (0, 1)]
    offset = scalar_ints(inst, inst.operands[2])
    more = np.uint64(inst.offset)

    def step(w: Waves) -> None:
        kind, start = _pointer(w, base[0](w), base[1](w))
        every = np.ones((len(w.numbers), 1), bool)
        at = _find(w, kind, (start + offset(w) + more)[:, None], every, count, "loads")
        for i in range(count):
            w.put_scalar(target + i, w.memory.names[:, at[:, 0] + i])

    return step


def _global(inst: Instruction, number: int, m: re.Match[str] | None) -> Step:
    plain(inst, "offset", *inst.family.cache_bits)
    if m and (m[3] or m[4]):
        raise refused(inst)
    half = matrix_units.half_load(inst.mnemonic) or matrix_units.half_store(inst.mnemonic)
    count, load = (int(m[5]) // 32, m[2] == "load") if m else (1, matrix_units.half_load(inst.mnemonic) is not None)
    data, address, base = inst.operands if load else (inst.operands[1], inst.operands[0], inst.operands[2])
    register, where = vgpr(inst, data), address_of(inst, address, base)
    past = _levels(level for modifier in inst.modifiers for level in inst.family.misses.get(modifier, ()))
    operation = _operation(inst, address, base, register, count, half, past)

    def load_step(w: Waves) -> None:
        if operation and native.do("global_load", w, operation):
            return
        active = w.active((len(w.numbers), LANES))
        if active.any():
            kind, offset = where(w)
            if kind in w.memory.narrow:
                matrix_units.load(w, kind, offset, active, register, count, half)
                return
            if kind in w.memory.halves and (not half or half[1] == 2):
                at = _find(w, kind, offset, active, 1 if half else 2 * count, "loads")
                _put_halves(w, register, w.memory.names.take(at + upto(1 if half else 2 * count), axis=1), half)
                return
            if half:
                raise Fault("load", f"loads part of a dword of {kind}")
            at = _find(w, kind, offset, active, count, "loads")
            if kind == "workspace":
                _visible(w, inst, at + upto(count), active, past)
            values = w.memory.names.take(at + upto(count), axis=1)
            for i in range(count):
                w.put(register + i, values[:, i])

    position = native.Number(number)

    def store_step(w: Waves) -> None:
        if operation and native.do("global_store", w, operation, position):
            return
        active = w.active((len(w.numbers), LANES))
        if active.any():
            kind, offset = where(w)
            if kind in w.memory.halves:
                found = [half_ for i in range(count) for half_ in halves.split(w.v[register + i][:, w.at])]
                found = [found[half[0]]] if half else found
                at = _find(w, kind, offset, active, len(found), "stores")
                for i, half_ in enumerate(found):
                    _store(w, kind, at + i, halves.entries(half_), active, number)
                return
            if half:
                raise Fault("store", f"stores part of a dword of {kind}")
            at = _find(w, kind, offset, active, count, "stores")
            w.stores[w.at] += active.any(axis=1)
            for i in range(count):
                _store(w, kind, at + i, w.v[register + i][:, w.at], active, number)

    return load_step if load else store_step


def _operation(
    inst: Instruction,
    address: Operand,
    base: Operand,
    register: int,
    count: int,
    half: matrix_units.Halves | None,
    past: int,
) -> native.Numbers | None:
    """For `native.c`; None where the address is in SGPRs alone."""
    if not isinstance(address, Reg) or not address.is_vgpr:
        return None
    how, first = (native.BESIDE, base.index) if isinstance(base, Reg) else (native.ALONE, 0)
    of_half = (1 + half[0], half[1]) if half else (0, 0)
    return native.numbers(how, address.index, first, inst.offset, register, count, *of_half, past)


def _levels(levels: Iterable[int]) -> int:
    """Caches as one number: bit 0 for L0, bit 1 for L1."""
    return sum(1 << level for level in set(levels))


def _emptied(family: Family, text: str) -> int:
    return _levels(family.empties.get(text, ()))


def _load_alone(inst: Instruction) -> Step:
    """An element of 16 bits, and zeros above it."""
    plain(inst, "offset", *inst.family.cache_bits)
    register, where = vgpr(inst, inst.operands[0]), address_of(inst, *inst.operands[1:])

    def step(w: Waves) -> None:
        active = w.active((len(w.numbers), LANES))
        if active.any():
            kind, offset = where(w)
            if kind not in w.memory.halves:
                raise Fault("load", f"16 bits of {kind} are not followed", refused=True)
            found = halves.of_entries(w.memory.names.take(_find(w, kind, offset, active, 1, "loads"), axis=1))
            w.put(register, halves.packed(found, np.zeros_like(found)))

    return step


def _put_halves(w: Waves, register: int, found: Names, half: matrix_units.Halves | None) -> None:
    """What was loaded of elements of 16 bits, (2, elements, waves, lanes)."""
    loaded = halves.of_entries(found)
    if half:
        low, high = halves.split(w.v[register][:, w.at])
        w.put(register, halves.packed(low, loaded[0]) if half[0] else halves.packed(loaded[0], high))
        return
    for i in range(0, len(loaded), 2):
        w.put(register + i // 2, halves.packed(loaded[i], loaded[i + 1]))


def _counter_of_stores(inst: Instruction) -> str:
    return inst.family.raised["global_store"][0]


def _visible(w: Waves, inst: Instruction, at: Indices, active: NDArray[np.bool_], past: int) -> None:
    """at: (dwords of a lane, waves, lanes). past: the caches that the load does not look into."""
    memory, group = w.memory, w.group[w.at][:, None]
    by = memory.by[at] // LANES
    foreign = (memory.stored[at] != 0) & (w.group[by] != group) & active
    early = foreign & (memory.nth[at] > w.counted[by])
    if early.any():
        bad = tuple(int(i[0]) for i in np.nonzero(early))[1:]
        wait = wait_text(inst.family, {_counter_of_stores(inst): 0})
        what = f"loads what another workgroup stored, with no {wait} between the store and that workgroup's atomic"
        raise Fault("race", what, lane_of(w, bad))
    stale = foreign & (w.fresh[w.at][:, None] | past != native.CACHES)
    if stale.any():
        bad = tuple(int(i[0]) for i in np.nonzero(stale))[1:]
        missing = ~(int(w.fresh[w.at][bad[0]]) | past)
        lacking = [text for text in inst.family.acquire if missing & _emptied(inst.family, text)]
        names = " and ".join(sorted(lacking, key=inst.family.empties.__getitem__))
        raise Fault("race", f"loads what another workgroup stored, with no {names} after the atomic", lane_of(w, bad))


def address_of(inst: Instruction, address: Operand, base: Operand) -> Callable[[Waves], tuple[str, Ints]]:
    """The buffer and the offset in it that each lane accesses."""
    shift = np.uint64(inst.offset & (1 << 64) - 1)
    if not isinstance(address, Reg):
        raise refused(inst, f"{address} in {inst}")
    if isinstance(base, Reg) and base.count == 2:
        offset, halves = lane_ints(inst, address), [scalar(inst, base, i) for i in (0, 1)]

        def beside(w: Waves) -> tuple[str, Ints]:
            kind, start = _pointer(w, *(half(w) for half in halves))
            return kind, offset(w) + start[:, None] + shift

        return beside
    if isinstance(base, Special) and base.name == "off" and address.count == 2:
        parts = [lanes(inst, address.sub(i)) for i in (0, 1)]

        def alone(w: Waves) -> tuple[str, Ints]:
            kind, start = _pointer(w, *(part(w) for part in parts))
            return kind, start + shift

        return alone
    raise refused(inst, f"{base} in {inst}")


def _pointer(w: Waves, low: Names, high: Names) -> tuple[str, Ints]:
    if w.mask is not None and low.ndim == 3:
        some = tuple(int(i[0]) for i in np.nonzero(w.mask))
        low, high = (np.where(w.mask, half, half[:, some[0], some[1], None, None]) for half in (low, high))
    found = pointers.address(low, high)
    if found is None:
        raise Fault("address", "the address is that of no buffer, or its halves do not belong together")
    return found


def _find(w: Waves, kind: str, offset: Ints, active: NDArray[np.bool_], count: int, verb: str) -> Indices:
    """Where in w.memory the dwords begin; that of an inactive lane is any."""
    if kind in w.memory.narrow:
        raise Fault("outside", f"{verb} dwords of {kind}, whose elements are less")
    places, mine = w.memory.places[kind], w.launch[w.at]
    unit = 2 if kind in w.memory.halves else 4
    size, start = unit * places.dwords[mine][:, None], places.start[mine][:, None]
    place = np.broadcast_to(offset, active.shape).astype(np.int64)
    good = (place >= 0) & (place + unit * count <= size) & (place % unit == 0)
    at, held = place // unit, good
    if not places.whole:
        line, width = places.line[mine][:, None], places.width[mine][:, None]
        good &= (line == width) | (at % line + count <= width)
        at, inside = _held(places, mine, at, count)
        held = good & inside
        if kind in (*MATRICES, *VECTORS, *WEIGHTS) and verb == "loads":
            at = np.where(held, at + start, w.memory.elsewhere)
            start, held = np.int64(0), good
    if not (held | ~active).all():
        bad = tuple(int(i[0]) for i in np.nonzero(~held & active))
        where = _where(kind, int(place[bad]), int(size[bad[0], 0]), unit * count, unit)
        raise Fault("outside", f"{verb} {where}", lane_of(w, bad))
    at = np.where(held, at + start, start)
    if verb == "stores" and kind not in STORED:
        raise Fault("outside", f"stores into {kind}", lane_of(w, tuple(int(i[0]) for i in np.nonzero(active))))
    if kind == "C" and verb == "loads":
        _may_read_c(w, at, active, count)
    placed: Indices = at
    return placed


def _held(places: Places, mine: Indices, at: Indices, count: int) -> tuple[Indices, NDArray[np.bool_]]:
    """Where dwords of buffers lie among those that are held, and which of them do; see Buffer."""
    line, front = places.line[mine][:, None], places.front[mine][:, None]
    top, bottom = places.top[mine][:, None], places.bottom[mine][:, None]
    left, right = places.left[mine][:, None], places.right[mine][:, None]
    outer, inner = at // line, at % line
    inside = (outer >= top) & (inner >= left) & (inner + count <= right) & (outer < bottom)
    # Where whole lines are held, they lie one after the other.
    joined = right - left == line
    inside |= joined & (at >= top * line) & (at + count <= bottom * line)
    ahead = at + count <= front
    return np.where(ahead, at, front + (outer - top) * (right - left) + inner - left), inside | ahead


def _where(kind: str, offset: int, size: int, count: int, unit: int) -> str:
    if offset % unit:
        return f"{number_of(count, 'byte')} at byte {offset} of {kind}, which is no multiple of {unit}"
    if offset < 0:
        return f"{number_of(count, 'byte')}, {number_of(-offset, 'byte')} before {kind}"
    if offset + count <= size:
        return f"{number_of(count, 'byte')} at byte {offset} of {kind}, which belong to other workgroups"
    return f"{number_of(count, 'byte')} at byte {offset} of {kind}, which has {size}"


def _may_read_c(w: Waves, at: Indices, active: NDArray[np.bool_], count: int) -> None:
    beta = np.array([launch.beta == "any" or launch.epilogue.gate for launch in w.launches])[w.launch[w.at]][:, None]
    if (active & ~beta).any():
        bad = tuple(int(i[0]) for i in np.nonzero(active & ~beta))
        raise Fault("load", "loads C although beta is 0", lane_of(w, bad))
    for i in range(count):
        if ((w.memory.stored[np.where(active, at, at[active][0]) + i] != 0) & active).any():
            raise Fault("load", "loads an element of C that was stored before")


def _store(w: Waves, kind: str, at: Indices, value: Names, active: NDArray[np.bool_], number: int) -> None:
    memory = w.memory
    lanes = w.numbers[:, None] * LANES + np.arange(LANES)
    if w.mask is not None:
        at, lanes, value = at[active], lanes[active], value[:, active]
    before = memory.stored[at]
    if before.any() and kind == "C":
        again = tuple(int(i[0]) for i in np.nonzero(before))
        raise Fault("store", "stores an element that was stored before", _oflane_of(int(lanes[again])))
    memory.stored[at] = number + 1
    memory.by[at] = lanes
    memory.nth[at] = w.stores[lanes // LANES]
    if (memory.by[at] != lanes).any():
        again = tuple(int(i[0]) for i in np.nonzero(memory.by[at] != lanes))
        raise Fault("store", "two lanes store one element", _oflane_of(int(lanes[again])))
    memory.names[:, at] = value


def _atomic_add(inst: Instruction) -> Step:
    """One active lane after another; the value before goes to the first operand where there is one."""
    plain(inst, "offset", *inst.family.cache_bits)
    gives_back = inst.gives_back
    address, data, base = inst.operands[1:] if gives_back else inst.operands
    target = vgpr(inst, inst.operands[0]) if gives_back else None
    where, value = address_of(inst, address, base), lane_ints(inst, data)

    def step(w: Waves) -> None:
        active = w.active((len(w.numbers), LANES))
        if not active.any():
            return
        kind, offset = where(w)
        at = _find(w, kind, offset, active, 1, "stores")
        if inst.narrow:
            wide = " or ".join(sorted(str(value) for _, value in inst.family.wide))
            raise Fault(
                "race",
                f"tells other workgroups by an atomic without scope:{wide}",
                lane_of(w, tuple(int(i[0]) for i in np.nonzero(active))),
            )
        w.fresh[w.at] = 0
        w.tells(np.logical_or.reduce(active, axis=1))
        if kind != "workspace":
            raise Fault("store", f"adds to {kind} in memory")
        more = np.broadcast_to(value(w), active.shape)
        before = np.zeros((2, *active.shape), np.uint64)
        for wave, lane in np.argwhere(active):
            dword = w.memory.names[:, at[wave, lane]].copy()
            if dword[1]:
                raise Fault("data", "adds to what is no number", (int(w.numbers[wave]), int(lane)), refused=True)
            before[:, wave, lane] = dword
            w.memory.names[0, at[wave, lane]] = (dword[0] + more[wave, lane]) & MASK32
        if target is not None:
            w.put(target, before)

    return step


def _oflane_of(number: int) -> tuple[int, int]:
    return number // LANES, number % LANES
