"""A sample of the mutation table; `hipgemm mutate` makes all of it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from hipgemm.mutation import study


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_sample_is_found_or_proved_equivalent() -> None:
    table = study(["kernel5", "kernel8"], vopds=4, every=23, checks="none", jobs=2)
    assert len(table.outcomes) > 20
    assert not table.missed
    assert {o.verdict for o in table.outcomes} <= {"found", "equivalent"}
    assert all(statement.startswith("proved: ") for statement in table.proofs.values())


def test_so_are_those_of_a_generated_kernel() -> None:
    table = study(["kernel9"], vopds=4, every=37, checks="none", jobs=2)
    assert len(table.outcomes) > 10
    assert not table.missed
    assert table.faults["kernel9"] == {}
    assert "by definition" in table.proofs["kernel9"]


def test_launches_find_them_too() -> None:
    table = study(["kernel5"], vopds=4, every=23, jobs=2)
    assert table.checks == {"kernel5": ""}
    found = [o for o in table.outcomes if o.verdict == "found" and o.kind != "count shrunk"]
    assert all(o.check for o in found)
    assert not any(o.check for o in table.outcomes if o.reason)


def test_the_verb(tmp_path: Path) -> None:
    out = tmp_path / "docs" / "mutations.md"
    result = CliRunner().invoke(
        main,
        [
            "mutate",
            "kernel5",
            "--vopds",
            "1",
            "--every",
            "60",
            "--check",
            "missed",
            "--jobs",
            "1",
            "--json",
            "-o",
            str(out),
        ],
    )
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert {o["kernel"] for o in shown["outcomes"]} == {"kernel5"}
    assert "| **kernel5** | **all** |" in out.read_text()


@pytest.mark.slow
def test_all_of_them() -> None:
    assert not study(jobs=2, checks="missed").missed
