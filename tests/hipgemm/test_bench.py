"""`hipgemm bench` and what it stands on: timing, kernel 0, telemetry, the results file and the table made of it."""

import dataclasses
import json
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest
from verbs import Run

from hipgemm.kernels.ladder import LADDER, PUBLISHED_ROCBLAS
from hipgemm.measure import records
from hipgemm.measure.bench import Refusal
from hipgemm.measure.card import environment
from hipgemm.measure.card.environment import Telemetry
from hipgemm.measure.result import Result
from hipgemm.product import blas
from hipgemm.report import table
from isa.errors import IsaError

START = Path(__file__).with_name("programs").joinpath("bench", "start.inc").read_text()
REAL = "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"
COMMAND = START + REAL
RESULT = Result(
    kernel="kernel8", m=4096, n=4096, k=4096, alpha=1.0, beta=0.0, data="random", seed=0, arch="gfx1100",
    device="AMD Radeon RX 7900 XTX", simulated=False, correct=True, max_abs_error=1e-4, tolerance=1e-3, time_ms=2.8,
    mean_ms=2.9, runs=16, time_kind="measured", tflops=49.1, vgprs=216, sgprs=55, lds_bytes=8448, scratch_bytes=0,
    made_by="hipcc", times_ms=(2.8, 3.0), deviation_ms=0.1, clock_mhz=(2300.0, 2400.0, 2500.0),
    environment={"rocm": "6.4"},
)  # fmt: skip


def test_the_table_and_the_file(run_program: Run, tmp_path: Path) -> None:
    """On the simulated card there is no kernel 0: it is named with its published figure, and the others are shown."""
    file = tmp_path / "results.jsonl"
    done = run_program(COMMAND, "bench", "kernel0", "kernel1", "kernel5", "-n", "128", "--out", str(file))
    assert "4.4992" in done.stdout
    assert "rocBLAS runs only on a card" in done.stdout
    assert done.stdout.count("2.0000 predicted") == 2
    assert "nothing was measured" in done.stdout
    kinds = [("refused" in record, record["kernel"]) for record in map(json.loads, file.read_text().splitlines())]
    assert kinds == [(True, "kernel0"), (False, "kernel1"), (False, "kernel5")]
    assert run_program(COMMAND, "report", str(file)).stdout == done.stdout
    again = run_program(COMMAND, "bench", "kernel1", "-n", "128", "--out", str(file), "--json")
    assert file.read_text().splitlines()[-1] == again.stdout.rstrip("\n"), "it appends"


def test_the_model_s_band_is_kept(run_program: Run) -> None:
    """By `run` and by `bench`, of the simulated card itself."""
    code = """
from hipgemm.cli import main
for verb in ("run", "bench"):
    try:
        main([verb, "kernel1", "-n", "32", "--json"])
    except SystemExit as end:
        assert not end.code, end.code
"""
    run, bench = (json.loads(line) for line in run_program(code).stdout.splitlines())
    for found in (run, bench):
        low, high = found["band_ms"]
        assert 0 < low <= found["time_ms"] <= high
        assert low < high
    assert bench["band_ms"] == run["band_ms"]


def test_what_cannot_run_does_not_stop_the_rest(run_program: Run) -> None:
    done = run_program(COMMAND, "bench", "kernel5", "kernel1", "-n", "100", code=1)
    assert "a multiple of 128" in done.stdout
    assert "2.0000 predicted" in done.stdout
    done = run_program(COMMAND, "bench", "kernel1", "kernel99", code=2)
    assert done.stdout == ""
    assert "kernel0, kernel1" in done.stderr
    done = run_program(COMMAND, "bench", "kernel5", "kernel8", "-n", "100", code=2)
    assert done.stdout == ""
    assert "N = 128; kernel1 takes any size" in done.stderr
    done = run_program(COMMAND, "bench", "kernel1", "-n", "16", "--repeats", "0", code=2)
    assert "0 is not in the range x>=1" in done.stderr
    done = run_program(COMMAND, "bench", "kernel1", "-n", "16", "--out", "/nowhere/at/all", code=2)
    assert "cannot write /nowhere/at/all" in done.stderr
    assert "no results here" in run_program(COMMAND, "report", "/dev/null", code=2).stderr


def test_types_are_told_and_no_published_figure_stands_beside_them(run_program: Run) -> None:
    done = run_program(REAL, "bench", "--types", "f16_f32", "--trans", "nt", "-n", "64")
    assert "f16 to f32" in done.stdout
    assert "hipBLASLt runs only on a card" in done.stdout
    assert "gemm_f16_f32_" in done.stdout
    assert "published: " not in done.stdout
    done = run_program(REAL, "bench", "kernel9", "--types", "f16_f32", "-n", "64", code=1)
    assert "kernel9 is for f32" in done.stdout


def entry(kernel: str, **changes: Any) -> Result:
    return dataclasses.replace(RESULT, kernel=kernel, **changes)


def shown(*entries: Result | Refusal) -> dict[str, table.TableRow]:
    (made,) = table.tables(entries)
    return {row.kernel: row for row in made.rows}


def test_relative_to_rocblas_measured_or_published() -> None:
    measured = entry("kernel0", time_ms=5.6, made_by="rocBLAS 4.2 (librocblas.so)", vgprs=None)
    rows = shown(RESULT, measured)
    assert rows["kernel8"].relative == "200.0 %"
    assert rows["kernel0"].what == "rocBLAS 4.2"
    assert list(rows) == ["kernel0", "kernel8"]
    rows = shown(RESULT, Refusal("kernel0", "no librocblas.so"))
    assert rows["kernel8"].relative == f"{100 * PUBLISHED_ROCBLAS.time_ms / 2.8:.1f} % *"
    assert rows["kernel0"].published_time == "4.4992"
    assert rows["kernel0"].time == "none"
    assert shown(entry("kernel8", n=128))["kernel8"].relative == "", "nothing was published for another size"


