"""Dependence graph: a run of instructions -> which must stay in which order.

An edge (earlier, later) says why (`Why`): a register that is read after it is written (RAW), written after it is read
(WAR), written twice (WAW), or order of memory and effects (ORDER). Registers are single ones of all files, EXEC, VCC,
SCC and M0 among them: a vector instruction reads EXEC by its description.

Memory keeps its order within each memory (LDS; all others together; FLAT is in both), but for loads among themselves
(those of `plain_load`). Nothing passes a fence: what changes modes, speaks to others or counts an address from where it
stands (`is_fence`). Memory accesses do not pass barriers and invalidations of caches; with `strict`, which is for
functions that wait for other waves through memory (`by_memory`), waits and accesses of all kinds keep one order,
nothing sinks below a wait, and what uses a load's result stays after the waits that it followed.

Limits: a store and another access of one memory keep their order even where they lie apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.semantics.instruction import Instruction
from isa.semantics.own_place import counts_from_itself
from isa.semantics.waits import parse_wait


class Why(IntEnum):
    """Why two instructions keep their order; of several reasons the highest."""

    WAR = 1
    ORDER = 2
    WAW = 3
    RAW = 4


def is_hint(inst: Instruction) -> bool:
    """Whether it only speaks of its neighbours: s_delay_alu, s_clause."""
    return inst.desc.sched in ("delay", "clause")


def is_counter_wait(inst: Instruction) -> bool:
    """Whether it waits for counters, against numbers, and does nothing else."""
    return inst.desc.is_wait and bool(parse_wait(inst))


def is_memory(inst: Instruction) -> bool:
    """Whether it touches memory, or stands between those that do."""
    desc = inst.desc
    return desc.access is not None or desc.drains_valu or desc.is_barrier or desc.sched == "smem_load"


def guards_memory(inst: Instruction) -> bool:
    """Whether no memory access passes it: barriers, invalidations."""
    return inst.desc.is_barrier or inst.desc.sched in ("cache_control", "cache_write", "scalar_cache")


def is_fence(inst: Instruction) -> bool:
    """Whether nothing at all passes it."""
    desc = inst.desc
    kept = desc.is_internal or desc.is_wait or desc.is_branch or bool(desc.effect)
    return (kept and not desc.is_barrier) or counts_from_itself(inst)


def by_memory(cfg: Cfg) -> bool:
    """Whether a function may wait for other waves, or speak to them, through memory: atomics, accesses that go where
    others see them, sleeping."""
    return any(
        (
            (access := inst.desc.access) is not None
            and (access.kind == "atomic" or inst.coherent or any(map(inst.has, inst.family.cache_bits)))
        )
        or inst.desc.sched == "sleep"
        for inst in cfg.instructions
    )


def plain_load(inst: Instruction) -> bool:
    """Whether it only reads memory, which no other instruction writes between fences, and only the counters of loads
    tell."""
    access = inst.desc.access
    return access is not None and access.kind == "load" and not inst.coherent and inst.desc.space != "flat"


def _memories(inst: Instruction) -> tuple[str, ...]:
    space = inst.desc.space
    if space == "flat" or guards_memory(inst) or not space:
        return ("lds", "other")
    return ("lds",) if space == "lds" else ("other",)


def edges(rows: Sequence[Instruction], strict: bool = False) -> list[dict[int, Why]]:
    """For each instruction those before it that it must stay after, and why. Transitive edges may be left out."""
    found: list[dict[int, Why]] = [{} for _ in rows]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    memory: dict[str, int] = {}
    loads: dict[str, list[int]] = {}
    fence = waited = ordered = -1

    def add(later: int, earlier: int, why: Why) -> None:
        if earlier >= 0 and earlier != later:
            found[later][earlier] = max(why, found[later].get(earlier, why))

    for i, inst in enumerate(rows):
        add(i, fence, Why.ORDER)
        waits = strict and is_counter_wait(inst)
        if waits or is_fence(inst):
            for earlier in range(fence + 1, i):
                add(i, earlier, Why.ORDER)
            fence, waited = (fence, i) if waits else (i, -1)
        if strict and (waits or is_memory(inst)):
            add(i, ordered, Why.ORDER)
            ordered = i
        if is_memory(inst):
            for name in _memories(inst):
                add(i, memory.get(name, -1), Why.ORDER)
                if plain_load(inst):
                    loads.setdefault(name, []).append(i)
                    continue
                for load in loads.pop(name, ()):
                    add(i, load, Why.ORDER)
                memory[name] = i
        touched = regset.uses(inst) | regset.defs(inst)
        for bit in map(regset.bit, regset.members(touched)) if waited >= 0 else ():
            filled = writer.get(bit, -1)
            if 0 <= filled < waited and rows[filled].desc.access is not None:
                add(i, waited, Why.ORDER)
        for reg in regset.members(regset.uses(inst)):
            bit = regset.bit(reg)
            add(i, writer.get(bit, -1), Why.RAW)
            readers.setdefault(bit, []).append(i)
        for reg in regset.members(regset.defs(inst)):
            bit = regset.bit(reg)
            for reader in readers.pop(bit, ()):
                add(i, reader, Why.WAR)
            add(i, writer.get(bit, -1), Why.WAW)
            writer[bit] = i
    return found
