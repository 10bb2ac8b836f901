"""`hipgemm check`: the ladder is clean, mutants of it are not, and what the command takes and exits with."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from hipgemm.judge.checking import Schedules, check
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import LADDER, rung
from hipgemm.launch.gemm import gemm
from hipgemm.launch.problem import Problem
from isa import toolchain
from isa.asm.parse import parse
from isa.errors import Finding
from isa.lint.lint import lint_code_object
from isa.object.code_object import load
from isa.object.lines import Lines

# 6 and 7 are on the way from 5 to 8.
RUNGS = [pytest.param(name, marks=pytest.mark.slow if name in ("kernel6", "kernel7") else []) for name in LADDER]
SIZES = [(128, 128, 128), (256, 256, 256), (384, 128, 64)]
SPIN = Path(__file__).with_name("sources").joinpath("check_spin.s").read_text()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_the_ladder_is_clean(name: str, size: tuple[int, int, int]) -> None:
    built = build(name)
    problem = Problem(*size, beta=0.5 if size == SIZES[2] else 0.0)
    assert check(built.code_object(), name, gemm(rung(name), problem)) == []


# --- mutants: one line of kernel 8 or 5 changed


def checked(name: str, text: str, n: int = 128) -> list[Finding]:
    assemble = toolchain.find().code_object
    code, launch = load(assemble(text)), gemm(rung(name), Problem(n, n, n))
    lines = Lines(parse(text, f"{name}.s"), code, assemble)
    return check(code, name, launch, lines=lines, schedules=Schedules(2))


def changed(name: str, pattern: str, new: Callable[[re.Match[str]], str] | str, number: int = 0) -> tuple[str, int]:
    """The kernel's assembly with the `number`-th line that matches replaced; and that line, from 1."""
    lines = build(name).assembly.read_text().splitlines()
    at = [i for i, line in enumerate(lines) if re.search(pattern, line)][number]
    lines[at] = re.sub(pattern, new, lines[at])
    return "\n".join(lines) + "\n", at + 1


MUTANTS: dict[str, tuple[str, Callable[[re.Match[str]], str] | str, int, set[str]]] = {
    "the first barrier is gone": (r"^\ts_barrier.*", "", 0, {"LDS race"}),
    "the last barrier is gone": (r"^\ts_barrier.*", "", -1, {"LDS race"}),
    "another offset in LDS": (
        r"(ds_load_b\w+ .* offset:)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 16}", 3,
        {"wrong result", "uninitialized LDS read", "LDS race"},
    ),
    "an accumulator that nobody cleared": (
        r"^\tv_dual_mov_b32 (v\d+), 0 :: v_dual_mov_b32 (v\d+), 0.*", "", 5, {"uninitialized register read"},
    ),
}  # fmt: skip
LATER = [pytest.param("kernel8", mutant, marks=pytest.mark.slow) for mutant in list(MUTANTS)[:2]]


@pytest.mark.parametrize(("name", "mutant"), [*(("kernel5", mutant) for mutant in MUTANTS), *LATER])
def test_a_mutant_is_found(name: str, mutant: str) -> None:
    *change, rules = MUTANTS[mutant]
    text, _ = changed(name, *change)
    assert {f.rule for f in checked(name, text)} & rules


@pytest.mark.parametrize(
    ("name", "counter", "number"),
    [
        ("kernel5", "vmcnt", 1), ("kernel5", "lgkmcnt", 2),
        *(pytest.param("kernel8", counter, 1, marks=pytest.mark.slow) for counter in ("vmcnt", "lgkmcnt")),
    ],
)  # fmt: skip
def test_a_removed_wait_is_a_register_in_flight(name: str, counter: str, number: int) -> None:
    text, _ = changed(name, rf"^\ts_waitcnt {counter}\(\d+\).*", "", number)
    found = checked(name, text)
    assert found[0].rule == "register read while a load fills it"
    assert found[0].span is not None
    assert "may still fill it" in found[0].message


def test_places_in_a_code_object_are_addresses_as_a_disassembler_prints_them() -> None:
    text, _ = changed("kernel5", r"^\ts_waitcnt lgkmcnt\(\d+\).*", "", 2)
    code = load(toolchain.find().code_object(text))
    rows = {address: written.strip() for address, _, written in code.disassembled("kernel5")}
    launch = gemm(rung("kernel5"), Problem(128, 128, 128))
    run = [f for f in check(code, "kernel5", launch, schedules=Schedules(1)) if f.rule.startswith("register read")]
    read = [f for f in lint_code_object(code, "k.hsaco", notes=False) if f.id == "WAIT001"]
    assert run
    assert read
    for f in (*run, *read):
        assert f.span is None
        place = re.fullmatch(r"(k\.hsaco:)?kernel5:0x([0-9a-f]+): (.+)", f.where)
        assert place, f.where
        assert rows[int(place[2], 16)] == place[3]
        assert all(re.search("0x[0-9a-f]+", r.where) and r.span is None for r in f.related), f.related
    assert run[0].where in {f.where.removeprefix("k.hsaco:") for f in read}


