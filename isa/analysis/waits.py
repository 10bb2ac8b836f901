"""Accesses in flight: a `Cfg` -> at each instruction, the loads, stores and messages that may not have completed.

A memory instruction raises counters when it issues (`Instruction.counters`); a counter falls when one completes;
s_waitcnt holds the wave until the counter is at most a number. Counters (RDNA3 ISA guide 5.6; LLVM AMDGPUBaseInfo.cpp):

    vmcnt    loads and returning atomics of VMEM, FLAT and scratch       6 bits, complete in order
    vscnt    stores and atomics that return nothing                      6 bits, complete in order
    lgkmcnt  LDS, SMEM, FLAT, messages                                   6 bits, LDS in order, SMEM and messages not
    expcnt   exports and GDS                                             3 bits

An event is (position, counter). For each event that may be in flight the analysis keeps the least number, over all
paths, of later events of its own ordered kind: these must still be in flight if the event is. So after a wait for n an
event with at least n such successors has completed, whatever else shares the counter; this is also right where LDS and
SMEM are mixed, since then more events are in flight than those counted. An event that completes out of order has no
successors it can lean on: only a wait for 0 covers it. At a join an event is in flight if it is on some path, with the
least count. Around a loop the same holds for the next iteration's events, each of which renews its count at 0.

A FLAT load raises vmcnt and lgkmcnt and is done when both are; within each it is in order from GFX10 on (LLVM
GCNSubtarget.h `hasFlatLgkmVMemCountInOrder`).

A register, or half of one (`isa.semantics.halves`), is in flight while the load that fills it is. To read it is an
error; to write it too, unless a load of the same ordered kind does, which lands later. Stores read their data as they
issue: a store's registers are free at once.

What can change nothing is dropped, which keeps the states small. A load, once a later one of its order fills all of its
registers: whatever collides with it collides with that one. A store, at a later one of its kind, once as many of its
order have followed as its counter can count: what covers that one covers it.

Limits: at the entry of a function nothing is in flight, and a call leaves nothing in flight, since LLVM's functions
wait for everything on entry and before they return; of a call whose function is known to wait for less the caller can
say so (`analyse`). An instruction that adds M0 to a register's number is held to touch that register and no other. A
wait against a register's value (s_waitcnt_vscnt s0, 0) covers nothing. A function for which more than MOST
events would be held is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.errors import IsaError
from isa.registers import Reg
from isa.semantics import halves
from isa.semantics.instruction import Instruction
from isa.semantics.waits import parse_wait

MOST = 8_000_000
Event = tuple[int, str]
_State = dict[Event, int]
_NO_WAIT: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hazard:
    """A register that `position` reads or writes ("read", "write") while the load at `load` may still fill it.

    needed: what the counter must be waited for before `position`, at most.
    """

    position: int
    reg: Reg
    access: str
    load: int
    counter: str
    needed: int


@dataclass(frozen=True)
class InFlight:
    """before[i]: event -> its least number of later events of its kind, for what may be in flight before position i."""

    cfg: Cfg
    before: tuple[Mapping[Event, int], ...]
    machine: Machine

    @property
    def waits(self) -> list[Mapping[str, int]]:
        """By position: counter -> number, for one that waits."""
        return self.machine.waits

    def registers(self, position: int) -> dict[Reg, set[int]]:
        """Single registers in flight before a position -> the loads that fill them."""
        found: dict[Reg, set[int]] = {}
        for load, _ in self.before[position]:
            for reg in regset.members(filled(self.cfg, load)):
                found.setdefault(reg, set()).add(load)
        return found

    def covered_by(self, position: int) -> dict[str, frozenset[int]]:
        """What a wait is for: counter -> positions of the events that have completed after it and perhaps not before
        it, on some path. A counter with an empty set waits for nothing it can be sure of."""
        return {
            counter: frozenset(
                at for (at, c), later in self.before[position].items() if c == counter and later >= number
            )
            for counter, number in self.waits[position].items()
        }

    def hazards(self) -> Iterator[Hazard]:
        """Every register used before its load is sure to have completed, in the order of the code."""
        cfg, fills = self.cfg, self.machine.filled
        last: Mapping[Event, int] | None = None
        any_of = 0
        for i, pending in enumerate(self.before):
            touched = cfg.uses[i] | cfg.defs[i]
            if pending is not last:
                last, any_of = pending, self.machine.fills(pending)
            if not any_of & touched:
                continue
            for (load, counter), later in pending.items():
                if not fills[load] & touched:
                    continue
                reads, writes = too_early(cfg, load, i, counter)
                if reads or writes:
                    reg = regset.members(reads or writes)[0]
                    yield Hazard(i, reg, "read" if reads else "write", load, counter, later)


def filled(cfg: Cfg, position: int) -> int:
    """The registers that a memory instruction fills when it completes (`regset` bits)."""
    return cfg.defs[position] if cfg.instructions[position].counters else 0


def collides(cfg: Cfg, load: int, position: int) -> tuple[int, int]:
    """Of the registers that a load fills, those that an instruction computes with and those that it writes."""
    inst, hit = cfg.instructions[position], filled(cfg, load)
    reads, writes = hit & cfg.uses[position], hit & cfg.defs[position]
    if inst.desc.relative:
        named = regset.named(inst)
        reads, writes = reads & named, writes & named
    half = halves.filled(cfg.instructions[load])
    if not (reads | writes) & regset.VGPRS or (half == halves.BOTH and inst.desc.access is None):
        return reads, writes
    for reg in regset.members((reads | writes) & regset.VGPRS):
        read, written = halves.touched(inst, reg)
        bit = 1 << regset.bit(reg)
        reads &= ~bit if not read & half else -1
        writes &= ~bit if not written & half else -1
    return reads, writes


def too_early(cfg: Cfg, load: int, position: int, counter: str) -> tuple[int, int]:
    """As `collides`, without what a later load may overwrite."""
    reads, writes = collides(cfg, load, position)
    return (0, 0) if not reads and _same_order(cfg, load, position, counter) else (reads, writes)


def _kind(inst: Instruction, counter: str) -> str | None:
    """The ordered kind of an event: those of one kind complete in the order they issue. None: in no order."""
    if inst.desc.space == "flat":
        return "lds" if counter in inst.family.raised["lds_load"] else "vmem"
    return inst.desc.unit if inst.desc.is_vector else None


def _same_order(cfg: Cfg, load: int, writer: int, counter: str) -> bool:
    later = cfg.instructions[writer]
    kind = _kind(cfg.instructions[load], counter)
    return counter in later.counters and kind is not None and kind == _kind(later, counter)


class Machine:
    """How one instruction changes what is in flight."""

    def __init__(self, cfg: Cfg, settled: Mapping[int, frozenset[str]]) -> None:
        self.most = {counter: 1 << bits for counter, bits in cfg.family.counters.items()}
        self.waits = [_NO_WAIT] * len(cfg)
        for i in cfg.where(lambda desc: desc.effect == "wait"):
            self.waits[i] = parse_wait(cfg.instructions[i])
        issued = {i: inst for i, inst in enumerate(cfg.instructions) if inst.counters}
        self.raised = {i: [(c, _kind(inst, c)) for c in inst.counters] for i, inst in issued.items()}
        orders = dict[tuple[str, str | None], int]()
        self.order = {(i, c): orders.setdefault((c, k), len(orders)) for i, row in self.raised.items() for c, k in row}
        self.filled = {i: cfg.defs[i] for i in issued}
        self.alike = {i: (inst.desc.space, inst.desc.access and inst.desc.access.kind) for i, inst in issued.items()}
        self.whole = frozenset(i for i, inst in issued.items() if halves.filled(inst) == halves.BOTH)
        self.barriers = frozenset(cfg.where(lambda desc: desc.effect == "barrier"))
        self.calls = {i: settled.get(i, frozenset(cfg.family.counters)) for i in cfg.calls}
        self.counting = frozenset(i for i, numbers in enumerate(self.waits) if numbers).union(self.raised, self.calls)

    def fills(self, state: Iterable[Event]) -> int:
        """The registers that any of the events fills."""
        return reduce(or_, (self.filled[load] for load, _ in state), 0)

    def step(self, i: int, state: _State, *, issue: bool = True) -> _State:
        """`state` before position i -> after it. Without `issue` what i itself puts in flight is left out."""
        if i in self.calls:
            return {e: n for e, n in state.items() if e[1] not in self.calls[i]}
        if self.waits[i]:
            return {e: n for e, n in state.items() if n < self.waits[i].get(e[1], 1 << 30)}
        if i not in self.raised or not (state or issue):
            return state
        others = ~self.filled[i] if issue and i in self.whole else -1
        for counter, kind in self.raised[i]:
            after: _State = {}
            mine, most = self.order[i, counter], self.most[counter]
            for event, later in state.items():
                if self.order[event] == mine:
                    fills = self.filled[event[0]]
                    if fills and not fills & others:
                        continue
                    if kind is not None:
                        later = min(later + 1, most)
                        if later == most and not fills and self.alike[event[0]] == self.alike[i]:
                            continue
                after[event] = later
            state = after
            state.pop((i, counter), None)
            if issue:
                state[i, counter] = 0
        return state


def _join(old: _State | None, new: _State) -> _State:
    joined = dict(old or {})
    for event, later in new.items():
        joined[event] = min(later, joined.get(event, later))
    return joined


def analyse(cfg: Cfg, settled: Mapping[int, frozenset[str]] = MappingProxyType({})) -> InFlight:
    """What may be in flight before each position. settled: position of a call -> the counters that the function brings
    to 0 before it returns, where that is not all of them."""
    machine = Machine(cfg, settled)
    before: list[_State] = [{} for _ in cfg.instructions]
    held = 0

    def through(block: Block, state: _State) -> _State:
        nonlocal held
        for i in block.range:
            before[i] = state
            if i in machine.counting:
                state = machine.step(i, state)
                held += len(state) if state is not before[i] else 0
        if held > MOST:
            message = f"too much is in flight at once in {cfg.name}"
            raise IsaError(message, span=cfg.instructions[0].span, expected=f"at most {MOST} events in all")
        return state

    nothing: _State = {}
    dataflow.forward(cfg, nothing, through, _join)
    return InFlight(cfg, tuple(before), machine)


def relying_on(flight: InFlight, position: int, counter: str) -> tuple[frozenset[int], frozenset[int]]:
    """What one counter of a wait is needed for: the events that it covers are followed as if it were not there.

    Returns (events of which something uses a register before another wait covers them, events that may then be in
    flight at a barrier), as positions. A jump through a register uses all of them: it returns to code that reads them.
    """
    cfg, machine = flight.cfg, flight.machine
    returns, barriers = frozenset(cfg.indirect_jumps), machine.barriers
    number = flight.waits[position][counter]
    state = {e: n for e, n in flight.before[position].items() if e[1] == counter and n >= number}
    used: set[int] = set()
    at_barrier: set[int] = set()

    def run(i: int, end: int, state: _State) -> _State:
        fills = machine.fills(state)
        while i < end and state:
            touched = cfg.uses[i] | cfg.defs[i]
            if i in returns:
                used.update(load for load, _ in state)
            elif touched & fills:
                for load, c in list(state):
                    if machine.filled[load] & touched and any(too_early(cfg, load, i, c)):
                        used.add(load)
                        del state[load, c]
                fills = machine.fills(state)
            if i in barriers:
                at_barrier.update(load for load, _ in state)
            if i in machine.counting:
                state = machine.step(i, state, issue=False)
                fills = machine.fills(state)
            i += 1
        return state

    block = cfg.block_of(position)
    entry: dict[int, _State] = {}
    work: list[int] = []

    def leave(index: int, state: _State) -> None:
        for s in cfg.blocks[index].successors if state else ():
            new = _join(entry.get(s), state)
            if new != entry.get(s):
                entry[s] = new
                work.append(s)

    leave(block.index, run(position + 1, block.end, state))
    while work:
        block = cfg.blocks[work.pop()]
        leave(block.index, run(block.start, block.end, dict(entry[block.index])))
    return frozenset(used), frozenset(at_barrier)
