"""The study as Markdown: a table of what each judge found of each kind of change, and a sample of the survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tools.mutation.mutants import KINDS
from tools.mutation.outcome import Outcome, Table

INTRODUCTION = """\
# The mutation table

docs/mutations.md says how to read it. A cell `a of b`: the judge was asked about b of them.
"""
SAMPLE = 20
"""So many survivors are listed, spread over all of them."""
_HEAD = f"""\
| kernel | change | mutants | lint | proof | check | found | equivalent | survived |
{"|---" * 9}|"""


def written(table: Table, command: str) -> str:
    """The page of a study. command: what made it."""
    return "\n".join((INTRODUCTION, f"`{command}`", "", *_tables(table), ""))


def _tables(table: Table) -> Iterator[str]:
    yield _HEAD
    for kernel in table.faults:
        mine = [o for o in table.outcomes if o.kernel == kernel]
        for kind in KINDS:
            if some := [o for o in mine if o.kind == kind]:
                yield _row(kernel, kind, some)
        yield _row(f"**{kernel}**", "**all**", mine)
    if len(table.faults) > 1:
        yield _row("**all**", "", table.outcomes)
    for title, lines in (
        ("The originals", _originals(table)),
        ("What a launch finds", _launches(table)),
        ("Survivors", _survivors(table)),
    ):
        yield from ("", f"## {title}", "")
        yield from lines


def _originals(table: Table) -> Iterator[str]:
    for kernel, found in table.faults.items():
        rules = ", ".join(f"{n} x {rule}" for rule, n in found.items()) or "none"
        launched = table.checks.get(kernel)
        said = "not launched" if launched is None else f"in a launch: {launched or 'none'}"
        yield f"- {kernel}: faults that the linter finds: {rules}; {said}; {table.proofs[kernel]}"


def _launches(table: Table) -> Iterator[str]:
    if all(o.check is None for o in table.outcomes):
        yield "None was launched."
        return
    yield "| change | launched | the first fault |"
    yield "|---|---|---|"
    for kind in KINDS:
        checks = [o.check for o in table.outcomes if o.kind == kind and o.check is not None]
        if checks:
            counts = Counter(c.partition(":")[0] or "nothing" for c in checks).most_common()
            yield f"| {kind} | {len(checks)} | {', '.join(f'{n} x {rule}' for rule, n in counts)} |"


def _row(kernel: str, kind: str, some: Sequence[Outcome]) -> str:
    verdicts = Counter(o.verdict for o in some)
    judges = [_found([getattr(o, judge) for o in some]) for judge in ("lint", "proof", "check")]
    ends = (verdicts["found"], verdicts["equivalent"], verdicts["survived"])
    cells = (kernel, kind, len(some), *judges, *ends)
    return "| " + " | ".join(map(str, cells)) + " |"


def _found(said: Sequence[str | None]) -> str:
    """How many a judge found, and of how many where it was not asked about all."""
    asked = [s for s in said if s is not None]
    return f"{sum(map(bool, asked))}" + (f" of {len(asked)}" if len(asked) < len(said) else "")


def _survivors(table: Table) -> Iterator[str]:
    """Their rate, and a line for each of a sample with what the proof says."""
    some = table.survivors
    shown = some[:: max(1, -(-len(some) // SAMPLE))]
    yield f"{len(some)} of {len(table.outcomes)}" + (f"; {len(shown)} of them:" if shown else ".")
    if shown:
        yield ""
    for o in shown:
        yield f"- {o.kernel}, line {o.line}, {o.kind}: `{o.what}`: {o.reason}"