def test_a_store_past_the_end_names_the_matrix() -> None:
    text, line = changed("kernel5", r"^(\tglobal_store_b128 .* off) offset:384", r"\1 offset:4080", -1)
    last = checked("kernel5", text)[-2:]
    assert [f.rule for f in last] == ["out-of-bounds access", "wrong result"]
    assert last[0].span is not None
    assert last[0].span.line == line
    assert re.search(r"after the end of C \(65536 bytes\)", last[0].got or "")


# --- the command


def test_a_clean_kernel_exits_with_0() -> None:
    done = CliRunner().invoke(main, ["check", "kernel1", "-n", "32"])
    assert (done.exit_code, done.stdout) == (0, "")


def test_findings_exit_with_1_and_are_json(tmp_path: Path) -> None:
    file = tmp_path / "kernel5.s"
    file.write_text(changed("kernel5", r"^\ts_barrier.*", "")[0])
    done = CliRunner().invoke(main, ["check", str(file), "-n", "128", "--schedules", "1", "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["faults"] == len(told["checked"][0]["findings"]) > 0
    assert told["checked"][0]["findings"][0]["place"]["file"] == str(file)


def test_any_kernel_with_its_launch_in_words(tmp_path: Path) -> None:
    file = tmp_path / "spin.s"
    file.write_text(SPIN)
    asked = ["check", str(file), "--grid", "1", "--block", "32", "--budget", "100000"]
    done = invoked(asked, code=1)
    assert "instruction budget exhausted" in done.stdout
    assert f"{file}:9:" in done.stdout


def test_rules_comments_and_sarif(tmp_path: Path) -> None:
    file = tmp_path / "spin.s"
    asked = ["check", str(file), "--grid", "1", "--block", "32", "--budget", "100000", "--schedules", "1"]
    file.write_text(SPIN)
    invoked([*asked, "--ignore", "RUN"])
    invoked([*asked, "--select", "LDS"])
    log = json.loads(CliRunner().invoke(main, [*asked, "--sarif"]).stdout)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "RUN001"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    file.write_text(SPIN.replace("s_add_i32 s4, s4, 1", "s_add_i32 s4, s4, 1 ; hipgemm: ignore RUN001"))
    invoked(asked)


@pytest.mark.parametrize(
    "asked",
    [
        ["nowhere.s"], ["kernel1", "--grid", "1"], ["kernel1", "--grid", "1", "--block", "16,16", "--arg", "i32:5"],
        ["kernel1", "--grid", "1", "--block", "16,16", "--arg", "what:5"], ["kernel8", "-n", "100"],
        ["kernel1", "--arg", "i32:5"],
    ],
)  # fmt: skip
def test_what_cannot_be_taken_exits_with_2(asked: list[str]) -> None:
    invoked(["check", *asked], code=2)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_ctrl_c_ends_a_check(tmp_path: Path) -> None:
    file = tmp_path / "spin.s"
    file.write_text(SPIN)
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import isa.sim.run.launch as launch; run = launch.SimulatedLaunch.run\n"
        "def told(self, threads): print('running', flush=True); return run(self, threads)\n"
        "launch.SimulatedLaunch.run = told\n"
        f"from hipgemm.cli import main; main(['check', {str(file)!r}, '--grid', '1', '--block', '32'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"running\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        try:
            assert child.wait(600) != 0  # the kernel ends by nothing else; only what hangs is given up
        finally:
            child.kill()


SCRIPT = """
import ctypes, sys
from hip import hip

def check(answer):
    assert answer[0] == 0, answer
    return answer[1] if len(answer) > 1 else None

image = open(sys.argv[1], 'rb').read()
module = check(hip.hipModuleLoadData(image))
function = check(hip.hipModuleGetFunction(module, b'kernel5'))
a, b, c = (check(hip.hipMalloc(4 * 128 * 128)) for _ in range(3))
for matrix in (a, b)[: int(sys.argv[2])]:
    check(hip.hipMemset(matrix, 0, 4 * 128 * 128))
check(hip.hipModuleLaunchKernel(
    function, 1, 1, 1, 128, 1, 1, 0, None, None,
    extra=(a, b, c, *(ctypes.c_int(128) for _ in range(3)), ctypes.c_float(1), ctypes.c_float(0)),
))
sys.exit(0)
"""


@pytest.mark.parametrize(("barrier", "written"), [(True, 2), (False, 2), (True, 1)])
def test_simulate_checks_each_launch(barrier: bool, written: int, tmp_path: Path) -> None:
    """A kernel without its barrier, and one whose B nobody wrote."""
    image = build("kernel5").hsaco
    if not barrier:
        text, _ = changed("kernel5", r"^\ts_barrier.*", "")
        image = tmp_path / "kernel5.hsaco"
        image.write_bytes(toolchain.find().code_object(text))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    program = "import sys; from hipgemm.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, "simulate", "--check", str(script), str(image), str(written)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == int(not barrier or written < 2), done.stderr
    assert ("LDS race" in done.stderr) != barrier
    assert ("uninitialized memory read" in done.stderr) == (written < 2)
