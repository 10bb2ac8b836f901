"""`hipgemm report -o`: one page in which published, predicted and measured figures cannot be taken for each other."""

import dataclasses
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from verbs import invoked

from hipgemm.cli import main
from hipgemm.judge.inspection.overview import Overview, overview
from hipgemm.kernels.ladder import LADDER
from hipgemm.measure import records
from hipgemm.measure.result import Result
from hipgemm.report import ladder, svg
from isa import toolchain
from isa.errors import IsaError
from isa.timing.machine import cards

needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
Read = Callable[[str], Any]
CARD = cards.card("7900 XTX")


def result(kernel: str, **more: Any) -> Result:
    base = Result(
        kernel=kernel, m=128, n=128, k=128, alpha=1.0, beta=0.0, data="random", seed=0, arch="gfx1100",
        device="Card of a test", simulated=False, correct=True, max_abs_error=1e-5, tolerance=1e-3, time_ms=0.0321,
        mean_ms=0.04, runs=16, time_kind="measured", tflops=0.13, vgprs=None, sgprs=None, lds_bytes=None,
        scratch_bytes=None, deviation_ms=0.001,
    )  # fmt: skip
    return dataclasses.replace(base, **more)


@pytest.fixture(scope="module")
def small() -> Overview:
    """Kernels 2 and 8 at 128, kernel 8 measured: by a record, beside others that do not belong."""
    others = [result("kernel8", n=256), result("kernel8", time_kind="predicted", simulated=True, time_ms=9.0)]
    return overview(128, CARD, kernels=("kernel2", "kernel8"), records=[result("kernel8"), *others])


@needs_compiler
def test_only_what_was_measured_at_this_size_counts_as_measured(small: Overview) -> None:
    second, eighth = small.entries
    assert second.measured is None
    assert eighth.measured is not None
    assert (eighth.measured.time_ms, small.device) == (0.0321, "Card of a test")
    assert any(note.startswith("2 records are left out") for note in small.notes)


@needs_compiler
def test_each_kind_of_figure_has_its_own_cells(small: Overview, read_page: Read) -> None:
    text = ladder.page(small)
    page = read_page(text)
    assert page.requests == []
    for entry in small.entries:
        assert entry.prediction is not None
        assert f'class="number predicted">{1e3 * entry.prediction.timing.time_s:.4f}<' in text
    assert 'class="number measured">0.0321<' in text
    assert "not known" in page.words  # kernel 2 was not measured
    assert f"{LADDER['kernel8'].published.time_ms}" not in text  # nobody published a time at 128


@needs_compiler
def test_at_the_published_size_the_published_times_stand_in_their_column() -> None:
    found = overview(4096, CARD, kernels=("kernel8",), predict=False)
    text = ladder.page(found)
    assert 'class="number published">2.8032<' in text
    assert 'class="number published">4.4992<' in text  # rocBLAS
    assert 'class="number predicted">not known<' in text
    assert "hatch" not in text  # no prediction is drawn
    assert 'class="number predicted" title="not predicted">–<' in text


@needs_compiler
def test_what_nobody_published_is_a_dash_that_says_so() -> None:
    text = ladder.page(overview(4096, CARD, kernels=("kernel9",), predict=False))
    row = text[text.index("#kernel9") :].split("</tr>")[0]
    assert row.count('title="no published figure">–<') == 3
    assert not re.search(r"<td[^>]*></td>", row)


@needs_compiler
def test_a_size_that_a_kernel_cannot_take_is_a_reason_not_a_number(read_page: Read) -> None:
    found = overview(96, CARD, kernels=("kernel8",))
    assert found.entries[0].prediction is None
    assert "not predicted: kernel8 cannot take N = 96" in read_page(ladder.page(found)).words


@needs_compiler
def test_intensity_is_what_the_tile_gives(small: Overview) -> None:
    """Kernel 8 loads 2 * 128 rows and columns of 4 bytes for 128 * 128 multiply-adds: 32 operations a byte of VRAM and
    no less, since every line comes once. One workgroup alone finds nothing in any cache."""
    assert ladder.intensity(small.entries[1], 2) == pytest.approx(32, rel=0.02)


def test_two_devices_are_refused() -> None:
    with pytest.raises(IsaError, match="more than one device"):
        overview(128, CARD, kernels=(), records=[result("kernel7"), result("kernel8", device="Another")])


def test_a_wrong_answer_has_no_speed() -> None:
    found = overview(128, CARD, kernels=(), records=[result("kernel0", correct=False, wrong=3)])
    text = ladder.page(found)
    assert "WRONG" in text
    assert "kernel0 was WRONG in 3 of 16384 elements" in text
    assert 'stroke="var(--measured)"' not in text


@needs_compiler
def test_the_verb_writes_a_page_from_records(tmp_path: Path, read_page: Read) -> None:
    file, page = tmp_path / "results.jsonl", tmp_path / "page.html"
    file.write_text(records.line(result("kernel8")))
    options = ["-o", str(page), "-n", "128", "--kernels", "kernel8"]
    done = CliRunner().invoke(main, ["report", str(file), *options])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "measured" in read_page(page.read_text()).classes


def test_without_file_and_page_the_verb_says_what_it_wants() -> None:
    assert "-o PAGE.html" in invoked(["report"], code=2).stderr


@pytest.mark.parametrize(
    ("kernels", "said"), [(",", "--kernels names none"), ("", "names none"), ("k8", "no kernel 'k8'")]
)
def test_kernels_that_are_none(kernels: str, said: str, tmp_path: Path) -> None:
    assert said in invoked(["report", "-o", str(tmp_path / "page.html"), "--kernels", kernels], code=2).stderr


def widths(drawing: str) -> list[float]:
    return [float(w) for w in re.findall(r'<rect x="90.0"[^>]* width="([\d.]+)"', drawing)]


def test_bars_are_as_long_as_their_values(read_page: Read) -> None:
    drawing = svg.bars([("a", [svg.Bar("published", 40, "40"), svg.Bar("predicted", 20, "20", 15, 30)])], "x", "t")
    one, two = widths(drawing)
    assert one == pytest.approx(2 * two, abs=0.2)
    assert "<b>" not in svg.bars([("<b>", [svg.Bar("measured", 1, "<b>")])], "x", "t")
    read_page(drawing)


def test_shares_fill_the_row() -> None:
    drawing = svg.stacked([("a", [("x", 0.25), ("y", 0.75)])], ("x", "y"), "t")
    first, second = (float(w) for w in re.findall(r'height="20" style|width="([\d.]+)" height="20"', drawing) if w)
    assert second == pytest.approx(3 * first, abs=0.02)


def test_a_roofline_puts_a_point_of_half_the_slope_below_it() -> None:
    """On logarithmic axes: the same intensity, half the rate, log 2 lower."""
    points = [svg.Point("published", "a", 4.0, 4e12), svg.Point("published", "b", 4.0, 2e12)]
    drawing = svg.roofline(points, [("m", 1e12)], [("peak", 64e12)], "t")
    (x1, y1), (x2, y2) = ((float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing))
    span = 460 - 50 - 14
    lowest = min(64e12 * 1.6 / 200, 1e12)
    assert x1 == x2
    assert y2 - y1 == pytest.approx(span * math.log(2) / math.log(64e12 * 1.6 / lowest), abs=0.2)
