"""The order of the dual FMAs of a thread tile: a closed walk over blocks of two by two."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import IsaError
from isa.outer_product.fma_order import accumulators, opposite, schedule, turning, walk

CASES = Path(__file__).parent / "schedule.txt"


def cases() -> list[tuple[str, str, str]]:
    """(title, tile, order): `# title`, the tile, `=>`, a dual FMA a line, an empty line."""
    found = []
    for part in CASES.read_text().strip().split("\n\n"):
        title, _, rest = part.partition("\n")
        tile, _, expected = rest.partition("=>")
        found.append((title.removeprefix("# "), tile.strip(), expected.strip()))
    return found


@pytest.mark.parametrize(("title", "tile", "expected"), cases(), ids=lambda x: x[:30])
def test_schedule(title: str, tile: str, expected: str) -> None:
    column, row = map(int, tile.split("x"))
    text = [f"c{x.column} r{x.row} :: c{y.column} r{y.row}" for x, y in schedule(column, row)]
    assert text == expected.split("\n"), title


@given(st.integers(1, 20), st.integers(1, 20))
def test_the_walk_is_closed_and_changes_one_side_at_a_time(columns: int, rows: int) -> None:
    steps = walk(columns, rows)
    assert sorted(steps) == [(c, r) for c in range(columns) for r in range(rows)]
    if len(steps) > 1:
        for (c, r), (d, q) in zip(steps, steps[1:] + steps[:1], strict=True):
            assert (c == d) != (r == q)


@pytest.mark.parametrize(("columns", "rows"), [(1, 4), (3, 4), (4, 5), (0, 4), (-2, 2)])
def test_a_tile_with_an_odd_side_is_refused(columns: int, rows: int) -> None:
    with pytest.raises(IsaError, match="even number of elements"):
        schedule(columns, rows)


even = st.integers(1, 8).map(lambda n: 2 * n)


@given(even, even, st.sampled_from([opposite, turning]))
def test_accumulators_leave_no_gap(columns: int, rows: int, banks) -> None:  # type: ignore[no-untyped-def]
    """Each bank has the same share of them, so that they fill a run of registers."""
    pairs = schedule(columns, rows)
    found = accumulators(pairs, banks(pairs), 8)
    assert sorted(found) == [(c, r) for c in range(columns) for r in range(rows)]
    assert sorted(reg.index for reg in found.values()) == list(range(8, 8 + columns * rows))
