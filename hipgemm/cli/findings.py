"""Findings as the command line shows them."""

from __future__ import annotations

from isa.errors import Finding


def as_object(finding: Finding) -> dict[str, object]:
    """One finding as a JSON object."""
    span = finding.span
    place = {"file": span.file, "line": span.line, "col": span.col, "text": span.text} if span else None
    return {
        "severity": finding.severity,
        "id": finding.id,
        "rule": finding.rule,
        "source": finding.source,
        "message": finding.message,
        "place": place,
        "where": str(span) if span else finding.where,
        "expected": finding.expected,
        "found": finding.got,
        "next": finding.hint,
    }
