"""`hipgemm mutate [KERNEL ...]`: put faults into kernels and see what finds them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hipgemm.mutation import Checks

_SAMPLED = """ Not all were launched, and the
  column says how many, `a of b`: each {n}-th of a kind, and all that lint and proof find no fault in."""
_INTRODUCTION = """\
# The mutation table

Made by `{made}`. One thing at a time is changed in the assembly of a kernel after its last
pass, and three judges that know nothing of one another look at the mutant:

- **lint** (`hipgemm lint`): a fault that the linter does not find in the original;
- **proof**: the one that the kernel's build ends with. Of kernels 5 to 8 (`isa.check.equivalence`): a difference from
  what the compiler wrote for kernel 5, or more instructions on a path than the prover follows where the original has
  few. Of generated kernels (`isa.check.definition`): an element of C that is not what the definition says, an access
  outside, a race in LDS, or what the prover must refuse although it follows the original;
- **check** (`hipgemm check`): a fault in a launch under observers, with beta = 0 and with beta = 0.5, M = 256, N = 384,
  K = 40 (generated kernels: 230, 266, 37), in two schedules; a wrong result is one of them.{sampled}

*Found* is what one of them objects to. *Equivalent* is what is proved to be the same bit for bit (of kernels 5 to 8
with all waits in place), *missed* the rest. What is changed is told at the top of `isa/check/mutate.py`.
"""


@click.command("mutate")
@click.argument("kernels", nargs=-1, metavar="[KERNEL ...]")
@click.option("--vopds", default=16, show_default=True, help="How many VOPDs of a kernel to sample.")
@click.option("--every", default=1, show_default=True, type=click.IntRange(min=1), help="Take each n-th mutant only.")
@click.option("--check", "checks", type=click.Choice(["all", "missed", "none"]), default="all", show_default=True,
              help="Launch all mutants, those that lint and proof pass, none; a launch takes 2 to 3 s.")  # fmt: skip
@click.option("--check-every", default=1, show_default=True, type=click.IntRange(min=1),
              help="Launch each n-th mutant of a kind only, and those that lint and proof pass.")  # fmt: skip
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("-o", "--out", default=None, type=click.Path(path_type=Path), help="Write the table as Markdown here.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds the kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every mutant.")
def command(
    kernels: tuple[str, ...], vopds: int, every: int, checks: Checks, check_every: int, jobs: int, out: Path | None,
    hipcc: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Put faults into kernels (kernel5 to kernel10) one at a time, and see whether linter, prover and a launch under
    observers find them.

    Exit status 0 where all were found or proved equivalent, 1 where one was missed.
    """
    from hipgemm.cli.progress import steps
    from hipgemm.mutation import DEFAULT, markdown, study

    with steps() as progress:
        table = study(
            kernels or DEFAULT, vopds=vopds, every=every, checks=checks, check_every=check_every, jobs=jobs,
            hipcc=hipcc, progress=progress,
        )  # fmt: skip
    sampled = _SAMPLED.format(n=check_every) if check_every > 1 else ""
    made = "hipgemm mutate" + (f" --check-every {check_every}" if check_every > 1 else "") + " -o docs/mutations.md"
    text = "\n".join([_INTRODUCTION.format(made=made, sampled=sampled), *markdown(table)]) + "\n"
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
