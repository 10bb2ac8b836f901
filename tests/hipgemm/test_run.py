"""From `hipgemm.run` and the command line to a checked result, through hip-python, with a small card after it.

The code objects are those that the build makes; what their kernels compute is the small card's to say.
"""

import dataclasses
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verbs import Run

from hipgemm.kernels.ladder import LADDER
from hipgemm.measure.result import Result

START = Path(__file__).with_name("programs").joinpath("run", "start.inc").read_text()
COMMAND = START + "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"


def test_command_prints_one_json_object(run_program: Run) -> None:
    done = run_program(COMMAND, "run", "kernel2", "-n", "96", "-m", "32", "--beta", "1", "--json")
    result = json.loads(done.stdout)
    wanted = (
        "kernel, m, n, k, alpha, beta, arch, device, simulated, correct, max_abs_error, tolerance, time_ms, "
        "time_kind, tflops, vgprs, sgprs, lds_bytes"
    ).split(", ")
    assert not set(wanted) - result.keys()
    assert (result["m"], result["n"], result["k"]) == (32, 96, 96)
    assert result["correct"] is True
    assert result["time_ms"] is None
    assert result["time_kind"] == "none"
    assert all(line.startswith("... ") for line in done.stderr.splitlines()), "progress, on a slow machine"


def test_a_wrong_answer_is_exit_status_1(run_program: Run) -> None:
    program = COMMAND.replace("options = {}", "options = {'bodies': {'kernel1': wrong_gemm}}")
    done = run_program(program, "run", "kernel1", "-n", "20", code=1)
    assert "WRONG in 1 of 400 elements" in done.stdout
    assert "C[19, 19]" in done.stdout
    done = run_program(program, "run", "kernel1", "-n", "20", "--json", code=1)
    assert json.loads(done.stdout)["worst"][:2] == [19, 19]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "kernel99"], "help: did you mean kernel9?"),
        (["run", "kernel3", "-n", "100"], "cannot take N = 100\n  expected: a multiple of 128"),
        (["run", "kernel1", "-n", "0"], "n must be at least 1"),
        (["run", "kernel1", "-n", "16", "-m", "0"], "m must be at least 1"),
        (["time", "kernel1", "-n", "0"], "n must be at least 1"),
        (["run", "kernel1", "-n", "16", "--repeats", "0"], "not in the range x>=1"),
        (["run", "kernel1", "-n", "many"], "not a valid integer"),
        (["fly"], "there is no verb 'fly'"),
    ],
)
def test_bad_input_is_exit_status_2_and_no_traceback(run_program: Run, arguments: list[str], said: str) -> None:
    done = run_program(COMMAND, *arguments, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_list_and_doctor(run_program: Run) -> None:
    ladder = json.loads(run_program(COMMAND, "list", "--json").stdout)["kernels"]
    assert [row["name"] for row in ladder] == list(LADDER)
    assert "register tiling" in run_program(COMMAND, "list").stdout
    doctor = json.loads(run_program(COMMAND, "doctor", "--json").stdout)
    facts = {fact["name"]: fact for fact in doctor["facts"]}
    assert doctor["ok"]
    assert facts["disassembler"]["found"]
    assert facts["native code"]["found"]
    assert {"driver", "ROCm", "rocBLAS", "amdsmi"} <= facts.keys()
    assert facts["hip-python"]["detail"] == importlib.metadata.version("hip-python")


def test_importing_is_light() -> None:
    """Nothing heavy comes with the package, nor with the command line's help."""
    program = (
        "import sys, hipgemm, hipgemm.cli\n"
        "hipgemm.cli.main(['-h'], standalone_mode=False)\n"
        "heavy = {'numpy', 'llvmlite', 'hip', 'rocm', 'jinja2', 'rich', 'msgpack'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


WRONG = Result(
    kernel="kernel1", m=1, n=1, k=1, alpha=1.0, beta=0.0, data="random", seed=0, arch="gfx1100", device="<a card>",
    simulated=True, correct=False, max_abs_error=None, tolerance=1e-7, time_ms=None, mean_ms=None, runs=1,
    time_kind="none", vgprs=8, sgprs=16, lds_bytes=0, scratch_bytes=0, wrong=1, worst=(0, 0, float("nan"), 0.5),
)  # fmt: skip


def test_to_json_has_no_nan() -> None:
    assert json.loads(WRONG.to_json())["worst"] == [0, 0, "nan", 0.5]


@pytest.mark.parametrize("result", [WRONG, dataclasses.replace(WRONG, correct=True, wrong=0, worst=None)])
def test_a_notebook_shows_the_same_rows(result: Result, read_page: Callable[[str], Any]) -> None:
    page = read_page(result._repr_html_())
    assert page.requests == []
    shown = iter(page.words[page.words.index("kernel1") + 1 :])
    assert list(zip(shown, shown, strict=True)) == result.rows()
    assert ("bad" in page.classes) is not result.correct
