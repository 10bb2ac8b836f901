"""The way to a card, end to end, with what stands after it replaced: the driver's topology by a folder, HIP by the
simulated runtime under a card's name, rocBLAS by a small library, amdsmi by a module of its name."""

import json
from pathlib import Path

import numpy as np
import pytest
from verbs import Run

from hipgemm.measure import records
from hipgemm.measure.bench import KERNELS
from isa.toolchain import build_host_library

HERE = Path(__file__).parent


COMMAND = """
from small_card import *
from hipgemm import simulated_hip
from hipgemm.measure import device
simulated_hip.install(lambda: SmallCard(time_s=0.002))
simulated_hip.installed = lambda: False
device.cards_present = lambda: [device.CardFound(1, "gfx1100")]
from hipgemm.cli import main
main(prog_name='hipgemm')
"""
AMDSMI = """
from types import SimpleNamespace
AmdSmiClkType = SimpleNamespace(GFX=0)
amdsmi_init = amdsmi_shut_down = lambda: None
amdsmi_get_processor_handles = lambda: ["this"]
amdsmi_get_gpu_device_bdf = lambda handle: "0000:00:00.0"
amdsmi_get_clock_info = lambda handle, kind: {"clk": 2400}
amdsmi_get_power_info = lambda handle: {"socket_power": 333}
"""


@pytest.fixture
def rocm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ROCm folder with a small rocBLAS and a version, and an amdsmi that Python finds."""
    root = tmp_path / "rocm"
    (root / "lib").mkdir(parents=True)
    (root / ".info").mkdir()
    (root / ".info" / "version").write_text("6.4.1-83\n")
    build_host_library(HERE / "host" / "rocblas.c", root / "lib" / "librocblas.so")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "amdsmi.py").write_text(AMDSMI)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("ROCM_PATH", str(root))
    return root


def test_the_ladder_on_a_card_and_back_through_its_file(run_program: Run, rocm: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "results.jsonl")
    options = ["-n", "128", "--beta", "0.5", "--device", "card", "--out", out]
    shown = run_program(COMMAND, "bench", *options).stdout
    rows = {line.split()[0]: line for line in shown.splitlines() if line.strip().startswith("kernel")}
    rows = {name: line for name, line in rows.items() if not name.endswith(":")}  # warnings
    assert list(rows) == ["kernel", *KERNELS]
    assert "rocBLAS" in rows["kernel0"]
    entries = [e for e in records.load(str(out)) if isinstance(e, records.Result)]
    assert [e.kernel for e in entries] == list(KERNELS)
    for e in entries:
        assert e.correct
        assert not e.simulated
        assert (e.runs, e.warm_ups) == (16, 4)
        # The small library takes no time on this card's clock: a time of 0 is none.
        assert (e.time_kind, len(e.times_ms)) == (("none", 0) if e.kernel == "kernel0" else ("measured", 16))
        assert e.clock_mhz == (2400, 2400, 2400)
        assert e.power_w == (333, 333, 333)
        assert e.environment["rocm"] == "6.4.1-83"
        assert "PCI 0000:00:00.0" in e.environment["card"]
    assert entries[0].made_by == f"rocBLAS 4.2.0.test ({rocm}/lib/librocblas.so)"
    assert entries[8].made_by, "the compiler"
    assert run_program(COMMAND, "report", out).stdout == shown
    cold = json.loads(
        run_program(COMMAND, "run", "kernel1", "-n", "512", "--device", "card:0", "--cold", "--json").stdout
    )
    assert cold["cold"]
    assert cold["runs"] == 16


def test_without_a_library_and_amdsmi(run_program: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The published figure stands in kernel 0's place, marked; clock and power are not known."""
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    done = run_program(COMMAND, "bench", "kernel0", "kernel1", "-n", "64", "--device", "card", "--json")
    refusal, result = map(json.loads, done.stdout.splitlines())
    assert refusal["kernel"] == "kernel0"
    assert "no librocblas.so" in refusal["refused"]
    assert result["correct"]
    assert result["clock_mhz"] is result["power_w"] is None


@pytest.mark.parametrize(("factor", "status"), [(2, 0), (3, 1)])
def test_a_kernel_of_ones_own_on_a_card(run_program: Run, tmp_path: Path, factor: int, status: int) -> None:
    """Timed, and held against what is expected after one launch, though it adds to y in each of 20."""
    np.save(tmp_path / "y.npy", factor * np.arange(1000, dtype=np.float32))
    launch = "--grid 4 --block 256 --arg i32:1000 --arg f32:2 --arg arange:f32:1000 --arg zeros:f32:1000 --json".split()
    words = ["run", str(HERE / "own" / "saxpy.hip"), *launch, "--expect", str(tmp_path / "y.npy"), "--device", "card"]
    command = COMMAND.replace("lambda: SmallCard(time_s=0.002)", "")
    result = json.loads(run_program(command, *words, code=status).stdout)
    assert result["correct"] is (status == 0)
    assert result["time_kind"] == "measured"
    assert result["runs"] == 16
