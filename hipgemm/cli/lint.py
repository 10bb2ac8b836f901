"""`hipgemm lint FILE|KERNEL`: what an assembler accepts and a card does not forgive."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from hipgemm.cli.findings import as_object, listed, of_rules, rule_options, show

if TYPE_CHECKING:
    from isa.errors import Finding


def _list_rules(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """What `--rules` prints."""
    if not wanted or context.resilient_parsing:
        return
    from isa.lint.registry import RULES

    say([(f"{r.id:8} {r.severity:6} {'+'.join(r.tools)}", f"{r.name}: {r.meaning}") for r in RULES.values()])
    context.exit()


@click.command("lint", cls=options.KernelCommand)
@click.argument("what", metavar="FILE|FOLDER|KERNEL...", nargs=-1, required=True, shell_complete=options.kernel_names)
@click.option("--faults-only", is_flag=True, help="Leave notes out.")
@click.option("--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules,
              help="List the rules of lint and check.")  # fmt: skip
@options.assume
@options.code
@rule_options
def command(
    what: tuple[str, ...], faults_only: bool, assume: tuple[str, ...], code: options.CodeOptions,
    select: tuple[str, ...], ignore: tuple[str, ...], listing: Path | None, sarif: bool, as_json: bool,
) -> None:  # fmt: skip
    """Check HIP source, assembly (- for stdin), code objects, libraries with kernels, folders of these, or kernels of
    the ladder: all kernels in them.

    Faults: illegal instructions, registers read before their load is complete, LDS shared without a barrier,
    uninitialized registers, counts that disagree. Notes: redundant or too strict waits, values never read.

    With --assume, only paths that launches with this argument take; kernels without it are looked at whole.

    A comment `; hipgemm: ignore LDS001` applies to its line or, on a line of its own, to the next line of code.

    Exit status 0 without faults, 1 with faults, 2 where the input cannot be read.
    """
    from isa.errors import IsaError
    from isa.lint.registry import chosen

    ids = chosen(select, ignore)
    given = [file for one in what for file in ([one] if not Path(one).is_dir() else _with_kernels(Path(one)))]
    if not given:
        raise IsaError(f"no kernels in {', '.join(what)}", expected="HIP source, assembly, code objects or libraries")
    looked: list[Looked] = []
    unread = 0
    for one in given:
        try:
            looked.append(_looked(one, ids, assume, code, listing, faults_only))
        except IsaError as error:
            if len(given) == 1:
                raise
            unread += 1
            say(f"hipgemm: {error if one in str(error) else f'{one}: {error}'}", err=True)
    if sarif:
        from hipgemm.cli.sarif import log

        pairs = [(here.what, finding) for here in looked for finding in here.found]
        click.echo(json.dumps(log("lint", pairs, [said for here in looked for said in here.said])))
    elif as_json:
        objects = [here.as_object() for here in looked]
        several = {"faults": sum(here.faults for here in looked), "unread": unread, "inputs": objects}
        answer("lint", objects[0] if len(given) == 1 else several)
    else:
        for here in looked:
            for sentence in here.said:
                say(f"{here.what}: assuming that {sentence}")
            show(here.what, here.found)
    sys.exit(2 if unread else int(any(here.faults for here in looked)))


def _with_kernels(folder: Path) -> list[str]:
    from hipgemm.judge.inspection.audit import files_with_kernels

    return files_with_kernels(folder)


@dataclass(frozen=True)
class Looked:
    """What was found in an input. said: what was assumed, in sentences."""

    what: str
    found: list[Finding]
    said: list[str]

    @property
    def faults(self) -> int:
        return sum(finding.severity == "fault" for finding in self.found)

    def as_object(self) -> dict[str, object]:
        findings = [as_object(finding) for finding in self.found]
        return {"input": self.what, "faults": self.faults, "assumed": self.said, "findings": findings}


def _looked(
    what: str, ids: Collection[str], assume: tuple[str, ...], code: options.CodeOptions, listing: Path | None,
    faults_only: bool,
) -> Looked:  # fmt: skip
    from hipgemm.cli import inputs
    from hipgemm.judge.assumed import of_kernels
    from hipgemm.judge.inspection.linting import kept_lint
    from hipgemm.kernels.ladder import Gemm
    from hipgemm.kernels.source_lines import in_source

    found: list[Finding] = []
    said: list[str] = []
    kernels = code.kernels(what)
    if listing and len(kernels) > 1:
        raise click.UsageError(f"--listing takes one code object, and {what} has {len(kernels)}: name a kernel")
    what = inputs.called(what)
    files = [code.readable(kernel) for kernel in kernels]
    facts = None
    if assume and isinstance(kernels[0], Gemm):
        from hipgemm.judge import proving

        facts = proving.facts(kernels[0])
    for kernel, given, held in zip(kernels, files, of_kernels(assume, files, code.name, facts), strict=True):
        every = len(held) == len([code.name] if code.name else given.kernels)
        said += [s if every else f"in {name}, {s}" for name, one in held.items() for s in one.sentences]
        known = {name: one.known for name, one in held.items()}
        here = of_rules(kept_lint(kernel, given, what, code.name, notes=not faults_only, assumed=known), ids)
        here = in_source(here, given, code.source_lines(kernel, given))
        found += listed(here, given, [code.name] if code.name else list(given.kernels), listing)
    return Looked(what, found, list(dict.fromkeys(said)))
