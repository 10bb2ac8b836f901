"""The vendor's GEMMs for matrices of 16-bit floats and of bytes: rocBLAS's gemm_ex, and hipBLASLt.

Both through ctypes on the libraries of the ROCm that HIP comes from (rocblas-functions.h, hipblaslt.h). They compute
column-major, so the matrices swap places as in `hipgemm.product.blas`; an operand that lies transposed is asked for as
such. Sums are float32, of bytes int32; alpha and beta likewise.

**hipBLASLt** is asked for its first choice (`hipblasLtMatmulAlgoGetHeuristic`), with a workspace of WORKSPACE bytes,
and is given that much. What it answers with is handed back to it unread: its layout differs between versions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.measure.device import DeviceError
from hipgemm.product.blas import NO_TRANSPOSE, Gemm, LibraryMissing, check, load, rocblas_library

if TYPE_CHECKING:
    from hipgemm.launch.problem import Problem
    from hipgemm.measure.device import Buffer, Device

LT_NAME = "hipblaslt"
HIPBLASLT = "libhipblaslt.so"
WORKSPACE = 32 << 20
TRANSPOSE = 112  # rocblas_operation_transpose and HIPBLAS_OP_T
ROCBLAS_TYPES = {"f16": 150, "f32": 151, "i8": 160, "i32": 162, "bf16": 168}  # rocblas_datatype
HIP_TYPES = {"f32": 0, "f16": 2, "i8": 3, "i32": 10, "bf16": 14}  # hipDataType
_COMPUTE = {"f32": 2, "i32": 9}  # HIPBLAS_COMPUTE_32F, _32I
_OPERATIONS = 0, 1  # HIPBLASLT_MATMUL_DESC_TRANSA, _TRANSB
_WORKSPACE_BYTES = 1  # HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
_ANSWER_BYTES = 1 << 10
"""More than a hipblasLtMatmulHeuristicResult_t has, whose first member is the algorithm."""
Flips = tuple[bool, bool]


def gemm_ex(problem: Problem, flips: Flips = (False, False), file: Path | None = None) -> tuple[str, Gemm]:
    """rocBLAS: what it is called, and its GEMM for these types. flips: whether A is stored as K x M, B as N x K; file:
    the library itself. LibraryMissing."""
    a, c, total = _types(problem, ROCBLAS_TYPES)
    called, library, handle = rocblas_library(file)
    pointer, number = ctypes.c_void_p, ctypes.c_int
    matrix = (pointer, number, number)
    library.rocblas_gemm_ex.argtypes = (
        *(pointer, number, number, number, number, number, pointer), *matrix, *matrix, pointer, *matrix, *matrix,
        *(number, number, ctypes.c_int32, ctypes.c_uint32),
    )  # fmt: skip
    m, n, k = problem.m, problem.n, problem.k
    operations, lines = _lying(problem, flips)

    def gemm(problem: Problem, matrices: Sequence[Buffer], stream: Any) -> None:
        check(library.rocblas_set_stream(handle, int(stream)), "rocblas_set_stream")
        first, second, answer = (x.address for x in matrices)
        alpha, beta = _scalars(problem)
        status = library.rocblas_gemm_ex(
            handle, *operations, n, m, k, ctypes.addressof(alpha), second, a, lines[0], first, a, lines[1],
            ctypes.addressof(beta), answer, c, n, answer, c, n, total, 0, 0, 0,
        )  # fmt: skip
        check(status, "rocblas_gemm_ex")

    return called, gemm


def hipblaslt(
    device: Device, problem: Problem, flips: Flips = (False, False), file: Path | None = None
) -> tuple[str, Gemm]:
    """hipBLASLt, the same. Its workspace lies on the device as long as the function lives."""
    a, c, _ = _types(problem, HIP_TYPES)
    library, path = load(HIPBLASLT, file)
    pointer, number, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
    library.hipblasLtMatrixLayoutCreate.argtypes = (pointer, number, long, long, ctypes.c_int64)
    library.hipblasLtMatmulDescSetAttribute.argtypes = (pointer, number, pointer, ctypes.c_size_t)
    library.hipblasLtMatmulPreferenceSetAttribute.argtypes = (pointer, number, pointer, ctypes.c_size_t)
    library.hipblasLtMatmulAlgoGetHeuristic.argtypes = (*[pointer] * 7, number, pointer, pointer)
    library.hipblasLtMatmul.argtypes = (*[pointer] * 14, ctypes.c_size_t, pointer)

    def made(call: str, *arguments: Any) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        check(getattr(library, call)(ctypes.byref(found), *arguments), call)
        return found

    def set_attribute(call: str, what: ctypes.c_void_p, attribute: int, value: Any) -> None:
        check(getattr(library, call)(what, attribute, ctypes.byref(value), ctypes.sizeof(value)), call)

    m, n, k = problem.m, problem.n, problem.k
    operations, lines = _lying(problem, flips)
    handle = made("hipblasLtCreate")
    scalar = "i32" if problem.types.of_factor.integer else "f32"
    product = made("hipblasLtMatmulDescCreate", _COMPUTE[scalar], HIP_TYPES[scalar])
    for attribute, operation in zip(_OPERATIONS, operations, strict=True):
        set_attribute("hipblasLtMatmulDescSetAttribute", product, attribute, ctypes.c_int32(operation))
    layouts = [
        made("hipblasLtMatrixLayoutCreate", a, line, size // line, line)
        for line, size in zip(lines, (n * k, m * k), strict=True)
    ]
    layouts.append(made("hipblasLtMatrixLayoutCreate", c, n, m, n))
    wanted = made("hipblasLtMatmulPreferenceCreate")
    set_attribute("hipblasLtMatmulPreferenceSetAttribute", wanted, _WORKSPACE_BYTES, ctypes.c_uint64(WORKSPACE))
    answer, count = ctypes.create_string_buffer(_ANSWER_BYTES), ctypes.c_int()
    places = (*layouts, layouts[2])
    status = library.hipblasLtMatmulAlgoGetHeuristic(
        handle, product, *places, wanted, 1, ctypes.byref(answer), ctypes.byref(count)
    )
    check(status, "hipblasLtMatmulAlgoGetHeuristic")
    if count.value < 1:
        raise DeviceError(f"hipBLASLt has no kernel for {problem.types}", got=f"{m} x {n} x {k}")
    space = device.buffer(WORKSPACE)

    def gemm(problem: Problem, matrices: Sequence[Buffer], stream: Any) -> None:
        first, second, into = (x.address for x in matrices)
        alpha, beta = _scalars(problem)
        status = library.hipblasLtMatmul(
            handle, product, ctypes.addressof(alpha), second, layouts[0], first, layouts[1], ctypes.addressof(beta),
            into, layouts[2], into, layouts[2], ctypes.addressof(answer), space.address, WORKSPACE, int(stream),
        )  # fmt: skip
        check(status, "hipblasLtMatmul")

    return f"hipBLASLt ({path})", gemm


def _types(problem: Problem, codes: dict[str, int]) -> tuple[int, int, int]:
    """Of A and B, of C, and of sums. LibraryMissing where the libraries have none."""
    types = problem.types
    if types.factor not in codes or types.weights:
        raise LibraryMissing(f"neither rocBLAS nor hipBLASLt multiplies {types}")
    return codes[types.factor], codes[types.result], codes["i32" if types.of_factor.integer else "f32"]


def _lying(problem: Problem, flips: Flips) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of B, then of A: the operation, and elements from one of its columns to the next."""
    operations = tuple(TRANSPOSE if flip else NO_TRANSPOSE for flip in (flips[1], flips[0]))
    lines = problem.k if flips[1] else problem.n, problem.m if flips[0] else problem.k
    return (operations[0], operations[1]), lines


def _scalars(problem: Problem) -> tuple[Any, Any]:
    if problem.types.of_factor.integer:
        return ctypes.c_int32(int(problem.alpha)), ctypes.c_int32(int(problem.beta))
    return ctypes.c_float(problem.alpha), ctypes.c_float(problem.beta)
