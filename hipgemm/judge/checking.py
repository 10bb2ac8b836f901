"""The dynamic checker on a kernel's launch: what the sanitizer sees, and what the arrays hold afterwards.

`check` launches any kernel: a rung of the ladder on a problem, a file's with arguments that somebody gave. Beside what
the sanitizer sees, an array that is not what the launch's reference says is a finding. `checked` adds suppressions and
source lines. `first_fault` only says whether there is a fault. Each uses a simulated card of its own. `faults_placed`
is for callers that launch on their own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hipgemm.kernels.build import Linked
from hipgemm.kernels.ladder import Gemm
from hipgemm.kernels.source_lines import with_origins
from hipgemm.launch.gemm import CUS, gemm
from hipgemm.launch.launch import Launch
from hipgemm.launch.problem import Problem
from isa.display import number_of
from isa.errors import Finding, IsaError
from isa.lint import suppress
from isa.lint.registry import RULES
from isa.object.code_object import CodeObject
from isa.object.lines import NO_LINES, Lines
from isa.sim.run.card import Card, CompiledKernel
from isa.sim.run.faults import BudgetSpent, KernelFault

WRONG = RULES["RUN003"]
CAPACITY = 8 << 30


@dataclass(frozen=True)
class Schedules:
    """How thoroughly: orders of waves and workgroups, the seed they follow from, threads of the host (None: all), and
    instructions that one of them may run (None: no limit)."""

    count: int = 3
    seed: int = 0
    threads: int | None = None
    budget: int | None = None


def check(
    image: bytes | CodeObject,
    name: str,
    launch: Launch,
    *,
    lines: Lines = NO_LINES,
    schedules: Schedules = Schedules(),
) -> list[Finding]:  # fmt: skip
    """Check a launch of kernel `name` of a code object. lines: of its assembly.

    IsaError for a code object that cannot be read or run, and where the arguments are not the kernel's."""
    return _observed(*_loaded(name, image), launch, lines, schedules)


def checked(made: Linked, launch: Launch, schedules: Schedules = Schedules()) -> list[Finding]:
    """The same of a kernel whose code is there, but for what comments in its assembly ignore; with the lines of the
    source."""
    found = check(made.code_object, made.name, launch, lines=made.lines, schedules=schedules)
    asks = found or not isinstance(made.text, Path) or suppress.stands_in(made.text.read_text())
    if asks and (program := made.program) is not None:
        found = suppress.apply(found, program, "check", suppress.lines_of(program, made.name))
    return with_origins(found, lambda: made.source)


@contextmanager
def faults_placed(made: Linked, names: Mapping[int, str]) -> Iterator[None]:
    """A fault of a plain launch says what a finding of `check` would. names: address of an allocation -> its name."""
    try:
        yield
    except (KernelFault, BudgetSpent) as fault:
        from isa.sanitize.report import stopping

        told = stopping(fault, made.name, made.lines, names).error()
        fault.message, fault.span, fault.got = told.message, told.span, told.got
        fault.origin = made.source.get(told.span.line - 1) if told.span else None
        raise


def first_fault(
    row: Gemm,
    image: bytes | CodeObject,
    problems: Sequence[Problem],
    schedules: Schedules = Schedules(),
    cus: int = CUS,
) -> str:
    """The rule of the first fault that `check` finds on one of the problems, "" for none. For small problems.
    cus: of the card that the launch is for."""
    card, kernel = _loaded(row.name, image)
    found = (
        f for p in problems for f in _observed(card, kernel, gemm(row, p, cus), NO_LINES, schedules, briefly=True)
        if f.severity == "fault"
    )  # fmt: skip
    return next((f.rule for f in found), "")


def _loaded(name: str, image: bytes | CodeObject) -> tuple[Card, CompiledKernel]:
    card = Card(capacity=CAPACITY)
    kernels = card.load(image).kernels
    if name not in kernels:
        raise IsaError(f"there is no kernel {name} in this code object", got=", ".join(kernels) or "no kernel at all")
    return card, kernels[name]


def _observed(
    card: Card,
    kernel: CompiledKernel,
    launch: Launch,
    lines: Lines,
    schedules: Schedules,
    briefly: bool = False,
) -> list[Finding]:
    """What the sanitizer saw, and arrays that are not what they must be."""
    import numpy as np

    from isa.sanitize import observe  # which a plain run does without

    launch = launch.bound(kernel.facts)
    arrays = launch.arrays
    addresses = [card.memory.allocate(max(array.nbytes, 4)) for array in arrays]
    unwritten = launch.fill(addresses)
    seen = observe(
        card, kernel, launch.grid, launch.block, launch.kernarg(kernel.facts, addresses), launch.dynamic_lds,
        schedules=schedules.count, seed=schedules.seed, threads=schedules.threads, budget=schedules.budget,
        lines=lines, names={at: array.name for at, array in zip(addresses, arrays, strict=True)},
        elements={
            at: array.element or np.dtype(array.dtype).itemsize
            for at, array in zip(addresses, arrays, strict=True) if array.element or not array.untyped
        },
        unwritten=unwritten, briefly=briefly, settled=launch.problem is not None,
        scratch=[at for at, array in zip(addresses, arrays, strict=True) if array.scratch], last=launch.last,
    )  # fmt: skip
    found = [*seen.findings, *_wrong(kernel.name, launch, addresses)]
    for address in addresses:
        card.memory.free(address)
    return found


def _wrong(kernel: str, launch: Launch, addresses: Sequence[int]) -> list[Finding]:
    """Arrays that do not hold what the references say."""
    import numpy as np

    found = []
    for reference in launch.references:
        array = launch.arrays[reference.array]
        answer = np.empty(array.shape, array.dtype)
        ctypes.memmove(answer.ctypes.data, addresses[reference.array], answer.nbytes)
        verdict = reference.judge(answer)
        if not verdict.correct and verdict.worst is not None:
            *place, got, expected = verdict.worst
            name = array.name
            found.append(
                WRONG.found(
                    f"{number_of(verdict.wrong, f'element of {name} is', f'elements of {name} are')} wrong, "
                    f"most of all {name}{[*map(int, place)]}",
                    expected=f"{expected:.9g} within {verdict.tolerance:.3g}",
                    got=f"{got:.9g}",
                    where=kernel,
                )
            )
    return found
