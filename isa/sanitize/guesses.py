"""Accesses that races are judged otherwise of: initial loads of compare-and-swap loops, which do not race with the
atomic, loads that wait for another wave, and what stands between the halves of a barrier, from a kernel's instructions.

HIP's `atomicAdd` of floats in memory, of doubles in LDS, and whatever a program makes of `atomicCAS` itself, begins
with a plain load:

    s_load_b32 s1, s[4:5], 0x0                            the guess
    v_mov_b32 v1, s1
    v_add_f32 v0, v1, v2
    global_atomic_cmpswap_b32 v0, v3, v[0:1], s[4:5] glc  v1 is expected there

What it brings may be old: the atomic then finds another value, and the loop goes on with that one. So it is in order
with atomics, as an atomic load is; with plain stores it is not. Values are followed back through moves.

Limits: what else is done with the guess is not looked at (a maximum ends where it is large enough).
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.analysis import barriers, cfg, defuse, memory_order
from isa.analysis.defuse import ENTRY
from isa.errors import IsaError
from isa.registers import Reg
from isa.semantics.instruction import Instruction, bare


def guesses(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The addresses of these loads."""
    swaps = {i: reg for i, inst in enumerate(instructions) if (reg := _expected(inst)) is not None}
    if not swaps:
        return frozenset()
    try:
        chains = defuse.analyse(cfg.of_instructions(instructions))
    except IsaError:  # code that cannot be analysed can still be run
        return frozenset()
    found, seen = set(), set()
    ahead = [(i, unit) for i, reg in swaps.items() for unit in reg.units()]
    while ahead:
        if (at := ahead.pop()) in seen:
            continue
        seen.add(at)
        for position in chains.defs_of(*at) - {ENTRY}:
            for half in instructions[position].halves:
                if at[1] not in half.writes():
                    continue
                if half.desc.access is not None and half.desc.access.kind == "load":
                    found.add(instructions[position].address or 0)
                elif half.desc.moves >= 32 and not half.dpp:
                    ahead.extend((position, reg) for reg in _moved(half, at[1]))
    return frozenset(found)


def awaited(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The addresses of the accesses by which a wave waits for another (`isa.analysis.memory_order.awaited`)."""
    try:
        flow = cfg.of_instructions(instructions)
        return frozenset(instructions[i].address or 0 for i in memory_order.awaited(flow, defuse.analyse(flow)))
    except IsaError:
        return frozenset()


def halved(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The addresses of what a wave runs between the halves of a barrier."""
    if not any(i.desc.effect == "signal" for i in instructions):
        return frozenset()
    try:
        return frozenset(i.address or 0 for i in barriers.between(cfg.of_instructions(instructions)))
    except IsaError:
        return frozenset()


def _expected(inst: Instruction) -> Reg | None:
    """The VGPRs that hold what an atomic expects: the last ones in LDS, the upper half of the data elsewhere."""
    name, vgprs = inst.desc.name, [o for o in map(bare, inst.operands) if isinstance(o, Reg) and o.file == "v"]
    if name.startswith("ds_cmpstore"):
        return vgprs[-1]
    if "_atomic_cmpswap" not in name:
        return None
    data = vgprs[0 if name.startswith("buffer_") else -1]
    return data.sub(data.count // 2, data.count // 2)


def _moved(half: Instruction, target: Reg) -> list[Reg]:
    """Where a move has a register's value from."""
    to, source = bare(half.operands[0]), bare(half.operands[1])
    if not isinstance(to, Reg) or not isinstance(source, Reg):
        return []
    return [source.sub(target.index - to.index)]
