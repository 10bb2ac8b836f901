"""The ladder measured rung by rung: what `hipgemm bench` does.

Each kernel gives a Result, or a Refusal where it could not be built or run: the others still are. Kernel 0 is the
library (hipgemm.blas); where there is none, there is a Refusal that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hipgemm import blas
from hipgemm.device import Device
from hipgemm.kernels import LADDER, SizeError, UnknownKernel, known, rung
from hipgemm.measure import Step, measure, measure_subject
from hipgemm.problem import Problem
from hipgemm.result import Result
from isa.errors import IsaError, meant

KERNELS = (blas.NAME, *LADDER)


@dataclass(frozen=True)
class Refusal:
    """Why a kernel has no result, in words."""

    kernel: str
    why: str


def bench(
    kernels: Sequence[str],
    problem: Problem,
    device: Device,
    *,
    repeats: int | None = None,
    cold: bool = False,
    step: Step | None = None,
) -> Iterator[Result | Refusal]:
    """Measure each of `kernels` ("kernel0" to "kernel10") on an open device. The rest as in hipgemm.measure.run.

    Raises UnknownKernel, or SizeError where no kernel takes this size, before anything runs. An error of one kernel
    becomes its Refusal.
    """
    for name in kernels:
        if name != blas.NAME and not known(name):
            raise UnknownKernel(f"there is no kernel {name!r}", expected=", ".join(KERNELS), hint=meant(name, KERNELS))
    refused = [_refused(name, problem) for name in kernels if name != blas.NAME]
    if refused and (first := refused[0]) and all(refused):
        raise first
    for name in kernels:
        try:
            if name == blas.NAME:
                subject = blas.kernel0(device, problem)
                result = measure_subject(subject, device, repeats=repeats, cold=cold, step=step).result
            else:
                row = rung(name)
                result = measure(row, problem, device=device, repeats=repeats, cold=cold, step=step).result
            assert isinstance(result, Result)
            yield result
        except IsaError as error:
            yield Refusal(name, str(error))


def _refused(name: str, problem: Problem) -> SizeError | None:
    """Why a kernel of the ladder cannot take the size of a problem."""
    try:
        rung(name).check_size(problem.m, problem.n, problem.k)
    except SizeError as error:
        return error
    return None
