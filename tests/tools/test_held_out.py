"""What is said of predictions that are held against published times."""

from __future__ import annotations

import pytest

from isa.errors import IsaError
from tools import held_out
from tools.held_out import Judged


def of(name: str, measured: float, predicted: float, low: float, high: float) -> Judged:
    return Judged("made up", name, "7900 GRE", "minimum", 4096, measured, predicted, low, high, 0.8)


def test_a_table_says_how_far_off_and_how_many_are_inside() -> None:
    found = [of("a", 1.0, 1.1, 0.9, 1.2), of("b", 2.0, 1.6, 1.5, 1.7), of("c", 3.0, 3.0, 2.9, 3.1)]
    assert "| made up | out of sample | 10.0 % | -20.0 % | -3.3 % | 2 of 3 | 1.00 |" in held_out._standing(found)
    assert "| made up | b | 1.6 | 1.5 to 1.7 | 2 | -20.0 %, outside | 80 % |" in held_out._each(found)


def test_rank_correlation_is_of_the_order() -> None:
    rising = [of("a", 1, 10, 0, 0), of("b", 2, 100, 0, 0), of("c", 3, 1000, 0, 0)]
    falling = [of("a", 1, 3, 0, 0), of("b", 2, 2, 0, 0), of("c", 3, 1, 0, 0)]
    assert [held_out.rank_correlation(r) for r in (rising, falling)] == [pytest.approx(1), pytest.approx(-1)]


def test_a_table_takes_the_last_ones_place() -> None:
    page = "before\n<!-- it -->\nold\n<!-- end -->\nafter\n"
    assert held_out.put(page, "it", "new") == "before\n<!-- it -->\nnew\n<!-- end -->\nafter\n"
    with pytest.raises(IsaError, match="no place for"):
        held_out.put(page, "another", "new")
