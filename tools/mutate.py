"""`python tools/mutate.py [KERNEL ...]`: put faults into kernels and see what finds them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli import Reporting, inputs
from hipgemm.cli.progress import steps
from tools.mutation import DEFAULT, Checks, study
from tools.mutation.mutants import KINDS
from tools.mutation.page import written


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


if __name__ == "__main__":
    command()
