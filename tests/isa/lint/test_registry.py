"""The rules' registry: what is found is one of it, what stands in it is found somewhere, the docs hold it whole."""

import re
from pathlib import Path

import pytest

from isa.errors import IsaError
from isa.lint.registry import RULES, chosen

ROOT = Path(__file__).parents[3]


def test_ids_and_names_say_one_thing() -> None:
    assert all(re.fullmatch(r"[A-Z]{3,4}\d{3}", id) for id in RULES)
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert {rule.severity for rule in RULES.values()} == {"fault", "note"}


def test_each_rule_is_asked_for_somewhere() -> None:
    files = [p for folder in ("isa", "hipgemm") for p in (ROOT / folder).rglob("*.py") if p.name != "registry.py"]
    code = "".join(p.read_text() for p in files)
    assert [id for id in RULES if f'"{id}"' not in code] == []


@pytest.mark.parametrize("tool", ["lint", "check"])
def test_the_table_in_the_docs_is_the_registry(tool: str) -> None:
    rows = {
        f"| {r.id} | {r.name} | {r.meaning} | {r.severity} | {r.source} |" for r in RULES.values() if tool in r.tools
    }
    told = (ROOT / "docs" / f"{tool}.md").read_text().splitlines()
    assert {line for line in told if re.match(r"\| [A-Z]{3,4}\d{3} \|", line)} == rows


def test_ids_and_prefixes() -> None:
    everything = frozenset(RULES)
    assert chosen([], []) == everything
    assert chosen(["LDS001"], []) == {"LDS001"}
    assert chosen(["lds, WAIT001"], []) == {id for id in RULES if id.startswith("LDS") or id == "WAIT001"}
    assert chosen([], ["VOPD"]) == {id for id in RULES if not id.startswith("VOPD")}
    assert chosen(["WAIT"], ["WAIT00"]) == frozenset()


@pytest.mark.parametrize("name", ["NOPE", "", "LDS001,", "LDS0011"])
def test_what_is_no_rule_is_refused(name: str) -> None:
    with pytest.raises(IsaError, match="there is no rule"):
        chosen([name], [])
