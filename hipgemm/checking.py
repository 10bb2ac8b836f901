"""The dynamic checker on GEMM kernels and on any kernel: what to launch, and what came out.

`check_gemm` launches a kernel of the ladder, or one with its name and signature, on a problem; beside what the
observers see, an answer that is not the reference's is a finding. `first_fault` is the same for whoever only asks
whether there is one. `check_kernel` launches any kernel with arguments in words (`Given`). Each uses a simulated card
of its own.
"""

from __future__ import annotations

import ctypes
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipgemm.kernels import Rung
from hipgemm.launch import CUS, launch_of
from hipgemm.problem import Problem
from isa import toolchain
from isa.asm.emit import emit
from isa.asm.program import Program
from isa.check.counts import target_of
from isa.check.registry import RULES
from isa.errors import Finding, IsaError
from isa.gemm.work import COUNTERS
from isa.object import code_object
from isa.object.code_object import CodeObject, load
from isa.sanitize import check_launch, observe
from isa.sim.card import Card, Kernel

WRONG = RULES["RUN003"]
CAPACITY = 8 << 30
SMALL = 1 << 26
"""Multiply-adds for which code that is ready sooner is worth more than code that runs faster."""
FEW = 1 << 14
"""The same for work-items of a kernel of which no more is known."""
_SCALARS = {"i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q", "f32": "<f", "f64": "<d"}
_FILLS = ("zero", "random", "unwritten")
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Schedules:
    """How thoroughly: orders of waves and workgroups, the seed they follow from, threads of the host (None: all), and
    instructions that one of them may run (None: no limit)."""

    count: int = 3
    seed: int = 0
    threads: int | None = None
    budget: int | None = None


def check_gemm(
    row: Rung,
    image: bytes | CodeObject,
    problem: Problem,
    *,
    program: Program | None = None,
    schedules: Schedules = Schedules(),
) -> list[Finding]:  # fmt: skip
    """Check the kernel `row.name` of a code object on a problem. program: its assembly, for the lines.

    Raises hipgemm.kernels.SizeError, and IsaError for a code object that cannot be read or run.
    """
    row.check_size(problem.m, problem.n, problem.k)
    card, kernel = _loaded(row, image, hasty=problem.m * problem.n * problem.k <= SMALL)
    return _on_problem(card, kernel, row, problem, program, schedules)


def first_fault(
    row: Rung,
    image: bytes | CodeObject,
    problems: Sequence[Problem],
    schedules: Schedules = Schedules(),
    cus: int = CUS,
) -> str:
    """The rule of the first fault that `check_gemm` finds on one of the problems, "" for none. For small problems.
    cus: of the card that the launch is for."""
    card, kernel = _loaded(row, image, hasty=True)
    found = (
        f for p in problems for f in _on_problem(card, kernel, row, p, None, schedules, briefly=True, cus=cus)
        if f.severity == "fault"
    )  # fmt: skip
    return next((f.rule for f in found), "")


def assembled(program: Program, hipcc: Path | None = None, arch: str = "gfx1100") -> CodeObject:
    """Its code object, for the target that it names, or `arch` where it names none. UnsupportedArch for one that
    nothing is built for, ToolError where the assembler refuses it."""
    named = target_of(program)
    tools, on = toolchain.find(hipcc), named.name if named else arch
    image = tools.code_object(emit(program), arch=on, name=program.file)
    if not program.kernels:
        raise IsaError(f"{program.file} has no kernel", expected="an .amdhsa_kernel block")
    return load(image)


def _loaded(row: Rung, image: bytes | CodeObject, hasty: bool = False) -> tuple[Card, Kernel]:
    card = Card(capacity=CAPACITY, hasty=hasty)
    kernel = card.load(image).kernels.get(row.name)
    if kernel is None:
        raise IsaError(f"there is no kernel {row.name} in this code object")
    return card, kernel


def _on_problem(
    card: Card, kernel: Kernel, row: Rung, problem: Problem, program: Program | None, schedules: Schedules,
    briefly: bool = False, cus: int = CUS,
) -> list[Finding]:  # fmt: skip
    matrices = problem.matrices()
    addresses = []
    for matrix in problem.stored(matrices, row.transposed):
        at = card.memory.allocate(matrix.nbytes)
        ctypes.memmove(at, matrix.ctypes.data, matrix.nbytes)
        addresses.append(at)
    launch = launch_of(row, problem.m, problem.n, problem.k, cus)
    workspace = card.memory.allocate(max(4, launch.workspace_bytes))
    ctypes.memset(workspace, 0, min(COUNTERS, launch.workspace_bytes))
    slots = workspace + COUNTERS, launch.workspace_bytes - COUNTERS
    arguments = launch.kernarg(addresses, problem.alpha, problem.beta, workspace)
    a, b, c = matrices
    seen = observe(
        card, kernel, launch.grid, launch.block, arguments, briefly=briefly,
        schedules=schedules.count, seed=schedules.seed, threads=schedules.threads, budget=schedules.budget,
        program=program, names={**dict(zip(addresses, "ABC", strict=True)), workspace: "workspace"},
        unwritten=[*([] if problem.beta else [(addresses[2], c.nbytes)]), *([slots] if slots[1] > 0 else [])],
        scratch=(workspace,), settled=True,
    )  # fmt: skip
    found = list(seen.findings)
    answer = c.copy()
    ctypes.memmove(answer.ctypes.data, addresses[2], c.nbytes)
    verdict = problem.judge(a, b, c, answer)
    if not verdict.correct and verdict.worst is not None:
        i, j, got, expected = verdict.worst
        found.append(
            WRONG.found(
                f"{verdict.wrong} elements of C are wrong, most of all C[{i}, {j}]",
                expected=f"{expected:.9g} within {verdict.tolerance:.3g}",
                got=f"{got:.9g}",
                where=row.name,
            )
        )
    for address in (*addresses, workspace):
        card.memory.free(address)
    return found


