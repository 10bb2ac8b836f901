"""The definition: what each element of C must hold, by name and in words.

sum = fma(A[i, K-1], B[K-1, j], ... fma(A[i, 1], B[1, j], fma(A[i, 0], B[0, j], 0)))
C[i, j] = alpha * sum                           where beta is 0
        = fma(alpha, sum, beta * C[i, j])       elsewhere
"""

from __future__ import annotations

import numpy as np

from isa.check.definition.launch import ALPHA, BETA, Launch
from isa.check.definition.names import Names, fma, mul


def product(launch: Launch) -> Names:
    """The names of C's elements after the launch, (2, m, n)."""
    m, n, k = launch.m, launch.n, launch.k
    a, b, c = launch.elements().values()
    total = np.zeros((2, m, n), np.uint64)
    for step in range(k):
        total = fma(a[:, :, step, None], b[:, step, None, :], total)
    alpha, beta = ALPHA[:, None, None], BETA[:, None, None]
    return fma(alpha, total, mul(beta, c)) if launch.beta == "any" else mul(alpha, total)
