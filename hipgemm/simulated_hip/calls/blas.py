"""hipBLAS, as far as matrix products: what a program asks of libhipblas.so is computed by this project's own kernels
(hipgemm.simulated_hip.blas); float64, complex and int8 by a plain one (blas_plain). A batch is a launch for each
product.

Types of elements and of sums are taken as hipBLAS 2 numbers them (hipblasDatatype_t) and as hipBLAS 3 does
(hipDataType, hipblasComputeType_t): no number means two things. What is not there answers
HIPBLAS_STATUS_NOT_SUPPORTED, and says so.

Sources: ROCm/hipBLAS, library/include/hipblas.h (6.4 and 7.0) for numbers and signatures; netlib.org/blas for meaning.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NoReturn

from hipgemm.simulated_hip import blas_plain
from hipgemm.simulated_hip.abi import Answer, Int, Pointer, Size, answers, call, store
from hipgemm.simulated_hip.calls.memory import reachable
from hipgemm.simulated_hip.calls.streams import known_stream
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import BlasHandle, Runtime
from isa.errors import IsaError

NONE, TRANSPOSED, CONJUGATED = 111, 112, 113
R_32F = 151
HALF, SINGLE, BFLOAT16 = "f16", "f32", "bf16"
ELEMENT = {150: HALF, 151: SINGLE, 168: BFLOAT16, 2: HALF, 0: SINGLE, 14: BFLOAT16}
"""By hipblasDatatype_t and hipDataType."""
PLAIN = {
    (152, 152): blas_plain.D, (154, 154): blas_plain.C, (155, 155): blas_plain.Z, (160, 162): blas_plain.INT8,
    (1, 1): blas_plain.D, (4, 4): blas_plain.C, (5, 5): blas_plain.Z, (3, 10): blas_plain.INT8,
}  # fmt: skip
"""Types of both factors and of the product, by the same, which a plain kernel multiplies."""
SUM = {150: HALF, 151: SINGLE, 0: HALF, 2: SINGLE}
"""The type of sums, which is that of alpha and beta, by hipblasDatatype_t and hipblasComputeType_t."""


class Blas(IntEnum):
    """hipblasStatus_t: the codes that are given here, by their names without HIPBLAS_STATUS_."""

    SUCCESS = 0
    NOT_INITIALIZED = 1
    INVALID_VALUE = 3
    EXECUTION_FAILED = 5
    NOT_SUPPORTED = 7
    HANDLE_IS_NULLPTR = 9
    INVALID_ENUM = 10


class BlasError(Answer):
    """A hipBLAS call's answer other than success; it is no HIP error."""


def refuse(what: str, got: str) -> NoReturn:
    """HIPBLAS_STATUS_NOT_SUPPORTED, and why."""
    raise BlasError(Blas.NOT_SUPPORTED, IsaError(f"hipBLAS on the simulated card has no {what}", got=got))


def _products() -> Any:
    """hipgemm.simulated_hip.blas, which is of those who launch kernels, as programs do that call this module."""
    return importlib.import_module("hipgemm.simulated_hip.blas")


def blas_handle(rt: Runtime, handle: int) -> BlasHandle:
    """The handle's own, or a code for one that is none."""
    if not handle:
        raise BlasError(Blas.HANDLE_IS_NULLPTR)
    if handle not in rt.blas:
        raise BlasError(Blas.NOT_INITIALIZED)
    return rt.blas[handle]


@call(alias=("rocblas_create_handle",))
def hipblasCreate(rt: Runtime, out: Pointer) -> None:
    if not out:
        raise BlasError(Blas.HANDLE_IS_NULLPTR)
    store(out, ctypes.c_uint64, rt.handle(rt.blas, BlasHandle()))


@call(alias=("rocblas_destroy_handle",))
def hipblasDestroy(rt: Runtime, handle: Pointer) -> None:
    blas_handle(rt, handle)
    del rt.blas[handle]


@call(alias=("rocblas_set_stream",))
def hipblasSetStream(rt: Runtime, handle: Pointer, stream: Pointer) -> None:
    found = blas_handle(rt, handle)
    known_stream(rt, stream)
    found.stream = stream


answers("hipblasGetStream rocblas_get_stream", "Pointer Handle*", lambda rt, handle: blas_handle(rt, handle).stream)
answers("hipblasGetPointerMode", "Pointer Int*", lambda rt, handle: blas_handle(rt, handle).pointer_mode)


