"""The mutation table: faults put into kernels on purpose, and what finds them.

For each kernel its .s after the last pass is changed in one place at a time (`isa.check.mutate`). Each mutant is held
against the linter, against the proof that the kernel's build ends with (what the compiler wrote for kernel 5, or the
definition), and against the dynamic checker: it is assembled and launched under observers on the problems of
`problems`, which take both ways at beta and, where the kernel knows them, those at the edges of C. The table says how
many there were, how many each of the three found, and which are equivalent.

The three are independent of one another. Equivalent is what the proof says is; if the dynamic checker finds a fault in
such a mutant all the same, it counts as found, and the proof as wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from hipgemm import proving
from hipgemm.build import build
from hipgemm.checking import Schedules, assembled, first_fault
from hipgemm.kernels import Rung, rung
from hipgemm.problem import Problem
from isa.check.lint import lint_program
from isa.check.mutate import KINDS, Judge, mutants
from isa.errors import IsaError
from isa.parse import parse
from isa.program import Program

DEFAULT = ("kernel5", "kernel6", "kernel7", "kernel8", "kernel9", "kernel10")
Checks = Literal["all", "missed", "none"]
"""Which mutants are launched: all, those that neither linter nor proof found a fault in, none."""
WHOLE, EDGES = (256, 384, 40), (230, 266, 37)
"""M, N, K: six workgroups, five K blocks. At EDGES neither tiles nor K blocks are whole."""
SCHEDULES = Schedules(2, threads=1, budget=5_000_000)


@dataclass(frozen=True)
class Outcome:
    """One mutant and what became of it. verdict, lint, proof, reason: as in isa.check.mutate.Judgement, but that the
    verdict counts what the dynamic checker found, too. check: the first rule that is broken, "" for none, None where
    the mutant was not launched."""

    kernel: str
    kind: str
    line: int
    what: str
    verdict: str
    lint: str
    proof: str
    check: str | None
    reason: str


@dataclass(frozen=True)
class Table:
    """All outcomes, in the order of the mutants, and what the checks say of the originals.

    faults: kernel -> rule -> how many faults the linter finds in the original.  proofs: kernel -> statement.
    checks: kernel -> what a launch of the original breaks, "" for nothing; empty where nothing was launched.
    """

    outcomes: tuple[Outcome, ...]
    faults: dict[str, dict[str, int]]
    proofs: dict[str, str]
    checks: dict[str, str]

    @property
    def missed(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.outcomes if o.verdict == "missed")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def study(
    kernels: Sequence[str] = DEFAULT,
    *,
    vopds: int = 16,
    every: int = 1,
    checks: Checks = "all",
    check_every: int = 1,
    jobs: int = 1,
    hipcc: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Table:
    """Builds the kernels and judges their mutants, or only each `every`-th. vopds: see isa.check.mutate.mutants;
    checks: which are launched, 1 to 2 s each; check_every: each so-manieth of a kind, beside those that neither linter
    nor proof found a fault in. Raises what a build raises."""
    outcomes: list[tuple[int, int, Outcome]] = []
    faults: dict[str, dict[str, int]] = {}
    proofs: dict[str, str] = {}
    launched: dict[str, str] = {}
    folders = {}
    for name in kernels:
        progress(f"building {name}")
        made = build(name, hipcc=hipcc)
        folders[name] = (made.folder / made.stages[0].file, made.assembly)
        judge, original = _judge(name, *folders[name])
        faults[name] = dict(Counter(f.rule for f in lint_program(original, name, notes=False)))
        proofs[name] = judge.prove(original, True).statement
        if checks != "none":
            launched[name] = first_fault(rung(name), made.code_object(), problems(rung(name)), SCHEDULES)
    with ProcessPoolExecutor(jobs) as pool:
        parts = [
            pool.submit(_part, name, *folders[name], hipcc, vopds, every, checks, check_every, part, jobs * 16)
            for name in kernels
            for part in range(jobs * 16)
        ]
        for part in as_completed(parts):
            outcomes += part.result()
            progress(f"{len(outcomes)} mutants judged")
    order = {name: i for i, name in enumerate(kernels)}
    outcomes.sort(key=lambda o: (order[o[2].kernel], o[1]))
    return Table(tuple(o for _, _, o in outcomes), faults, proofs, launched)


def _judge(name: str, compiled: Path, assembly: Path) -> tuple[Judge, Program]:
    first = parse(compiled.read_text(), compiled.name)
    original = parse(assembly.read_text(), assembly.name)
    if rung(name).parameters:
        return Judge.by_definition(original, name, proving.launches(rung(name))), original
    return Judge.against(first, original, name, proving.facts(rung(name))), original


def _part(
    name: str, compiled: Path, assembly: Path, hipcc: Path | None, vopds: int, every: int, checks: Checks,
    check_every: int, part: int, parts: int,
) -> list[tuple[int, int, Outcome]]:  # fmt: skip
    """Every parts-th mutant of those wanted, from `part`."""
    judge, original = _judge(name, compiled, assembly)
    done = []
    kinds: Counter[str] = Counter()
    for number, mutant in enumerate(mutants(original, name, vopds=vopds)):
        kinds[mutant.kind] += 1
        if number % every or number // every % parts != part:
            continue
        j = judge(mutant)
        check = None
        sampled = checks == "all" and kinds[mutant.kind] % check_every == 1 % check_every
        if sampled or (checks != "none" and j.verdict != "found"):
            check = _launched(name, mutant.program, hipcc)
        verdict = "found" if check else j.verdict
        outcome = Outcome(name, mutant.kind, mutant.line + 1, mutant.what, verdict, j.lint, j.proof, check, j.reason)
        done.append((part, number, outcome))
    return done


def _launched(name: str, program: Program, hipcc: Path | None) -> str:
    """What the dynamic checker says of a mutant: a rule, "" for nothing."""
    try:
        return first_fault(rung(name), assembled(program, hipcc), problems(rung(name)), SCHEDULES)
    except IsaError as error:
        return f"refused: {error.message.splitlines()[0]}"


def problems(kernel: Rung) -> tuple[Problem, ...]:
    """With and without a term of C."""
    sizes = EDGES if kernel.tile == (1, 1, 1) else WHOLE
    return tuple(Problem(*sizes, 1.5, beta) for beta in (0.0, 0.5))


# --- for people
def markdown(table: Table) -> Iterator[str]:
    """The table, the equivalent mutants with their reasons, and what was missed, line by line."""
    yield "| kernel | change | mutants | lint | proof | check | found | equivalent | missed |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for kernel in table.faults:
        mine = [o for o in table.outcomes if o.kernel == kernel]
        for kind in KINDS:
            if some := [o for o in mine if o.kind == kind]:
                yield _row(kernel, kind, some)
        yield _row(f"**{kernel}**", "**all**", mine)
    yield _row("**all**", "", table.outcomes)
    yield ""
    yield "## The originals"
    yield ""
    for kernel, found in table.faults.items():
        rules = ", ".join(f"{n} x {rule}" for rule, n in found.items()) or "none"
        launched = table.checks.get(kernel)
        said = "not launched" if launched is None else f"in a launch: {launched or 'none'}"
        yield f"- {kernel}: faults that the linter finds: {rules}; {said}; {table.proofs[kernel]}"
    yield ""
    yield "## What a launch finds"
    yield ""
    yield "| change | launched | the first fault |"
    yield "|---|---|---|"
    for kind in KINDS:
        checks = [o.check for o in table.outcomes if o.kind == kind and o.check is not None]
        if checks:
            told = Counter(c.partition(":")[0] or "nothing" for c in checks).most_common()
            yield f"| {kind} | {len(checks)} | {', '.join(f'{n} x {rule}' for rule, n in told)} |"
    yield ""
    yield "## Equivalent mutants"
    yield ""
    yield from _listed([o for o in table.outcomes if o.verdict == "equivalent"])
    yield ""
    yield "## Missed"
    yield ""
    yield from _listed(table.missed)


def _row(kernel: str, kind: str, some: Sequence[Outcome]) -> str:
    verdicts = Counter(o.verdict for o in some)
    lint, proof = sum(bool(o.lint) for o in some), sum(bool(o.proof) for o in some)
    launched = [o.check for o in some if o.check is not None]
    check = f"{sum(map(bool, launched))}" + (f" of {len(launched)}" if len(launched) < len(some) else "")
    ends = (verdicts["found"], verdicts["equivalent"], verdicts["missed"])
    cells = (kernel, kind, len(some), lint, proof, check, *ends)
    return "| " + " | ".join(map(str, cells)) + " |"


def _listed(some: Sequence[Outcome]) -> Iterator[str]:
    if not some:
        yield "None."
    for o in some:
        yield f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.reason}"
