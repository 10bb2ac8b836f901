"""Where the matrices of a strided kernel lie: arguments after all others,

    uint64_t stride_a, stride_b, stride_c      elements from a matrix of a batch to the next; 0 where all have one
    uint32_t lda, ldb, ldc                     elements from a line of a matrix to the next

counted as they lie in memory: of i4 in pairs. z of the grid says which of the batch a workgroup computes. What else
the arguments say is of one matrix. Where a line is longer than what the matrix has of it, the rest is not touched.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS
from isa.gemm.text import add64, log2, wide


def layer(p: MatrixParameters) -> Iterator[str]:
    """Which of the batch, before the arguments take its place."""
    if p.strided:
        yield f"s_mov_b32 {SCALARS.layer}, {SCALARS.group_z}"


def arguments(p: MatrixParameters) -> Iterator[str]:
    """Their loads."""
    if p.strided:
        s, at = SCALARS, p.after_vectors
        yield f"s_load_b128 {s.strides.sub(0, 4)}, {s.kernarg}, {at:#x}"
        yield f"s_load_b64 {s.strides.sub(4, 2)}, {s.kernarg}, {at + 16:#x}"
        yield f"s_load_b64 {s.lines.sub(0, 2)}, {s.kernarg}, {at + 24:#x}"
        yield f"s_load_b32 {s.lines.sub(2)}, {s.kernarg}, {at + 32:#x}"


def bases(p: MatrixParameters) -> Iterator[str]:
    """A, B and C become those of the layer."""
    if p.strided:
        s, t = SCALARS, SCALARS.t
        for i, (base, size) in enumerate(((s.a, p.factor_bytes), (s.b, p.factor_bytes), (s.c, p.result_bytes))):
            low, high = s.strides.sub(2 * i), s.strides.sub(2 * i + 1)
            yield from wide(t, s.layer, low)
            yield f"s_mul_i32 {s.u}, {s.layer}, {high}"
            yield f"s_add_i32 {t.sub(1)}, {t.sub(1)}, {s.u}"
            if size > 1:
                yield f"s_lshl_b64 {t}, {t}, {log2(size)}"
            yield from add64(base, *t.units())
