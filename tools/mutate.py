"""`python tools/mutate.py [KERNEL ...]`: put faults into kernels and see what finds them.

The study is a page of Markdown: a table of what each judge found of each kind of change, and a sample of the survivors.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli import Reporting, inputs
from hipgemm.cli.progress import steps
from tools.mutation import DEFAULT, Checks, study
from tools.mutation.mutants import KINDS
from tools.mutation.outcome import Outcome, Table


@click.command("mutate", cls=Reporting, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1, metavar="[KERNEL ...]")
@click.option(
    "--vopds", default=16, show_default=True, type=click.IntRange(min=0), help="How many VOPDs of a kernel to sample."
)
@click.option("--sample", default=0, type=click.IntRange(min=0),
              help="So many of each kernel, at random, at least one of each kind.  [default: all]")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of the sample.")
@click.option("--kinds", default=None, help="Of these kinds of changes only, with commas between.")
@click.option("--check", "checks", type=click.Choice(["all", "missed", "none"]), default="all", show_default=True,
              help="Launch all mutants, those that lint and proof pass, none; a launch takes 2 to 8 s.")  # fmt: skip
@click.option("--first", is_flag=True,
              help="Ask lint and proof only until one finds the fault, what takes least first.")  # fmt: skip
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option(
    "-o",
    "--out",
    default=None,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Page of Markdown to write.",
)
def command(
    kernels: tuple[str, ...], vopds: int, sample: int, seed: int, kinds: str | None, checks: Checks, first: bool,
    jobs: int, out: Path | None,
) -> None:  # fmt: skip
    """Put faults into kernels (kernel5 to kernel10) one at a time, and see whether linter, prover and a launch under
    the sanitizer find them.

    Exit status 0 where all were found or proved equivalent, 1 where some survived.
    """
    if out is not None:
        inputs.writable(out)
    with steps() as progress:
        table = study(
            kernels or DEFAULT, vopds=vopds, sample=sample, seed=seed, checks=checks, first=first, jobs=jobs,
            progress=progress, kinds=kinds.split(",") if kinds else KINDS,
        )  # fmt: skip
    said = {
        "--vopds": (vopds, 16),
        "--sample": (sample, 0),
        "--seed": (seed, 1),
        "--kinds": (kinds, None),
        "--check": (checks, "all"),
    }
    chosen = [f"{name} {value}" for name, (value, usual) in said.items() if value != usual]
    page = written(table, " ".join(("python tools/mutate.py", *kernels, *chosen, *(["--first"] if first else []))))
    if out is not None:
        inputs.write(out, page)
    else:
        click.echo(page, nl=False)
    found = sum(o.verdict == "found" for o in table.outcomes)
    click.echo(f"{len(table.outcomes)} mutants: {found} found, {len(table.survivors)} survived", err=True)
    sys.exit(1 if table.survivors else 0)


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


if __name__ == "__main__":
    command()
