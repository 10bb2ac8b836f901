"""Examples to begin with: each, as it is written, runs and is right, and the comparison can say no."""

import json
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from hipgemm.cli import main
from hipgemm.cli.example import EXAMPLES, write


def ran(name: str, folder: Path) -> tuple[int, dict]:
    """Exit status and result of `hipgemm run` in a process of its own."""
    mode = ("--cu-mode", "-n", "256") if name == "kernel5" else ()
    words = (sys.executable, "-m", "hipgemm", "run", f"{name}.hip", "--json", *mode)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def example(*words: str) -> Result:
    return CliRunner().invoke(main, ["example", *words])


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_and_is_right(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    status, said = ran(name, tmp_path)
    assert (status, said["correct"]) == (0, True), said


def test_another_answer_is_wrong(tmp_path: Path) -> None:
    write("histogram", tmp_path)
    counts = np.load(tmp_path / "counts.npy")
    counts[7] += 1
    np.save(tmp_path / "counts.npy", counts)
    status, said = ran("histogram", tmp_path)
    assert (status, said["correct"]) == (1, False)


def test_the_list_has_a_line_each() -> None:
    lines = example().stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(EXAMPLES)
    assert json.loads(example("--json").stdout)["examples"].keys() == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_command_that_is_printed_is_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = [line.split()[1:] for line in example(name).stdout.splitlines() if line.startswith("  hipgemm ")]
    assert len(printed) == 5
    for verb, *words in printed:
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        # UsageError where a word or an option is missing, or not the verb's.
        command.make_context(verb, words, parent=main.make_context("hipgemm", [verb]))


def test_writing_twice_is_no_error_and_loses_nothing(tmp_path: Path) -> None:
    folder = str(tmp_path / "new")
    assert example("softmax", "-o", folder).exit_code == 0
    assert example("softmax", "-o", folder).exit_code == 0
    mine = tmp_path / "new" / "softmax.hip"
    mine.write_text("mine")
    refused = example("softmax", "-o", folder)
    assert refused.exit_code == 2
    assert "softmax.hip exists" in refused.stderr
    assert mine.read_text() == "mine"
    assert example("softmax", "-o", folder, "--force").exit_code == 0
    assert mine.read_text() != "mine"


def test_no_such_example() -> None:
    refused = example("softmx")
    assert refused.exit_code == 2
    assert "did you mean softmax?" in refused.stderr
