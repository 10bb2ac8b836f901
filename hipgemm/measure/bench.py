"""The ladder measured rung by rung: what `hipgemm bench` does.

Each kernel gives a Result, or a Refusal where it could not be built or run: the others still are. Kernel 0 is the
library (hipgemm.product.blas); where there is none, there is a Refusal that says so.

On the matrix units (`types` other than float32) the libraries are two, rocBLAS and hipBLASLt
(`hipgemm.product.blas_of_types`), and the kernels are those of the ladder of these types, and the one that
`hipgemm.gemm` takes for the problem. Each of them is given A and B as it reads them; the libraries as `flips` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm.kernels.ladder import LADDER, MATRIX, SizeError, UnknownKernel, known, rung
from hipgemm.launch.elements import FP32, PLAIN
from hipgemm.launch.problem import Problem
from hipgemm.measure.device import Device
from hipgemm.measure.measure import Step, Subject, measure, measure_subject
from hipgemm.measure.result import Result
from hipgemm.product import blas, blas_of_types
from hipgemm.product.choice import kernel_for
from isa.errors import IsaError, meant

LIBRARIES = blas.NAME, blas_of_types.LT_NAME
KERNELS = (blas.NAME, *LADDER)
Flips = tuple[bool, bool]


@dataclass(frozen=True)
class Refusal:
    """Why a kernel has no result, in words."""

    kernel: str
    why: str


def usual(problem: Problem, device: Device, flips: Flips = (False, False)) -> tuple[str, ...]:
    """What is measured by default. flips: whether A is stored as K x M, B as N x K."""
    if problem.types == FP32:
        return KERNELS
    own = (name for name, row in MATRIX.items() if row.types == problem.types and row.transposed == flips)
    sizes = problem.m, problem.n, problem.k
    chosen = kernel_for(sizes, device.cus, problem.types, flips, PLAIN, device.card)
    return tuple(dict.fromkeys((*LIBRARIES, *own, chosen)))


def bench(
    kernels: Sequence[str],
    problem: Problem,
    device: Device,
    *,
    flips: Flips = (False, False),
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Iterator[Result | Refusal]:
    """Measure each of `kernels` ("kernel0" to "kernel10", and others of the problem's types) on an open device. flips:
    how the libraries find A and B. The rest as in hipgemm.measure.measure.run.

    Raises UnknownKernel, or SizeError where no kernel takes this size, before anything runs. An error of one kernel
    becomes its Refusal.
    """
    for name in kernels:
        if name not in LIBRARIES and not known(name):
            raise UnknownKernel(f"there is no kernel {name!r}", expected=", ".join(KERNELS), hint=meant(name, KERNELS))
    refused = [_refused(name, problem) for name in kernels if name not in LIBRARIES]
    if refused and (first := refused[0]) and all(refused):
        raise first
    for name in kernels:
        try:
            if name in LIBRARIES:
                subject = _library(name, device, problem, flips)
                result = measure_subject(subject, device, repeats=repeats, cold=cold, step=step).result
            else:
                row = rung(name)
                if problem.types not in (FP32, row.types):
                    raise SizeError(f"{name} is for {row.types}", expected=f"a kernel for {problem.types}")
                result = measure(row, problem, device=device, repeats=repeats, cold=cold, step=step).result
            assert isinstance(result, Result)
            yield result
        except IsaError as error:
            yield Refusal(name, str(error))


def _library(name: str, device: Device, problem: Problem, flips: Flips) -> Subject:
    if name == blas.NAME and problem.types == FP32:
        return blas.kernel0(device, problem)
    if device.simulated:
        called = "rocBLAS" if name == blas.NAME else "hipBLASLt"
        raise blas.LibraryMissing(f"{called} runs only on a card", got=device.name)
    made = (
        blas_of_types.gemm_ex(problem, flips) if name == blas.NAME else blas_of_types.hipblaslt(device, problem, flips)
    )
    return blas.subject(*made, problem, flips, name)


def _refused(name: str, problem: Problem) -> SizeError | None:
    """Why a kernel of the ladder cannot take the size of a problem."""
    try:
        rung(name).check_size(problem.m, problem.n, problem.k)
    except SizeError as error:
        return error
    return None
