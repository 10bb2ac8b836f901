"""Rewriting: Program -> Program, one file a pass.

bank_balance.py     kernel 6: the inner loop on registers whose banks never collide
unroll.py           kernel 7: the inner loop unrolled, its addresses folded into offsets
batch_loads.py      kernel 8: global loads from SGPR bases, spread over the inner loop
vopd_interlock.py   all kernels: no VOPD reads a VALU result too early

pipeline.py         a pipeline as text, run and verified step by step
outer_product.py    finds a GEMM's inner loop from data flow
flow.py, symbolic.py, poly.py   what registers hold, as polynomials
moves.py            values change registers by bank, permutations as few moves
edit.py             lines in and out, hints and counts kept true, dead code
"""

from isa.passes.pipeline import PASSES, Pass, parse_pipeline, run_pipeline

__all__ = ["PASSES", "Pass", "parse_pipeline", "run_pipeline"]
