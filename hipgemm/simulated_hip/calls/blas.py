"""hipBLAS, limited to matrix products: calls of libhipblas.so are computed by this project's own kernels
(hipgemm.simulated_hip.blas); float64, complex and int8 by a simple kernel (blas_plain). A batch takes one launch for
each product. rocBLAS's calls are the same (`in_rocblas`), with its codes; gemm_ex has a D of its own.

Types of elements and of sums are taken as hipBLAS 2 numbers them (hipblasDatatype_t) and as hipBLAS 3 does
(hipDataType, hipblasComputeType_t): no number means two things. What is not there answers
HIPBLAS_STATUS_NOT_SUPPORTED, and says so.

Sources: ROCm/hipBLAS, library/include/hipblas.h (6.4 and 7.0) for numbers and signatures; netlib.org/blas for meaning.
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice
from typing import Any, NoReturn

from hipgemm.simulated_hip import blas_plain
from hipgemm.simulated_hip.abi import CALLS, Answer, Int, Pointer, answers, call, does, store
from hipgemm.simulated_hip.calls.memory import reachable
from hipgemm.simulated_hip.calls.streams import known_stream, submit
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import BlasHandle, Runtime
from isa.errors import IsaError

NONE, TRANSPOSED, CONJUGATED = 111, 112, 113
R_32F, R_16F = 151, 150
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


class Rocblas(IntEnum):
    """rocblas_status, likewise."""

    INVALID_HANDLE = 1
    NOT_IMPLEMENTED = 2
    INVALID_SIZE = 4
    INTERNAL_ERROR = 6
    INVALID_VALUE = 11


_ROCBLAS = {
    Blas.NOT_INITIALIZED: Rocblas.INVALID_HANDLE, Blas.HANDLE_IS_NULLPTR: Rocblas.INVALID_HANDLE,
    Blas.INVALID_VALUE: Rocblas.INVALID_SIZE, Blas.EXECUTION_FAILED: Rocblas.INTERNAL_ERROR,
    Blas.NOT_SUPPORTED: Rocblas.NOT_IMPLEMENTED, Blas.INVALID_ENUM: Rocblas.INVALID_VALUE,
}  # fmt: skip


class BlasError(Answer):
    """A hipBLAS call's answer other than success; it is no HIP error."""


def refuse(what: str, got: str) -> NoReturn:
    """HIPBLAS_STATUS_NOT_SUPPORTED, and why."""
    raise BlasError(Blas.NOT_SUPPORTED, IsaError(f"hipBLAS on the simulated card has no {what}", got=got))


_SAME = re.compile("hipblas([SDCZH][a-z0-9]+|Create|Destroy|[SG]etStream|[SG]etPointerMode)(Strided)?(Batched)?")
_NAMED = {"Create": "create_handle", "Destroy": "destroy_handle"}


def in_rocblas() -> None:
    """Declare the calls of hipBLAS that rocBLAS has with the same arguments, by its names and with its codes."""
    for name, declared in [*CALLS.items()]:
        if not (same := _SAME.fullmatch(name)):
            continue
        words = [_NAMED.get(same[1]) or re.sub("(?<=t)(?=[SP][to])|(?<=r)(?=M)", "_", same[1]), *same.groups()[1:]]
        theirs = f"rocblas_{'_'.join(filter(None, words)).lower()}"
        if theirs not in CALLS:
            CALLS[theirs] = replace(declared, name=theirs, function=_with_its_codes(declared.function))


