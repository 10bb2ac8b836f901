"""Products for which there is no generated kernel: float64, complex, int8, and vectors of any type, by blas_plain.hip,
one work-item an element; and triangular systems, one work-item a column: right, and not meant to be fast.

A matrix is where it lies and how far apart its rows and its columns are, so vectors are matrices, too.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from pathlib import Path

from hipgemm.simulated_hip.calls import modules, rtc
from hipgemm.simulated_hip.calls.streams import submit
from hipgemm.simulated_hip.runtime import RtcProgram, Runtime

SOURCE = Path(__file__).with_name("blas_plain.hip")
BLOCK = 64


@dataclass(frozen=True)
class Type:
    """Of elements. name: the kernel's; size, result: bytes of an element and of a result; scalar: struct's letters of a
    result."""

    name: str
    size: int
    result: int
    scalar: str

    def number(self, value: float) -> bytes:
        parts = [float(value), 0.0][: len(self.scalar)]
        return struct.pack(f"<{self.scalar}", *(parts if self.scalar != "i" else [int(value)]))


S, D = Type("f32", 4, 4, "f"), Type("f64", 8, 8, "d")
C, Z = Type("c32", 8, 8, "ff"), Type("c64", 16, 16, "dd")
INT8 = Type("i8", 1, 4, "i")
TYPES = {"S": S, "D": D, "C": C, "Z": Z}
"""By BLAS's letters."""


@dataclass(frozen=True)
class Matrix:
    """Steps from row to row and from column to column are in elements."""

    address: int
    row: int
    column: int
    conjugated: bool = False


def product(
    rt: Runtime, stream: int, type_: Type, sizes: tuple[int, int, int], alpha: bytes, a: Matrix, b: Matrix, beta: bytes,
    c: Matrix,
) -> None:  # fmt: skip
    """C = alpha A B + beta C, of m x n with k terms, where it is the stream's turn."""
    m, n, _ = sizes
    if not m or not n:
        return
    operands = b"".join(struct.pack("<Qqqq", x.address, x.row, x.column, x.conjugated) for x in (a, b))
    kernarg = struct.pack("<3q", *sizes) + operands + struct.pack("<Qqq", c.address, c.row, c.column)
    kernarg += alpha + beta
    grid = (-(-m * n // BLOCK), 1, 1)
    kernel = rt.functions[_loaded(rt, f"product_{type_.name}")]
    submit(rt, stream, "product", lambda: modules.launch_checked(rt, kernel, grid, (BLOCK, 1, 1), 0, kernarg))


def solve(
    rt: Runtime, stream: int, type_: Type, sizes: tuple[int, int], a: Matrix, x: Matrix, alpha: bytes, *,
    upper: bool, unit: bool,
) -> None:  # fmt: skip
    """X = alpha inverse(A) X, of n x columns, where it is the stream's turn. A is triangular; unit: its diagonal is 1,
    whatever is stored."""
    if not all(sizes):
        return
    kernarg = struct.pack("<2qQqqqQqq2q", *sizes, a.address, a.row, a.column, a.conjugated, x.address, x.row, x.column,
                          upper, unit)  # fmt: skip
    grid = (-(-sizes[1] // BLOCK), 1, 1)
    kernel = rt.functions[_loaded(rt, f"solve_{type_.name}")]
    submit(rt, stream, "solve", lambda: modules.launch_checked(rt, kernel, grid, (BLOCK, 1, 1), 0, kernarg + alpha))


def combine(
    rt: Runtime, stream: int, type_: Type, sizes: tuple[int, int], alpha: bytes, a: Matrix, beta: bytes, b: Matrix,
    c: Matrix,
) -> None:  # fmt: skip
    """C = alpha A + beta B, of m x n, where it is the stream's turn."""
    if not all(sizes):
        return
    kernarg = struct.pack("<2q", *sizes)
    kernarg += b"".join(struct.pack("<Qqqq", x.address, x.row, x.column, x.conjugated) for x in (a, b, c))
    grid = (-(-sizes[0] * sizes[1] // BLOCK), 1, 1)
    kernel = rt.functions[_loaded(rt, f"combine_{type_.name}")]
    submit(
        rt, stream, "sum", lambda: modules.launch_checked(rt, kernel, grid, (BLOCK, 1, 1), 0, kernarg + alpha + beta)
    )


def _loaded(rt: Runtime, name: str) -> int:
    handle = rt.blas_kernels.get(name, 0)
    if handle not in rt.functions:
        made, _, _ = rtc.compiled(RtcProgram(SOURCE.read_bytes(), SOURCE.stem, {}), rt.arch)
        handle = rt.blas_kernels[name] = modules.load_kernel(rt, made, name)
    return handle


def dot(rt: Runtime, stream: int, type_: Type, n: int, a: Matrix, b: Matrix) -> bytes:
    """The sum of n products, at once."""
    room = rt.card.memory.allocate(type_.result)
    try:
        one = Matrix(room, 1, 1)
        product(rt, stream, type_, (1, 1, n), type_.number(1), a, b, type_.number(0), one)
        return ctypes.string_at(room, type_.result)
    finally:
        rt.card.memory.free(room)
