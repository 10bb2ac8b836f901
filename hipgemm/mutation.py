"""The mutation table: faults put into kernels on purpose, and what finds them.

For each kernel its .s after the last pass is changed in one place at a time (`isa.check.mutate`), and each mutant is
held against the linter and against the proof that it computes what the compiler wrote for kernel 5. The table says how
many there were, how many each found, and which are equivalent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hipgemm import proving
from hipgemm.build import build
from hipgemm.kernels import rung
from isa.check.lint import lint_program
from isa.check.mutate import KINDS, Judge, mutants
from isa.parse import parse
from isa.program import Program

DEFAULT = ("kernel5", "kernel6", "kernel7", "kernel8")


@dataclass(frozen=True)
class Outcome:
    """One mutant and what became of it; the last four fields are those of isa.check.mutate.Judgement."""

    kernel: str
    kind: str
    line: int
    what: str
    verdict: str
    lint: str
    proof: str
    reason: str


@dataclass(frozen=True)
class Table:
    """All outcomes, in the order of the mutants, and what the checks say of the originals.

    faults: kernel -> rule -> how many faults the linter finds in the original.  proofs: kernel -> statement.
    """

    outcomes: tuple[Outcome, ...]
    faults: dict[str, dict[str, int]]
    proofs: dict[str, str]

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
    jobs: int = 1,
    hipcc: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Table:
    """Builds the kernels and judges their mutants, or only each `every`-th. vopds: see isa.check.mutate.mutants.
    Raises what a build raises."""
    outcomes: list[tuple[int, int, Outcome]] = []
    faults: dict[str, dict[str, int]] = {}
    proofs: dict[str, str] = {}
    folders = {}
    for name in kernels:
        progress(f"building {name}")
        made = build(name, hipcc=hipcc)
        folders[name] = (made.folder / made.stages[0].file, made.assembly)
        judge, original = _judge(name, *folders[name])
        faults[name] = dict(Counter(f.rule for f in lint_program(original, name, notes=False)))
        proofs[name] = proving.check(rung(name), judge.compiled, [("the original", original)]).statement
    with ProcessPoolExecutor(jobs) as pool:
        parts = [
            pool.submit(_part, name, *folders[name], vopds, every, part, jobs * 4)
            for name in kernels
            for part in range(jobs * 4)
        ]
        for part in as_completed(parts):
            outcomes += part.result()
            progress(f"{len(outcomes)} mutants judged")
    order = {name: i for i, name in enumerate(kernels)}
    outcomes.sort(key=lambda o: (order[o[2].kernel], o[1]))
    return Table(tuple(o for _, _, o in outcomes), faults, proofs)


def _judge(name: str, compiled: Path, assembly: Path) -> tuple[Judge, Program]:
    first = parse(compiled.read_text(), compiled.name)
    original = parse(assembly.read_text(), assembly.name)
    return Judge.of(first, original, name, proving.facts(rung(name))), original


def _part(
    name: str, compiled: Path, assembly: Path, vopds: int, every: int, part: int, parts: int
) -> list[tuple[int, int, Outcome]]:
    """Every parts-th mutant of those wanted, from `part`."""
    judge, original = _judge(name, compiled, assembly)
    done = []
    for number, mutant in enumerate(mutants(original, name, vopds=vopds)):
        if number % every or number // every % parts != part:
            continue
        j = judge(mutant)
        outcome = Outcome(name, mutant.kind, mutant.line + 1, mutant.what, j.verdict, j.lint, j.proof, j.reason)
        done.append((part, number, outcome))
    return done


# --- for people
def markdown(table: Table) -> Iterator[str]:
    """The table, the equivalent mutants with their reasons, and what was missed, line by line."""
    yield "| kernel | change | mutants | lint | proof | found | equivalent | missed |"
    yield "|---|---|---|---|---|---|---|---|"
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
        yield f"- {kernel}: faults that the linter finds: {rules}; {table.proofs[kernel]}"
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
    cells = (kernel, kind, len(some), lint, proof, verdicts["found"], verdicts["equivalent"], verdicts["missed"])
    return "| " + " | ".join(map(str, cells)) + " |"


def _listed(some: Sequence[Outcome]) -> Iterator[str]:
    if not some:
        yield "None."
    for o in some:
        yield f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.reason}"
