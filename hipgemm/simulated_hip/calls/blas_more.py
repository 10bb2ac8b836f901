"""hipBLAS for vectors: gemv, ger, dot, axpy, copy, scal, nrm2; triangular systems (trsm); sums of matrices (geam); and
the part of hipBLASLt that computes products without an epilogue. But for these by simple kernels
(hipgemm.simulated_hip.blas_plain).

Where a result goes to (dot, nrm2) is written at once, whichever side it belongs to.

Sources: ROCm/hipBLAS, library/include/hipblas.h; ROCm/hipBLASLt, library/include/hipblaslt/hipblaslt.h; netlib's BLAS.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Sequence

from hipgemm.simulated_hip import blas_plain
from hipgemm.simulated_hip.abi import Int, Pointer, Size, answers, call, does, store, store_if_asked
from hipgemm.simulated_hip.blas_plain import TYPES, Matrix, Type
from hipgemm.simulated_hip.calls.blas import (
    NONE,
    Blas,
    BlasError,
    GemmCall,
    blas_handle,
    copied,
    in_rocblas,
    plain_operand,
    pointers,
    refuse,
    scalar_bytes,
)
from hipgemm.simulated_hip.calls.memory import reachable
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import Runtime
from isa.errors import IsaError

UPPER, LOWER, NON_UNIT, UNIT, LEFT, RIGHT = 121, 122, 131, 132, 141, 142
REAL_OF = {"C": "Sc", "Z": "Dz"}
"""BLAS's letters for what gives a real number of complex ones."""


def _declared(name: str, function: Callable[..., None]) -> None:
    function.__name__ = name
    call(function)


def _vector(rt: Runtime, type_: Type, address: int, count: int, step: int) -> Matrix:
    """A column. With a negative step it begins at its far end, as in BLAS."""
    if not step:
        raise BlasError(Blas.INVALID_VALUE, IsaError("hipBLAS: the increment of a vector is 0"))
    if count > 0:
        reachable(rt, address, type_.size * ((count - 1) * abs(step) + 1), on_device=False)
    return Matrix(address if step > 0 else address + type_.size * (count - 1) * -step, step, 0)


def _row(column: Matrix, conjugated: bool = False) -> Matrix:
    return Matrix(column.address, column.column, column.row, conjugated)


