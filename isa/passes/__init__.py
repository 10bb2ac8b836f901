"""Rewriting: Program -> Program, one file a pass.

bank_balance.py     kernel 6: the inner loop on registers whose banks never collide
unroll.py           kernel 7: the inner loop unrolled, its addresses folded into offsets
batch_loads.py      kernel 8: global loads from SGPR bases, spread over the inner loop
vopd_interlock.py   all kernels: no VOPD reads a VALU result too early
sgpr_waits.py       all kernels: no SGPR is read too early after VALU read it and it was written
rename_banks.py     all kernels: what is read at once lies in different banks
rename_pairs.py     all kernels: registers with which more pairs can be formed
spread_loads.py     all kernels: loads fill what was free for long
list_schedule.py    all kernels: dual instructions and order of each block
unroll_by.py        all kernels: loops that count, several iterations without a test (`unroll{by}`)
widen_loads.py      all kernels: neighbouring loads and stores as one; neighbours.py: which are
scalar_addresses.py all kernels: what lanes share of an address in SGPRs
relax_waits.py      all kernels: waits as late and as loose as they may be
cu_mode.py          all kernels: a workgroup on one CU
hints.py            all kernels: s_delay_alu and s_clause

pipeline.py         a pipeline as text, run and verified step by step
outer_product.py    finds a GEMM's inner loop from data flow
flow.py, symbolic.py, poly.py   what registers hold, as polynomials
moves.py            values change registers by bank, permutations as few moves
block_order.py      a block apart and together again, with its waits; dual_issue.py: which two may be one
edit.py             lines in and out, hints and counts kept true, dead code
words.py            waits, barriers and cache modifiers in the words of a family
"""

from isa.passes.pipeline import PASSES, Pass, parse_pipeline, run_pipeline

__all__ = ["PASSES", "Pass", "parse_pipeline", "run_pipeline"]