def test_gflops_are_the_studys() -> None:
    published = {name: row.published for name, row in LADDER.items() if row.published}
    assert len(published) == 8
    for name, theirs in published.items():
        got = float(shown(entry(name, time_ms=theirs.time_ms))[name].gflops)
        assert abs(got / theirs.gflops - 1) < 1e-3


def test_one_table_for_each_device_and_problem() -> None:
    other = entry("kernel8", device="another card")
    made = table.tables([RESULT, other, entry("kernel7"), entry("kernel8", time_ms=3.0), Refusal("kernel1", "why")])
    assert [len(t.rows) for t in made] == [3, 1]
    assert made[0].rows[-1].time == "3.0000", "the last of two"
    assert "caches cold" in table.tables([entry("kernel8", cold=True)])[0].title
    assert any("WRONG in 3" in n for n in table.tables([entry("kernel8", correct=False, wrong=3)])[0].notes)
    assert table.tables([Refusal("kernel1", "no card")])[0].rows[0].time == "none"


@pytest.mark.parametrize(
    "original",
    [
        RESULT,
        dataclasses.replace(RESULT, correct=False, worst=(1, 2, float("-inf"), 0.5), max_abs_error=None, wrong=1),
        entry("kernel0", vgprs=None, sgprs=None, lds_bytes=None, scratch_bytes=None, warnings=("one", "two")),
        Refusal("kernel6", "spilled\n  found: scratch"),
    ],
)
def test_a_record_is_read_as_it_was_written(original: Result | Refusal) -> None:
    text = records.line(original)
    assert text.count("\n") == 1
    (back,) = records.read([text, "\n"], "file")
    assert back == original


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "this is not JSON"),
        ("[]", "a record must be an object"),
        ('{"record": 2, "kernel": "kernel1", "refused": ""}', "known version"),
        ('{"record": 1, "kernel": "kernel1"}', "lacks alpha, arch"),
        (records.line(RESULT).replace('"m": 4096', '"m": "many"'), 'm cannot be "many"'),
        (records.line(RESULT).replace('"m": 4096', '"m": true'), "m cannot be true"),
        (records.line(RESULT).replace("[2.8, 3.0]", '[2.8, "x"]'), "times_ms cannot be"),
        (records.line(RESULT).replace("[2300.0, 2400.0, 2500.0]", "[1]"), "clock_mhz cannot be"),
    ],
)
def test_a_bad_line_is_named(line: str, said: str) -> None:
    with pytest.raises(IsaError) as caught:
        records.read([records.line(RESULT), line], "results.jsonl")
    assert str(caught.value).startswith("results.jsonl:2:")
    assert said in str(caught.value)


def fake_amdsmi(**calls: Any) -> types.ModuleType:
    module = types.ModuleType("amdsmi")
    clocks = iter([2300, "N/A", 2500, *[2400] * 100000])
    module.__dict__.update(
        {
            "AmdSmiClkType": types.SimpleNamespace(GFX=0),
            "amdsmi_init": lambda: None,
            "amdsmi_shut_down": lambda: None,
            "amdsmi_get_processor_handles": lambda: ["one", "two"],
            "amdsmi_get_gpu_device_bdf": {"one": "0000:03:00.0", "two": "0000:0C:00.0"}.get,
            "amdsmi_get_clock_info": lambda handle, kind: {"clk": next(clocks) if handle == "two" else 1},
            "amdsmi_get_power_info": lambda handle: {"current_socket_power": "N/A", "average_socket_power": 300},
            **calls,
        }
    )
    return module


def test_clock_and_power_come_from_amdsmi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", fake_amdsmi())
    with Telemetry("0000:0c:00.0") as seen:
        deadline = time.monotonic() + 600  # only what hangs is given up
        while len(seen._clock) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert seen.clock_mhz is not None
    assert (seen.clock_mhz[0], seen.clock_mhz[2]) == (2300, 2500)
    assert seen.power_w == (300, 300, 300)


def refuse(*_: Any) -> None:
    raise RuntimeError("no driver")


@pytest.mark.parametrize(
    "module",
    [
        None,
        fake_amdsmi(amdsmi_init=refuse),
        fake_amdsmi(amdsmi_get_processor_handles=list),
        fake_amdsmi(amdsmi_get_clock_info=refuse, amdsmi_get_power_info=refuse),
    ],
)
def test_without_readings_there_are_none(module: types.ModuleType | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", module)
    with Telemetry("0000:0c:00.0") as seen:
        pass
    assert seen.clock_mhz is seen.power_w is None


def test_driver_and_rocm_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.driver(tmp_path / "amdgpu") is None
    (tmp_path / "amdgpu").mkdir()
    assert str(environment.driver(tmp_path / "amdgpu")).startswith("amdgpu of Linux")
    (tmp_path / "amdgpu" / "version").write_text("6.12.12\n")
    assert environment.driver(tmp_path / "amdgpu") == "6.12.12"
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info" / "version").write_text("6.4.1-83\n")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert environment.rocm() == "6.4.1-83"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "librocblas.so").write_text("")
    assert blas.rocblas_file() == tmp_path / "lib" / "librocblas.so"
