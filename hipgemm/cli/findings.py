"""Findings as the command line shows them: which rules are asked, and JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from hipgemm.cli import came_from, options, place, say
from isa.errors import Finding

rule_options = options.together(
    click.option("--select", multiple=True, metavar="IDS", help="These rules only: ids or prefixes, as LDS,WAIT001."),
    click.option("--ignore", multiple=True, metavar="IDS", help="All rules but these."),
    click.option(
        "--listing",
        default=None,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="For a code object: write its instructions to this file, and refer to its lines.",
    ),
    click.option("--sarif", is_flag=True, help="Print a SARIF 2.1.0 log."),
    options.as_json,
)


def of_rules(findings: Sequence[Finding], ids: Collection[str]) -> list[Finding]:
    """Those whose rule is asked for."""
    return [f for f in findings if f.id in ids]


def show(what: str, findings: Sequence[Finding]) -> None:
    """Prints them, and how many there are."""
    from hipgemm.report.findings import counted

    for finding in findings:
        say(f"{finding}\n")
    say(f"{what}: {counted(findings)}", err=True)


def listed(findings: Sequence[Finding], code: object, kernels: Collection[str], file: Path | None) -> list[Finding]:
    """The findings of a code object with places in its listing, which is written; as they are where none is wanted."""
    from hipgemm.cli import inputs
    from hipgemm.judge.inspection.listing import Listing
    from isa.object.code_object import CodeObject

    if file is None:
        return list(findings)
    if not isinstance(code, CodeObject):
        raise click.UsageError("--listing is for code objects: findings of HIP source and assembly name their lines")
    made = Listing(code, str(file), kernels)
    inputs.write(inputs.writable(file), str(made))
    return made.pointed(findings)


def as_object(finding: Finding) -> dict[str, object]:
    """One finding as a JSON object."""
    return {
        "severity": finding.severity,
        "id": finding.id,
        "rule": finding.rule,
        "source": finding.source,
        "message": finding.message,
        "place": place(finding.user_place),
        "where": str(finding.user_place) if finding.user_place else finding.where,
        "assembly": place(finding.span),
        "from": came_from(finding.origin),
        "expected": finding.expected,
        "found": finding.got,
        "help": finding.hint,
        "count": 1 + len(finding.related),
        "related": [
            {
                "message": r.message,
                "place": place(r.user_place),
                "where": str(r.user_place) if r.user_place else r.where,
                "assembly": place(r.span),
            }
            for r in finding.related
        ],
    }
