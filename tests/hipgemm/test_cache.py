"""`hipgemm cache`: what it shows and drops."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from isa import cache
from isa.asm.emit import emit
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters


@pytest.fixture(autouse=True)
def two_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("first", "second"):
        cache.make("kind", name, lambda folder: (folder / "file").write_bytes(bytes(900_000)) and None)


def told(*arguments: str) -> dict:
    done = invoked(["cache", *arguments, "--json"])
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
    invoked(["cache", *arguments], code=2)
    assert told()["kinds"][0]["entries"] == 2


KERNEL = Path(__file__).with_name("sources").joinpath("cache_kernel.s").read_text()


VERBS = """
import sys
from hipgemm.cli import main
launch = ["k.s", "--grid", "1", "--block", "32", "--arg", "x=zeros:f32:32"]
for verb in (["run", *launch], ["check", *launch], ["time", *launch], ["prove", "k.s", "--against", "k.s"],
             ["prove", "kernel9", "--assembly", "kernel9.s", "-m", "1", "-n", "1", "-k", "1"],
             ["simulate", "script.py"]):
    try:
        main(verb)
    except SystemExit as end:
        print("exit", verb[0], end.code)
"""


def test_verbs_where_the_folder_takes_nothing(tmp_path: Path) -> None:
    """Each does without, and stderr is told once. Root may write anywhere, but not into a file."""
    (tmp_path / "cache").write_text("a file where the folder would be")
    (tmp_path / "k.s").write_text(KERNEL)
    (tmp_path / "kernel9.s").write_text(emit(generate(Parameters(), "kernel9")))
    (tmp_path / "script.py").write_text("print('ran')")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", VERBS], capture_output=True, text=True, cwd=tmp_path, env=os.environ | environment
    )
    ended = [line for line in done.stdout.splitlines() if line.startswith("exit ")]
    assert ended == [f"exit {verb} 0" for verb in ("run", "check", "time", "prove", "prove", "simulate")], done.stderr
    assert "ran" in done.stdout.splitlines()
    (said,) = [line for line in done.stderr.splitlines() if "can be kept" in line]
    assert f"nothing can be kept in the cache folder {tmp_path / 'cache' / 'hipgemm'} (" in said
    assert "Traceback" not in done.stderr
