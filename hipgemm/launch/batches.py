"""Layout of batches: a batched product -> the strides that its kernel takes (`isa.gemm.matrix.generate`).

A *strided* kernel takes so many products of one size in one launch, z of the grid, and takes from its arguments how
many elements lie between lines of A, of B and of C, and between the matrices of the batch; of int4 pairs are counted.
`Batch.dense` is what most launches are: matrix after matrix, line after line.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.errors import IsaError
from isa.gemm.matrix.parameters import LINES, STRIDES, MatrixParameters

if TYPE_CHECKING:
    from hipgemm.kernels.ladder import Gemm

LARGEST = 65535
"""Products of a launch: workgroups in z (hipDeviceProp_t.maxGridSize)."""


class BatchError(IsaError, ValueError):
    """A batch that the kernel cannot take."""


@dataclass(frozen=True)
class Batch:
    """count: products. lines: elements from one line of A, of B and of C to the next; strides: from one matrix to the
    next, 0 where all have the same one."""

    count: int
    lines: tuple[int, int, int]
    strides: tuple[int, int, int]

    @staticmethod
    def dense(row: Gemm, m: int, n: int, k: int, count: int = 1) -> Batch:
        """Matrices without gaps, as the kernel reads them."""
        units = -(-k // row.types.of_factor.pack)
        flips = row.transposed
        lines = m if flips[0] else units, units if flips[1] else n, n
        return Batch(count, lines, (m * units, n * units, m * n))

    def check(self, row: Gemm, m: int, n: int, k: int) -> None:
        """BatchError unless the kernel takes it with products of this size."""
        p = row.parameters
        if not isinstance(p, MatrixParameters) or not p.strided:
            raise BatchError(
                f"{row.name} takes one product of dense matrices",
                got=f"a batch of {self.count}", hint="a kernel with _strided in its name, of the matrix units",
            )  # fmt: skip
        if not 1 <= self.count <= LARGEST:
            raise BatchError(
                f"{row.name} does not take a batch of this size", expected=f"1 to {LARGEST}", got=str(self.count)
            )
        least = Batch.dense(row, m, n, k).lines
        for name, line, lowest, most in zip(LINES, self.lines, least, p.longest_lines, strict=True):
            if not lowest <= line <= most:
                raise BatchError(f"{row.name} cannot take {name} = {line}", expected=f"{lowest} to {most} at this size")
        for name, stride in zip(STRIDES, self.strides, strict=True):
            if not 0 <= stride < 2**63:
                raise BatchError(f"{row.name} cannot take {name} = {stride}", expected="0 or more, below 2^63")

    @property
    def numbers(self) -> dict[str, tuple[str, int]]:
        """The kernel's arguments after all others: name -> (type, value)."""
        strides = {name: ("u64", value) for name, value in zip(STRIDES, self.strides, strict=True)}
        return strides | {name: ("u32", value) for name, value in zip(LINES, self.lines, strict=True)}

    def arguments(self) -> bytes:
        """The same as they lie in memory, after four bytes of padding."""
        return struct.pack("<4x3Q3I", *self.strides, *self.lines)
