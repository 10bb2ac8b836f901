"""Neighbouring accesses: a block -> its memory accesses with addresses as base and distance, and which lie side by
side.

A register's value is a root and a number: the root is what lay in it where the block began, or what another
instruction wrote; `v_add_nc_u32`, `s_add_u32` and moves of known numbers keep the root and change the number, and so do
the two halves of a 64-bit sum with carry. Addresses of one root differ by their numbers, in each lane; other ones may
be anything. What EXEC covers is part of a root: after a change of EXEC nothing that lanes hold is known.

Spaces do not meet, but flat meets all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import dependences, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import EXEC_LO, SCC, VCC_LO, Reg
from isa.semantics.instruction import Imm, Instruction, Operand

_GROUP = {"scalar": "global"}
_ADDS = frozenset({"v_add_nc_u32", "s_add_u32", "s_add_i32", "s_addk_i32"})
_LOW, _HIGH = frozenset({"v_add_co_u32", "s_add_u32"}), frozenset({"v_add_co_ci_u32", "s_addc_u32"})
Value = tuple[Hashable, int]


@dataclass(frozen=True)
class Place:
    """Bytes low to high - 1 after what `base` stands for."""

    space: str
    base: Hashable
    low: int
    high: int

    def apart(self, other: Place) -> bool:
        """Whether two accesses never meet, whichever lanes do them: scratch is each lane's own, and elsewhere a lane
        may come to where another one was."""
        if self.space != other.space:
            return "flat" not in (self.space, other.space)
        mine = self.space == "scratch" and self.base == other.base
        return mine and (self.high <= other.low or other.high <= self.low)


@dataclass(frozen=True)
class Memory:
    """An access. places: one, or two of a two-address form; offset: of the first in its instruction, in bytes."""

    position: int
    inst: Instruction
    places: tuple[Place, ...]
    offset: int

    @property
    def load(self) -> bool:
        access = self.inst.desc.access
        return access is not None and access.kind == "load"


def of_block(cfg: Cfg, block: Block) -> dict[int, Memory]:
    """Position -> the access there, of all in a block that touch memory."""
    values, found = _Values(), {}
    for i in block.range:
        inst = cfg.instructions[i]
        if inst.desc.access is not None:
            found[i] = _memory(i, inst, values)
        values.step(i, inst)
    return found


def _memory(i: int, inst: Instruction, values: _Values) -> Memory:
    access = inst.desc.access
    assert access is not None
    space = _GROUP.get(access.space, access.space)
    anywhere = (Place(space, ("anywhere", i), 0, 0),)
    if access.kind == "atomic" or access.by_lane or access.by_wave or access.buffer or access.aligned:
        return Memory(i, inst, anywhere, 0)
    size = int(access.element[1:]) // 8
    base, number = values.address(inst)
    if access.pair:
        offsets = [inst.number(name) * size * access.pair for name in ("offset0", "offset1")]
    elif access.space == "scalar":
        return Memory(i, inst, anywhere, 0)
    else:
        offsets = [inst.offset]
    places = tuple(Place(space, base, number + o, number + o + size) for o in offsets)
    return Memory(i, inst, places, offsets[0])


@dataclass(frozen=True)
class _Carried:
    """The high half of a 64-bit sum of a known number and two halves."""

    low: Value
    high: Value


class _Values:
    """Registers of a block, as it is followed."""

    def __init__(self) -> None:
        self.held: dict[int, Value] = {}
        self.carries: dict[int, tuple[Value, int]] = {}
        self.exec = 0

    def of(self, operand: Operand) -> Value | None:
        if isinstance(operand, Imm) and isinstance(operand.value, int):
            return "number", operand.value
        if isinstance(operand, Reg) and operand.count == 1 and not operand.half:
            at = regset.bit(operand)
            return self.held.get(at, (("before", at, self.exec if operand.is_vgpr else 0), 0))
        return None

    def address(self, inst: Instruction) -> tuple[Hashable, int]:
        """What an access's address operands hold: a root and a number."""
        roots: list[Hashable] = []
        number = 0
        for operand in inst.desc.address_of(inst):
            if not isinstance(operand, Reg):
                roots.append(str(operand))
                continue
            values = [self.of(unit) for unit in operand.units()]
            if len(values) == 2 and (wide := _wide(values)) is not None:
                roots.append(wide[0])
                number += wide[1]
            elif len(values) == 1 and values[0] is not None and inst.desc.space in ("lds", "scratch"):
                roots.append(values[0][0])
                number += values[0][1]
            else:
                roots.append(tuple(values))
        return tuple(roots), number

    def step(self, i: int, inst: Instruction) -> None:
        new: dict[int, Value] = {}
        carries: dict[int, tuple[Value, int]] = {}
        for half in inst.halves:
            written = [o for role, o in half.desc.roles_of(half) if role.written and isinstance(o, Reg)]
            if written and written[0].count == 1 and not (half.dpp or half.has("clamp")):
                self._result(half, written, new, carries)
        for reg in regset.members(regset.defs(inst)):
            at = regset.bit(reg)
            self.carries.pop(at, None)
            self.held[at] = new.get(at, (("at", i, at), 0))
        self.carries |= carries
        if EXEC_LO in inst.writes():
            self.exec = i + 1
            self.held = {at: v for at, v in self.held.items() if at > regset.bit(Reg("v", 255))}
            self.carries = {}

    def _result(
        self, half: Instruction, written: list[Reg], new: dict[int, Value], carries: dict[int, tuple[Value, int]]
    ) -> None:
        name, at = half.desc.name, regset.bit(written[0])
        sources = [o for role, o in half.desc.roles_of(half) if role.read]
        held = [self.of(o) for o in sources]
        if half.desc.copies == 32 and held[0] is not None:
            new[at] = held[0]
        elif name in _ADDS | _LOW and len(held) >= 2 and (found := _sum(held[:2])) is not None:
            root, value, step = found
            new[at] = root, value + step
            if name in _LOW:
                out = SCC if name[0] == "s" else written[1] if len(written) > 1 else VCC_LO
                carries[regset.bit(out)] = ((root, value), step)
        elif name in _HIGH and len(held) >= 2 and (rest := _plain(held[:2])) is not None:
            carry: Operand = SCC if name[0] == "s" else sources[2] if len(sources) > 2 else VCC_LO
            come = self.carries.get(regset.bit(carry)) if isinstance(carry, Reg) else None
            if come is not None and come[1] >= 0:
                new[at] = _carried(come[0], come[1], rest)


