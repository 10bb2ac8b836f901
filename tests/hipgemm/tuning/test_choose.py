"""The rule: the nearest tuned shape, the card's own entries first, and kernels that take the sizes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.kernels.ladder import SizeError, rung
from hipgemm.tuning.choose import FALLBACK, choose, distance, fastest
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.table import Entry, Timed, TuningTable
from hipgemm.tuning.trial import TrialTarget, launch

BIG, SMALL, SLOW = (f"gemm_{tile}_l4_g2_s1" for tile in ("128x128x8_8x16", "32x64x8_8x8", "64x64x8_8x8"))


def entry(
    m: int, n: int, k: int, *kernels: str, trans: str = "nn", on: str = "7900 XTX", kind: str = "predicted"
) -> Entry:
    timed = tuple(Timed(f"{name}_{trans}", i + 1, i + 1, i + 1) for i, name in enumerate(kernels))
    return Entry(Shape(m, n, k, trans), on, 2500, kind, timed, 9, 9)


TABLE = TuningTable((entry(4096, 4096, 4096, BIG, SLOW), entry(256, 256, 256, SMALL)))


@pytest.mark.parametrize(
    ("shape", "kernel", "octaves"),
    [
        (Shape(4096, 4096, 4096), BIG, 0),
        (Shape(2048, 4096, 4096), BIG, 1),
        (Shape(5000, 5000, 5000), BIG, math.sqrt(3) * math.log2(5000 / 4096)),
        (Shape(256, 256, 1024), SMALL, 2),
        (Shape(1, 1, 1), SMALL, 8 * math.sqrt(3)),
    ],
)
def test_the_nearest_in_octaves(shape: Shape, kernel: str, octaves: float) -> None:
    found = choose(shape, tables=(TABLE,))
    assert found.kernel == f"{kernel}_nn"
    assert found.distance == pytest.approx(octaves)
    assert ("this shape is tuned" in found.reason) == (octaves == 0)


SIZE = st.integers(1, 2**20)


@given(*[SIZE] * 6)
def test_distance_is_a_metric_that_knows_no_direction(a: int, b: int, c: int, d: int, e: int, f: int) -> None:
    one, other = Shape(a, b, c), Shape(d, e, f, "tt")
    assert distance(one, other) == distance(other, one) >= 0
    assert (distance(one, other) == 0) == ((a, b, c) == (d, e, f))


def test_the_user_s_own_table_the_card_and_what_was_measured_come_first() -> None:
    shape = Shape(300, 300, 300)
    elsewhere = TuningTable((entry(300, 300, 300, SLOW, on="7600"),))
    assert choose(shape, tables=(elsewhere, TABLE)).kernel.startswith(SMALL)
    assert choose(shape, "AMD Radeon RX 7600", tables=(elsewhere, TABLE)).kernel.startswith(SLOW)
    assert "for the 7600" in choose(shape, "7900 XTX", tables=(elsewhere,)).reason
    other = TuningTable((entry(256, 256, 256, SLOW, on="7900 XT"),))
    assert choose(Shape(256, 256, 256), "AMD Radeon RX 7900 XTX", tables=(other, TABLE)).kernel.startswith(SMALL)
    assert "for the 7900 XT " in choose(shape, "7900 XTX", tables=(other,)).reason
    assert "for the" not in choose(shape, "AMD Radeon RX 7900 XT", tables=(other,)).reason
    measured = TuningTable((entry(256, 256, 256, SLOW, on="AMD Radeon RX 7900 XTX", kind="measured"),))
    assert choose(shape, "AMD Radeon RX 7900 XTX", tables=(measured, TABLE)).kernel.startswith(SLOW)
    own = TuningTable((entry(256, 256, 256, SLOW),))
    assert choose(shape, tables=(own, TABLE)).kernel.startswith(SLOW)
    assert choose(shape, tables=(TABLE, own)).kernel.startswith(SMALL)


def test_matrices_that_lie_otherwise_get_the_same_kernel_for_them_unless_they_are_tuned() -> None:
    shape = Shape(256, 256, 256, "nt")
    assert choose(shape, tables=(TABLE,)).kernel == f"{SMALL}_nt"
    far = TuningTable((entry(4096, 4096, 4096, BIG, trans="nt"),))
    assert choose(shape, tables=(TABLE, far)).kernel == f"{BIG}_nt"


def test_a_kernel_that_refuses_the_sizes_is_passed_over_by_name() -> None:
    longest = rung(f"{BIG}_nn").largest[2]
    shape = Shape(4096, 4096, longest + 1)
    found = choose(shape, tables=(TABLE,))
    assert found.kernel != f"{BIG}_nn"
    assert found.passed[0][0] == f"{BIG}_nn"
    assert str(longest + 1) in found.passed[0][1]


def test_without_any_there_is_a_fallback_and_then_an_error() -> None:
    assert choose(Shape(3, 3, 3), tables=()).kernel == FALLBACK
    huge = Shape(2**31 - 1, 2**31 - 1, 2**31 - 1)
    with pytest.raises(SizeError):
        choose(huge, tables=(TABLE,))


def test_of_another_shape_s_kernels_the_one_predicted_fastest() -> None:
    """The table has them the other way round."""
    near = choose(Shape(1000, 1000, 900), tables=(TuningTable((entry(4096, 4096, 4096, BIG, SMALL, SLOW),)),))
    found = fastest(near, "7900 XTX")
    target = TrialTarget("7900 XTX", 2500)
    times = {f"{name}_nn": launch(f"{name}_nn", near.shape, target).timing().time_s for name in (BIG, SMALL, SLOW)}
    assert (near.kernel, found.kernel) == (f"{BIG}_nn", min(times, key=times.__getitem__))
    assert found.kernel != near.kernel
    assert "predicted fastest" in found.reason


def test_what_the_table_knows_and_what_is_small_stays_as_it_is() -> None:
    tables = (TuningTable((entry(4096, 4096, 4096, SLOW, BIG),)),)
    shapes = Shape(4096, 4096, 4096), Shape(64, 64, 64), Shape(999, 999, 999)
    for shape, on in zip(shapes, ("7900 XTX", "7900 XTX", "?"), strict=True):
        choice = choose(shape, on, tables)
        assert fastest(choice, on) is choice
