"""Control slice: a `Cfg` -> the positions to execute to know where a kernel goes and what it addresses.

Time depends on the path and on the addresses, not on the numbers that flow through a kernel. This finds the
instructions whose results may reach a branch condition, EXEC, or a memory address; the others (of a GEMM all FMAs and
all data moved through LDS) need not run to know the time.

Backward data flow like `isa.analysis.liveness`, but a read makes a register needed only where the instruction that
reads it is itself needed ("strong" liveness); `on` and `off` are as there. The address registers of every memory
access, the conditions of branches, and EXEC wherever a vector access executes and it may not be that of the entry, are
needed from the start.

Scratch at an address without a VGPR is treated as registers, since that is where compilers spill: one more bit for each
dword of the frame, so that spilled accumulators stay out and spilled addresses come in.

A branch whose condition depends on what an atomic returns, or a load with glc, asks how far other workgroups are
(LLVM AMDGPUUsage, "Memory Model GFX10-GFX11": that is what loads of flags look like). It is taken to go out of a
loop that waits, and to fall through past what stands aside for the rare case. `Slice.polling` says which these are.

Where loaded data decides what lanes do but not where the kernel goes, it is taken that all lanes do it
(`isa.timing.trace.guards`); `Slice.guards` says where.

Sets of lanes that are on and off say too much where registers are used again: what one part of an if loads reaches
what the lanes of the other part read. Where they refuse a kernel, the paths of single lanes are followed
(`isa.analysis.lane_view`).

Limits: an address or a loop that depends on what another global or LDS load brings, or on a clock, is refused with the
place (`DependsOnData`): such a kernel can be timed from a recording launch only. Calls and indirect jumps are refused,
too. Waves of 64 lanes are not followed lane by lane.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from isa.analysis import defuse, exec_mask, lane_view, liveness, regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY, DefUse
from isa.errors import IsaError
from isa.registers import EXEC, EXEC_LO, VCC, VCC_LO, Reg
from isa.semantics.execute import asked
from isa.semantics.halves import LOW_FREE_OF_HIGH, unread_high
from isa.semantics.instruction import Instruction, Special, width
from isa.timing.trace.guards import Guards, of_data

_SLOTS = 385  # first bit of the scratch frame
_NODES = 80_000
"""Of the graph of lanes: a matrix product of 4,200 instructions with a test for each element takes 24,000."""
_EXECS = regset.mask([EXEC])
RUN = "its time can be predicted only from a launch with real data: --run"


class DependsOnData(IsaError):
    """A path or an address that cannot be known before the launch."""


@dataclass(frozen=True)
class Slice:
    """needed: positions whose results matter -> what to run there: the instruction, or the one half of a VOPD.
    accesses: positions of vector memory accesses (address only).
    slots: dwords of the scratch frame that a position reads or writes, for accesses at a fixed place.
    full: where EXEC is known to have all lanes on.
    polling: branches that ask how far other workgroups are.
    entry: registers (`isa.analysis.regset`) whose values at the first instruction matter.
    guards: comparisons of data that are taken to hold in all lanes that are on (`isa.timing.trace.guards`).
    apart: of each block that lanes may be off in, and where EXEC is followed, the first position that EXEC masks."""

    needed: dict[int, Instruction]
    accesses: frozenset[int]
    slots: dict[int, tuple[int, ...]]
    full: tuple[bool, ...]
    polling: frozenset[int] = frozenset()
    entry: int = 0
    guards: frozenset[int] = frozenset()
    apart: Mapping[int, int] = field(default_factory=dict)


def slice_of(cfg: Cfg, lanes: int = 32, paths: bool = False) -> Slice:
    """The slice of a kernel. lanes: of a wave; paths: of what decides where it goes alone, whose `accesses` are spills.
    IsaError where it depends on loaded data other than by guards, or on calls."""
    if away := (*cfg.calls, *cfg.indirect_jumps, *(i for i, to in cfg.jumps.items() if len(to) > 1)):
        error = cfg.instructions[away[0]].error("calls are not followed without a run")
        raise DependsOnData(error.message, span=error.span, hint=RUN)
    masks = exec_mask.analyse(cfg, lanes)
    slots = {i: s for i, inst in enumerate(cfg.instructions) if (s := _fixed_slots(inst)) is not None}
    try:
        return _slice(cfg, lanes, paths, masks, slots, Guards.none(cfg))
    except DependsOnData as refused:
        if lanes == 32:
            with suppress(DependsOnData):
                return _slice(cfg, lanes, paths, masks, slots, Guards.none(cfg), _lane_by_lane(One(cfg)))
        guards = of_data(cfg, lanes, masks, frozenset(slots))
        if not guards.comparisons:
            raise
        with suppress(DependsOnData):
            return _slice(cfg, lanes, paths, masks, slots, guards)
        raise refused


@dataclass(frozen=True)
class One:
    """A Cfg that is compared by what it is, not by what it holds."""

    cfg: Cfg

    def __hash__(self) -> int:
        return id(self.cfg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, One) and self.cfg is other.cfg


@functools.lru_cache(maxsize=1)
def _lane_by_lane(kernel: One) -> DefUse:
    """What each read may see along the paths of one lane. The sets of lanes that are on and off let what one part of
    an if loads reach what lanes of the other part read, and what one branch defines a test behind another. Kept for who
    asks for a slice of the same kernel's paths."""
    cfg, masks = kernel.cfg, exec_mask.analyse(kernel.cfg, 32)
    return lane_view.narrowed(defuse.analyse(cfg, masks), liveness.analyse(cfg, masks), _NODES)


