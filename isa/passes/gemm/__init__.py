"""Passes on a GEMM's inner loop: kernels 6 to 8 of the ladder."""
