"""GEMM kernels generated from parameters: no compiler, the whole kernel is written here.

    Parameters --registers--> Registers --k_block, templates/gemm*.s.j2--> Program

parameters.py  the tile, the thread tile, how LDS is used; what must hold between them
names.py       a kernel's name, and its parameters by that name
sides.py       one operand: how it lies in memory and in LDS, which thread fetches what
registers.py   which VGPR and SGPR holds what
fetch.py       a side's instructions: offsets, global loads, stores to LDS
k_block.py     the main loop's instructions for one K block
work.py        a stream-K kernel's launch: which workgroup does what
stream_k.py    its instructions: the next piece of work, and sums from pieces of a tile
generate.py    all of it as a Program
"""
