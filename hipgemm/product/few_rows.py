"""Which GEMV kernel computes a product with few rows (`isa.gemm.gemv`).

Memory sets the time, so all CUs are to read as much: a workgroup has N / (CUs x rounds) columns. Each reads all of A,
which counts as the weights of so many more columns, and computes whole fragments: the number of rounds is the one with
the least of all that. One round, one workgroup of 8 waves a CU; more, and 2 waves, so that several are resident.

Up to ROWS rows it is the kernel that is predicted to be faster than the one with tiles, wherever it takes the sizes and
the weights lie along k: docs/matrix.md has the figures.
"""

from __future__ import annotations

import functools

from hipgemm.launch.elements import PLAIN, Epilogue, Types
from isa.gemm.gemv.combine import vgprs
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import GemvRegisters
from isa.gemm.matrix.sides import FRAGMENT
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import ParameterError

ROWS = 16
_ROUNDS = 64


@functools.lru_cache(1024)
def chosen(m: int, n: int, k: int, cus: int, types: Types, epilogue: Epilogue = PLAIN) -> str | None:
    """The kernel for C of m x n, weights of N x K; None where none takes these sizes, K that is no whole blocks, or a
    gate."""
    if epilogue.gate:
        return None
    best: tuple[int, str] | None = None
    for rounds in range(1, _ROUNDS):
        columns = -(-n // (cus * rounds))
        try:
            p = GemvParameters(
                min(m, ROWS), columns, 8 if rounds == 1 else 2, types.factor, types.weights, types.result,
                epilogue.bias,
                epilogue.scales, epilogue.activation,
            )  # fmt: skip
            GemvRegisters.of(p, vgprs(p))
        except ParameterError:  # too many columns
            continue
        if k % p.depth:
            return None
        read = columns + p.rows * 8 * p.factor_bytes // p.bits
        cost = rounds * (read + FRAGMENT * p.fragments)
        if best is None or cost < best[0]:
            best = cost, name_of(p)
        if columns <= FRAGMENT:
            break
    return best[1] if best else None
