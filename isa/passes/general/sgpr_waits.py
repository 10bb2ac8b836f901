"""SGPRs that were written after VALU had read them: a wait before each instruction that could read the old value.

In: a program of generators or passes. Out: the same with `s_wait_alu` where a target of RDNA4 asks for it
(`isa.analysis.sgpr_reads`). Compilers write these waits themselves, and more of them than are needed: where none is
left and they are put in again, fewer do. A wait ends what its field says for all that follows, so that they are put in
one at a time, first reads first, until nothing is at risk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as control_flow
from isa.analysis import sgpr_reads
from isa.analysis.cfg import Cfg
from isa.asm.parse import parse_line
from isa.asm.program import Kernel, Program
from isa.passes.edit import Edit, each_kernel, named
from isa.semantics.instruction import Instruction
from isa.semantics.waits import depctr, results_text
from isa.targets import GFX1100


@dataclass(frozen=True)
class SgprWaits:
    """Waits before each read of an SGPR that may come too early.

    kernel: which one; none: all.

    Requires:   nothing.
    Guarantees: no read is at risk in any kernel; all else is as it was.
    Leaves alone: the whole program where its target has no such hazard.
    """

    name: ClassVar[str] = "sgpr-waits"
    kernel: str = ""

    def run(self, program: Program) -> Program:
        if "sgpr" not in (program.target or GFX1100).hazards:
            return program
        for name in named(program, self.kernel):
            while True:
                kernel = program.kernel(name)
                flow = control_flow.of_kernel(kernel)
                struck = list(sgpr_reads.strikes(flow, False, kernel.number("wavefront_size32") == 0))
                if not struck:
                    break
                blocks = {flow.block_of(i).index: (i, *by) for i, *by in reversed(struck)}
                edit = Edit(kernel)
                for block, (i, by_salu, by_valu) in blocks.items():  # a block's first wait may do for what follows
                    if not any(flow.dominates(other, block) for other in blocks.keys() - {block}):
                        wait = results_text(flow.family, *sgpr_reads.fields(by_salu, by_valu))
                        edit.insert(flow.lines[i], [parse_line(f"\t{wait}", program.file, flow.lines[i])])
                program = edit.apply()
        return program


@dataclass(frozen=True)
class RelaxSgprWaits:
    """Leaves out waits for reads of SGPRs that no read needs.

    kernel: which one; none: all.

    Requires:   nothing.
    Guarantees: no read is at risk that was not; no block has more of these waits than it had.
    Leaves alone: kernels that call, since the function may need a wait that stands before; waits for something else,
        too; programs for targets without the hazard.
    """

    name: ClassVar[str] = "relax-sgpr-waits"
    kernel: str = ""

    def run(self, program: Program) -> Program:
        known = "sgpr" in (program.target or GFX1100).hazards
        return each_kernel(program, self.kernel, _relaxed) if known else program


def _relaxed(kernel: Kernel) -> Program:
    flow = control_flow.of_kernel(kernel)
    if flow.calls or flow.indirect_jumps:
        return kernel.program
    before, stay = _waits(flow), set[int]()
    while True:
        edit = Edit(kernel)
        edit.remove(flow.lines[i] for i in before if flow.block_of(i).index not in stay)
        made = SgprWaits(kernel.name).run(edit.apply())
        old = Counter(flow.block_of(i).index for i in before)
        flow_made = control_flow.of_kernel(made.kernel(kernel.name))
        new = Counter(flow_made.block_of(i).index for i in _waits(flow_made))
        if new < old:
            return made
        grown = set(new - old) - stay
        if not grown:
            return kernel.program
        stay |= grown


def _waits(flow: Cfg) -> list[int]:
    """The waits for nothing but reads of SGPRs, but those that are all of a block."""
    return [i for i, inst in enumerate(flow.instructions) if _is_wait(inst) and len(flow.block_of(i).range) > 1]


def _is_wait(inst: Instruction) -> bool:
    if inst.mnemonic != inst.family.results_wait:
        return False
    return all(
        depctr(inst, f) == most for f, (_, most) in inst.family.result_fields.items() if f not in sgpr_reads.FIELDS
    )
