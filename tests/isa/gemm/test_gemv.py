"""GEMV kernels: what each computes, bit for bit as `isa.semantics.dots` says the card adds, at odd sizes and
in all formats of weights; that lint has nothing to say, and that the sanitizer has not either."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from launching import launch, program
from test_matrix import ARCHES, bf16, by_fours, numbers, two, words

from hipgemm.launch.weights import Weights
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.names import name_of, parameters_of
from isa.gemm.vector.parameters import ParameterError
from isa.lint import lint

SMALL = GemvParameters(2, 13, 2)
VARIANTS = {
    "f16": SMALL,
    "f16, two fragments": dataclasses.replace(SMALL, columns=21),
    "bf16, bf16 C": dataclasses.replace(SMALL, factor="bf16", result="bf16", waves=1),
    "16 rows, f16 C": GemvParameters(16, 22, 8, result="f16"),
    "i8": GemvParameters(5, 40, 4, "i8", result="i32"),
    "q8": dataclasses.replace(SMALL, weights="q8", rows=1),
    "q8_0": dataclasses.replace(SMALL, weights="q8_0", rows=4),
    "q4_0": dataclasses.replace(SMALL, weights="q4_0", rows=1),
    "q4_0, 16 rows": GemvParameters(16, 43, 8, weights="q4_0"),
    "awq": dataclasses.replace(SMALL, weights="awq", rows=3),
    "awq, three fragments": GemvParameters(1, 43, 4, weights="awq"),
}
OF_RDNA4 = {
    "fp8": dataclasses.replace(SMALL, factor="fp8", rows=5),
    "bf8, f16 C": GemvParameters(16, 22, 4, "bf8", result="f16"),
}
QUICK = ["f16", "q4_0", "awq"]
EACH = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in VARIANTS]
SLOW = (), pytest.mark.slow
AWQ = np.array([0, 4, 1, 5, 2, 6, 3, 7])


def drawn(p: GemvParameters, m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """A, what lies in memory for B (N rows), C, and what the kernel takes more."""
    rng = np.random.default_rng(m * 1009 + n * 31 + k)
    a, b, c = (rng.uniform(-1, 1, shape) for shape in ((m, k), (n, k), (m, n)))
    if not p.weights:
        return words(p.factor, a), words(p.factor, b), words(p.result, c), []
    first, *others = Weights.quantised(b, p.weights).arrays
    return words(p.factor, a), first, words(p.result, c), others


def units(p: GemvParameters, first: np.ndarray, others: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Weights without their scales as words of f16, and scales by group; of A's type as they are, and ones."""
    if not p.weights:
        return first, np.ones((len(first), 1), np.float32)
    w = Weights(p.weights, first, *others)
    scales = w.scales.reshape(len(first), -1)
    return words("f16", w.numbers() / np.repeat(scales.astype(np.float64), w.k // scales.shape[1], axis=1)), scales


def as_the_card_adds(p: GemvParameters, a: np.ndarray, b: np.ndarray, scales: np.ndarray, arch: str) -> np.ndarray:
    """Words of A and of N rows of weights: each wave's blocks, two or 16 steps of k at a time; groups; then the
    waves."""
    if p.factor == "i8":
        return a.astype(np.int32) @ b.astype(np.int32).T
    a, b = a.astype(np.uint32), b.astype(np.uint32)
    if p.weights == "awq":
        order = (np.arange(0, a.shape[1], 8)[:, None] + AWQ).ravel()
        a, b = a[:, order], b[:, order]
    total = np.zeros((a.shape[0], len(b)), np.float32)
    group, kind, whole = p.group or p.depth, f"f32 {p.factor}", 2 if arch == "gfx1100" else 32 // p.factor_bytes
    if p.factor_bytes == 1:  # the same numbers in f16
        kind, a, b = "f32 f16", *(numbers(p.factor, x).astype(np.float16).view(np.uint16) for x in (a, b))
        a, b = a.astype(np.uint32), b.astype(np.uint32)
    for wave in range(p.waves):
        mine, part = np.zeros_like(total), np.zeros(total.shape, np.uint32)
        for begin in range(wave * p.depth, a.shape[1], p.waves * p.depth):
            for k in range(begin, begin + p.depth, whole):
                if p.group and k % group == 0:
                    part = np.zeros_like(part)
                part = two(kind, a, b.T, k, part) if whole == 2 else by_fours(kind, a, b.T, k, part, whole)
                if p.group and (k + whole) % group == 0:
                    exact = scales[:, k // group].astype(np.longdouble) * part.view(np.float32) + mine
                    mine = exact.astype(np.float32)
        if not p.group:
            mine = part.view(np.float32)
        total = total + mine if wave else mine
    return total if p.group or not p.weights else total * scales[:, 0]


def assert_right(p: GemvParameters, m: int, n: int, k: int, alpha: float, beta: float, arch: str = "gfx1100") -> None:
    """Bit for bit, and so near to float64 as such sums can be. Without beta, C begins as NaNs."""
    a, first, c, others = drawn(p, m, n, k)
    if p.result == "i32":
        alpha, beta = int(4 * alpha), int(4 * beta)
    started = c if beta else np.full_like(c, np.nan if p.result == "f32" else 0x7FFF)
    got = launch(p, a, first.T, started, alpha, beta, vectors=others, arch=arch)
    what = f"{p} at {m} x {n} x {k}, alpha {alpha}, beta {beta}"
    b, scales = units(p, first, others)
    sums = as_the_card_adds(p, a, b, scales, arch)
    if p.result == "i32":
        np.testing.assert_array_equal(got, alpha * sums + beta * c, err_msg=what)
        return
    second = np.float64(np.float32(beta)) * numbers(p.result, c).astype(np.float32)
    if p.result == "f32":
        expected = (np.float64(np.float32(alpha)) * sums + second.astype(np.float32)).astype(np.float32)
    elif p.result == "f16":
        expected = words("f16", second + np.float32(alpha) * sums)
    else:
        expected = bf16((second + np.float32(alpha) * sums).astype(np.float32))
    np.testing.assert_array_equal(got, expected, err_msg=what)
    if p.result == "f32":
        real = Weights(p.weights, first, *others).numbers() if p.weights else numbers(p.factor, first)
        left = numbers(p.factor, a)
        exact = alpha * (left @ real.T) + second
        bound = 2.0**-23 * (k + 8) * (abs(alpha) * (np.abs(left) @ np.abs(real).T) + abs(beta))
        assert np.all(np.abs(got - exact) <= bound), what


@pytest.mark.parametrize(
    ("p", "arch"),
    [
        *(pytest.param(p, a, marks=SLOW[n not in QUICK]) for (n, p), a in itertools.product(VARIANTS.items(), ARCHES)),
        *((p, "gfx1201") for p in OF_RDNA4.values()),
    ],
    ids=lambda x: x if isinstance(x, str) else name_of(x),
)
def test_it_is_right_at_any_m_and_n(p: GemvParameters, arch: str) -> None:
    sizes = (
        (1, 1, p.depth),
        (p.rows + 1, 2 * p.columns - 3, (p.waves + 1) * p.depth),
        (1, 3, (4 * p.waves + 1) * p.depth),
    )
    for size, (alpha, beta) in zip(sizes, ((1.5, -0.5), (1.0, 0.0), (1.5, -0.5)), strict=True):
        assert_right(p, *size, alpha, beta, arch)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("arch", ARCHES)
def test_lint_finds_nothing(name: str, arch: str) -> None:
    assert lint.lint_program(program(VARIANTS[name], arch)) == []


def test_floats_of_bytes_are_of_rdna4_alone() -> None:
    assert lint.lint_program(program(OF_RDNA4["fp8"], "gfx1201")) == []
    with pytest.raises(ParameterError, match="the matrix units of gfx1100 do not multiply fp8"):
        program(OF_RDNA4["fp8"])


def test_without_k_it_is_beta_c() -> None:
    assert_right(SMALL, 2, 5, 0, 1.5, -0.5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f16", "awq"])
def test_the_sanitizer_finds_nothing(name: str) -> None:
    p = VARIANTS[name]
    a, first, c, others = drawn(p, p.rows + 1, p.columns + 2, 3 * p.depth)
    launch(p, a, first.T, c, 1.5, -0.5, vectors=others, check=True)


EPILOGUES = {
    "scales, bias and silu": GemvParameters(5, 13, 2, "i8", result="bf16", scales=True, bias=True, activation="silu"),
    "weights' scales, bias and gelu": GemvParameters(5, 13, 2, weights="q8", bias=True, activation="gelu"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EPILOGUES)
def test_epilogues(name: str) -> None:
    p = EPILOGUES[name]
    assert lint.lint_program(program(p)) == []
    m, n, k = 7, 31, p.depth
    a, first, c, others = drawn(p, m, n, k)
    rng = np.random.default_rng(n)
    extra = {"bias": rng.normal(size=n), "row_scale": rng.uniform(0.5, 1, m), "column_scale": rng.uniform(0, 1, n)}
    extra = {key: extra[key].astype(np.float32) for key in extra if key in p.vectors}
    alpha = 2.0**-14 if p.factor == "i8" else 0.5
    got = numbers(p.result, launch(p, a, first.T, c, alpha, 0.5, vectors=[*extra.values(), *others]))
    real = Weights(p.weights, first, *others).numbers() if p.weights else numbers(p.factor, first)
    x = alpha * (numbers(p.factor, a) @ real.T)
    if p.scales:
        x = x * extra["row_scale"][:, None] * extra["column_scale"]
    x = x + 0.5 * numbers(p.result, c) + extra["bias"]
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    right = {"silu": x / (1 + np.exp(-x)), "gelu": 0.5 * x * (1 + np.tanh(u))}[p.activation]
    np.testing.assert_allclose(got, right, rtol={"f32": 2.0**-19, "bf16": 2.0**-8}[p.result], atol=2.0**-17)


def test_names_lead_back_to_parameters() -> None:
    assert name_of(VARIANTS["q4_0"]) == "gemv_f16_q4_0_f32_1x13_w2"
    for p in itertools.chain(VARIANTS.values(), OF_RDNA4.values(), EPILOGUES.values()):
        assert parameters_of(name_of(p)) == p


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rows": 17}, "1 to 16"),
        ({"columns": 65}, "1 to 64"),
        ({"waves": 3}, "a power of two"),
        ({"factor": "f32"}, "f16, bf16, i8"),
        ({"factor": "i4"}, "all but i4"),
        ({"weights": "q5_1"}, "q8, q8_0, q4_0, awq, with A of f16"),
        ({"weights": "q8", "factor": "bf16"}, "with A of f16"),
        ({"result": "i32"}, "f32, f16, bf16"),
        ({"activation": "tanh"}, "relu, silu, gelu"),
        ({"rows": 16, "waves": 16}, "65536 bytes"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(change: dict[str, object], expected: str) -> None:
    with pytest.raises(ParameterError, match="no GEMV kernel has such") as refused:
        GemvParameters(**change)  # type: ignore[arg-type]
    assert expected in str(refused.value)


def test_registers_that_do_not_do_are_refused() -> None:
    with pytest.raises(ParameterError, match="VGPRs"):
        program(GemvParameters(16, 64, 4))
