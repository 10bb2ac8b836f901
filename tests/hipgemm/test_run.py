"""From `hipgemm.run` and the command line to a checked result, through hip-python, with a small card after it.

The code objects are those that the build makes; what their kernels compute is the small card's to say.
"""

import dataclasses
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hipgemm.kernels.ladder import LADDER
from hipgemm.measure.result import Result

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
from small_card import *
import small_card
from hipgemm import simulated_hip
import hipgemm
options = {}
cards = []
def make():
    cards.append(SmallCard(**options))
    return cards[-1]
simulated_hip.install(make)
"""
COMMAND = START + "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"


def test_run_gives_a_result(run_program: Run) -> None:
    run_program(
        START
        + """
options["time_s"] = 0.001
r = hipgemm.run("kernel5", n=256, m=384, k=64, alpha=1.5, beta=-0.5, seed=7)
assert r.correct and r.simulated and r.arch == "gfx1100" and (r.m, r.n, r.k) == (384, 256, 64)
assert r.max_abs_error <= r.tolerance < 1e-3
assert r.time_kind == "predicted" and abs(r.time_ms - 1) < 1e-3 and r.runs == 1
assert abs(r.tflops - (2 * 384 * 256 * 64 + 3 * 384 * 256) / 0.001 / 1e12) < 1e-4
assert 128 < r.vgprs <= 256 and r.lds_bytes > 8192 and r.scratch_bytes == 0
(name, grid, block, kernarg, lds), = cards[0].launches
assert (name, grid, block, lds) == ("kernel5", (2, 3, 1), (128, 1, 1), 0)
assert struct.unpack_from("<iiiff", kernarg, 24) == (384, 256, 64, 1.5, -0.5)
assert cards[0].memory.live.keys() == {cards[0].variable}, "all memory is given back"
text = repr(r)
assert "correct" in text and "1.0000 ms predicted" in text and "384 x 256" in text
"""
    )


def test_an_unknown_time_is_none(run_program: Run) -> None:
    run_program(
        START
        + """
r = hipgemm.run("kernel1", n=17, m=3, k=5)
assert r.correct and r.time_kind == "none" and r.time_ms is r.tflops is r.mean_ms is None
assert "not known" in repr(r)
"""
    )


def test_a_prediction_keeps_its_band(run_program: Run) -> None:
    """Of one launch, which is the one that is judged, and of several."""
    run_program(
        START
        + """
options.update(time_s=0.001, band_s=(0.0009, 0.0012))
for repeats in (None, 1, 3):
    r = hipgemm.run("kernel1", n=32, repeats=repeats)
    assert r.runs == (repeats or 1) and len(cards[0].launches) == r.runs, (repeats, r.runs)
    assert [round(ms, 6) for ms in r.band_ms] == [0.9, 1.2], (repeats, r.band_ms)
    assert "(0.9000 to 1.2000)" in repr(r)
    cards[0].launches.clear()
"""
    )


def test_c_comes_back_on_request_bit_for_bit(run_program: Run) -> None:
    run_program(
        START
        + """
from hipgemm.kernels.ladder import LADDER
from hipgemm.measure.measure import measure
from hipgemm.launch.problem import Problem
p = Problem(128, 128, 8)
one, two = (measure(LADDER[k], p, device="simulated").c for k in ("kernel1", "kernel5"))
assert one.shape == (128, 128) and one.tobytes() == two.tobytes()
"""
    )


def test_a_fault_arrives_with_its_whole_text(run_program: Run) -> None:
    run_program(
        START
        + """
options["bodies"] = {"kernel3": fault}
try:
    hipgemm.run("kernel3", n=128)
except Fault as error:
    assert error.address == 64 and "outside every allocation" in str(error)
else:
    raise SystemExit("no error")
assert cards[0].memory.live.keys() == {cards[0].variable}, "memory is given back after a fault, too"
assert hipgemm.run("kernel2", n=128).correct
"""
    )


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
