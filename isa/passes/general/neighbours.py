"""Neighbouring accesses: a block -> its memory accesses with addresses as base and distance, and which lie side by
side.

An address is a term (`isa.algebra`) and a number, of what registers held where the block began and of what memory
gave. Addresses of one term differ by their numbers, in each lane; other ones may be anything. After a change of EXEC
nothing that lanes hold is known.

Spaces do not meet, but flat meets all.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from isa.algebra.machine import TermMachine
from isa.algebra.term import Term, near
from isa.algebra.terms import Terms
from isa.algebra.values import Setting
from isa.analysis import dependences, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.instruction import Instruction

_GROUP = {"scalar": "global"}


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
    accesses = [i for i in block.range if cfg.instructions[i].desc.access is not None]
    positions = range(block.start, accesses[-1] + 1) if accesses else range(0)
    counts = _in_addresses(cfg, positions)
    for i in positions:
        inst = cfg.instructions[i]
        if inst.desc.access is not None:
            found[i] = _memory(i, inst, values)
        values.step(i, inst, i in counts)
    return found


def _in_addresses(cfg: Cfg, positions: range) -> set[int]:
    """The positions whose results go into addresses."""
    found, asked = set(), 0
    for i in reversed(positions):
        inst = cfg.instructions[i]
        writes = regset.defs(inst)
        if inst.desc.access is not None:
            asked &= ~writes | regset.VGPRS  # of a VGPR another lane may keep what it has
            asked |= regset.mask(o for o in inst.desc.address_of(inst) if isinstance(o, Reg))
        elif asked & writes:
            found.add(i)
            asked |= cfg.uses[i]
    return found


def _memory(i: int, inst: Instruction, values: _Values) -> Memory:
    access = inst.desc.access
    assert access is not None
    space = _GROUP.get(access.space, access.space)
    anywhere = (Place(space, ("anywhere", i), 0, 0),)
    if (
        access.kind == "atomic"
        or access.by_lane
        or access.by_wave
        or access.buffer
        or access.aligned
        or access.transposed
        or access.space == "scalar"
    ):
        return Memory(i, inst, anywhere, 0)
    size = int(access.element[1:]) // 8
    base, number = values.address(inst)
    places = tuple(Place(space, base, number + o, number + o + size) for o in inst.offsets)
    return Memory(i, inst, places, inst.offsets[0])


def several(cfg: Cfg, block: Block, spaces: Collection[str]) -> bool:
    """Whether a block has two loads or two stores in one of these spaces, whose addresses are then worth to know."""
    found: set[tuple[str, str]] = set()
    for access in (cfg.instructions[i].desc.access for i in block.range):
        if access is not None and (kind := (access.kind, _GROUP.get(access.space, access.space)))[1] in spaces:
            if kind in found:
                return True
            found.add(kind)
    return False


class _Values(TermMachine):
    """Registers of a block, as it is followed. by_lane: those beside VGPRs that hold something of each lane that is on:
    what they are for others is not known."""

    def __init__(self) -> None:
        super().__init__(Setting(Terms()))
        self.held: dict[Reg, Term] = {}
        self.by_lane: set[Reg] = set()
        self.exec = 0

    def term(self, unit: Reg) -> Term:
        if unit not in self.held:
            self.held[unit] = self._new(unit, f"since {self.exec}")
        return self.held[unit]

    def _new(self, unit: Reg, when: str) -> Term:
        return self.terms.unknown(f"{unit} {when}", 1 if unit == SCC else 32, uniform=not unit.is_vgpr)

    def address(self, inst: Instruction) -> tuple[Hashable, int]:
        """What an access's address operands hold: a root and a number."""
        roots: list[Hashable] = []
        number = 0
        for operand in inst.desc.address_of(inst):
            if not isinstance(operand, Reg):
                roots.append(str(operand))
                continue
            values = [self.term(unit) for unit in operand.units()]
            if len(values) == 2:
                values = [self.terms.joined(*values)]
            elif len(values) > 2 or inst.desc.space not in ("lds", "scratch"):
                roots.append(tuple(values))
                continue
            constant, rest = self.terms.split(values[0])
            roots.append(rest)
            number += near(constant, rest.width)
        return tuple(roots), number

    def step(self, i: int, inst: Instruction, counts: bool) -> None:
        """counts: whether what it leaves is asked for."""
        new: dict[Reg, Term] = {}
        for half in inst.halves if counts else ():
            if half.desc.access is None and not (half.dpp or half.desc.crosses_lanes):
                new |= self.follow(half) or {}
        written = set(regset.members(regset.defs(inst)))
        lanes = inst.desc.is_valu or not self.by_lane.isdisjoint(inst.reads())
        self.by_lane = self.by_lane - written | ({unit for unit in written if not unit.is_vgpr} if lanes else set())
        self.held |= {unit: new.get(unit) or self._new(unit, f"at {i}") for unit in written}
        if EXEC_LO in written:
            self.exec = i + 1
            self.held = {u: t for u, t in self.held.items() if not u.is_vgpr and u not in self.by_lane}


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
