"""Kernels for products with few rows (decoding: M = 1 to 16), which take the time of reading B once.

    GemvParameters --registers--> GemvRegisters --weights, combine--> Program

parameters.py  the tile, how K is shared out, types
formats.py     how weights lie in memory: as A's type, bytes, nibbles; their scales and zero points
registers.py   which VGPR and SGPR holds what
weights.py     a block of k: its loads, weights as 16-bit floats, products
combine.py     the waves' sums together, and C
generate.py    all of it as a Program
"""
