"""GEMM kernels on the matrix units: parameters -> programs of `v_wmma`, as `isa.gemm.vector` makes those of fp32.

    MatrixParameters --registers--> MatrixRegisters --fetch, k_block, epilogue--> Program

parameters.py  the tile, a wave's part of it, types, how A and B lie
sides.py       one operand: fragments, chunks and slots in LDS, which thread fetches what
registers.py   which VGPR and SGPR holds what
strides.py     where the matrices of a batch lie, and their lines
pieces.py      stream-K: what a workgroup does for each piece of a tile
fetch.py       a side's instructions: addresses, global loads, stores to LDS
k_block.py     the main loop's instructions for one K block
epilogue.py    C = alpha * sums + beta * C
generate.py    all of it as a Program
"""