def _systems(letter: str, type_: Type) -> None:
    def solved(
        rt: Runtime, handle: int, how: tuple[int, int, int, int], m: int, n: int, alpha: int, leading: tuple[int, int],
        each: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        side, uplo, op, diag = how
        if side not in (LEFT, RIGHT) or uplo not in (UPPER, LOWER) or diag not in (NON_UNIT, UNIT):
            raise BlasError(Blas.INVALID_ENUM)
        stream, factor, size = blas_handle(rt, handle).stream, scalar_bytes(alpha, type_), m if side == LEFT else n
        for a, b in each:
            left, to = (
                plain_operand(rt, type_, *shape)
                for shape in ((op, a, size, size, leading[0]), (NONE, b, m, n, leading[1]))
            )
            upper = (uplo == UPPER) == (op == NONE)
            if side == RIGHT:  # X op(A) = B, transposed
                left, to, upper = _row(left, left.conjugated), _row(to), not upper
            sizes = (size, n if side == LEFT else m)
            blas_plain.solve(rt, stream, type_, sizes, left, to, factor, upper=upper, unit=diag == UNIT)

    def solve(
        rt: Runtime, handle: Pointer, side: Int, uplo: Int, op: Int, diag: Int, m: Int, n: Int, alpha: Pointer,
        a: Pointer, lda: Int, b: Pointer, ldb: Int,
    ) -> None:  # fmt: skip
        solved(rt, handle, (side, uplo, op, diag), m, n, alpha, (lda, ldb), [(a, b)])

    def batched(
        rt: Runtime, handle: Pointer, side: Int, uplo: Int, op: Int, diag: Int, m: Int, n: Int, alpha: Pointer,
        a: Pointer, lda: Int, b: Pointer, ldb: Int, count: Int,
    ) -> None:  # fmt: skip
        each = list(zip(*(pointers(rt, array, count) for array in (a, b)), strict=True))
        solved(rt, handle, (side, uplo, op, diag), m, n, alpha, (lda, ldb), each)

    _declared(f"hipblas{letter}trsm", solve)
    _declared(f"hipblas{letter}trsmBatched", batched)


def _vectors(letter: str, type_: Type) -> None:
    def gemv(
        rt: Runtime, handle: Pointer, op: Int, m: Int, n: Int, alpha: Pointer, a: Pointer, lda: Int, x: Pointer,
        step_x: Int, beta: Pointer, y: Pointer, step_y: Int,
    ) -> None:  # fmt: skip
        stream = blas_handle(rt, handle).stream
        rows, columns = (m, n) if op == NONE else (n, m)
        matrix = plain_operand(rt, type_, op, a, rows, columns, lda)
        of, to = _vector(rt, type_, x, columns, step_x), _vector(rt, type_, y, rows, step_y)
        numbers = [scalar_bytes(number, type_) for number in (alpha, beta)]
        blas_plain.product(rt, stream, type_, (rows, 1, columns), numbers[0], matrix, of, numbers[1], to)

    def ger(conjugated: bool) -> Callable[..., None]:
        def of(
            rt: Runtime, handle: Pointer, m: Int, n: Int, alpha: Pointer, x: Pointer, step_x: Int, y: Pointer,
            step_y: Int, a: Pointer, lda: Int,
        ) -> None:  # fmt: skip
            stream = blas_handle(rt, handle).stream
            column, row = _vector(rt, type_, x, m, step_x), _row(_vector(rt, type_, y, n, step_y), conjugated)
            to, one = plain_operand(rt, type_, NONE, a, m, n, lda), type_.number(1)
            blas_plain.product(rt, stream, type_, (m, n, 1), scalar_bytes(alpha, type_), column, row, one, to)

        return of

    def dot(conjugated: bool) -> Callable[..., None]:
        def of(
            rt: Runtime, handle: Pointer, n: Int, x: Pointer, step_x: Int, y: Pointer, step_y: Int, out: Pointer
        ) -> None:  # fmt: skip
            found = _dot(rt, handle, type_, n, (x, step_x), (y, step_y), conjugated)
            _written(out, found)

        return of

    def nrm2(rt: Runtime, handle: Pointer, n: Int, x: Pointer, step: Int, out: Pointer) -> None:
        found = _dot(rt, handle, type_, n, (x, abs(step)), (x, abs(step)), True)
        letter = type_.scalar[0]
        _written(out, struct.pack(f"<{letter}", math.sqrt(struct.unpack(f"<{type_.scalar}", found)[0])))

    def axpy(
        rt: Runtime, handle: Pointer, n: Int, alpha: Pointer, x: Pointer, step_x: Int, y: Pointer, step_y: Int
    ) -> None:  # fmt: skip
        _scaled(rt, handle, type_, n, scalar_bytes(alpha, type_), (x, step_x), type_.number(1), (y, step_y))

    def copy(
        rt: Runtime, handle: Pointer, n: Int, x: Pointer, step_x: Int, y: Pointer, step_y: Int
    ) -> None:  # fmt: skip
        _scaled(rt, handle, type_, n, type_.number(1), (x, step_x), type_.number(0), (y, step_y))

    def geam(
        rt: Runtime, handle: Pointer, op_a: Int, op_b: Int, m: Int, n: Int, alpha: Pointer, a: Pointer, lda: Int,
        beta: Pointer, b: Pointer, ldb: Int, c: Pointer, ldc: Int,
    ) -> None:  # fmt: skip
        stream, factors = blas_handle(rt, handle).stream, [scalar_bytes(number, type_) for number in (alpha, beta)]
        shapes = ((op_a, a, m, n, lda), (op_b, b, m, n, ldb), (NONE, c, m, n, ldc))
        read = [any(factor) for factor in factors] + [True]
        left, right, to = (
            plain_operand(rt, type_, *shape) if used else Matrix(0, 0, 0)
            for shape, used in zip(shapes, read, strict=True)
        )
        blas_plain.combine(rt, stream, type_, (m, n), factors[0], left, factors[1], right, to)

    def scal(rt: Runtime, handle: Pointer, n: Int, alpha: Pointer, x: Pointer, step: Int) -> None:
        _scaled(rt, handle, type_, n, type_.number(0), (x, step), scalar_bytes(alpha, type_), (x, step))

    _declared(f"hipblas{letter}gemv", gemv)
    for end in ("",) if letter in "SD" else ("u", "c"):
        _declared(f"hipblas{letter}ger{end}", ger(end == "c"))
        _declared(f"hipblas{letter}dot{end}", dot(end == "c"))
    _declared(f"hipblas{REAL_OF.get(letter, letter)}nrm2", nrm2)
    _declared(f"hipblas{letter}axpy", axpy)
    _declared(f"hipblas{letter}copy", copy)
    _declared(f"hipblas{letter}geam", geam)
    _declared(f"hipblas{letter}scal", scal)


def _written(out: int, value: bytes) -> None:
    if not is_mapped(out, len(value)):
        raise BlasError(Blas.INVALID_VALUE)
    ctypes.memmove(out, value, len(value))


def _dot(
    rt: Runtime, handle: int, type_: Type, n: int, x: tuple[int, int], y: tuple[int, int], conjugated: bool
) -> bytes:
    stream = blas_handle(rt, handle).stream
    if stream in rt.captures:
        refuse("sum of products in a graph", "a stream that is being captured")
    if n <= 0:
        return type_.number(0)
    row, column = _row(_vector(rt, type_, x[0], n, x[1]), conjugated), _vector(rt, type_, y[0], n, y[1])
    return blas_plain.dot(rt, stream, type_, n, row, column)


def _scaled(
    rt: Runtime, handle: int, type_: Type, n: int, alpha: bytes, x: tuple[int, int], beta: bytes, y: tuple[int, int]
) -> None:  # fmt: skip
    """y = alpha x + beta y: a product of a column with one element, 1, which lies on the card for good."""
    stream, one = blas_handle(rt, handle).stream, rt.blas_ones.get(type_.name, 0)
    if not one:
        one = rt.blas_ones[type_.name] = rt.card.memory.allocate(type_.size)
        ctypes.memmove(one, type_.number(1), type_.size)
    if n > 0:
        of, to = (_vector(rt, type_, address, n, step) for address, step in (x, y))
        blas_plain.product(rt, stream, type_, (n, 1, 1), alpha, of, Matrix(one, 0, 0), beta, to)


for _letter, _type in TYPES.items():
    _systems(_letter, _type)
    _vectors(_letter, _type)


TRANSPOSE_A, TRANSPOSE_B, EPILOGUE = range(3)  # hipblasLtMatmulDescAttributes_t
NO_EPILOGUE = 1  # hipblasLtEpilogue_t
HEURISTIC_BYTES = 56  # hipblasLtMatmulHeuristicResult_t


def _found(rt: Runtime, handle: int) -> list[int]:
    if handle not in rt.blas_lt:
        raise BlasError(Blas.INVALID_VALUE)
    return rt.blas_lt[handle]


def _create(name: str, arguments: str, made: Callable[..., list[int]]) -> None:
    answers(f"hipblasLt{name}Create", arguments, lambda rt, *given: rt.handle(rt.blas_lt, made(*given)))


_create("MatrixLayout", "Handle* Int Size Size Size", lambda type_, rows, columns, ld: [type_, rows, columns, ld, 1, 0])
_create("MatmulDesc", "Handle* Int Int", lambda compute, scale: [NONE, NONE, compute])
_create("MatmulPreference", "Handle*", lambda: [])


def _destroy(rt: Runtime, handle: int) -> None:
    _found(rt, handle)
    del rt.blas_lt[handle]


does("hipblasLtMatrixLayoutDestroy hipblasLtMatmulDescDestroy hipblasLtMatmulPreferenceDestroy", "Pointer", _destroy)
# How much memory may be used, and the like: none is.
does("hipblasLtMatmulPreferenceSetAttribute", "Pointer Int Pointer Size", lambda rt, handle, *_: _found(rt, handle))


@call
def hipblasLtMatmulDescSetAttribute(
    rt: Runtime, description: Pointer, attribute: Int, value: Pointer, size: Size
) -> None:
    found = _found(rt, description)
    if size != 4 or not is_mapped(value, 4):
        raise BlasError(Blas.INVALID_VALUE)
    what = ctypes.c_int32.from_address(value).value
    if attribute in (TRANSPOSE_A, TRANSPOSE_B):
        found[attribute] = what
    elif (attribute, what) != (EPILOGUE, NO_EPILOGUE):
        refuse("such product by hipBLASLt", f"attribute {attribute} of {what}")


_LAYOUT = {0: (4, 4), 1: (5, 8), 2: (0, 4), 4: (1, 8), 5: (2, 8), 6: (3, 8)}
"""hipblasLtMatrixLayoutAttribute_t: a batch's count and step, type, rows, columns, leading dimension -> its place and
its bytes."""
_BY_COLUMNS = 3, 0
"""That attribute's number which is the order of elements, and the one order that there is."""


@call
def hipblasLtMatrixLayoutSetAttribute(rt: Runtime, layout: Pointer, attribute: Int, value: Pointer, size: Size) -> None:
    found = _found(rt, layout)
    at, bytes_ = _LAYOUT.get(attribute, (-1, 4))
    if size != bytes_ or not is_mapped(value, bytes_):
        raise BlasError(Blas.INVALID_VALUE)
    number = int.from_bytes(ctypes.string_at(value, bytes_), "little", signed=True)
    if at >= 0:
        found[at] = number
    elif (attribute, number) != _BY_COLUMNS:
        refuse("such layout in hipBLASLt", f"attribute {attribute} of {number}")


@call
def hipblasLtMatrixLayoutGetAttribute(
    rt: Runtime, layout: Pointer, attribute: Int, value: Pointer, size: Size, written: Pointer
) -> None:
    found = _found(rt, layout)
    if attribute not in (*_LAYOUT, _BY_COLUMNS[0]):
        refuse("such layout in hipBLASLt", f"attribute {attribute}")
    at, bytes_ = _LAYOUT.get(attribute, (-1, 4))
    _attribute(found[at] if at >= 0 else _BY_COLUMNS[1], bytes_, value, size, written)


@call
def hipblasLtMatmulDescGetAttribute(
    rt: Runtime, description: Pointer, attribute: Int, value: Pointer, size: Size, written: Pointer
) -> None:
    """No epilogue, no pointers to scales, numbers on the host."""
    found = _found(rt, description)
    _attribute(found[attribute] if attribute < 2 else int(attribute == 2), min(size, 8), value, size, written)


def _attribute(found: int, bytes_: int, value: int, size: int, written: int) -> None:
    if size < bytes_ or not is_mapped(value, bytes_):
        raise BlasError(Blas.INVALID_VALUE)
    ctypes.memmove(value, found.to_bytes(bytes_, "little", signed=True), bytes_)
    store_if_asked(written, ctypes.c_size_t, bytes_)


@call
def hipblasLtMatmulAlgoGetHeuristic(
    rt: Runtime, handle: Pointer, description: Pointer, a: Pointer, b: Pointer, c: Pointer, d: Pointer,
    preference: Pointer, most: Int, results: Pointer, count: Pointer,
) -> None:  # fmt: skip
    """There is one algorithm, which has no parameters."""
    if most < 1 or not is_mapped(results, HEURISTIC_BYTES):
        raise BlasError(Blas.INVALID_VALUE)
    ctypes.memset(results, 0, HEURISTIC_BYTES)
    store(count, ctypes.c_int, 1)


@call
def hipblasLtMatmul(
    rt: Runtime, handle: Pointer, description: Pointer, alpha: Pointer, a: Pointer, layout_a: Pointer, b: Pointer,
    layout_b: Pointer, beta: Pointer, c: Pointer, layout_c: Pointer, d: Pointer, layout_d: Pointer, algorithm: Pointer,
    workspace: Pointer, size: Size, stream: Pointer,
) -> None:  # fmt: skip
    op_a, op_b, compute = _found(rt, description)
    (type_a, *shape_a, lda, of_a, step_a), (type_b, *shape_b, ldb, of_b, step_b), (type_c, m, n, ldc, count, step) = (
        _found(rt, layout) for layout in (layout_a, layout_b, layout_c)
    )
    k, rows = shape_a[:: -1 if op_a == NONE else 1]
    terms, columns = shape_b[:: 1 if op_b == NONE else -1]
    if (rows, terms, columns, of_a, of_b) != (m, k, n, count, count):
        text = f"{of_a} of {rows} x {k} by {of_b} of {terms} x {columns} are no {count} of {m} x {n}"
        raise BlasError(Blas.INVALID_VALUE, IsaError(f"hipBLASLt: {text}"))
    if (target := _found(rt, layout_d)) != [type_c, m, n, ldc, count, step]:
        refuse("product by hipBLASLt into a matrix that lies otherwise than C", f"{target[1]} x {target[2]}")
    size_c = 2 if type_c in (2, 14) else 4
    if c != d:
        for at in range(0, count * step * size_c or 1, step * size_c or 1):
            copied(rt, stream, size_c, m, n, (c + at, d + at), (ldc, ldc))
    blas_handle(rt, handle)

    def places(sizes: Sequence[int]) -> list[list[int]]:
        steps = [step * size for step, size in zip((step_a, step_b, step), sizes, strict=True)]
        return [[at + i * s for at, s in zip((a, b, d), steps, strict=True)] for i in range(count)]

    product = GemmCall(rt, stream, (op_a, op_b), (m, n, k), alpha, beta, (lda, ldb, ldc), places)
    product.of_types((type_a, type_b, type_c), compute)


in_rocblas()
