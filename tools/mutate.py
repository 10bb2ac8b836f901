"""`python tools/mutate.py [KERNEL ...]`: put faults into kernels and see what finds them."""

from __future__ import annotations

import json
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
@click.option("--every", default=1, show_default=True, type=click.IntRange(min=1), help="Take each n-th mutant only.")
@click.option("--kinds", default=None, help="Of these kinds of changes only, with commas between.")
@click.option("--check", "checks", type=click.Choice(["all", "missed", "none"]), default="all", show_default=True,
              help="Launch all mutants, those that lint and proof pass, none; a launch takes 2 to 8 s.")  # fmt: skip
@click.option("--check-every", default=1, show_default=True, type=click.IntRange(min=1),
              help="Launch each n-th mutant of a kind only, and those that lint and proof pass.")  # fmt: skip
@click.option("--first", is_flag=True,
              help="Ask lint and proof only until one finds the fault, what takes least first.")  # fmt: skip
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option(
    "-o",
    "--out",
    default=None,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Page of Markdown that this study's section is put into.",
)
@click.option("--book", default=None, type=click.Path(dir_okay=False, path_type=Path),
              help="File that keeps each result: the same command goes on from there.")  # fmt: skip
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds the kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every mutant.")
def command(
    kernels: tuple[str, ...], vopds: int, every: int, kinds: str | None, checks: Checks, check_every: int, first: bool,
    jobs: int, out: Path | None, book: Path | None, hipcc: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Put faults into kernels (kernel5 to kernel10) one at a time, and see whether linter, prover and a launch under
    the sanitizer find them.

    Exit status 0 where all were found or proved equivalent, 1 where some survived.
    """
    if out is not None:
        inputs.writable(out)
    page = out.read_text() if out is not None and out.exists() else ""
    with steps() as progress:
        table = study(
            kernels or DEFAULT, vopds=vopds, every=every, checks=checks, check_every=check_every, first=first,
            jobs=jobs, hipcc=hipcc, book=book, progress=progress, kinds=kinds.split(",") if kinds else KINDS,
        )  # fmt: skip
    said = {
        "--vopds": (vopds, 16),
        "--every": (every, 1),
        "--kinds": (kinds, None),
        "--check": (checks, "all"),
        "--check-every": (check_every, 1),
    }
    chosen = [f"{name} {value}" for name, (value, usual) in said.items() if value != usual]
    made = " ".join(("python tools/mutate.py", *kernels, *chosen, *(["--first"] if first else [])))
    if out is not None:
        inputs.write(out, written(page, table, made))
    if as_json:
        click.echo(json.dumps(table.as_json()))
    elif out is None:
        click.echo(written("", table, made), nl=False)
    found = sum(o.verdict == "found" for o in table.outcomes)
    click.echo(f"{len(table.outcomes)} mutants: {found} found, {len(table.survivors)} survived", err=True)
    sys.exit(1 if table.survivors else 0)


if __name__ == "__main__":
    command()
