"""The dynamic checker: a launch under the sanitizer, in native code.

    findings = observe(card, kernel, grid, block, kernarg).findings

The same bodies of instructions run as in a plain launch, with hooks between them, and say what the hardware lets
pass or answers at random:

    registers   read or overwritten while a load still fills them; read and never written, but by moves
    LDS         races between waves within one barrier epoch, by byte; uninitialized reads
    memory      races between workgroups that do not publish what they write, and between waves without a barrier;
                uninitialized reads; accesses outside allocations; misaligned accesses
    lanes       of one wave that store different values to one place by one instruction
    scratch     use of what was loaded from where the lane has not written
    barriers    waves that ended or wait elsewhere while others wait; LDS stores still in flight; a partial EXEC
    order       results that differ between schedules: workgroups and waves in another order, other time slices; a note
                where only atomics and flags can have decided

Limits: lanes of a wave are in order from instruction to instruction. A barrier orders all of a workgroup's accesses to
global memory among its waves, also where in WGP mode a wait would be needed before it; the L0 must be emptied after it.
On gfx11 a store reads its data
as it issues, so that its registers are free at once (LLVM GCNSubtarget.h, vmemWriteNeedsExpWaitcnt).

Files: state (what is known), hooks/ (C that keeps it), segments, quick,
windows and stores (what of it stands in the kernel's own code), translate, launch, report, check.
"""

from isa.sanitize.check import Observation, observe

__all__ = ["Observation", "observe"]
