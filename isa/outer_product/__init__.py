"""Outer products: a column of A times a row of B, as a GEMM's main loop adds it up, in instructions.

fma_order.py  the order of the dual FMAs of a thread tile, and the banks of what they read and write
text.py       the instructions of a step of k: LDS loads, global loads, dual FMAs

Passes write kernels 6 to 8 with it, `isa.gemm` the generated ones.
"""
