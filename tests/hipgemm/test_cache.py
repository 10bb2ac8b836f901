"""`hipgemm cache`: what it shows and drops."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hipgemm.cli import main
from isa import cache


@pytest.fixture(autouse=True)
def two_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("first", "second"):
        cache.make("kind", name, lambda folder: (folder / "file").write_bytes(bytes(900_000)) and None)


def told(*arguments: str) -> dict:
    done = CliRunner().invoke(main, ["cache", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_show_drops_nothing() -> None:
    assert "2 entries" in CliRunner().invoke(main, ["cache"]).stdout
    found = told("show")
    assert (found["dropped"], found["freed"]) == (0, 0)
    assert found["folder"] == str(cache.root())
    assert [(kind["kind"], kind["entries"]) for kind in found["kinds"]] == [("kind", 2)]
    assert found["bytes"] == found["kinds"][0]["bytes"] > 1_800_000


def test_limit_and_clear() -> None:
    assert told("limit", "2")["dropped"] == 0
    assert told("limit", "1")["dropped"] == 1
    assert told("clear")["dropped"] == 1
    assert told()["bytes"] == 0


@pytest.mark.parametrize("arguments", [["limit"], ["show", "5"], ["clear", "5"], ["limit", "-1"], ["burn"]])
def test_refusals(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["cache", *arguments]).exit_code == 2
    assert told()["kinds"][0]["entries"] == 2
