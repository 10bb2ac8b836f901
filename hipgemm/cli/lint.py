"""`hipgemm lint FILE|KERNEL`: what an assembler accepts and a card does not forgive."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from hipgemm.cli.findings import as_object
from isa.errors import Finding


@click.command("lint")
@click.argument("what", metavar="FILE|KERNEL")
@click.option("--kernel", "name", default=None, help="Check one kernel of the file, not all.")
@click.option("--faults-only", is_flag=True, help="Leave notes out.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(what: str, name: str | None, faults_only: bool, hipcc: Path | None, as_json: bool) -> None:
    """Check a gfx11 assembly file (- for stdin), a code object, or a kernel of the ladder, which is built first.

    Faults: illegal instructions, registers read before their load has landed, LDS shared without a barrier, registers
    nobody wrote, counts that disagree. Notes: waits that do nothing or too much, values nobody reads.

    Exit status 0 without faults, 1 with faults, 2 where the input cannot be read.
    """
    found = _findings(what, name, hipcc, not faults_only)
    faults = sum(f.severity == "fault" for f in found)
    if as_json:
        click.echo(json.dumps({"input": what, "faults": faults, "findings": [as_object(f) for f in found]}))
    else:
        for finding in found:
            click.echo(f"{finding}\n")
        click.echo(f"{what}: {faults} faults, {len(found) - faults} notes", err=True)
    sys.exit(1 if faults else 0)


def _findings(what: str, name: str | None, hipcc: Path | None, notes: bool) -> list[Finding]:
    from hipgemm.cli import inputs
    from isa.check.lint import lint_code_object, lint_program
    from isa.program import Program

    given = inputs.read(what, hipcc)
    if isinstance(given, Program):
        return lint_program(given, name, notes=notes)
    return lint_code_object(given, what, name, notes=notes)