def _with_its_codes(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def function(*arguments: Any) -> Any:
        try:
            return work(*arguments)
        except BlasError as error:
            raise BlasError(_ROCBLAS.get(Blas(error.code), Rocblas.INTERNAL_ERROR), error.report) from error

    return function


def blas_handle(rt: Runtime, handle: int) -> BlasHandle:
    """The handle's own, or a code for one that is none."""
    if not handle:
        raise BlasError(Blas.HANDLE_IS_NULLPTR)
    if handle not in rt.blas:
        raise BlasError(Blas.NOT_INITIALIZED)
    return rt.blas[handle]


@call(alias=("hipblasLtCreate",))
def hipblasCreate(rt: Runtime, out: Pointer) -> None:
    if not out:
        raise BlasError(Blas.HANDLE_IS_NULLPTR)
    store(out, ctypes.c_uint64, rt.handle(rt.blas, BlasHandle()))


@call(alias=("hipblasLtDestroy",))
def hipblasDestroy(rt: Runtime, handle: Pointer) -> None:
    blas_handle(rt, handle)
    del rt.blas[handle]


@call
def hipblasSetStream(rt: Runtime, handle: Pointer, stream: Pointer) -> None:
    found = blas_handle(rt, handle)
    known_stream(rt, stream)
    found.stream = stream


answers("hipblasGetStream", "Pointer Handle*", lambda rt, handle: blas_handle(rt, handle).stream)
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
    from hipgemm.simulated_hip.blas import Stored

    stored = Stored(*((columns, rows) if flip else (rows, columns)), ld, ELEMENT[type_], flip)
    if ld < max(1, stored.rows):
        raise BlasError(Blas.INVALID_VALUE, IsaError(f"a leading dimension of {ld} for {stored.rows} rows"))
    return stored


def _scalar(address: int, sum_: str) -> float:
    size, letter = (2, "e") if sum_ == HALF else (4, "f")
    if not is_mapped(address, size):
        raise BlasError(Blas.INVALID_VALUE)
    return float(struct.unpack(f"<{letter}", ctypes.string_at(address, size))[0])


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


Places = Callable[[Sequence[int]], Iterable[Sequence[int]]]
"""Bytes of an element of A, of B and of C -> addresses of A, B and C, of each product."""


@dataclass(frozen=True)
class GemmCall:
    """A matrix product, or a batch of them, as numbers of a call. operations: of A and B; sizes: m, n, k; alpha, beta:
    where they lie; leading: dimensions of A, B, C; places: see above."""

    rt: Runtime
    stream: int
    operations: tuple[int, int]
    sizes: tuple[int, int, int]
    alpha: int
    beta: int
    leading: Sequence[int]
    places: Places

    def of_types(self, types: Sequence[int], compute: int) -> None:
        """By the numbers of the elements' types and of the sums'."""
        if types[0] == types[1] and (plain := PLAIN.get((types[0], types[2]))):
            self.of_plain(plain)
            return
        m, n, k = self.sizes
        if min(self.sizes) < 0:
            raise BlasError(Blas.INVALID_VALUE, IsaError(f"a product of {m} x {n} x {k}"))
        if compute not in SUM:
            refuse("such sums", f"type {compute}")
        shapes = ((self.operations[0], m, k), (self.operations[1], k, n), (NONE, m, n))
        stored = zip(shapes, self.leading, types, strict=True)
        left, right, result = found = [_stored(*shape, ld, type_) for shape, ld, type_ in stored]
        if left.element != right.element or (left.element == SINGLE != result.element):
            refuse("product of such matrices", f"{left.element} and {right.element} to {result.element}")
        scalars = (_scalar(address, SUM[compute]) for address in (self.alpha, self.beta))
        from hipgemm.simulated_hip.blas import Product

        product = Product(self.rt, self.stream, self.sizes, *found, *scalars)
        for each in self.places([x.dtype.itemsize for x in found]):
            product.on_stream(*each)

    def of_plain(self, type_: blas_plain.Type) -> None:
        """By a plain kernel."""
        m, n, k = self.sizes
        alpha, beta = (scalar_bytes(address, type_) for address in (self.alpha, self.beta))
        for a, b, c in self.places((type_.size, type_.size, type_.result)):
            left = plain_operand(self.rt, type_, self.operations[0], a, m, k, self.leading[0])
            right = plain_operand(self.rt, type_, self.operations[1], b, k, n, self.leading[1])
            to = plain_operand(self.rt, type_, NONE, c, m, n, self.leading[2], type_.result)
            blas_plain.product(self.rt, self.stream, type_, self.sizes, alpha, left, right, beta, to)


def pointers(rt: Runtime, array: int, count: int) -> list[int]:
    """An array of addresses on the card."""
    reachable(rt, array, 8 * count, on_device=False)
    return list((ctypes.c_uint64 * count).from_address(array))


def copied(
    rt: Runtime, stream: int, size: int, rows: int, columns: int, places: tuple[int, int], lds: tuple[int, int]
) -> None:
    """A matrix, column by column, where it is the stream's turn. size: of an element; places, lds: from where, and
    where to."""
    if rows < 1 or columns < 1:
        return
    for address, ld in zip(places, lds, strict=True):
        reachable(rt, address, size * (ld * (columns - 1) + rows), on_device=False)

    def copy() -> None:
        for j in range(columns):
            source, target = (address + size * ld * j for address, ld in zip(places, lds, strict=True))
            ctypes.memmove(target, source, size * rows)

    submit(rt, stream, "copy of a matrix", copy)


def _gemm(names: str, of: blas_plain.Type | int | None, batch: str = "", *, apart: bool = False) -> None:
    """Declare a matrix product. of: the type of all elements, by its number also that of sums; None where the call says
    types. batch: "strided" where it says how far apart the matrices of one lie, "pointers" where it gives arrays.
    apart: it has a D, which C is copied to first, and rocBLAS's words at the end."""
    said, strided = of is None, batch == "strided"
    matrix = ["Pointer", *["Int"] * said, "Int", *["Size"] * strided]
    words = ["Pointer", *["Int"] * 5, "Pointer", *matrix, *matrix, "Pointer", *matrix, *matrix * apart]
    words += ["Int"] * (bool(batch) + 2 * said)  # how many; sums and the algorithm
    words += ["Int", "UInt"] * apart  # a solution, flags

    def work(rt: Runtime, handle: int, op_a: int, op_b: int, m: int, n: int, k: int, alpha: int, *rest: int) -> None:
        given = iter(rest)
        a, b = (tuple(islice(given, len(matrix))) for _ in "ab")
        beta, source = next(given), tuple(islice(given, len(matrix)))
        c, end = tuple(islice(given, len(matrix))) if apart else source, tuple(given)
        count = end[0] if batch else 1

        def lying(matrices: Sequence[Sequence[int]], sizes: Sequence[int]) -> Iterable[Sequence[int]]:
            if batch == "pointers":
                return zip(*(pointers(rt, x[0], count) for x in matrices), strict=True)
            steps = [size * x[-1] * strided for size, x in zip(sizes, matrices, strict=True)]
            return ([x[0] + i * step for x, step in zip(matrices, steps, strict=True)] for i in range(count))

        leading = [x[1 + said] for x in (a, b, c)]
        stream = blas_handle(rt, handle).stream
        if apart and source[0] != c[0]:
            if source[1] != c[1] or c[1] not in _BYTES:
                refuse("product of such matrices", f"C of type {source[1]} and D of type {c[1]}")
            size = _BYTES[c[1]]
            for each in lying((source, c), (size, size)):
                copied(rt, stream, size, m, n, (each[0], each[1]), (source[2], c[2]))
        product = GemmCall(rt, stream, (op_a, op_b), (m, n, k), alpha, beta, leading, lambda s: lying((a, b, c), s))
        if isinstance(of, blas_plain.Type):
            product.of_plain(of)
        elif of is not None:
            product.of_types((of, of, of), of)
        else:
            product.of_types([x[1] for x in (a, b, c)], end[bool(batch)])

    does(names, " ".join(words), work)


_BYTES = {150: 2, 151: 4, 152: 8, 154: 8, 155: 16, 162: 4, 168: 2}
for _end, _batch in (("", ""), ("StridedBatched", "strided"), ("Batched", "pointers")):
    _gemm(f"hipblasGemm{_end}Ex hipblasGemm{_end}Ex_v2", None, _batch)
    _gemm(f"rocblas_gemm_{_end.lower().replace('db', 'd_b')}_ex".replace("__", "_"), None, _batch, apart=True)
    _gemm(f"hipblasHgemm{_end}", R_16F, _batch)
    for _letter, _type in blas_plain.TYPES.items():
        _gemm(f"hipblas{_letter}gemm{_end}", R_32F if _letter == "S" and _batch != "pointers" else _type, _batch)