def _slice(
    cfg: Cfg, lanes: int, paths: bool, masks: exec_mask.ExecMask, slots: dict[int, tuple[int, ...]], guards: Guards,
    chains: DefUse | None = None,
) -> Slice:  # fmt: skip
    """guards: those that all lanes take. chains: what reads may see, where that is known better than by sets of lanes
    that are on and off."""
    count = len(cfg)
    insts = cfg.instructions
    exec_ = regset.mask([EXEC_LO if lanes == 32 else EXEC])
    roots, defs, masked = [0] * count, list(cfg.defs), [0] * count
    # Where EXEC is full, what it only masks does not ask how it became so.
    aside = [exec_ if full and _only_masked(inst) else 0 for full, inst in zip(masks.full, insts, strict=True)]
    uses = list(cfg.uses)
    accesses, asking = set(), polling(cfg)
    for i, inst in enumerate(insts):
        desc = inst.desc
        masked[i] = regset.VGPRS if desc.exec_masked else 0
        if lanes == 64 and (desc.is_vector or desc.is_branch):
            uses[i], defs[i] = _pairs(uses[i]), _pairs(defs[i])
        if i in guards.ends:
            uses[i] &= ~exec_
        if desc.is_branch:
            roots[i] = 0 if i in asking or i in cfg.jumps else uses[i]  # a long branch has one way
            if roots[i] & guards.masked[i] and (roots[i] & ~exec_ or not guards.skip(cfg, i)):
                raise _refused(inst)
        elif desc.access is not None and desc.access.space != "scalar":
            accesses.add(i)
            roots[i] = 0 if paths else _address(inst) | exec_ & ~aside[i]
            frame = sum(1 << _SLOTS + s for s in slots.get(i, ()))
            if desc.access.kind == "store":
                defs[i] |= frame
                masked[i] |= frame
            else:
                uses[i] |= frame
    # A VOPD is two instructions that matter each for itself: (reads, writes) of X and of Y.
    halves = {
        i: [(regset.mask(half.reads()), regset.mask(half.writes())) for half in inst.halves]
        for i, inst in enumerate(insts)
        if inst.pair is not None
    }
    # So is a spill of several registers: each goes to its own dword of the frame.
    halves.update({i: _moves(insts[i], frame) for i, frame in slots.items()})
    halves.update({i: _low_and_high(inst) for i, inst in enumerate(insts) if inst.desc.name in LOW_FREE_OF_HIGH})
    if chains is None:
        needed, entry = _backwards(cfg, masks, uses, defs, masked, aside, roots, halves, guards, exec_)
    else:
        needed, entry = _chained(chains, uses, defs, aside, roots, halves, slots)
    for i in sorted(needed):
        if asked(insts[i]):
            raise _refused(insts[i], ", what the hardware's clocks and ids are")
    for i in sorted(needed.keys() & accesses):
        access = insts[i].desc.access
        assert access is not None
        if i not in slots:
            raise _refused(insts[i], f" from {access.space} memory")
    run = {
        i: insts[i] if insts[i].pair is None or len(which) == 2 else insts[i].halves[min(which)]
        for i, which in needed.items()
    }
    told = accesses & needed.keys() if paths else accesses
    taken = guards.comparisons & needed.keys()
    full = tuple(map(bool, masks.full))
    return Slice(run, frozenset(told), slots, full, asking, entry, taken, _apart(cfg, run, full))