def _sum(held: list[Value | None]) -> tuple[Hashable, int, int] | None:
    """(root, number, what is added) of a sum of a number and something else."""
    a, b = held
    if a is None or b is None or (a[0] == "number") == (b[0] == "number"):
        return None
    number, other = (a, b) if a[0] == "number" else (b, a)
    return other[0], other[1], number[1]


def _plain(held: list[Value | None]) -> Value | None:
    """What is added to 0."""
    a, b = held
    if a is None or b is None or ("number", 0) not in (a, b):
        return None
    return b if a == ("number", 0) else a


def _carried(low: Value, step: int, high: Value) -> Value:
    """The high half of a sum of 64 bits, from what was added to its low half: of a sum of sums the first."""
    root, number = high
    if isinstance(root, _Carried) and root.low == (low[0], low[1] - number):
        return root, number + step
    return _Carried(low, high), step


def _wide(values: list[Value | None]) -> tuple[Hashable, int] | None:
    """Two halves as one root and a number, where one sum with a carry made both."""
    low, high = values
    if low is None or high is None:
        return None
    root = high[0]
    if isinstance(root, _Carried) and (low[0], low[1] - high[1]) == root.low:
        return (root.low, root.high), high[1]
    return (low, high), 0


def may_move(
    cfg: Cfg, accesses: Mapping[int, Sequence[Place]], first: int, last: int, place: Place, store: bool
) -> bool:
    """Whether an access at `place` may move from one of two positions of a block to the other: nothing between stops
    it, changes EXEC, or may meet it. accesses: what each position touches now."""
    for p in range(first + 1, last):
        inst = cfg.instructions[p]
        if dependences.is_hint(inst) or dependences.is_counter_wait(inst):
            continue
        if dependences.is_fence(inst) or dependences.guards_memory(inst) or EXEC_LO in inst.writes():
            return False
        access = inst.desc.access
        stops = access is not None and (store or access.kind != "load" or inst.coherent)
        if stops and not all(place.apart(other) for other in accesses.get(p, ())):
            return False
    return True