@dataclass(frozen=True)
class Given:
    """One argument. type: "buffer" or a scalar's; value: a buffer's bytes, or the scalar; fill: what a buffer holds."""

    type: str
    value: float
    fill: str = "random"

    @staticmethod
    def read(text: str) -> Given:
        """From words: `i32:5`, `f32:1.5`, `buffer:4096`, `buffer:4096:zero` (or random, unwritten)."""
        match = re.fullmatch(r"(\w+):([-+.\w]+)(?::(\w+))?", text)
        kind, number, fill = match.groups() if match else ("", "", None)
        try:
            if kind == "buffer" and fill in (None, *_FILLS):
                return Given(kind, int(number, 0), fill or "random")
            if kind in _SCALARS and fill is None:
                return Given(kind, float(number) if kind[0] == "f" else int(number, 0))
        except ValueError:
            pass
        raise IsaError(
            f"{text!r} is no argument",
            expected=f"buffer:BYTES, buffer:BYTES:{'|'.join(_FILLS)}, or one of {', '.join(_SCALARS)} as i32:5",
        )


def packed(
    kernel: code_object.Kernel, given: Sequence[Given], place: Callable[[int, code_object.Argument, Given], int]
) -> bytes:
    """The explicit arguments as they lie in memory. place: (number of a buffer's argument, the argument, what was
    given) -> its address. IsaError where `given` are not the kernel's arguments."""
    explicit = [a for a in kernel.args if not a.hidden]
    if len(explicit) != len(given):
        kinds = ", ".join(f"{a.name or a.kind} ({a.size} bytes)" for a in explicit) or "none"
        raise IsaError(f"kernel {kernel.name} takes other arguments", expected=kinds, got=f"{len(given)}")
    kernarg = bytearray(max((a.offset + a.size for a in explicit), default=0))
    for i, (argument, value) in enumerate(zip(explicit, given, strict=True)):
        if value.type == "buffer":
            data = struct.pack("<Q", place(i, argument, value))
        else:
            try:
                data = struct.pack(_SCALARS[value.type], value.value)
            except struct.error as error:
                raise IsaError(f"{value.value} is no {value.type}") from error
        if len(data) != argument.size:
            raise IsaError(
                f"argument {i} of kernel {kernel.name} has another size",
                expected=f"{argument.size} bytes", got=f"{value.type}, {len(data)} bytes",
            )  # fmt: skip
        kernarg[argument.offset : argument.offset + argument.size] = data
    return bytes(kernarg)


def check_kernel(
    image: bytes | CodeObject,
    name: str | None,
    grid: Triple,
    block: Triple,
    given: Sequence[Given],
    *,
    dynamic_lds: int = 0,
    program: Program | None = None,
    schedules: Schedules = Schedules(),
) -> list[Finding]:  # fmt: skip
    """Check one kernel of a code object; `name` may be None where it has only one. dynamic_lds: bytes of LDS behind the
    static ones. IsaError where the arguments are not the kernel's."""
    import random

    card = Card(capacity=CAPACITY, hasty=math.prod(grid) * math.prod(block) <= FEW)
    kernels = card.load(image).kernels
    if name is None and len(kernels) != 1:
        raise IsaError("which kernel?", expected="the name of one", got=", ".join(kernels) or "no kernel at all")
    kernel = kernels.get(name or next(iter(kernels)))
    if kernel is None:
        raise IsaError(f"there is no kernel {name}", got=", ".join(kernels))
    names, unwritten = {}, []

    def place(i: int, argument: code_object.Argument, value: Given) -> int:
        size = int(value.value)
        at = card.memory.allocate(size)
        ctypes.memset(at, 0, size)
        if value.fill == "random":
            ctypes.memmove(at, random.Random(i).randbytes(size), size)
        elif value.fill == "unwritten":
            unwritten.append((at, size))
        names[at] = argument.name or f"argument {i}"
        return at

    kernarg = packed(kernel.facts, given, place)
    return check_launch(
        card, kernel, grid, block, kernarg, dynamic_lds, schedules=schedules.count, seed=schedules.seed,
        threads=schedules.threads, budget=schedules.budget, program=program, names=names, unwritten=unwritten,
    )  # fmt: skip