@call
def hipblasSetPointerMode(rt: Runtime, handle: Pointer, mode: Int) -> None:
    """Where alpha and beta lie is plain memory here, whichever side it belongs to."""
    if mode not in (0, 1):
        raise BlasError(Blas.INVALID_ENUM)
    blas_handle(rt, handle).pointer_mode = mode


def _stored(operation: int, rows: int, columns: int, ld: int, type_: int) -> Any:
    """Of op(matrix), which is rows x columns."""
    if operation not in (NONE, TRANSPOSED, CONJUGATED):
        raise BlasError(Blas.INVALID_ENUM)
    if type_ not in ELEMENT:
        refuse("such elements", f"type {type_}")
    flip = operation != NONE
    stored = _products().Stored(*((columns, rows) if flip else (rows, columns)), ld, ELEMENT[type_], flip)
    if ld < max(1, stored.rows):
        raise BlasError(Blas.INVALID_VALUE, IsaError(f"a leading dimension of {ld} for {stored.rows} rows"))
    return stored


def _scalar(address: int, sum_: str) -> float:
    size, letter = (2, "e") if sum_ == HALF else (4, "f")
    if not is_mapped(address, size):
        raise BlasError(Blas.INVALID_VALUE)
    return float(struct.unpack(f"<{letter}", ctypes.string_at(address, size))[0])


def _product(
    rt: Runtime, handle: int, operations: tuple[int, int], sizes: tuple[int, int, int], alpha: int, beta: int,
    types: tuple[int, int, int], leading: tuple[int, int, int], compute: int,
) -> Any:  # fmt: skip
    """From the numbers of a call."""
    m, n, k = sizes
    if min(sizes) < 0:
        raise BlasError(Blas.INVALID_VALUE, IsaError(f"a product of {m} x {n} x {k}"))
    if compute not in SUM:
        refuse("such sums", f"type {compute}")
    shapes = ((operations[0], m, k), (operations[1], k, n), (NONE, m, n))
    stored = zip(shapes, leading, types, strict=True)
    left, right, result = (_stored(*shape, ld, type_) for shape, ld, type_ in stored)
    if left.element != right.element or (left.element == SINGLE != result.element):
        refuse("product of such matrices", f"{left.element} and {right.element} to {result.element}")
    return _products().Product(
        rt,
        blas_handle(rt, handle).stream,
        sizes,
        left,
        right,
        result,
        _scalar(alpha, SUM[compute]),
        _scalar(beta, SUM[compute]),
    )


def scalar_bytes(address: int, type_: blas_plain.Type) -> bytes:
    if not is_mapped(address, type_.result):
        raise BlasError(Blas.INVALID_VALUE)
    return ctypes.string_at(address, type_.result)


def plain_operand(
    rt: Runtime, type_: blas_plain.Type, operation: int, address: int, rows: int, columns: int, ld: int, size: int = 0
) -> blas_plain.Matrix:
    """Of op(matrix), which is rows x columns. size: bytes of an element, if they are not the type's."""
    if operation not in (NONE, TRANSPOSED, CONJUGATED):
        raise BlasError(Blas.INVALID_ENUM)
    stored = (rows, columns) if operation == NONE else (columns, rows)
    if min(rows, columns) < 0 or ld < max(1, stored[0]):
        raise BlasError(Blas.INVALID_VALUE, IsaError(f"a leading dimension of {ld} for {rows} x {columns}"))
    if rows and columns:
        elements = ld * (stored[1] - 1) + stored[0]
        reachable(rt, address, elements * (size or type_.size), on_device=False)
    steps = (1, ld) if operation == NONE else (ld, 1)
    return blas_plain.Matrix(address, *steps, operation == CONJUGATED)


def plain_product(
    rt: Runtime, handle: int, type_: blas_plain.Type, operations: tuple[int, int], sizes: tuple[int, int, int],
    alpha: int, beta: int, leading: tuple[int, int, int], each: Sequence[tuple[int, ...]],
) -> None:  # fmt: skip
    """Products of matrices at these addresses (A, B, C), by a plain kernel."""
    m, n, k = sizes
    stream, numbers = blas_handle(rt, handle).stream, [scalar_bytes(x, type_) for x in (alpha, beta)]
    for a, b, c in each:
        left = plain_operand(rt, type_, operations[0], a, m, k, leading[0])
        right = plain_operand(rt, type_, operations[1], b, k, n, leading[1])
        to = plain_operand(rt, type_, NONE, c, m, n, leading[2], type_.result)
        blas_plain.product(rt, stream, type_, sizes, numbers[0], left, right, numbers[1], to)


