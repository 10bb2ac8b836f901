"""No VOPD reads a VALU result too early: what GFX11's lost interlock could reach is taken apart.

In: a program of compiler or passes. Out: the same, but for the VOPDs at risk (`isa.analysis.valu_writes`: X and Y read
one source slot from registers of one parity, and a VALU write of one of them may be in flight). LLVM has formed no such
pair since pull request 220348; older compilers do.

A pair becomes two instructions, which have interlocks of their own: X and then Y where Y does not read what X writes,
else Y and then X. Where each reads what the other writes, or a half has no encoding of its own, the pair stays and
`s_waitcnt_depctr depctr_va_vdst(0)` before it waits until all VALU writes have landed. Exchanging X and Y would leave
the parities as they are, and exchanging the factors of a product may let another NaN's payload survive, so neither is
done: what the kernel computes stays the same bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as control_flow
from isa.analysis import valu_writes
from isa.asm.emit import instruction_line
from isa.asm.parse import parse_line
from isa.asm.program import Line, Program
from isa.passes.edit import Changes, by_itself
from isa.semantics.instruction import Instruction, lookup
from isa.semantics.waits import results_text
from isa.targets import GFX1100


@dataclass(frozen=True)
class VopdInterlock:
    """Takes apart, or waits before, each VOPD that may read a VALU result before it has landed.

    Requires:   nothing.
    Guarantees: no VOPD at risk is left in any kernel; registers hold what they held, bit for bit, after each
                instruction or pair.
    Leaves alone: all other instructions, register counts, and the whole program where no pair is at risk or the
                target has no such fault.
    """

    name: ClassVar[str] = "vopd-interlock"

    def run(self, program: Program) -> Program:
        if "vopd interlock" not in (program.target or GFX1100).hazards:
            return program
        wait = f"\t{results_text((program.target or GFX1100).family, 'va_vdst')}"
        changes = Changes(program)  # of all kernels at once: a file may have hundreds
        for kernel in program.kernels.values():
            flow = control_flow.of_kernel(kernel)
            for i in sorted({r.position for r in valu_writes.analyse(flow).risks()}):
                apart = _apart(flow.instructions[i])
                changes.insert(flow.lines[i], apart or [parse_line(wait, program.file, flow.lines[i])])
                changes.remove([flow.lines[i]] if apart else [])
        return changes.applied()


def _apart(inst: Instruction) -> list[Line]:
    """The halves as instructions of their own, in an order in which neither reads what the other wrote; none where
    there is no such order or encoding."""
    x, y = inst.halves
    reads_x, reads_y = (lookup(half).reads(half) for half in (x, y))
    writes_x, writes_y = (lookup(half).writes(half) for half in (x, y))
    order = [x, y] if not writes_x & reads_y else [y, x] if not writes_y & reads_x else []
    alone = [by_itself(half) for half in order]
    return [instruction_line(half) for half in alone if half is not None] if all(alone) else []
