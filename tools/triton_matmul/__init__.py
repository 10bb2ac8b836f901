"""Shapes of models, `hipgemm.gemm` against a tiled matmul of Triton's, by the same clock.

kernel.py   the matmul, for a Python that has Triton: compiles it in each configuration
compare.py  predicts both, and writes the table of docs/record/matrix-figures.md
study.py    matmuls and attention as files, for tools/optimise_study.py
"""
