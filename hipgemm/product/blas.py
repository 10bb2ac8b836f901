"""Kernel 0: the library that the ladder is measured against, named as what it is.

On a card this is rocBLAS, through ctypes on librocblas.so of the ROCm that HIP comes from; where that is missing,
hipBLAS through hip-python (which calls rocBLAS in turn). Both compute column-major. A row-major matrix is the
column-major one transposed, so C = alpha A B + beta C is asked for as C^T = alpha B^T A^T + beta C^T: the matrices swap
their places, and nothing is copied.

The simulated card has no such library: its kernels are in formats and for paths of their own. There is then no
kernel 0, and what was published of it stands in its place, marked.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hipgemm.launch.gemm import matrices
from hipgemm.launch.launch import Launch
from hipgemm.launch.problem import Problem
from hipgemm.measure.device import Buffer, Device, DeviceError
from hipgemm.measure.measure import Subject
from isa.errors import IsaError

NAME = "kernel0"
ROCBLAS = "librocblas.so"
NO_TRANSPOSE = 111  # rocblas_operation_none and HIPBLAS_OP_N
Gemm = Callable[[Problem, Sequence[Buffer], Any], None]


class LibraryMissing(IsaError):
    """There is no BLAS for this device."""


def kernel0(device: Device, problem: Problem) -> Subject:
    """The library's SGEMM for this problem, ready to be measured. Raises LibraryMissing where there is none."""
    if device.simulated:
        raise LibraryMissing("rocBLAS runs only on a card", got=device.name)
    missing = []
    for find in (rocblas, hipblas):
        try:
            made_by, gemm = find()
        except LibraryMissing as error:
            missing.append(error.message)
        else:
            return subject(made_by, gemm, problem)
    raise LibraryMissing("; ".join(missing), hint="install rocBLAS, or hip-python[libraries] with hipBLAS")


def subject(
    made_by: str, gemm: Gemm, problem: Problem, flips: tuple[bool, bool] = (False, False), name: str = NAME
) -> Subject:
    """A library's GEMM as something to measure. flips: whether A is stored as K x M, B as N x K."""
    arrays, reference = matrices(problem, flips)
    launch = Launch((1, 1, 1), (1, 1, 1), tuple(arrays), references=(reference,), problem=problem)
    return Subject(name, lambda buffers, stream: gemm(problem, buffers, stream), made_by, launch)


def rocblas(file: Path | None = None) -> tuple[str, Gemm]:
    """rocBLAS by its C interface (rocblas-functions.h): what it is called, and its SGEMM. file: the library itself."""
    called, library, handle = rocblas_library(file)
    pointer, number = ctypes.c_void_p, ctypes.c_int
    library.rocblas_sgemm.argtypes = (
        *(pointer, number, number, number, number, number, pointer),
        *(pointer, number, pointer, number, pointer, pointer, number),
    )

    def gemm(problem: Problem, matrices: Sequence[Buffer], stream: Any) -> None:
        check(library.rocblas_set_stream(handle, int(stream)), "rocblas_set_stream")
        check(_sgemm(library.rocblas_sgemm, handle, NO_TRANSPOSE, problem, matrices), "rocblas_sgemm")

    return called, gemm


def rocblas_library(file: Path | None) -> tuple[str, ctypes.CDLL, ctypes.c_void_p]:
    """What it is called, the library, and a handle of it. LibraryMissing."""
    library, path = load(ROCBLAS, file)
    library.rocblas_set_stream.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    text = ctypes.create_string_buffer(64)
    known = library.rocblas_get_version_string(text, ctypes.c_size_t(len(text))) == 0
    handle = ctypes.c_void_p()
    check(library.rocblas_create_handle(ctypes.byref(handle)), "rocblas_create_handle")
    return f"rocBLAS {text.value.decode() if known else 'of unknown version'} ({path})", library, handle


def hipblas() -> tuple[str, Gemm]:
    """hipBLAS by hip-python's binding."""
    try:
        from hip import hipblas as binding

        status, handle = binding.hipblasCreate()
    except (ImportError, RuntimeError) as error:
        raise LibraryMissing(f"no hipBLAS through hip-python: {error}") from error
    check(int(status), "hipblasCreate")
    operation = binding.hipblasOperation_t(NO_TRANSPOSE)

    def gemm(problem: Problem, matrices: Sequence[Buffer], stream: Any) -> None:
        check(int(binding.hipblasSetStream(handle, stream)[0]), "hipblasSetStream")
        check(int(_sgemm(binding.hipblasSgemm, handle, operation, problem, matrices)[0]), "hipblasSgemm")

    return "hipBLAS through hip-python", gemm


def _sgemm(call: Callable[..., Any], handle: Any, as_it_is: Any, problem: Problem, matrices: Sequence[Buffer]) -> Any:
    """Call an SGEMM in the argument order of BLAS with the transposed problem, column-major; its answer."""
    a, b, c = (x.address for x in matrices)
    m, n, k = problem.m, problem.n, problem.k
    alpha, beta = ctypes.c_float(problem.alpha), ctypes.c_float(problem.beta)
    scalars = ctypes.addressof(alpha), ctypes.addressof(beta)
    return call(handle, as_it_is, as_it_is, n, m, k, scalars[0], b, n, a, k, scalars[1], c, n)


def rocblas_file() -> Path | str | None:
    """Where rocBLAS is, without opening it; None if nothing is found."""
    found = (p for p in _candidates(ROCBLAS) if p.is_absolute())
    return next(found, None) or ctypes.util.find_library("rocblas")


def load(name: str, file: Path | None) -> tuple[ctypes.CDLL, str]:
    tried = []
    for path in [file] if file else _candidates(name):
        try:
            return ctypes.CDLL(str(path)), str(path)
        except OSError as error:
            tried.append(str(error))
    raise LibraryMissing(f"no {name}: {'; '.join(tried)}")


def _candidates(name: str) -> Iterator[Path]:
    """In the ROCm that was named, in the usual one, and wherever the loader finds it."""
    for root in (os.environ.get("ROCM_PATH"), os.environ.get("ROCM_HOME"), "/opt/rocm"):
        if root and (path := Path(root) / "lib" / name).exists():
            yield path
    yield Path(name)


def check(status: int, call: str) -> None:
    """The libraries answer 0 for success (rocblas_status_success, HIPBLAS_STATUS_SUCCESS)."""
    if status != 0:
        raise DeviceError(f"{call} failed", got=f"status {status}")
