"""Branchless code under EXEC as selections: both arms for all lanes, v_cndmask_b32 where they meet.

Short branches that lanes take differently LLVM makes without jumping: it narrows EXEC, writes what one arm writes,
turns EXEC over, and copies what both arms must not destroy of each other:

    v_cmpx_ngt_f32 v0, v4                 v_cmp_ngt_f32 vcc_lo, v0, v4
    s_xor_b32 s6, exec_lo, s6             v_subrev_nc_u32 v9, s5, v6
    v_subrev_nc_u32 v43, s5, v6           v_add_nc_u32 v43, s5, v6
    s_or_saveexec_b32 s6, s6              v_cndmask_b32 v43, v43, v9, vcc_lo
    s_xor_b32 exec_lo, exec_lo, s6   =>
    v_add_nc_u32 v43, s5, v6
    s_or_b32 exec_lo, exec_lo, s6

Each write of EXEC waits for the comparison before it, nothing is moved over it, and copies can be half of what is
issued. Selections have no such order, and go into dual instructions where VCC holds their mask.

In: a kernel. A run of instructions of one block, from a first write of EXEC to where all its lanes are on again, is
followed on terms (`isa.passes.general.lane_values`), and rewritten from what it leaves in registers that are read later
(`isa.passes.general.selections`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis.cfg import Block, Cfg, of_kernel
from isa.asm.program import Kernel, Program
from isa.passes.edit import named, remove_dead
from isa.passes.general.lane_values import ALL, Run, Stop, known_copies
from isa.passes.general.selections import Room, Writer
from isa.passes.schedule import block_order, hints
from isa.registers import EXEC_LO
from isa.semantics.instruction import Instruction

_ENDS = 16
"""How many ends of a run are tried, the last first."""


@dataclass(frozen=True)
class IfConvert:
    """Selections instead of writes under a narrower EXEC, within a block.

    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls or jumps through registers is left alone.
    Guarantees: registers that are read later hold the same in each lane; no more vector instructions, each half of a
                pair counted, and no more VGPRs than leave the kernel's waves a SIMD what they were. What nothing reads
                is left out.
    Leaves alone: EXEC around memory accesses, branches and what exchanges lanes.
    """

    name: ClassVar[str] = "if-convert"

    kernel: str = ""

    def run(self, program: Program) -> Program:
        for name in named(program, self.kernel):
            kernel = program.kernel(name)
            cfg = of_kernel(kernel)
            if not (cfg.calls or cfg.indirect_jumps or any(i.desc.relative for i in cfg.instructions)):
                program = _converted(kernel, cfg)
        return program


def _converted(kernel: Kernel, cfg: Cfg) -> Program:
    room = Room(kernel, cfg)
    made: dict[int, list[Instruction]] = {}
    for block in cfg.blocks:
        if rows := _rewritten(block, cfg, room):
            made[block.index] = hints.hinted(rows)
    faults = block_order.faults(cfg) if made else Counter()
    while made:
        changed = block_order.put(kernel, cfg, made)
        worse = block_order.more(block_order.faults(of_kernel(changed.kernel(kernel.name))), faults)
        if not worse:
            return remove_dead(changed.kernel(kernel.name))
        made = {b: rows for b, rows in made.items() if b not in worse} if worse & made.keys() else {}
    return kernel.program


def _rewritten(block: Block, cfg: Cfg, room: Room) -> list[Instruction]:
    """A block with its runs rewritten; [] where there are none."""
    out: list[Instruction] = []
    done = block.start
    for first in block.range:
        if first < done or EXEC_LO not in cfg.instructions[first].writes():
            continue
        if found := _anew(first, block, cfg, room):
            end, rows = found
            out += [*cfg.instructions[done:first], *rows]
            done = end
    return [*out, *cfg.instructions[done : block.end]] if out else []


def _anew(first: int, block: Block, cfg: Cfg, room: Room) -> tuple[int, list[Instruction]] | None:
    """A run that begins here: (its end, what takes its place)."""
    run = Run(masks=known_copies(list(cfg.instructions[block.start : first])))
    ends: list[tuple[int, Run]] = []
    for i in range(first, block.end):
        try:
            run.step(cfg.instructions[i])
        except Stop:
            break
        if run.exec.table == ALL:
            ends.append((i + 1, run.copy()))
    for end, state in ends[: -_ENDS - 1 : -1]:
        rows = range(first, end)
        before = sum(len(cfg.instructions[i].halves) for i in rows if cfg.instructions[i].desc.is_valu)
        try:
            made = Writer(state, rows, room).rows()
        except Stop:
            continue
        if before and sum(inst.desc.is_valu for inst in made) <= before:
            return end, [*state.before, *made]
    return None
