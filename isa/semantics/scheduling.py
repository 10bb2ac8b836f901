"""Scheduling classes: what an instruction is to the hardware that issues it. Every entry of the table names one.

`CLASSES[name]` is the unit that runs the instructions of a class, whatever their encoding or name. What a class costs
stands in `isa.timing.machine.scheduling_classes`, each number with its source; so do the classes whose timing is not
known.

    valu              arithmetic, conversions, comparisons and moves of 16 and 32 bits, one pass of the vector ALU
    valu_dpp          one of these with a DPP operand; vopd: two of them as one instruction. No entry names these two:
                      `Instruction.scheduling_class` tells them by its form
    valu_lane         between a lane and an SGPR: v_readlane_b32 and its kind
    permlane          between lanes
    valu_64           64-bit integers: shifts and comparisons
    int_quarter_rate  32-bit products of integers
    packed, dot       two 16-bit numbers a register; sums of products of 16, 8 or 4 bits
    f64               double precision, conversions to and from it among it
    trans, trans_f64  transcendental functions; trans_scalar: of an SGPR (RDNA4)
    wmma_*            matrix products of a wave, by the type of the factors
    sad_wide          sums of absolute differences, four at once; interpolate: v_interp_*
    pipeflush         v_pipeflush
    salu, salu_float  scalar arithmetic; of floats (RDNA3.5); salu_64: of 64 bits (RDNA4)
    hwreg             hardware registers: s_getreg_b32, s_setreg_b32
    smem_load         scalar loads; message_return: a message's answer in SGPRs
    lds_*             loads, stores and atomics of LDS; exchange: lanes exchange values through LDS
    global_*, flat_*, scratch_*, buffer_*   vector memory
    cache_control     vector caches made invalid; cache_write: written back (RDNA4); scalar_cache: scalar caches, the
                      instruction cache among them
    branch, barrier, end
    barrier_signal, barrier_wait    the two halves of a barrier (RDNA4); barrier_first: the first of them, which says
                      whether others had come; barrier_state: named barriers
    wait              for counters; wait_alu: for results (s_waitcnt_depctr); wait_event
    delay, clause     s_delay_alu and s_clause, which speak of the instructions after them
    nop, sleep, priority, mode, hint, halt, trap, message    what needs no unit
"""

from __future__ import annotations

from typing import Literal

Unit = Literal["valu", "salu", "smem", "lds", "vmem", "branch", "barrier", "wait", "internal"]
"""What runs an instruction. internal: the sequencer itself."""

_UNITS: dict[Unit, str] = {
    "valu": "valu valu_dpp vopd valu_lane permlane valu_64 int_quarter_rate packed dot f64 trans trans_f64 "
    "trans_scalar wmma_16bit wmma_8bit "
    "wmma_iu8 wmma_iu4 sad_wide interpolate pipeflush",
    "salu": "salu salu_float salu_64 hwreg",
    "smem": "smem_load message_return",
    "lds": "lds_load lds_store lds_atomic lds_exchange lds_nop gws",
    "vmem": "global_load global_store global_atomic flat_load flat_store flat_atomic scratch_load scratch_store "
    "buffer_load buffer_store buffer_atomic tbuffer_load tbuffer_store cache_control cache_write",
    "branch": "branch",
    "barrier": "barrier barrier_signal barrier_first barrier_wait barrier_state",
    "wait": "wait wait_alu wait_event",
    "internal": "end delay clause nop sleep priority mode hint halt trap message scalar_cache",
}
CLASSES: dict[str, Unit] = {name: unit for unit, names in _UNITS.items() for name in names.split()}

TRANSCENDENTAL = frozenset({"trans", "trans_f64", "trans_scalar"})
MATRIX = frozenset({"wmma_16bit", "wmma_8bit", "wmma_iu8", "wmma_iu4"})
