"""Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which editors and forges show.

One run: the rules of the tool, and each finding as a result with its place in the text, or in a code object by name.
Related places (what one change would settle as well) are related locations; `occurrenceCount` counts them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from isa.check.registry import RULES
from isa.check.rules import Rule
from isa.errors import Finding, Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"fault": "error", "note": "note"}


def log(tool: str, found: Iterable[tuple[str, Finding]]) -> dict[str, object]:
    """tool: "lint" or "check"; found: (what was looked at, a finding of it)."""
    from importlib.metadata import version

    rules = [rule for rule in RULES.values() if tool in rule.tools]
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    driver = {"name": f"hipgemm {tool}", "version": version("hipgemm"), "rules": [_rule(rule) for rule in rules]}
    results = [_result(numbers, what, finding) for what, finding in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, object]:
    told = f"{rule.name}: {rule.meaning}"
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": told},
        "help": {"text": f"Source: {rule.source}" if rule.source else told},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(numbers: dict[str, int], what: str, finding: Finding) -> dict[str, object]:
    parts = (("expected", finding.expected), ("found", finding.got), ("help", finding.hint))
    text = "\n".join([finding.message, *(f"{word}: {value}" for word, value in parts if value)])
    result: dict[str, object] = {
        "ruleId": finding.id,
        "ruleIndex": numbers[finding.id],
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(what, finding.span, finding.where)],
        "occurrenceCount": 1 + len(finding.related),
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": k, "message": {"text": r.message}, **_location(what, r.span, r.where)}
            for k, r in enumerate(finding.related, start=1)
        ]
    return result


def _location(what: str, span: Span | None, where: str) -> dict[str, object]:
    """In the text; without one, in what was looked at, by the name of the place."""
    place: dict[str, object] = {"artifactLocation": {"uri": quote(span.file if span else what)}}
    if span is None:
        return {"physicalLocation": place, **({"logicalLocations": [{"fullyQualifiedName": where}]} if where else {})}
    place["region"] = {"startLine": span.line, "startColumn": span.col, "snippet": {"text": span.text}}
    return {"physicalLocation": place}
