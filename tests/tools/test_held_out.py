"""What is said of predictions that are held against published times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from isa.errors import IsaError
from isa.timing.machine.cards import card
from isa.timing.model.as_measured import LOADS, WAITED_US, clock_share
from tools import held_out, tables
from tools.held_out import Judged
from tools.published import HEAVY, LAYOUTS, LIGHT, Checkouts, figures


def of(name: str, measured: float, predicted: float, low: float, high: float) -> Judged:
    return Judged("made up", name, "7900 GRE", "minimum", 4096, measured, predicted, low, high, 0.8, 0.7, "", False)


def test_a_table_says_how_far_off_and_how_many_are_inside() -> None:
    found = [of("a", 1.0, 1.1, 0.9, 1.2), of("b", 2.0, 1.6, 1.5, 1.7), of("c", 3.0, 3.0, 2.9, 3.1)]
    assert "| made up | held out | 10.0 % | -20.0 % | -3.3 % | 2 of 3 | 1.00 |" in held_out._standing(found)
    assert "| made up | b | 1.6 | 1.5 to 1.7 | 2 | -20.0 %, outside | 80 % |" in held_out._each(found)

    assert held_out._by_size(found).endswith("| 4096 | 3 | 10.0 % | -20.0, +10.0 % | 2 of 3 |")
    two = [*found, replace(of("d", 2.0, 3.0, 1.0, 2.5), size=8192)]
    assert held_out._by_size(two).endswith("2 of 3 |\n| 8192 | 1 | 50.0 % | +50.0, +50.0 % | 1 of 1 |")


def test_a_set_is_called_the_same_in_all_tables() -> None:
    """By what was fitted on it, of the GPU alone or by events."""
    names = held_out.STUDY, held_out.LINUX, *held_out.SEEN, "rocm_wmma_gemm, 8060S"
    found = averages(40e-6, 0.5) + [replace(of("a", 1.0, 1.1, 0.9, 1.2), belongs=name) for name in names]
    said = [
        {tuple(line.split("|")[1:3]) for line in table.splitlines()[2:] if line.startswith("|")}
        for table in (held_out._standing(found), held_out._events(found))
    ]
    assert said[0] == said[1] | {(" study ", " fitted ")}
    assert {name.strip() for name, how in said[0] if how == " fitted "} == {
        held_out.STUDY, held_out.FITTED_HALF, held_out.LINUX
    }  # fmt: skip


def test_rank_correlation_is_of_the_order() -> None:
    rising = [of("a", 1, 10, 0, 0), of("b", 2, 100, 0, 0), of("c", 3, 1000, 0, 0)]
    falling = [of("a", 1, 3, 0, 0), of("b", 2, 2, 0, 0), of("c", 3, 1, 0, 0)]
    assert [held_out.rank_correlation(r) for r in (rising, falling)] == [pytest.approx(1), pytest.approx(-1)]


def averages(seconds: float = 0.0, w0: float = 0.0) -> list[Judged]:
    """As many as were published; measured as a card of this w0 and overhead would."""
    on = card("7900 GRE")
    found = []
    for size, ms in zip(held_out.SIZES, (0.1, 0.7, 4.0, 33.0), strict=True):
        for k, layout in enumerate(LAYOUTS):
            predicted, work = ms * (1 + k / 50), 0.5 + k / 20
            told = 1e3 * seconds + predicted / clock_share(on, work, w0)
            row = (held_out.AVERAGES, f"{size} {layout}", on.name, HEAVY, size, told, predicted, predicted, predicted)
            found.append(Judged(*row, 0.8, work, "WSL2", False))
    return found


def test_the_fit_finds_clock_and_overhead_from_half_of_the_figures() -> None:
    found = averages(40e-6, 0.5)
    assert sum(map(held_out.fitted_on, found)) == len(found) / 2
    assert held_out.fit(found) == (pytest.approx(0.5), pytest.approx(0.04))
    others = [replace(j, measured=2 * j.measured) if not held_out.fitted_on(j) else j for j in found]
    assert held_out.fit(others) == held_out.fit(found)  # the half that is judged has no say


def test_the_launch_overhead_is_of_launches_that_were_waited_for() -> None:
    waited = averages(w0=0.5)[0]
    queued = replace(waited, waited="")
    more = held_out.by_events(waited).predicted - held_out.by_events(queued).predicted
    assert more == pytest.approx(1e-3 * WAITED_US["WSL2"])


def test_the_band_is_as_wide_as_figures_want_and_no_wider() -> None:
    exact = averages(WAITED_US["WSL2"] * 1e-6, LOADS["heavy"].w0)
    assert held_out.unexplained(exact) == 0
    far = [replace(j, measured=1.3 * j.measured) if k % 5 == 0 else j for k, j in enumerate(exact)]
    assert held_out.unexplained(far, 0.75) == 0
    assert 0.1 < held_out.unexplained(far, 0.9) < 0.4
    assert held_out.unexplained(exact[:3]) == 1  # nobody knows
    assert "fitted" in held_out._events(exact)


def test_a_further_set_may_be_as_unlike_as_the_worst() -> None:
    exact = averages(WAITED_US["WSL2"] * 1e-6, LOADS["heavy"].w0)
    small = [replace(j, measured=1.3 * j.measured) for j in exact[:4]]
    assert held_out.unexplained([*exact, *small]) == 0  # what a heap of both would say
    assert held_out.unexplained_of_sets([exact, small]) == held_out.unexplained(small) > 0.1


def test_a_set_is_judged_by_its_own_kind_and_where_there_is_none_by_all() -> None:
    vector = averages(w0=0.5)[:4]
    product = [replace(j, matrix=True) for j in vector]
    sets = {"a": vector, "b": product, held_out.FITTED_HALF: vector, "9070 XT": [replace(vector[0], card="9070 XT")]}
    said = {
        (integrated, matrix): held_out._judges(sets, ("gfx11", integrated, matrix))
        for integrated in (False, True) for matrix in (False, True)
    }  # fmt: skip
    assert said == {
        (False, False): [vector], (False, True): [product], (True, False): [vector, product],
        (True, True): [vector, product],
    }  # fmt: skip


def test_a_band_has_the_part_of_its_kind() -> None:
    exact = averages(WAITED_US["WSL2"] * 1e-6, LOADS["heavy"].w0)[-1]
    narrow, wide = (held_out.by_events(replace(exact, matrix=matrix)) for matrix in (False, True))
    assert narrow.predicted == wide.predicted
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_table_takes_the_last_ones_place(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- it -->\nold\n<!-- end -->\nafter\n")
    tables.put(file, "it", "new")
    assert file.read_text() == "before\n<!-- it -->\nnew\n<!-- end -->\nafter\n"
    with pytest.raises(IsaError, match="no place for"):
        tables.put(file, "another", "new")


def test_the_light_load_is_fitted_on_the_minimum_of_its_own_kernel() -> None:
    on = card("7900 GRE")
    row = (held_out.MINIMUM, "4096 rrr", on.name, LIGHT, 4096, 4.0 / clock_share(on, 0.8, 0.6), 4.0, 4.0, 4.0)
    assert held_out.fit_light([*averages(w0=0.5), Judged(*row, 0.8, 0.8, "", False)]) == pytest.approx(0.6)
    assert held_out.fit_light(averages(w0=0.5)) == 0


def test_a_recorded_launch_is_a_figure_whose_arrays_are_not_asked_for(tmp_path: Path) -> None:
    at = tmp_path / "9070 XT bf16 1024" / "0"
    at.mkdir(parents=True)
    words = ["numWG=i32:8", "D=file:../data/d.npy", "C=inside:D+0", "beta=f32:0.0"]
    (at / "kernel.toml").write_text(f'["k"]\ngrid = [8, 8, 1]\nblock = [128, 1, 1]\nargs = {words}\n'.replace("'", '"'))
    figure, under_wsl2 = figures(Checkouts(None, None, hipblaslt=tmp_path))
    assert figure.arguments == ("numWG=i32:8", "D=buffer:2097152", "C=buffer:2097152", "beta=f32:0.0")
    assert (figure.grid, figure.block, figure.code) == ((8, 8, 1), (128, 1, 1), str(at))
    assert 2e-9 * 1024**3 / figure.measured_ms == pytest.approx(77.45)
    assert [held_out.how(f.belongs) for f in (figure, under_wsl2)] == ["seen", "held out"]
    assert (under_wsl2.card, 2e-9 * 1024**3 / under_wsl2.measured_ms) == ("9070 XT", pytest.approx(75.03))


def test_a_product_takes_no_less_than_its_program_takes_to_queue_it() -> None:
    """On the machine that was fitted; what takes longer waits for the card alone."""
    short = Judged("x", "f16", "9060 XT", HEAVY, 1024, 0.08, 0.03, 0.03, 0.03, 0.5, 0.4, "queued", True)
    told = held_out.by_events(short)
    assert told.predicted == held_out.TORCH_HOST_MS["9060 XT"]
    assert told.low < told.predicted < told.high
    assert held_out.by_events(replace(short, predicted=0.3)).predicted > 0.3
    assert held_out.by_events(replace(short, card="9070 XT")).predicted < 0.05
