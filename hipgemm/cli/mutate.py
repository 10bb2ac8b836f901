"""`hipgemm mutate [KERNEL ...]`: put faults into kernels and see what finds them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

_INTRODUCTION = """\
# The mutation table

Made by `hipgemm mutate -o docs/mutations.md`. One thing at a time is changed in the assembly of a kernel after its last
pass; the linter (`hipgemm lint`) looks at the mutant, and the prover (`isa.check.equivalence`) tries to show that it
still computes what the compiler wrote for kernel 5. *Found* is what either of them objects to: a fault that the linter
does not find in the original, a difference that the prover names, or more instructions on a path than the prover
follows where the original has few. *Equivalent* is what is proved to be the same bit for bit, with all waits in place,
and *missed* the rest. What is changed is told at the top of `isa/check/mutate.py`.
"""


@click.command("mutate")
@click.argument("kernels", nargs=-1, metavar="[KERNEL ...]")
@click.option("--vopds", default=16, show_default=True, help="How many VOPDs of a kernel to sample.")
@click.option("--every", default=1, show_default=True, type=click.IntRange(min=1), help="Take each n-th mutant only.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("-o", "--out", default=None, type=click.Path(path_type=Path), help="Write the table as Markdown here.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds the kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every mutant.")
def command(
    kernels: tuple[str, ...], vopds: int, every: int, jobs: int, out: Path | None, hipcc: Path | None, as_json: bool
) -> None:
    """Put faults into kernels (kernel5 to kernel8) one at a time, and see whether linter and prover find them.

    Exit status 0 where all were found or proved equivalent, 1 where one was missed.
    """
    from hipgemm.cli.progress import steps
    from hipgemm.mutation import DEFAULT, markdown, study

    with steps() as progress:
        table = study(kernels or DEFAULT, vopds=vopds, every=every, jobs=jobs, hipcc=hipcc, progress=progress)
    text = "\n".join([_INTRODUCTION, *markdown(table)]) + "\n"
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)
    if as_json:
        click.echo(json.dumps(table.as_json()))
    elif out is None:
        click.echo(text, nl=False)
    found = sum(o.verdict == "found" for o in table.outcomes)
    click.echo(f"{len(table.outcomes)} mutants: {found} found, {len(table.missed)} missed", err=True)
    sys.exit(1 if table.missed else 0)
