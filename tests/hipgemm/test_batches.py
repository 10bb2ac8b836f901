"""Batches of products, and matrices with gaps between their lines: hipgemm.gemm against NumPy's float64, what goes to
the device, and what is refused by name."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.ladder import rung
from hipgemm.launch.batches import Batch, BatchError
from hipgemm.launch.elements import Types
from hipgemm.launch.gemm import launch_of
from hipgemm.launch.problem import Problem
from hipgemm.product.arrays import ArrayValueError
from hipgemm.product.choice import choose
from hipgemm.product.layouts import across, gaps, operand
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import parameters_of

NN, NT = (f"gemm_f16_f32_64x64x32_32x32_s1_strided_{trans}" for trans in ("nn", "nt"))


def halves(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float16)


def close(got: np.ndarray, a: np.ndarray, b: np.ndarray, atol: float = 1e-5) -> None:
    np.testing.assert_allclose(got, np.matmul(a.astype(np.float64), b.astype(np.float64)), atol=atol)


def test_heads_of_attention_are_taken_as_they_lie() -> None:
    queries, keys = (halves(24, 3, 4, 32)[:, i].transpose(1, 0, 2) for i in (0, 1))
    scores = hipgemm.gemm(queries, keys.transpose(0, 2, 1), kernel=NT, device="simulated")
    close(scores, queries, keys.transpose(0, 2, 1))
    lying = operand(queries, False, True, 1 << 20)
    assert (lying.line, lying.stride) == (384, 32)
    assert np.shares_memory(lying.memory, queries)


def test_a_shared_operand_has_no_stride() -> None:
    a, b = halves(70, 44)[:, :40], np.broadcast_to(halves(40, 50, seed=2), (3, 40, 50))
    assert operand(b, False, True, 1 << 20).stride == 0
    close(hipgemm.gemm(a, b, kernel=NN, device="simulated"), a, b)


def test_a_batch_by_one_matrix_is_one_product() -> None:
    a, b = halves(3, 70, 40), halves(40, 50, seed=2)
    close(hipgemm.gemm(a, b, kernel=NN, device="simulated"), a, b)


def test_c_of_a_batch() -> None:
    a, b, c = halves(2, 20, 40), halves(2, 40, 50, seed=2), halves(2, 20, 50, seed=3).astype(np.float32)
    expected = 2 * np.matmul(a.astype(np.float64), b) - c
    assert hipgemm.gemm(a, b, c, alpha=2.0, beta=-1.0, kernel=NN, device="simulated") is c
    np.testing.assert_allclose(c, expected, atol=1e-4)


@pytest.mark.slow
def test_integers_and_epilogues() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-8, 8, (3, 20, 34)).astype(np.int8), rng.integers(-8, 8, (3, 34, 40)).astype(np.int8)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    name = "gemm_i4_i32_64x64x64_32x32_s1_strided_nn"
    packed = hipgemm.pack_int4(a, 2), hipgemm.pack_int4(b, 1)
    np.testing.assert_array_equal(hipgemm.gemm(*packed, packed="int4", kernel=name, device="simulated"), exact)
    scales = np.full(20, 0.5, np.float32), np.full(40, 0.25, np.float32)
    got = hipgemm.gemm(a, b, scales=scales, out_dtype="float32", device="simulated",
                       kernel="gemm_i8_f32_64x64x64_32x32_s1_strided_scales_nn")  # fmt: skip
    np.testing.assert_array_equal(got, exact / 8)


def test_what_a_kernel_cannot_take_is_gathered() -> None:
    x = halves(40, 4000)
    assert not gaps(x[:, :64])  # most of what would go to the device is none of it
    assert gaps(x[:, :2000])
    assert operand(x[:, ::2], False, True, 1 << 20).line == 2000
    assert across(x.T)
    assert across(x.T[:1000])
    assert not across(x[::-1])
    assert operand(x[::-1], False, True, 1 << 20).memory[0, 0] == x[-1, 0]
    assert operand(x[:, :2000], False, True, 3999).line == 2000


def test_choice_looks_at_all_of_a_batch() -> None:
    types = Types("f16", "f32")
    assert "_strided" not in choose(512, 512, 96, types, (False, True), batch=1)
    many = choose(512, 512, 96, types, (False, True), batch=1000)
    one = parameters_of(choose(512 * 1000, 512, 96, types, (False, True)))
    assert isinstance(one, MatrixParameters)
    assert parameters_of(many) == dataclasses.replace(one, strided=True)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((3, 4, 5), (2, 5, 6)), "the batches of a and b do not fit"),
        (((3, 4, 5), (5, 6), (4, 6)), "c does not fit the batch"),
        (((2, 3, 4, 5), (5, 6)), "a is not a matrix"),
        (((3, 4, 5), (3, 6, 5)), "a and b do not fit"),
    ],
)
def test_shapes_that_do_not_fit(shapes: tuple[Any, ...], expected: str) -> None:
    a, b, *c = (np.zeros(shape, np.float32 if i == 2 else np.float16) for i, shape in enumerate(shapes))
    with pytest.raises(ArrayValueError, match=expected):
        hipgemm.gemm(a, b, *c, device="simulated")


@pytest.mark.parametrize("shapes", [((3, 4, 5), (3, 5, 6)), ((3, 4, 5), (5, 6)), ((4, 5), (3, 5, 6))])
def test_float32_says_what_takes_a_batch(shapes: tuple[Any, ...]) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes)
    with pytest.raises(
        ArrayValueError, match=r"float32 matrices do not support a batch\n.*one matrix after the other, or.*float16"
    ):
        hipgemm.gemm(a, b, device="simulated")


def test_kernels_for_one_product_refuse_a_batch() -> None:
    with pytest.raises(BatchError, match="kernel11 takes one product"):
        launch_of(rung("kernel11"), 128, 128, 64, batch=3)
    row = rung(NN)
    dense = Batch.dense(row, 70, 66, 40, 5)
    assert dense == Batch(5, (40, 66, 66), (2800, 2640, 4620))
    assert launch_of(row, 70, 66, 40, batch=5).grid == (2, 2, 5)
    for lines, strides in (((39, 66, 66), (0, 0, 0)), ((40, 66, 1 << 30), (0, 0, 0)), ((40, 66, 66), (-1, 0, 0))):
        with pytest.raises(BatchError, match="cannot take"):
            Batch(5, lines, strides).check(row, 70, 66, 40)
    with pytest.raises(BatchError, match="does not take a batch of this size"):
        launch_of(row, 70, 66, 40, batch=65536)


def test_the_judge_looks_at_each_product() -> None:
    problem = Problem(20, 24, 40, types=Types("f16", "f32"), batch=3)
    a, b, c = problem.matrices()
    right = np.matmul(a.astype(np.float64), b).astype(np.float32)
    assert problem.judge(a, b, c, right).correct
    right[[1, 2]] = right[[2, 1]]
    verdict = problem.judge(a, b, c, right)
    assert (verdict.correct, verdict.worst and verdict.worst[0]) == (False, 1)


def test_verbs_take_a_batch() -> None:
    def said(*words: str) -> Any:
        found = CliRunner().invoke(main, [*words])
        return found.exit_code, found.stdout

    code, text = said("time", NT, "-n", "64", "-k", "64", "--batch", "40", "--json")
    assert code == 0, text
    assert json.loads(text)["batch"] == 40
    code, text = said("explain", "512", "512", "64", "--types", "f16_f16", "--batch", "40", "--no-predict", "--json")
    assert code == 0, text
    assert "_strided_" in json.loads(text)["kernel"]
    assert said("explain", "512", "512", "64", "--batch", "40")[0] == 2
    assert said("run", NN, "-n", "40", "--batch", "3", "--device", "simulated")[0] == 0
