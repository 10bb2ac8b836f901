"""Matrix products on the simulated card, by this project's kernels: what its hipBLAS calls (calls/blas.py).

The kernel is the one that `hipgemm.gemm` takes for such matrices, but for few float32 elements one of a small tile: on
the simulated card a kernel's translation takes longer than such a product. hipBLAS is column-major, the kernels
row-major, so C^T = op(B)^T op(A)^T is computed. A matrix whose columns lie dense is used where it is; any other is
gathered first, and C put back. Sums are float32, also where hipBLAS is asked for sums of float16.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import Gemm, rung
from hipgemm.launch.elements import ELEMENTS, Types
from hipgemm.launch.gemm import launch_of
from hipgemm.product.choice import choose
from hipgemm.simulated_hip.calls import modules
from hipgemm.simulated_hip.calls.memory import reachable
from hipgemm.simulated_hip.calls.streams import submit
from hipgemm.simulated_hip.runtime import KernelHandle, Runtime
from hipgemm.tuning.choose import chosen
from hipgemm.tuning.shapes import Shape
from isa.gemm.vector.work import COUNTERS

FEW = 1 << 16
"""Elements of C, at most, for which SMALL is taken."""
SMALL = "gemm_32x32x8_4x4_l4_g4_s1"


@dataclass(frozen=True)
class Stored:
    """How a matrix lies: rows and columns as they are stored, column by column, `ld` elements apart."""

    rows: int
    columns: int
    ld: int
    element: str
    flip: bool = False

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(ELEMENTS[self.element].dtype)

    def at(self, rt: Runtime, address: int) -> np.ndarray:
        """The transpose of what the matrix stands for in the product, over the card's memory."""
        size = self.dtype.itemsize * (self.ld * (self.columns - 1) + self.rows)
        reachable(rt, address, size, on_device=False)
        room = memoryview((ctypes.c_uint8 * size).from_address(address))
        strides = (self.ld * self.dtype.itemsize, self.dtype.itemsize)
        lying = np.ndarray((self.columns, self.rows), self.dtype, room, strides=strides)
        return lying.T if self.flip else lying


@dataclass(frozen=True)
class Product:
    """C = alpha op(A) op(B) + beta C, for matrices that lie so; alpha and beta are numbers."""

    rt: Runtime
    stream: int
    sizes: tuple[int, int, int]
    a: Stored
    b: Stored
    c: Stored
    alpha: float
    beta: float

    def on_stream(self, a: int, b: int, c: int) -> None:
        """On matrices at these addresses, where it is the stream's turn."""
        submit(self.rt, self.stream, "product", lambda: self.run(a, b, c))

    def run(self, a: int, b: int, c: int) -> None:
        """On matrices at these addresses."""
        m, n, k = self.sizes
        if not m or not n:
            return
        target = self.c.at(self.rt, c)
        if k and self.alpha:
            factors = [self.b.at(self.rt, b), self.a.at(self.rt, a)]
        else:  # no product: one of zeros
            factors = [np.zeros(shape, self.a.dtype) for shape in ((n, 1), (1, m))]
        flips = [x.flags.f_contiguous and not x.flags.c_contiguous for x in factors]
        with ExitStack() as stack:
            lying = [x.T if flip else x for x, flip in zip(factors, flips, strict=True)]
            left, right, answer = (stack.enter_context(_in_one_piece(self.rt, x)) for x in (*lying, target))
            row = rung(self._kernel(factors[0].shape[1], flips))
            made = launch_of(row, n, m, factors[0].shape[1], 2 * self.rt.stands_for.wgps)
            space = stack.enter_context(_workspace(self.rt, made.workspace_bytes))
            addresses = [x.ctypes.data for x in (left, right, answer)]
            kernarg = made.kernarg(addresses, self.alpha, self.beta, space)
            modules.launch_checked(self.rt, _loaded(self.rt, row), made.grid, row.block, 0, kernarg)
            if answer is not target:
                target[...] = answer

    def _kernel(self, k: int, flips: Sequence[bool]) -> str:
        """Its name."""
        m, n, _ = self.sizes
        if self.a.element == "f32":
            trans = "".join("t" if flip else "n" for flip in flips)
            if m * n <= FEW:
                return f"{SMALL}_{trans}"
            return chosen(Shape(n, m, k, trans), self.rt.stands_for.name).kernel
        on, types = self.rt.stands_for, Types(self.a.element, self.c.element)
        return choose(n, m, 2 * on.wgps, types, tuple(flips), card=on.name)


def _loaded(rt: Runtime, row: Gemm) -> KernelHandle:
    handle = rt.blas_kernels.get(row.name)
    if handle not in rt.functions:
        image = build(row, arch=rt.arch).hsaco.read_bytes()
        handle = rt.blas_kernels[row.name] = modules.load_kernel(rt, image, row.name)
    return rt.functions[handle]


@contextmanager
def _in_one_piece(rt: Runtime, matrix: np.ndarray) -> Iterator[np.ndarray]:
    """The matrix itself where it lies row by row on the card, else a copy there."""
    if matrix.flags.c_contiguous and rt.card.memory.find(matrix.ctypes.data) is not None:
        yield matrix
        return
    with _room(rt, matrix.nbytes) as address:
        copy = np.ndarray(
            matrix.shape, matrix.dtype, memoryview((ctypes.c_uint8 * matrix.nbytes).from_address(address))
        )
        copy[...] = matrix
        yield copy


@contextmanager
def _workspace(rt: Runtime, size: int) -> Iterator[int]:
    """The address of one whose counters are 0, or 0 where none is needed."""
    if not size:
        yield 0
        return
    with _room(rt, size) as address:
        ctypes.memset(address, 0, COUNTERS)
        yield address


@contextmanager
def _room(rt: Runtime, size: int) -> Iterator[int]:
    address = rt.card.memory.allocate(size)
    try:
        yield address
    finally:
        rt.card.memory.free(address)
