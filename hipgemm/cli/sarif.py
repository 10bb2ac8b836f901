"""SARIF output: findings -> SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which editors and forges
show.

One run: the rules of the tool, and each finding as a result with its place in the text, or in a code object by name.
Where the line of the source is known that an instruction comes from, that is the place, and the assembly a related one.
Related places (what one change would settle as well) are related locations; `occurrenceCount` counts them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from isa.errors import Finding, Span
from isa.lint.names import Rule
from isa.lint.registry import RULES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"fault": "error", "note": "note"}


def log(tool: str, found: Iterable[tuple[str, Finding]], assumed: Sequence[str] = ()) -> dict[str, object]:
    """found: (what was looked at, a finding of it), by lint or by check; assumed: what it holds under, in words."""
    from importlib.metadata import version

    rules = [rule for rule in RULES.values() if tool in rule.tools]
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    driver = {"name": f"hipgemm {tool}", "version": version("hipgemm"), "rules": [_rule(rule) for rule in rules]}
    results = [_result(numbers, *one) for one in found]
    run: dict[str, object] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if assumed:
        run["properties"] = {"assumed": list(assumed)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, object]:
    text = f"{rule.name}: {rule.meaning}"
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": text},
        "help": {"text": f"Source: {rule.source}" if rule.source else text},
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
    related = [(r.message, r.user_place, r.where) for r in finding.related]
    if finding.span and (origin := finding.origin):
        result["locations"] = [_location(what, Span(_from_here(origin.file), origin.line, 1, origin.text), "")]
        callers = [
            (call.partition(f" {c}")[0], c.span, "") for call, c in zip(origin.calls(), origin.callers, strict=True)
        ]
        related[:0] = [*([("the instruction", finding.span, "")] if origin.macro is None else []), *callers]
    if related:
        result["relatedLocations"] = [
            {"id": k, "message": {"text": message}, **_location(what, span, where)}
            for k, (message, span, where) in enumerate(related, start=1)
        ]
    return result


def _from_here(file: str) -> str:
    """Relative to the folder that the command runs in, where the file lies in it, as forges know the files."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _location(what: str, span: Span | None, where: str) -> dict[str, object]:
    """In the text; without one, in what was looked at, by the name of the place."""
    place: dict[str, object] = {"artifactLocation": {"uri": quote(span.file if span else what)}}
    if span is None:
        return {"physicalLocation": place, **({"logicalLocations": [{"fullyQualifiedName": where}]} if where else {})}
    place["region"] = {"startLine": span.line, "startColumn": span.col, "snippet": {"text": span.text}}
    return {"physicalLocation": place}