def _plain(type_a: int, type_b: int, type_c: int) -> blas_plain.Type | None:
    return PLAIN.get((type_a, type_c)) if type_a == type_b else None


@call
def hipblasSgemm(
    rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, k: Int, alpha: Pointer, a: Pointer, lda: Int,
    b: Pointer, ldb: Int, beta: Pointer, c: Pointer, ldc: Int,
) -> None:  # fmt: skip
    hipblasGemmEx(
        rt, handle, op_a, op_b, m, n, k, alpha, a, R_32F, lda, b, R_32F, ldb, beta, c, R_32F, ldc, R_32F, 0
    )  # fmt: skip


@call
def hipblasSgemmStridedBatched(
    rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, k: Int, alpha: Pointer, a: Pointer, lda: Int,
    stride_a: Size, b: Pointer, ldb: Int, stride_b: Size, beta: Pointer, c: Pointer, ldc: Int, stride_c: Size,
    count: Int,
) -> None:  # fmt: skip
    hipblasGemmStridedBatchedEx(
        rt, handle, op_a, op_b, m, n, k, alpha, a, R_32F, lda, stride_a, b, R_32F, ldb, stride_b, beta, c, R_32F, ldc,
        stride_c, count, R_32F, 0,
    )  # fmt: skip


@call
def hipblasGemmEx(
    rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, k: Int, alpha: Pointer, a: Pointer, type_a: Int,
    lda: Int, b: Pointer, type_b: Int, ldb: Int, beta: Pointer, c: Pointer, type_c: Int, ldc: Int, compute: Int,
    algorithm: Int,
) -> None:  # fmt: skip
    leading, types = (lda, ldb, ldc), (type_a, type_b, type_c)
    if plain := _plain(*types):
        plain_product(rt, handle, plain, (op_a, op_b), (m, n, k), alpha, beta, leading, [(a, b, c)])
    else:
        _product(rt, handle, (op_a, op_b), (m, n, k), alpha, beta, types, leading, compute).on_stream(a, b, c)


@call
def hipblasGemmStridedBatchedEx(
    rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, k: Int, alpha: Pointer, a: Pointer, type_a: Int,
    lda: Int, stride_a: Size, b: Pointer, type_b: Int, ldb: Int, stride_b: Size, beta: Pointer, c: Pointer, type_c: Int,
    ldc: Int, stride_c: Size, count: Int, compute: Int, algorithm: Int,
) -> None:  # fmt: skip
    leading, types = (lda, ldb, ldc), (type_a, type_b, type_c)
    if plain := _plain(*types):
        apart = (plain.size * stride_a, plain.size * stride_b, plain.result * stride_c)
        each = [tuple(x + i * step for x, step in zip((a, b, c), apart, strict=True)) for i in range(count)]
        plain_product(rt, handle, plain, (op_a, op_b), (m, n, k), alpha, beta, leading, each)
        return
    product = _product(rt, handle, (op_a, op_b), (m, n, k), alpha, beta, types, leading, compute)
    matrices = zip((product.a, product.b, product.c), (stride_a, stride_b, stride_c), strict=True)
    steps = [matrix.dtype.itemsize * stride for matrix, stride in matrices]
    for i in range(count):
        product.on_stream(*(x + i * step for x, step in zip((a, b, c), steps, strict=True)))


@call
def hipblasGemmBatchedEx(
    rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, k: Int, alpha: Pointer, a: Pointer, type_a: Int,
    lda: Int, b: Pointer, type_b: Int, ldb: Int, beta: Pointer, c: Pointer, type_c: Int, ldc: Int, count: Int,
    compute: Int, algorithm: Int,
) -> None:  # fmt: skip
    """a, b, c: arrays of addresses on the card."""
    leading, types = (lda, ldb, ldc), (type_a, type_b, type_c)
    product = _product(rt, handle, (op_a, op_b), (m, n, k), alpha, beta, types, leading, compute)
    for array in (a, b, c):
        reachable(rt, array, 8 * count, on_device=False)
    for each in zip(*((ctypes.c_uint64 * count).from_address(x) for x in (a, b, c)), strict=True):
        product.on_stream(*each)
