"""Kernels -> the outcome of each of their mutants.

A mutant is one task of a pool of processes. What a launch costs is the compiling of its code with hooks. On whole tiles
all lanes are on, so that one version of the code is enough; only where nothing was found there, C with edges is tried,
which needs the version with masks, three times as long. A problem on which the original has a fault says nothing of
mutants: it is left out.

A mutant of a kernel for the matrix units that no check finds and no proof shows to be the same is timed by the cycle
model: one that sends workgroups on the path of those at edges without need, computes what it must, slower.
"""

from __future__ import annotations

import functools
import gc
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hipgemm.judge import proving
from hipgemm.judge.checking import Schedules, first_fault
from hipgemm.judge.predict import ready
from hipgemm.kernels.build import assembled, build
from hipgemm.kernels.ladder import Rung, rung
from hipgemm.launch.problem import Problem
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import Parameters
from isa.lint.lint import lint_program
from isa.object.code_object import CodeObject
from isa.timing.machine import cards
from isa.timing.machine.cards import card
from tools.mutation.judge import Judge, JudgeByDefinition, JudgeByOriginal, Judgement
from tools.mutation.mutants import KINDS, Mutant, mutants
from tools.mutation.outcome import Checks, Outcome, Table

DEFAULT = ("kernel5", "kernel6", "kernel7", "kernel8", "kernel9", "kernel10")
WHOLE, EDGES, EIGHTS = (256, 384, 40), (230, 266, 37), (232, 264, 48)
"""M, N, K: six workgroups, five K blocks of kernels 5 to 8. At EDGES neither tiles nor K blocks are whole; at EIGHTS,
for the matrix units, rows of A, B and C begin at multiples of 16 bytes."""
PIECES, CUS = 256, 4
"""Where tiles are done in pieces, so much is added to K, with deeper K blocks than kernel 10's as much more, for a card
with so few CUs: of six tiles four are whole, and two in pieces, four at most, which do not begin where tiles do. With
less work than this no tile is worth cutting."""
TIMED = (1024, 1030, 512), (128, 100, 4096)
"""M, N, K for the clock: lines of B that are no whole loads, and one workgroup, at the edge."""
_SLOWER = 1.02
"""How many times the original's time says so: what moves code by an instruction alone stays far below."""
SCHEDULES = Schedules(2, threads=1, budget=5_000_000)


@dataclass(frozen=True)
class Built:
    """A kernel and where its assembly is: as the compiler or generator wrote it, and after its last pass. problems:
    what mutants are launched on."""

    name: str
    first: Path
    last: Path
    vopds: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class _Task:
    """What is to be done for the mutant of this number."""

    built: Built
    number: int
    launch: Checks
    first: bool


def study(
    kernels: Sequence[str] = DEFAULT,
    *,
    vopds: int = 16,
    sample: int = 0,
    seed: int = 1,
    checks: Checks = "all",
    first: bool = False,
    jobs: int = 1,
    kinds: Sequence[str] = KINDS,
    progress: Callable[[str], None] = lambda _: None,
) -> Table:
    """Builds the kernels and judges their mutants, or `sample` of each (see `chosen`). vopds: see `mutants.mutants`;
    checks: which are launched, 2 to 8 s each; first: lint and proof are asked only until one finds a fault. Raises what
    a build raises."""
    faults: dict[str, dict[str, int]] = {}
    proofs: dict[str, str] = {}
    launched: dict[str, str] = {}
    wanted: list[tuple[tuple[str, str], Mutant]] = []
    tasks: dict[tuple[str, str], _Task] = {}  # by name and text, which may be a mutant of two kinds
    with ProcessPoolExecutor(jobs) as pool:
        for name in kernels:
            progress(f"building {name}")
            made = build(name)
            of_original = _of_original(name, made.code_object()) if checks != "none" else {}
            some = tuple(problem for problem, fault in of_original.items() if not fault)
            built = Built(name, made.folder / made.stages[0].file, made.assembly, vopds, some)
            judge, original, all_ = _kernel(built)
            faults[name] = dict(Counter(f.rule for f in lint_program(original, name, notes=False)))
            proofs[name] = judge.prove(original, True).statement
            if checks != "none":
                launched[name] = next(filter(None, of_original.values()), "")
            for number in chosen(all_, kinds, sample, seed):
                wanted.append(((name, emit(all_[number].program)), all_[number]))
                tasks[wanted[-1][0]] = _Task(built, number, checks, first)
        results: dict[tuple[str, str], tuple[Judgement, str | None]] = {}
        futures = {pool.submit(_done, task): key for key, task in tasks.items()}
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            progress(f"{len(results)} of {len(tasks)} mutants judged")
    outcomes = [_outcome(key[0], mutant, *results[key]) for key, mutant in wanted]
    return Table(tuple(outcomes), faults, proofs, launched)


