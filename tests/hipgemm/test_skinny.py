"""Products with few rows as a product: which kernel hipgemm.gemm takes, quantised weights, what is refused; and whether
the judge of answers can say no."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import SizeError, rung
from hipgemm.launch import problem
from hipgemm.launch.elements import Types
from hipgemm.launch.problem import Problem
from hipgemm.launch.weights import Weights, WeightsError
from hipgemm.product.arrays import ArrayTypeError, ArrayValueError
from hipgemm.product.choice import of_few_rows
from isa.gemm.gemv.formats import FORMATS

KERNEL = "gemv_f16_q4_0_f32_1x13_w2"


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float16)


@pytest.mark.parametrize("format", FORMATS)
def test_weights_are_near_what_was_quantised_and_unpack_as_their_format_says(format: str) -> None:
    dense = drawn(3, 256)
    w = Weights.quantised(dense, format)
    steps = np.repeat(w.scales.astype(np.float64).reshape(3, -1), 256 // w.scales.reshape(3, -1).shape[1], axis=1)
    assert np.all(np.abs(w.numbers() - dense) <= 1.01 * np.abs(steps))  # awq's zero points round once more
    assert w.shape == (256, 3)
    word = np.ascontiguousarray(w.words).view(np.uint8)
    if format == "q4_0":  # ggml's dequantize_row_q4_0
        d = w.scales.astype(float)[1, 3]
        assert w.numbers()[1, 3 * 32 + 5] == d * (int(word[1, 3 * 16 + 5] & 15) - 8)
        assert w.numbers()[1, 3 * 32 + 16 + 5] == d * (int(word[1, 3 * 16 + 5] >> 4) - 8)
    if format == "awq":
        assert w.zeros is not None
        q = int(w.words.view("<u4")[2, 128 // 8 + 1]) >> 4 * 3 & 15
        assert w.numbers()[2, 128 + 11] == float(w.scales[2, 1]) * (q - (int(w.zeros[2, 0]) >> 4 & 15))


def test_gemm_takes_weights() -> None:
    x, w = drawn(1, 256), Weights.quantised(drawn(20, 256, seed=1), "q4_0")
    got = hipgemm.gemm(x, w, device="simulated", kernel=KERNEL)
    np.testing.assert_allclose(got, x.astype(np.float64) @ w.numbers().T, rtol=2e-4, atol=1e-4)


def test_few_rows_get_a_kernel_of_their_own_where_weights_lie_along_k() -> None:
    types = Types("f16", "f32")
    assert of_few_rows(1, 4096, 4096, 96, types) == "gemv_f16_f32_1x43_w8"
    assert of_few_rows(16, 14336, 4096, 96, Types("f16", "f16", "q4_0")) == "gemv_f16_q4_0_f16_16x38_w2"
    assert of_few_rows(1, 4096, 4090, 96, types) is None
    x, w = drawn(2, 128), drawn(9, 128, seed=1)
    got = hipgemm.gemm(x, w.T, device="simulated")
    np.testing.assert_allclose(got, x.astype(np.float64) @ w.T.astype(np.float64), rtol=2e-4, atol=1e-4)


def test_run_check_time_and_prove_take_them() -> None:
    result = hipgemm.run(KERNEL, n=20, m=1, k=256, beta=0.5, device="simulated")
    assert (result.correct, result.types) == (True, "f16 x q4_0 to f32")
    checked = CliRunner().invoke(main, ["check", KERNEL, "-n", "20", "-m", "1", "-k", "256"])
    assert (checked.exit_code, checked.exception) == (0, None), checked.output
    timed = CliRunner().invoke(main, ["time", KERNEL, "-n", "512", "-m", "1", "-k", "512", "--json"])
    assert json.loads(timed.output)["time_ms"] > 0
    proved = invoked(["prove", KERNEL, "-n", "20", "-m", "1", "-k", "256"])
    assert f"proved: {KERNEL} computes C = alpha A B + beta C by definition, for all data, at 2 sizes" in proved.output
    (stage,) = [s for s in build(KERNEL).stages if s.name == "prove"]
    assert "1 to 1 rows and 1 to 13 columns at the edges of C" in stage.note


def test_the_judge_says_no() -> None:
    """To a group's neighbour's scale, to halves of bytes that changed places, and to one wave's part of k missing."""
    p = Problem(2, 12, 512, types=Types("f16", "f32", "q4_0"), shares=(2, 128))
    a, b, c = p.matrices()
    right = a.astype(np.float64) @ b
    assert p.judge(a, b, c, right.astype(np.float32)).correct
    w = p.weights()
    scaled = dataclasses.replace(w, scales=np.ascontiguousarray(np.roll(w.scales, 1, axis=1)))
    turned = dataclasses.replace(w, words=w.words << 4 | w.words >> 4)
    first = b.copy()
    first[128:256] = 0
    for wrong in (scaled.numbers().T, turned.numbers().T, first):
        assert not p.judge(a, b, c, (a.astype(np.float64) @ wrong).astype(np.float32)).correct
    problem._weights.cache_clear()


def test_what_is_not_taken_is_named() -> None:
    w = Weights.quantised(drawn(4, 256), "q8")
    with pytest.raises(SizeError, match="cannot take K = 130"):
        rung(KERNEL).check_size(1, 4, 130)
    with pytest.raises(ArrayTypeError, match="the matrix units cannot multiply"):
        hipgemm.gemm(drawn(1, 256).astype(np.int8), w, device="simulated")
    with pytest.raises(ArrayValueError, match="no kernel takes q8 weights of these sizes"):
        hipgemm.gemm(drawn(1, 100), Weights.quantised(drawn(4, 100), "q8"), device="simulated")
    with pytest.raises(ArrayValueError, match="as many columns of a as rows of b"):
        hipgemm.gemm(drawn(1, 128), w, device="simulated")
    for bad, said in (
        ({"format": "q5_1"}, "no format"),
        ({"scales": w.scales[:3]}, "scales does not match"),
        ({"format": "q4_0"}, "words does not match"),
    ):
        with pytest.raises(WeightsError, match=said):
            dataclasses.replace(w, **bad)
    with pytest.raises(WeightsError, match="whole groups"):
        Weights.quantised(drawn(4, 100), "q4_0")
