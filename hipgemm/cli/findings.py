"""Findings as the command line shows them: which rules are asked, and JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click

from hipgemm.cli import place
from hipgemm.cli.options import together
from isa.errors import Finding

rule_options = together(
    click.option("--select", multiple=True, metavar="IDS", help="These rules only: ids or prefixes, as LDS,WAIT001."),
    click.option("--ignore", multiple=True, metavar="IDS", help="All rules but these."),
    click.option("--sarif", is_flag=True, help="Print a SARIF 2.1.0 log."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)


def of_rules(findings: Sequence[Finding], ids: Collection[str]) -> list[Finding]:
    """Those whose rule is asked for."""
    return [f for f in findings if f.id in ids]


def as_object(finding: Finding) -> dict[str, object]:
    """One finding as a JSON object."""
    return {
        "severity": finding.severity,
        "id": finding.id,
        "rule": finding.rule,
        "source": finding.source,
        "message": finding.message,
        "place": place(finding.span),
        "where": str(finding.span) if finding.span else finding.where,
        "expected": finding.expected,
        "found": finding.got,
        "help": finding.hint,
        "count": 1 + len(finding.related),
        "related": [
            {"message": r.message, "place": place(r.span), "where": str(r.span) if r.span else r.where}
            for r in finding.related
        ],
    }
