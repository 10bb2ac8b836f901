"""Data, reference and tolerance: right answers pass whatever the order of sums, small mistakes do not."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan import examples

from hipgemm.launch.elements import ELEMENTS, Types
from hipgemm.launch.problem import Problem, ProblemError

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def answer(p: Problem, order: Callable[[int], np.ndarray] = np.arange) -> tuple[Matrices, np.ndarray]:
    """The problem's matrices, and C as a kernel makes it: float32, one product after another in some order of K."""
    a, b, c = p.matrices()
    total = np.zeros((p.m, p.n), np.float32)
    for i in order(p.k):
        total += np.outer(a[:, i], b[i])
    total *= np.float32(p.alpha)
    if p.beta:
        total += np.float32(p.beta) * c
    return (a, b, c), total


@settings(max_examples=examples(50))
@given(
    m=st.integers(1, 40), n=st.integers(1, 40), k=st.integers(1, 300),
    scalars=st.sampled_from([(1.0, 0.0), (1.5, -0.5), (0.0, 1.0), (-3.1, 1e-3)]),
    data=st.sampled_from(["random", "identity"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_order_of_sums_is_right(m: int, n: int, k: int, scalars: tuple[float, float], data: str, seed: int) -> None:
    p = Problem(m, n, k, *scalars, data=data, seed=seed)
    for order in (np.arange, lambda k: np.arange(k)[::-1], np.random.default_rng(seed).permutation):
        matrices, c = answer(p, order)
        verdict = p.judge(*matrices, c)
        assert verdict.correct, verdict
        assert verdict.max_abs_error is not None
        assert verdict.max_abs_error <= verdict.tolerance


@pytest.mark.parametrize("size", [128, 1024])
def test_a_lost_or_doubled_product_is_wrong(size: int) -> None:
    """The bound at K = 1024 is far below one product; the worst-case bound would not be much below it."""
    p = Problem(128, 128, size)
    matrices, c = answer(p)
    a, b, _ = matrices
    for column in range(0, size, 31):
        assert not p.judge(*matrices, c - np.outer(a[:, column], b[column])).correct


def test_one_wrong_element_is_found_and_named() -> None:
    p = Problem(700, 130, 64, alpha=2.0)
    matrices, c = answer(p)
    c[601, 77] += 0.01
    verdict = p.judge(*matrices, c)
    assert not verdict.correct
    assert verdict.wrong == 1
    assert verdict.worst is not None
    assert verdict.worst[:2] == (601, 77)
    assert verdict.worst[2] - verdict.worst[3] == pytest.approx(0.01, abs=1e-4)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_wrong(value: float) -> None:
    p = Problem(600, 4, 4)
    matrices, c = answer(p)
    c[3, 1] = value
    verdict = p.judge(*matrices, c)
    assert not verdict.correct
    assert (verdict.wrong, verdict.max_abs_error) == (1, None)
    assert verdict.worst is not None
    assert verdict.worst[:2] == (3, 1)


def test_what_the_type_of_c_cannot_hold_is_an_infinity() -> None:
    """Of its sign, and no other number; what it can hold is none."""
    p = Problem(3, 2, 1, types=Types("bf16", "f16"))
    a, b, c = np.array([[2.0**17], [-(2.0**17)], [2.0**14]]), np.ones((1, 2)), np.zeros((3, 2))
    right = np.array([[np.inf] * 2, [-np.inf] * 2, [2.0**14] * 2], np.float16)
    assert p.judge(a, b, c, right).correct
    for row, value in ((0, -np.inf), (0, 65504), (1, np.inf), (1, np.nan), (2, np.inf)):
        wrong = right.copy()
        wrong[row, 1] = value
        assert p.judge(a, b, c, wrong).wrong == 1, (row, value)


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_from_the_overflow_on_are_rounded_to_infinity(name: str) -> None:
    element = ELEMENTS[name]
    at = np.float32(element.overflow)
    near = element.numbers(element.stored(np.array([np.nextafter(at, np.float32(0)), at])))
    assert np.isinf(near).tolist() == [False, True]


@pytest.mark.parametrize(("name", "largest", "least"), [("fp8", 448, 2**-9), ("bf8", 57344, 2**-16)])
def test_floats_of_8_bits(name: str, largest: float, least: float) -> None:
    element, codes = ELEMENTS[name], np.arange(256, dtype=np.uint8)
    known = element.numbers(codes)
    finite = np.isfinite(known)
    assert (known[finite].max(), known[1], np.isinf(known).any()) == (largest, least, name == "bf8")
    np.testing.assert_array_equal(element.stored(known)[~np.isnan(known)], codes[~np.isnan(known)])
    assert np.isnan(element.numbers(element.stored(np.array([np.nan, -np.nan])))).all()
    up = known[: finite.sum() // 2]
    even = codes[: len(up) - 1] + codes[: len(up) - 1] % 2
    np.testing.assert_array_equal(element.stored((up[1:] + up[:-1]) / 2), even)
    np.testing.assert_array_equal(
        element.stored(-np.nextafter((up[1:] + up[:-1]) / 2, np.float32(9e9))), codes[129:][: len(even)]
    )
    assert not np.isfinite(element.numbers(element.stored(np.array([1.1 * largest, -1e30])))).any()


def test_c_is_nan_where_it_must_not_be_read() -> None:
    assert np.isnan(Problem(4, 4, 4, beta=0).matrices()[2]).all()
    assert np.isfinite(Problem(4, 4, 4, beta=1).matrices()[2]).all()


def test_data_is_the_seeds() -> None:
    first, again, other = (Problem(8, 8, 8, seed=s).matrices() for s in (1, 1, 2))
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (first[0] != other[0]).any()
    assert (first[0] != first[1]).any()
    a, b, _ = Problem(8, 8, 8, seed=1, data="identity").matrices()
    assert (a == first[0]).all()
    assert (b == np.eye(8)).all()


def test_tolerance_follows_its_formula() -> None:
    """gamma_n where K is small, the probabilistic bound where that is smaller."""
    few, many = Problem(1, 1, 3), Problem(128, 128, 4096)
    assert few.unit_bounds()[0] == pytest.approx(5 * 2**-24)
    assert many.unit_bounds()[0] < 4098 * 2**-24 / 5


@pytest.mark.parametrize(
    "bad",
    [{"m": 0}, {"k": -1}, {"alpha": math.nan}, {"beta": math.inf}, {"alpha": -1e39}, {"data": "zeros"}, {"seed": -1}],
)
def test_what_is_no_problem_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ProblemError):
        Problem(**{"m": 4, "n": 4, "k": 4, **bad})  # type: ignore[arg-type]


def test_pieces_of_a_sum_have_their_own_bound() -> None:
    """On the way to a piece's sum may be more than on the way to the whole."""
    p = Problem(2, 3, 2048, types=Types("f16", "f32"))
    a, b, c = p.matrices()
    whole, pieces = (dataclasses.replace(p, pieces=n).judge(a, b, c, a @ b).tolerance for n in (1, 4))
    assert whole < pieces <= 2.5 * whole
