"""Costs of scheduling classes: a class -> what its instructions cost, in the one table that the cycle model asks.

`COSTS[class]` says what the class is to the issue logic (a kind of `engine_abi`) and, of the vector ALU, which numbers
of `isa.timing.machine.rdna3` hold: cycles in which it takes no other instruction, and from its first one until a
dependent instruction executes. None where its timing is not known: a prediction of code that holds such an instruction
is not known, and says so by the instruction's name. What memory accesses cost beyond their issue follows from their
operands (`isa.timing.trace.decode`) and from what they touch.

Sources as in rdna3.py. "ACO" is what Mesa's compiler takes for gfx10 and later (src/amd/compiler: aco_opcodes.py gives
the class, aco_statistics.cpp its cycles), where nothing was measured. SQTT's labels name cycles: VALUB_4 takes 4.

Not timed: v_qsad and v_mqsad, v_interp, v_pipeflush, ds_nop, s_wait_event, s_sethalt, s_setkill, s_trap,
invalidations of scalar caches, typed buffers, ds_gws_barrier, named barriers.

Values that lanes exchange through LDS (ds_bpermute, ds_permute, ds_swizzle) take the path of a load and one cycle of
the LDS: its banks are as many as a wave has lanes, and a lane's value lies in its own ("AMD GCN Assembly: Cross-Lane
Operations", gpuopen.com: they use the hardware of LDS and none of its memory). Lanes of ds_permute that write one lane
may take more.

Transcendentals take the vector ALU for one cycle, as every other instruction, and a unit beside it for four (ACO has
them on a resource of their own; not measured), so that three other instructions fit beside each.
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.semantics.instruction import Instruction
from isa.timing.native import engine_abi


@dataclass(frozen=True, slots=True)
class Cost:
    """kind: of `engine_abi`. passes, latency: names of machine numbers, of the vector ALU alone. amount: cycles, or
    priority, for each one that the operand says."""

    kind: int
    source: str
    passes: str = ""
    latency: str = ""
    amount: int = 0


def _valu(source: str, passes: str = "valu_passes", latency: str = "valu_latency") -> Cost:
    return Cost(engine_abi.VALU, source, passes, latency)


_NO_UNIT = "ACO: class other, which holds no unit"
_ISSUE = "assumed: it issues and does nothing to the waves around it"
_MATRIX = "ACO; 512 flop a cycle and CU, AMD's peak figures"

COSTS: dict[str, Cost | None] = {
    # --- the vector ALU
    "valu": _valu("SQTT: independent 1 apart, dependent 5"),
    "valu_dpp": _valu("ACO: no class of its own"),
    "vopd": _valu("study: 1 clock each where banks are balanced; SQTT"),
    "valu_lane": _valu("ACO: class valu32"),
    "permlane": _valu("ACO: class valu32"),
    "valu_64": _valu("SQTT: 64-bit shifts 2; ACO: 6 of latency", "valu64_passes", "valu64_latency"),
    "int_quarter_rate": _valu("SQTT: label VALUB_4; clpeak; ACO", "int_quarter_passes", "int_quarter_latency"),
    "packed": _valu("ACO: class valu32"),
    "dot": _valu("ACO: class valu32"),
    "f64": _valu("ISA: 1/16 rate; SQTT: label VALUB_16; ACO: 22 of latency", "f64_passes", "f64_latency"),
    "trans": _valu("ISA: quarter rate; SQTT: label VALUT_4; ACO: 10 of latency", latency="trans_latency"),
    "trans_f64": _valu("SQTT: label VALUB_16; ACO: 24 of latency", "f64_passes", "trans_f64_latency"),
    "wmma_16bit": _valu(_MATRIX, "wmma_passes", "wmma_passes"),
    "wmma_iu8": _valu(_MATRIX, "wmma_8bit_passes", "wmma_8bit_passes"),
    "wmma_iu4": _valu(_MATRIX, "wmma_iu4_passes", "wmma_iu4_passes"),
    "trans_scalar": _valu("SQTT of a gfx1201: the next instruction of the unit 1 later", latency="trans_latency"),
    "wmma_8bit": _valu("ORI; SQTT of a gfx1201", "wmma_8bit_passes", "wmma_8bit_passes"),
    "sad_wide": None,
    "interpolate": None,
    "pipeflush": None,
    # --- scalar
    "salu": Cost(engine_abi.SALU, "LLVM: 2 of latency"),
    "salu_64": Cost(engine_abi.SALU, "assumed: as salu"),
    "salu_float": Cost(engine_abi.SALU, "assumed: as salu; ACO says 4 of latency"),
    "hwreg": Cost(engine_abi.SALU, "ACO: class salu"),
    "smem_load": Cost(engine_abi.SMEM, "C&C: a hit of the scalar cache"),
    "message_return": Cost(engine_abi.SMEM, "assumed: as smem_load; it comes back by the same counter"),
    # --- memory
    "lds_load": Cost(engine_abi.LDS_LOAD, "SQTT: LDS_RD"),
    "lds_store": Cost(engine_abi.LDS_STORE, "SQTT: LDS_WR_2 and its kind"),
    "lds_atomic": Cost(engine_abi.LDS_STORE, "assumed: as a store, and as a load where it gives back the old value"),
    "lds_exchange": Cost(engine_abi.LDS_EXCHANGE, "assumed: as lds_load of words in banks of their own"),
    "lds_nop": None,
    "gws": None,
    "global_load": Cost(engine_abi.LOAD, "SQTT: SGMEM_RD_1, SGMEM_RD_2"),
    "global_store": Cost(engine_abi.STORE, "SQTT: SGMEM_WR_2 and its kind"),
    "global_atomic": Cost(engine_abi.STORE, "assumed: as lds_atomic"),
    "flat_load": Cost(engine_abi.LOAD, "assumed: as global_load, or as lds_load where it goes there"),
    "flat_store": Cost(engine_abi.STORE, "assumed: as global_store, or as lds_store where it goes there"),
    "flat_atomic": Cost(engine_abi.STORE, "assumed: as lds_atomic"),
    "scratch_load": Cost(engine_abi.LOAD, "assumed: as global_load with an SGPR base"),
    "scratch_store": Cost(engine_abi.STORE, "assumed: as global_store with an SGPR base"),
    "buffer_load": Cost(engine_abi.LOAD, "assumed: as global_load with an SGPR base"),
    "buffer_store": Cost(engine_abi.STORE, "assumed: as global_store with an SGPR base"),
    "buffer_atomic": Cost(engine_abi.STORE, "assumed: as global_atomic"),
    "tbuffer_load": None,
    "tbuffer_store": None,
    "cache_control": Cost(engine_abi.INTERNAL, _ISSUE),
    "cache_write": Cost(engine_abi.INTERNAL, _ISSUE),
    "scalar_cache": None,
    "trap": None,
    # --- control
    "branch": Cost(engine_abi.BRANCH, "SQTT: not taken 3; taken is not published"),
    "barrier": Cost(engine_abi.BARRIER, "SQTT: last arrival to next VALU 14 to 16"),
    "barrier_signal": Cost(engine_abi.INTERNAL, "SQTT of a gfx1201: 1 to 2 after a wait"),
    "barrier_wait": Cost(engine_abi.BARRIER, "SQTT of a gfx1201: last arrival to next VALU 13 to 15"),
    "barrier_first": None,
    "barrier_state": None,
    "wait": Cost(engine_abi.WAIT, "SQTT: release to next VALU 1 to 2"),
    "wait_alu": Cost(engine_abi.WAIT, "assumed: as an access waits for the VALU, for va_vdst; else its issue only"),
    "wait_event": None,
    "end": Cost(engine_abi.END, "ISA"),
    "delay": Cost(engine_abi.INTERNAL, "SQTT; what it holds back is in the engine"),
    "clause": Cost(engine_abi.INTERNAL, _ISSUE),
    "nop": Cost(engine_abi.INTERNAL, "ISA: its operand in cycles", amount=1),
    "sleep": Cost(engine_abi.INTERNAL, "ISA: about 64 cycles for each one of its operand", amount=64),
    "priority": Cost(engine_abi.PRIO, "ISA", amount=1),
    "mode": Cost(engine_abi.INTERNAL, _NO_UNIT),
    "hint": Cost(engine_abi.INTERNAL, _NO_UNIT),
    "message": Cost(engine_abi.INTERNAL, _ISSUE),
    "halt": None,
}


def cost(inst: Instruction) -> Cost:
    """What an instruction costs. IsaError that names it where the timing of its class is not known."""
    name = inst.scheduling_class
    found = COSTS[name]
    if found is None:
        raise inst.error(
            f"the time of {inst.desc.name} is not known: no timing of its class, {name}, was published or measured",
            hint="leave it out, or give the class a cost and its source in isa/timing/machine/scheduling_classes.py",
        )
    return found
