"""`python tools/order.py`: the order of a thread tile, or of code, and what it says of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from isa.asm.emit import emit
from isa.errors import IsaError
from isa.gemm.generate import generate
from isa.gemm.parameters import Parameters
from tools.dual_fma import order as dual_fma_order
from tools.order import command


def test_a_tile_says_that_it_is_optimal() -> None:
    done = CliRunner().invoke(command, ["4", "6"])
    assert done.exit_code == 0, done.output
    assert "4 x 6 products" in done.output
    assert done.output.count("yes: ") == 9


def test_what_is_not_shown_is_called_open() -> None:
    done = CliRunner().invoke(command, ["3", "5"])
    assert done.output.count("yes: ") == 6
    assert done.output.count("open: not shown") == 3


def test_json_has_counts_bounds_arguments_and_the_rows() -> None:
    done = CliRunner().invoke(command, ["8", "16", "--accumulators", "turning", "--json"])
    found = json.loads(done.output)
    assert found["cost"]["stalls"]["previous-slot"] == {
        "count": 0,
        "lower_bound": 0,
        "argument": "no order stalls less than not at all",
        "optimal": True,
    }
    assert (found["cost"]["stalls"]["with-src2"]["count"], found["cost"]["stalls"]["with-src2"]["optimal"]) == (
        32,
        False,
    )
    assert len(found["rows"]) == 64
    # The first row as the pass before left the caches: the last step changed the column's pair.
    assert found["rows"][0]["cells"][1:3] == ["R2", "Cache0"]


def test_code_shows_a_step_of_its_main_loop(tmp_path: Path) -> None:
    path = tmp_path / "gemm.s"
    path.write_text(emit(generate(Parameters(thread_rows=16, thread_columns=8), "gemm")))
    done = CliRunner().invoke(command, [str(path), "--json"])
    cost = json.loads(done.output)["cost"]
    assert (cost["columns"], cost["rows"], cost["instructions"]["count"]) == (16, 8, 64)
    assert all(count["optimal"] for count in cost["stalls"].values())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["1", "1"], "two products or more"),
        (["0", "4"], "two products or more"),
        (["16", "16"], "no room in the VGPRs"),
        (["100000", "100000"], "no room in the VGPRs"),
        (["8"], "neither a thread tile nor code"),
        (["8", "x"], "neither a thread tile nor code"),
        (["no/such.s"], "No such file"),
    ],
)
def test_what_has_no_order_is_refused_by_name(words: list[str], expected: str) -> None:
    done = CliRunner().invoke(command, [*words])
    assert done.exit_code == 2
    assert expected in done.output


def test_code_without_dual_fmas_has_none() -> None:
    from isa.asm.parse import parse

    text = Path(__file__).parents[1] / "isa" / "timing" / "published_kernel5_fmas.s"
    with pytest.raises(IsaError):
        dual_fma_order.of_code(parse(text.read_text()), "pairs")


@pytest.mark.parametrize(("rung", "taken"), [("kernel5", None), ("kernel6", 3), ("kernel8", 15), ("kernel9", None)])
def test_of_kernels_6_to_8_it_tells_what_the_generator_writes(rung: str, taken: int | None) -> None:
    done = CliRunner().invoke(command, [rung, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["cost"]["stalls"]["previous-slot"]["optimal"] == (rung != "kernel5")
    if taken is None:
        assert found["written"] is None
    else:
        assert found["written"]["same"]
        assert found["written"]["taken"] <= taken
