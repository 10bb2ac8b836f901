"""Shape files: what a line may be, and what is said of one that is none."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.tuning import shapes
from hipgemm.tuning.shapes import BadShape, Shape

SIZES = st.integers(1, shapes.LARGEST)
SHAPES = st.builds(Shape, SIZES, SIZES, SIZES, st.sampled_from(shapes.TRANSPOSITIONS))


def test_lines_comments_labels_and_repeats() -> None:
    text = "# all\n\n  4096 4096 128 # square \n1 2 3\tnt#skinny\n4096 4096 128 nn\n"
    found = shapes.read(text.splitlines(), "f")
    assert found == [Shape(4096, 4096, 128), Shape(1, 2, 3, "nt")]
    assert [s.label for s in found] == ["square", "skinny"]


@given(st.lists(SHAPES, unique=True))
def test_shapes_read_back(wanted: list[Shape]) -> None:
    assert shapes.read([f"{s.m} {s.n} {s.k} {s.trans}" for s in wanted], "f") == wanted


@pytest.mark.parametrize(
    ("line", "column", "says"),
    [
        ("4096 4096", 10, "there is no K"),
        ("4096  # 1 2", 5, "there is no N"),
        ("4096 0 4096", 6, "this is not a valid N"),
        ("-1 1 1", 1, "this is not a valid M"),
        ("1 1 2147483648", 5, "this is not a valid K"),
        ("1 1 ١", 5, "this is not a valid K"),
        ("1x1x1", 1, "this is not a valid M"),
        ("1 1 1 xn", 7, "this is not a transposition"),
        ("1 1 1 NT", 7, "this is not a transposition"),
        ("1 1 1 nt 5", 10, "something after"),
    ],
)
def test_a_line_that_is_no_shape_is_shown_with_its_place(line: str, column: int, says: str) -> None:
    with pytest.raises(BadShape, match=says) as caught:
        shapes.read(["1 1 1", line], "list.txt")
    span = caught.value.span
    assert span is not None
    assert (span.file, span.line, span.col, span.text) == ("list.txt", 2, column, line)


@given(st.text(max_size=60))
def test_any_line_is_read_or_refused(line: str) -> None:
    with suppress(BadShape):
        assert len(shapes.read([line], "f")) <= 1
