"""`hipgemm prove`: what it takes, what it says, what it exits with."""

import json
from pathlib import Path

from click.testing import CliRunner

from hipgemm.build import build
from hipgemm.cli import main


def test_a_size_of_ones_own() -> None:
    done = CliRunner().invoke(main, ["prove", "kernel9", "-n", "40", "-k", "9", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["verdict"] == "proved"
    assert said["assumptions"][0] == "M x N x K is one of 40 x 40 x 9"
    assert said["counts"]["elements"] == 2 * 1600


def test_workgroups_that_stay() -> None:
    done = CliRunner().invoke(main, ["prove", "kernel10", "-n", "40", "-k", "17", "--groups", "2"])
    assert done.exit_code == 0, done.output
    assert "40 x 40 x 17 by 2 workgroups" in done.stdout
    assert "assuming workgroups run together\n" in done.stdout


def test_an_edited_kernel_that_is_wrong(tmp_path: Path) -> None:
    text = build("kernel9").assembly.read_text()
    edited = tmp_path / "edited.s"
    edited.write_text(text.replace("s_lshr_b32 s19, s19, 3", "s_lshr_b32 s19, s19, 2"))
    done = CliRunner().invoke(main, ["prove", "kernel9", "--assembly", str(edited)])
    assert done.exit_code == 1
    assert done.stdout.startswith("different: kernel9 does not compute alpha A B + beta C")
    assert f"{edited}:" in done.stdout


def test_a_rewritten_kernel() -> None:
    done = CliRunner().invoke(main, ["prove", "kernel6"])
    assert done.exit_code == 0, done.output
    assert "bit for bit" in done.stdout


def test_what_it_does_not_take() -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["prove", "kernel6", "-n", "128"]).exit_code == 2
    assert runner.invoke(main, ["prove", "kernel9", "-m", "128"]).exit_code == 2
    done = runner.invoke(main, ["prove", "kernel5"])
    assert done.exit_code == 0, done.output
