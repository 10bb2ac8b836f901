"""`hipgemm lint FILE|KERNEL`: what an assembler accepts and a card does not forgive."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from hipgemm.cli.findings import as_object, of_rules, rule_options
from isa.errors import Finding


def _list_rules(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """What `--rules` prints."""
    if not wanted or context.resilient_parsing:
        return
    from isa.check.registry import RULES

    for rule in RULES.values():
        click.echo(f"{rule.id:8} {rule.severity:6} {'+'.join(rule.tools):11} {rule.name}: {rule.meaning}")
    context.exit()


@click.command("lint")
@click.argument("what", metavar="FILE|KERNEL")
@click.option("--kernel", "name", default=None, help="Check one kernel of the file, not all.")
@click.option("--faults-only", is_flag=True, help="Leave notes out.")
@click.option("--hipcc", default=None, type=click.Path(path_type=Path), help="The hipcc that builds KERNEL.")
@click.option("--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules,
              help="List the rules of lint and check.")  # fmt: skip
@rule_options
def command(
    what: str, name: str | None, faults_only: bool, hipcc: Path | None, select: tuple[str, ...],
    ignore: tuple[str, ...], sarif: bool, as_json: bool,
) -> None:  # fmt: skip
    """Check a gfx11 assembly file (- for stdin), a code object, or a kernel of the ladder, which is built first.

    Faults: illegal instructions, registers read before their load has landed, LDS shared without a barrier, registers
    nobody wrote, counts that disagree. Notes: waits that do nothing or too much, values nobody reads.

    A comment `; hipgemm: ignore LDS001` is for its line, or for the next one where it stands alone.

    Exit status 0 without faults, 1 with faults, 2 where the input cannot be read.
    """
    from isa.check.registry import chosen

    ids = chosen(select, ignore)
    found = of_rules(_findings(what, name, hipcc, not faults_only), ids)
    faults = sum(f.severity == "fault" for f in found)
    if sarif:
        from hipgemm.cli.sarif import log

        click.echo(json.dumps(log("lint", ((what, f) for f in found))))
    elif as_json:
        click.echo(json.dumps({"input": what, "faults": faults, "findings": [as_object(f) for f in found]}))
    else:
        for finding in found:
            click.echo(f"{finding}\n")
        click.echo(f"{what}: {faults} faults, {len(found) - faults} notes", err=True)
    sys.exit(1 if faults else 0)


def _findings(what: str, name: str | None, hipcc: Path | None, notes: bool) -> list[Finding]:
    from hipgemm.cli import inputs
    from isa.asm.program import Program
    from isa.check import suppress
    from isa.check.lint import lint_code_object, lint_program

    given = inputs.read(what, hipcc)
    if not isinstance(given, Program):
        return lint_code_object(given, what, name, notes=notes)
    found = suppress.apply(lint_program(given, name, notes=notes), given, "lint", suppress.lines_of(given, name))
    return [f for f in found if notes or f.severity == "fault"]
