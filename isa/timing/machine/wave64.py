"""Costs of waves of 64 lanes: an instruction -> how many times its 32 lanes at a time issue.

Lanes 0 to 31 and 32 to 63 are the halves of such a wave. RDNA3 ISA guide (70650):

- 2.1: most VALU and vector memory instructions issue twice, once for each half; scalar ones, branches and messages
  once. 7.2.3.2 says of the vector ALU that they may.
- 3.2.3: once, whatever EXEC: v_nop, v_readlane, v_readfirstlane, v_writelane, invalidations of vector caches. Twice,
  whatever EXEC: what writes SGPRs. Of others, and of vector memory, the pass of a half whose lanes are all off is
  skipped; LDS does not skip one.

Which need one pass for both halves the guide does not say. Mesa's compiler does (ACO, aco_statistics.cpp,
`is_dual_issue_capable`): what RDNA3's second set of fp32 and 16-bit units does, unless it has a DPP operand. AMD says
the same of rates: wave64 reaches the new ALUs by itself, 128 FMAs a cycle and CU (ROCm Compute Profiler's documents,
"RDNA3-class"). ACO counts a matrix product once, too: 32 cycles of a SIMD for 16 x 16 x 16 in either kind of wave; a
probe of chains of iu4 products ran at one rate in both, 102 to 108 TOP/s (xynexus/hipfire, wmma_iu4_noop).

The second pass begins when the unit is done with the first one, and the result is there `latency` after the second
began (ACO, `BlockCycleEstimator::add`). Two passes of a transcendental hold the vector ALU for five cycles: it is in
order, and the second one waits for the unit beside it.

Limits: a half counts as off where the workgroup has no work-items for it, in all of its waves; that a branch left it
without any is not seen, nor is the last wave of 96 work-items distinguished from the others. v_dual_* is skipped in
such waves (7.6) and rejected here. That comparisons take one pass on a gfx115x (ACO) is not modelled. What the operand
reads of both halves cost beyond a bank rule's cycles is not known.
"""

from __future__ import annotations

from typing import NamedTuple

from isa.registers import EXEC_HI, EXEC_LO, Reg
from isa.semantics.instruction import Instruction


class Wave(NamedTuple):
    """lanes: 32 or 64. halves: of 32 lanes that have work-items, in the waves of a launch."""

    lanes: int = 32
    halves: int = 1

    @staticmethod
    def of(lanes: int, work_items: int) -> Wave:
        """Of a launch whose workgroups have so many work-items."""
        return Wave(lanes, 1 if lanes == 32 or work_items <= 32 else 2)


WAVE32 = Wave()

_ONCE = frozenset("v_nop v_pipeflush v_readlane_b32 v_readfirstlane_b32 v_writelane_b32".split())
_BOTH = frozenset(
    """v_fma_f32 v_fmac_f32 v_fmaak_f32 v_fmamk_f32 v_mul_f32 v_add_f32 v_sub_f32 v_subrev_f32 v_mul_dx9_zero_f32
    v_fma_dx9_zero_f32 v_fmac_dx9_zero_f32 v_fma_f16 v_fmac_f16 v_fmaak_f16 v_fmamk_f16 v_mul_f16 v_add_f16 v_sub_f16
    v_subrev_f16 v_mov_b32 v_movreld_b32 v_movrels_b32 v_movrelsd_b32 v_movrelsd_2_b32 v_cndmask_b32 v_mov_b16
    v_cndmask_b16 v_max_f32 v_min_f32 v_max_f16 v_min_f16 v_max_i16 v_min_i16 v_max_u16 v_min_u16 v_add_nc_i16
    v_sub_nc_i16 v_mad_i16 v_add_nc_u16 v_sub_nc_u16 v_mad_u16 v_mul_lo_u16 v_not_b16 v_and_b16 v_or_b16 v_xor_b16
    v_lshrrev_b16 v_ashrrev_i16 v_lshlrev_b16 v_dot2_bf16_bf16 v_dot2_f32_bf16 v_dot2_f16_f16 v_dot2_f32_f16
    v_dot2c_f32_f16 v_dot2acc_f32_f16""".split()
)
"""ACO's list, by the names of the ISA guide."""
_EXEC = {EXEC_LO.index, EXEC_HI.index}
"""Which v_cmpx writes: it may skip a pass."""
_MIXED = {"v_fma_mix_f32": 0, "v_fma_mixlo_f16": 1, "v_fma_mixhi_f16": 1}
"""Mixed FMAs -> what op_sel_hi says of an addend that has the result's type, with which both halves go at once."""


def issues(inst: Instruction, wave: Wave) -> int:
    """How often a wave issues the instruction: 1 or 2. IsaError for v_dual_* in a wave of 64 lanes."""
    if wave.lanes == 32 or not inst.desc.is_vector:
        return 1
    if inst.pair is not None:
        raise inst.error(
            "the hardware skips v_dual_* in a wave of 64 lanes", expected="two instructions",
            hint="assemble it for waves of 32, or write its halves one after the other",
        )  # fmt: skip
    desc = inst.desc
    if not desc.is_valu:
        return 1 if desc.sched in ("cache_control", "cache_write") else 2 if desc.unit == "lds" else wave.halves
    if desc.name in _ONCE or desc.is_matrix or _both_at_once(inst):
        return 1
    sgprs = {reg.index for reg in inst.writes() if reg.file == "s"} - _EXEC
    return 2 if sgprs else wave.halves


def _both_at_once(inst: Instruction) -> bool:
    if inst.desc.name not in _MIXED:
        return inst.desc.name in _BOTH and not inst.dpp
    wide = inst.modifier("op_sel_hi")
    if (wide[2] if isinstance(wide, tuple) else 0) != _MIXED[inst.desc.name]:
        return False
    sources = [getattr(operand, "operand", operand) for operand in inst.operands[1:4]]
    vgprs = [operand for operand in sources if isinstance(operand, Reg) and operand.is_vgpr]
    return len(set(vgprs)) < 3
