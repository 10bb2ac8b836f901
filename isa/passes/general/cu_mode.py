"""Kernels in CU mode: a workgroup on the two SIMDs of one CU, with that CU's LDS and first cache for itself.

Compilers start kernels in WGP mode unless they are told otherwise: a workgroup may then use all four SIMDs of a
workgroup processor and all its LDS, and pays for it, since LDS serves a workgroup that lies on both CUs little faster
than one CU's would (`lds_wgp_share` of `isa.timing.machine.rdna3`: C&C measured little over 128 of 256 bytes a cycle).
In CU mode each of both halves serves its own workgroups.

Code for WGP mode is right in CU mode. What a workgroup shares lies nearer, so that waits and invalidations which WGP
mode needs do more than CU mode asks for (LLVM AMDGPUUsage, "Memory Model gfx10-gfx11": the same sequences without
`buffer_gl0_inv` at the scope of a workgroup). The other way around does not hold.

What may change is how many workgroups lie on the chip at once, so kernels that wait for others through memory stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import cfg as control_flow
from isa.analysis import dependences
from isa.analysis.resources import occupancy
from isa.asm.emit import set_directives
from isa.asm.program import Kernel, Program
from isa.errors import IsaError
from isa.object import metadata
from isa.passes.edit import named
from isa.targets import GFX1100

_MODE = "workgroup_processor_mode"


@dataclass(frozen=True)
class CuMode:
    """Starts kernels that use LDS in CU mode.

    kernel: which one; none: all.

    Requires:   nothing.
    Guarantees: the largest workgroup that the metadata allow fits a CU.
    Leaves alone: every instruction; kernels that use no LDS, call, or wait for other workgroups through memory.
    """

    name: ClassVar[str] = "cu-mode"

    kernel: str = ""

    def run(self, program: Program) -> Program:
        for name in named(program, self.kernel):
            kernel = program.kernel(name)
            if kernel.number(_MODE) and kernel.number("wavefront_size32") and _suits(kernel) and fits(kernel):
                entry = {f".{_MODE}": 0} if f".{_MODE}" in kernel.metadata else {}
                program = set_directives(kernel, {_MODE: 0}, entry)
        return program


def _suits(kernel: Kernel) -> bool:
    flow = control_flow.of_kernel(kernel)
    known = not (flow.calls or flow.indirect_jumps or dependences.by_memory(flow))
    return known and any(inst.desc.space == "lds" for inst in flow.instructions)


def fits(kernel: Kernel) -> bool:
    """Whether the largest workgroup fits a CU."""
    threads = metadata.number(kernel, ".max_flat_workgroup_size") or 1024
    lds = kernel.number("group_segment_fixed_size") or 0
    target = kernel.program.target or GFX1100
    try:
        occupancy(kernel.number("next_free_vgpr") or 256, lds, threads, cu_mode=True, target=target)
    except IsaError:
        return False
    return True