def _apart(cfg: Cfg, needed: Container[int], full: tuple[bool, ...]) -> dict[int, int]:
    """`Slice.apart`. Forward data flow: EXEC is followed but behind a write of it that is not needed."""
    lost, work = [False] * len(cfg.blocks), list(range(len(cfg.blocks)))
    found: dict[int, int | None] = {}
    while work:
        block = cfg.blocks[work.pop()]
        unknown = lost[block.index]
        found[block.index] = None
        for i in block.range:
            desc = cfg.instructions[i].desc
            if found[block.index] is None and desc.is_vector and desc.exec_masked:
                found[block.index] = -1 if unknown or full[i] else i
            if cfg.defs[i] & _EXECS:
                unknown = i not in needed
        for following in block.successors:
            if unknown and not lost[following]:
                lost[following] = True
                work.append(following)
    return {number: at for number, at in found.items() if at is not None and at >= 0}


_Halves = dict[int, list[tuple[int, int]]]
"""(reads, writes) of each part of an instruction that matters for itself."""


def _chained(
    chains: DefUse, uses: list[int], defs: list[int], aside: list[int], roots: list[int], halves: _Halves,
    slots: dict[int, tuple[int, ...]],
) -> tuple[dict[int, set[int]], int]:  # fmt: skip
    """What is needed by the definitions that each read may see: positions with their parts, and registers of the entry.
    A dword of the scratch frame is whatever any store puts there."""
    insts, frame = chains.cfg.instructions, -1 << _SLOTS
    stores = [i for i in slots if (a := insts[i].desc.access) is not None and a.kind == "store"]
    needed: dict[int, set[int]] = {}
    entry = 0
    work = [(i, root) for i, root in enumerate(roots) if root]
    seen = list(roots)
    while work:
        i, wanted = work.pop()
        sites = [(d, 1 << n) for n in regset.numbers(wanted & ~frame) for d in chains.reaching_at(i, n)]
        sites += [(d, 1 << n) for n in regset.numbers(wanted & frame) for d in stores if defs[d] >> n & 1]
        for site, flag in sites:
            if site == ENTRY:
                entry |= flag
                continue
            for k, (read, written) in enumerate(halves.get(site, [(uses[site], defs[site])])):
                if not written & flag or k in needed.get(site, ()):
                    continue
                needed.setdefault(site, set()).add(k)
                more = (read | uses[site] & _EXECS) & ~aside[site] & ~seen[site]
                if more:
                    seen[site] |= more
                    work.append((site, more))
    return needed, entry


def _backwards(
    cfg: Cfg, masks: exec_mask.ExecMask, uses: list[int], defs: list[int], masked: list[int], aside: list[int],
    roots: list[int], halves: _Halves, guards: Guards, exec_: int,
) -> tuple[dict[int, set[int]], int]:  # fmt: skip
    """The same by backward data flow over sets of lanes that are on and off."""
    insts = cfg.instructions
    needed: dict[int, set[int]] = {}
    state: list[tuple[int, int]] = [(0, 0)] * len(cfg.blocks)
    outside = dict.fromkeys(guards.ends.values(), 0)  # what lanes must keep that are off before a guard and after it
    work = list(range(len(cfg.blocks)))
    while work:
        block = cfg.blocks[work.pop()]
        on = off = 0
        for following in block.successors:
            on |= state[following][0]
            off |= state[following][1]
        for i in reversed(block.range):
            live, merged = on | off, off & defs[i] & masked[i]
            which = {k for k, (_, written) in enumerate(halves.get(i, [(uses[i], defs[i])])) if written & live}
            if which:
                needed.setdefault(i, set()).update(which)
            if (begin := guards.ends.get(i)) is not None and off & ~outside[begin]:
                outside[begin] |= off
                work.append(cfg.block_of(begin).index)
            if masks.change[i]:
                on, off = exec_mask.backward(masks.change[i], on, off)
            off &= outside.get(i, off)
            if masks.full[i]:
                off = 0
            on &= ~defs[i]
            off &= ~(defs[i] & ~masked[i])
            on |= roots[i]
            if which and _by_guard(insts[i], uses[i] & guards.masked[i], exec_, bool(merged)):
                raise _refused(insts[i])
            if which and insts[i].desc.is_vector and not aside[i]:
                on |= exec_
            for k in needed.get(i, ()) if i not in guards.comparisons else ():
                on |= (halves[i][k][0] if i in halves else uses[i]) & ~aside[i]
            if which and regset.across_lanes(insts[i]) and not masks.full[i]:
                off |= uses[i] & regset.VGPRS
        if (on, off) != state[block.index]:
            state[block.index] = on, off
            work.extend(block.predecessors)
    on, off = state[0]
    return needed, on | off


