"""SGPRs that were written after VALU had read them: a wait before each instruction that could read the old value.

In: a program of generators or passes. Out: the same with `s_wait_alu` where a target of RDNA4 asks for it
(`isa.analysis.sgpr_reads`). Compilers write these waits themselves. A wait ends what its field says for all that
follows, so that they are put in one at a time, first reads first, until nothing is at risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as control_flow
from isa.analysis import sgpr_reads
from isa.asm.parse import parse_line
from isa.asm.program import Program
from isa.passes.edit import Edit
from isa.semantics.waits import results_text
from isa.targets import GFX1100


@dataclass(frozen=True)
class SgprWaits:
    """Waits before each read of an SGPR that may come too early.

    Requires:   nothing.
    Guarantees: no read is at risk in any kernel; all else is as it was.
    Leaves alone: the whole program where its target has no such hazard.
    """

    name: ClassVar[str] = "sgpr-waits"

    def run(self, program: Program) -> Program:
        if "sgpr" not in (program.target or GFX1100).hazards:
            return program
        for name in program.kernels:
            while True:
                kernel = program.kernel(name)
                flow = control_flow.of_kernel(kernel)
                struck = list(sgpr_reads.strikes(flow, False, kernel.number("wavefront_size32") == 0))
                if not struck:
                    break
                begun: set[int] = set()
                edit = Edit(kernel)
                for i, by_salu, by_valu in struck:
                    block = flow.block_of(i).start
                    if block not in begun:  # the first wait of a block may do for its others
                        begun.add(block)
                        fields = sgpr_reads.fields(by_salu, by_valu)
                        waits = [f"\t{results_text(flow.family, field)}" for field in fields]
                        edit.insert(flow.lines[i], [parse_line(w, program.file, flow.lines[i]) for w in waits])
                program = edit.apply()
        return program
