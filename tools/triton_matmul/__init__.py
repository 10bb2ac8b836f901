"""Comparison with Triton: `hipgemm.gemm` against a tiled matmul of Triton's at shapes of models, by the same clock.

kernel.py   the matmul, for a Python that has Triton: compiles it in each configuration
compare.py  predicts both, and writes the table of docs/record/matrix-figures.md
study.py    matmuls and attention as files, for tools/optimise_study.py
"""