def _refused(inst: Instruction, where: str = "") -> DependsOnData:
    error = inst.error(f"an address or a branch depends on data{where}")
    return DependsOnData(error.message, span=error.span, hint=RUN)


def _only_masked(inst: Instruction) -> bool:
    """Whether EXEC says where it works and nothing else."""
    desc = inst.desc
    atomic = desc.access is not None and desc.access.kind == "atomic"
    elsewhere = desc.crosses_lanes or inst.dpp or regset.across_lanes(inst) or atomic
    named = regset.mask([o for o in inst.operands if isinstance(o, Reg)]) & regset.mask([EXEC])
    return desc.exec_masked and not elsewhere and not named


def _by_guard(inst: Instruction, masks: int, exec_: int, merged: bool) -> bool:
    """Whether what an instruction gives would be another one had a guard gone otherwise. masks: of guards that it
    reads, EXEC among them or not; merged: whether it keeps lanes that are off, which matter."""
    desc = inst.desc
    if not masks or not desc.is_vector:
        return bool(masks) and desc.access is not None
    return bool(masks & ~exec_) or merged or not (_only_masked(inst) or desc.is_compare)


def polling(cfg: Cfg) -> frozenset[int]:
    """Branches that ask how far other workgroups are. Forward data flow over registers that may hold, or have been
    computed from, what others publish."""
    insts = cfg.instructions
    if not any(i.sees_flags for i in insts):
        return frozenset()
    entry = [0] * len(cfg.blocks)
    work, found = [0], set()
    reached = {0}
    while work:
        number = work.pop()
        known = entry[number]
        for i in cfg.blocks[number].range:
            if insts[i].desc.is_branch:
                found |= {i} if cfg.uses[i] & known else set()
            elif insts[i].sees_flags or cfg.uses[i] & known:
                known |= cfg.defs[i]
            elif not insts[i].desc.exec_masked:
                known &= ~cfg.defs[i]
        for following in cfg.blocks[number].successors:
            if following not in reached or known & ~entry[following]:
                reached.add(following)
                entry[following] |= known
                work.append(following)
    return frozenset(found)


def _pairs(registers: int) -> int:
    """In a wave of 64 lanes VCC and EXEC, where they are not written out, are pairs."""
    for low, pair in ((VCC_LO, VCC), (EXEC_LO, EXEC)):
        if registers >> regset.bit(low) & 1:
            registers |= regset.mask([pair])
    return registers


def _address(inst: Instruction) -> int:
    """The registers of a memory access's address."""
    return regset.mask([o for o in inst.desc.address_of(inst) if isinstance(o, Reg)])


def _low_and_high(inst: Instruction) -> list[tuple[int, int]]:
    """(reads, writes) of the low half of a 64-bit result, and of the rest."""
    reads, writes = regset.mask(inst.reads()), regset.mask(inst.writes())
    high, result = unread_high(inst), inst.operands[0]
    assert isinstance(result, Reg)
    low_result = 1 << regset.bit(result.sub(0))
    return [(reads & ~regset.mask([high] if high else []), low_result), (reads, writes & ~low_result)]


def _moves(inst: Instruction, frame: tuple[int, ...]) -> list[tuple[int, int]]:
    """(reads, writes) of each dword that a scratch access at a fixed place moves."""
    access = inst.desc.access
    load = access is not None and access.kind == "load"
    data = next(
        o for role, o in inst.desc.roles_of(inst) if isinstance(o, Reg) and role.kind == "v" and role.written == load
    )
    moves = [(1 << regset.bit(data.sub(k)), 1 << _SLOTS + slot) for k, slot in enumerate(frame)]
    return [(slot, reg) for reg, slot in moves] if load else moves


def _fixed_slots(inst: Instruction) -> tuple[int, ...] | None:
    """The dwords of the frame of a scratch access whose address is its offset alone; None for others."""
    access = inst.desc.access
    if access is None or access.space != "scratch":
        return None
    roles = inst.desc.roles_of(inst)
    if not all(isinstance(o, Special) for role, o in roles if role.kind in ("va", "sa")):
        return None
    if access.element not in ("b32", "b64", "b96", "b128") or inst.offset % 4:
        raise IsaError(f"{inst}: scratch in parts of a dword cannot be followed")
    return tuple(inst.offset // 4 + k for k in range(width(access.element)))