def chosen(all_: Sequence[Mutant], kinds: Sequence[str] = KINDS, sample: int = 0, seed: int = 1) -> list[int]:
    """The numbers of the mutants of some kinds; of these `sample`, if any, at random: one of each kind, then any."""
    wanted = [number for number, mutant in enumerate(all_) if mutant.kind in kinds]
    if sample:
        Random(seed).shuffle(wanted)
        firsts = {all_[number].kind: number for number in reversed(wanted)}.values()
        wanted = [*firsts, *(number for number in wanted if number not in firsts)][:sample]
    return sorted(wanted)


@functools.lru_cache(maxsize=8)
def _kernel(built: Built) -> tuple[Judge, Program, tuple[Mutant, ...]]:
    """Once a process."""
    first = parse(built.first.read_text(), built.first.name)
    original = parse(built.last.read_text(), built.last.name)
    kernel = rung(built.name)
    if kernel.parameters:
        far = proving.far_launches(kernel)
        edges, every = proving.edges(kernel), proving.every(kernel)
        judge: Judge = JudgeByDefinition(original, built.name, proving.launches(kernel), far, edges, every)
    else:
        judge = JudgeByOriginal(first, original, built.name, proving.facts(kernel))
    found = judge, original, tuple(mutants(original, built.name, vopds=built.vopds))
    gc.freeze()  # it stays: the collector need not go through it again and again
    return found


def _done(task: _Task) -> tuple[Judgement, str | None]:
    """What lint and proof say, and a launch (see `_launched`), None where there was none."""
    judge, _, all_ = _kernel(task.built)
    mutant = all_[task.number]
    judged, launched = judge(mutant, first=task.first), None
    if task.launch == "all" or (task.launch == "missed" and judged.verdict != "found"):
        launched = _launched(task.built, mutant.program)
        if not launched and judged.verdict == "survived":
            launched = slower(task.built, mutant.program)
    return judged, launched


def _launched(built: Built, program: Program) -> str:
    """What the dynamic checker says of a mutant: a rule, "" for nothing."""
    kernel = rung(built.name)
    try:
        return first_fault(kernel, assembled(program), built.problems, SCHEDULES, CUS)
    except IsaError as error:
        return f"refused: {error.message.splitlines()[0]}"


def slower(built: Built, program: Program) -> str:
    """What the clock says of a mutant of a kernel for the matrix units, "" where it takes the original's time."""
    if not isinstance(rung(built.name).parameters, MatrixParameters):
        return ""
    for size in TIMED:
        ratio = _seconds(built, program, size) / _original_seconds(built, size)
        if ratio > _SLOWER:
            return f"slower by the clock at {' x '.join(map(str, size))}"
    return ""


@functools.lru_cache
def _original_seconds(built: Built, size: tuple[int, int, int]) -> float:
    return _seconds(built, _kernel(built)[1], size)


def _seconds(built: Built, program: Program, size: tuple[int, int, int]) -> float:
    """Predicted, on a 7900 XTX."""
    on = card(cards.DEFAULT)
    return ready(assembled(program), rung(built.name), size, on).estimate(on.clock_mhz).time_s


def _of_original(name: str, image: CodeObject) -> dict[Problem, str]:
    """The first fault that a launch of it has on each problem."""
    return {problem: first_fault(rung(name), image, [problem], SCHEDULES, CUS) for problem in problems(rung(name))}


def _outcome(kernel: str, mutant: Mutant, judged: Judgement, check: str | None) -> Outcome:
    verdict = "found" if check else judged.verdict
    line = mutant.line + 1
    return Outcome(kernel, mutant.kind, line, mutant.what, verdict, judged.lint, judged.proof, check, judged.reason)


def problems(kernel: Rung) -> tuple[Problem, ...]:
    """Whole tiles, then edges where the kernel knows them, each with and without a term of C. Of kernels for few rows:
    whole blocks of k, as many for each wave or not."""
    p = kernel.parameters
    eighths = (EIGHTS,) if isinstance(p, MatrixParameters) else ()
    sizes: tuple[tuple[int, int, int], ...] = (WHOLE, *((EDGES,) if kernel.tile == (1, 1, 1) else ()), *eighths)
    if isinstance(p, GemvParameters):
        blocks = (2 * p.waves, 3 * p.waves + 1)
        sizes = (p.rows, 2 * p.columns, blocks[0] * p.depth), (p.rows + 1, 2 * p.columns - 3, blocks[1] * p.depth)
    more = PIECES * p.depth // Parameters().depth if p and p.stream_k else 0
    alpha, beta = (3.0, -2.0) if kernel.types.integer_scales else (1.5, 0.5)
    return tuple(Problem(m, n, k + more, alpha, b) for m, n, k in sizes for b in (0.0, beta))
