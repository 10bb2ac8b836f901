"""Kernels on the matrix units as a product: what run, time, check and prove say, hipgemm.gemm, and whether the judge of
their answers can say no."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from verbs import invoked

import hipgemm
from hipgemm.cli import main
from hipgemm.kernels.ladder import MATRIX, rung
from hipgemm.launch.elements import ELEMENTS, Epilogue, Types
from hipgemm.launch.problem import Problem, ProblemError
from hipgemm.product.arrays import ArrayTypeError, ArrayValueError
from hipgemm.product.choice import choose
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import ParameterError
from isa.semantics.reference.values import summed

SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32)


def name(**change: Any) -> str:
    return name_of(dataclasses.replace(SMALL, **change))


def test_names_lead_back_to_parameters() -> None:
    eleven = MATRIX["kernel11"].parameters
    assert eleven is not None
    assert name_of(eleven) == "gemm_f16_f32_128x128x32_64x64_s1_nn"
    changes: list[dict[str, Any]] = [
        {}, {"factor": "bf16", "trans_a": True}, {"result": "f16", "stages": 2}, {"half_sums": True, "gate": True},
        {"activation": "silu", "gate": True, "bias": True, "scales": True, "strided": True, "prio": True}, {"group": 8},
    ]  # fmt: skip
    for change in changes:
        assert rung(name(**change)).parameters == dataclasses.replace(SMALL, **change)
    with pytest.raises(ParameterError, match="no GEMM kernel has such wave_rows"):
        rung("gemm_f16_f32_128x128x32_48x64_s1_nn")


def test_a_run_says_its_types_and_is_held_against_float64() -> None:
    result = hipgemm.run(name(factor="bf16"), n=70, k=40, beta=0.5, device="simulated")
    assert (result.correct, result.types, result.wrong) == (True, "bf16 to f32", 0)
    assert result.time_ms is not None


def test_check_has_nothing_to_say() -> None:
    found = CliRunner().invoke(main, ["check", name(), "-n", "70", "-k", "40"])
    assert (found.exit_code, found.exception) == (0, None), found.output


def test_list_has_them() -> None:
    rows = json.loads(CliRunner().invoke(main, ["list", "--json"]).output)["matrix_units"]
    assert [(row["name"], row["types"]) for row in rows] == [
        ("kernel11", "f16 to f32"),
        ("kernel12", "bf16 to f32"),
        ("kernel13", "i8 to i32"),
    ]


@pytest.mark.parametrize("types", [Types("f16", "f32"), Types("bf16", "f32"), Types("f16", "f16")], ids=str)
def test_the_judge_says_no(types: Types) -> None:
    """To a lost product, to a step of k that is taken twice, and to a result that is one unit off too far."""
    problem = Problem(40, 48, 96, types=types)
    a, b, c = problem.matrices()
    right = a.astype(np.float64) @ b
    stored = types.of_result.stored(right.astype(np.float32))
    assert problem.judge(a, b, c, stored).correct
    for wrong in (
        right - np.outer(a[:, 5], b[5]),
        right + a[:, 16:32].astype(np.float64) @ b[16:32],
        np.where(np.indices(right.shape).sum(0) == 3, right + 0.1, right),
        np.where(np.indices(right.shape).sum(0) == 3, np.nan, right),
    ):
        assert not problem.judge(a, b, c, types.of_result.stored(wrong.astype(np.float32))).correct


@pytest.mark.parametrize("types", [Types("f16", "f16", half_sums=True), Types("bf16", "f32", half_sums=True)], ids=str)
def test_the_judge_knows_sums_of_16_bits(types: Types) -> None:
    """Sums as the card adds them are right, and not within the bound of sums in f32; other products are wrong."""
    problem = Problem(24, 40, 64, types=types)
    a, b, c = problem.matrices()
    low, high = (types.of_factor.stored(x).view(np.uint16).astype(np.uint32) for x in (a, b))
    sums = np.zeros((24, 40), np.uint32)
    for k in range(0, 64, 2):
        rows, columns = low[:, k] | low[:, k + 1] << 16, high[k] | high[k + 1] << 16
        sums = summed(f"{types.factor} {types.factor}", [rows[:, None]], [columns[None]], sums)
    element = types.of_factor
    found = element.numbers(sums.astype(np.uint16).view(element.dtype))
    right = types.of_result.stored(found)
    assert problem.judge(a, b, c, right).correct
    assert (
        not dataclasses.replace(problem, types=dataclasses.replace(types, half_sums=False))
        .judge(a, b, c, right)
        .correct
    )
    for wrong in (found.T.reshape(24, 40), 2 * found, np.zeros_like(found), np.full_like(found, np.nan)):
        assert not problem.judge(a, b, c, types.of_result.stored(wrong)).correct


def test_sums_of_16_bits_have_kernels_of_their_own() -> None:
    half = Types("f16", "f16", half_sums=True)
    for flips in itertools.product((False, True), repeat=2):
        for n in (100, 1000, 4000):
            row = rung(choose(n, n, 96, half, flips))
            assert (row.types, row.transposed) == (half, flips)
    assert str(half) == "f16, sums of f16"


@pytest.mark.parametrize("types", [Types("f16"), Types("i8", "i32"), Types("fp8")], ids=str)
def test_fast_matrix_units_take_large_tiles_sooner(types: Types) -> None:
    """RDNA4's, at 4096 on 64 CUs; a card that is not known is taken for an RDNA3 one."""
    for flips in itertools.product((False, True), repeat=2):
        tiles = {on: choose(4096, 4096, 64, types, flips, card=on).split("_")[3] for on in ("R9700", "7900 XT", "?")}
        assert (tiles["R9700"][:7], tiles["7900 XT"]) == ("128x128", tiles["?"])
        assert tiles["?"][:2] == "64"
        assert choose(512, 512, 64, types, flips, card="R9700").split("_")[3][:2] == "64"


@pytest.mark.slow
def test_gemm_with_a_gate() -> None:
    """silu(x Wg) * (x Wu) in two kernels."""
    x, gate, up = _halves(40, 64), _halves(64, 50, seed=2), _halves(64, 50, seed=3)
    wide = [m.astype(np.float64) for m in (x, gate, up)]
    first = wide[0] @ wide[1]
    expected = first / (1 + np.exp(-first)) * (wide[0] @ wide[2])
    got = hipgemm.gemm(x, up, device="simulated", kernel=name())
    assert hipgemm.gemm(x, gate, got, activation="silu", gate=True, device="simulated") is got
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_gemm_with_sums_of_16_bits() -> None:
    a, b = _halves(40, 64), _halves(64, 50, seed=2)
    near, far = (
        np.abs(hipgemm.gemm(a, b, **how, device="simulated") - a.astype(np.float64) @ b).max()
        for how in ({"kernel": name()}, {"sums": "float16", "kernel": name(half_sums=True)})
    )
    assert near < 1e-4 < far < 0.1


def test_elements_round_to_nearest_even_and_keep_nans() -> None:
    values = np.array([1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -0.0, np.inf, np.nan, 3.4e38], np.float32)
    bf16 = ELEMENTS["bf16"]
    got = bf16.numbers(bf16.stored(values))
    assert got[:5].tolist() == [1.0, 1.0, 1 + 2.0**-6, -0.0, np.inf]
    assert np.isnan(got[5])
    assert got[6] == np.inf or got[6] == np.float32(3.3895314e38)


def _halves(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float16)


def test_gemm_takes_halves_as_they_lie() -> None:
    a, b, c = _halves(40, 33), _halves(50, 33, seed=2), _halves(40, 50, seed=3)
    got = hipgemm.gemm(a, b.T, device="simulated")
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, a.astype(np.float64) @ b.T.astype(np.float64), atol=1e-5)
    expected = 2 * (a.astype(np.float64) @ b.T) - c
    same = hipgemm.gemm(a, b.T, c, alpha=2.0, beta=-1.0, device="simulated")
    assert same is c
    np.testing.assert_allclose(c, expected, atol=2e-2)


def test_gemm_adds_bytes_exactly() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-128, 128, (70, 45), np.int8), rng.integers(-128, 128, (66, 45), np.int8).T
    kernel = "gemm_i8_i32_64x64x32_32x32_s1_nt"  # the smallest
    exact = a.astype(np.int32) @ b.astype(np.int32)
    got = hipgemm.gemm(a, b, kernel=kernel, device="simulated")
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, exact)
    # 2^30 * sums leaves 32 bits: it wraps around, as int32 does.
    c = np.full_like(exact, 7)
    hipgemm.gemm(a, b, c, alpha=2**30, beta=-3, kernel=kernel, device="simulated")
    np.testing.assert_array_equal(c, (exact.astype(np.int64) * 2**30 - 21).astype(np.int32))


def test_gemm_multiplies_int4_exactly() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-8, 8, (70, 45)), rng.integers(-8, 8, (66, 45)).T  # an odd K
    exact = a @ b
    bytes_a, bytes_b = hipgemm.pack_int4(a, 1), hipgemm.pack_int4(b, 0)
    assert (bytes_a.shape, bytes_b.shape, bytes_b.flags.f_contiguous) == ((70, 23), (23, 66), True)
    assert bytes_a[3, 2] == (a[3, 4] & 15 | (a[3, 5] & 15) << 4)
    kernel = "gemm_i4_i32_64x64x64_32x32_s1_nt"
    got = hipgemm.gemm(bytes_a, bytes_b, packed="int4", kernel=kernel, device="simulated")
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, exact)
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="int4 arrays are ml_dtypes'")
    four = hipgemm.gemm(a.astype(ml_dtypes.int4), b.astype(ml_dtypes.int4), kernel=kernel, device="simulated")
    np.testing.assert_array_equal(four, exact)


def test_the_judge_holds_integers_to_each_bit() -> None:
    problem = Problem(40, 48, 96, alpha=2**28, beta=-5, types=Types("i8", "i32"))
    a, b, c = problem.matrices()
    right = (a.astype(np.int64) @ b.astype(np.int64) * 2**28 - 5 * c.astype(np.int64)).astype(np.int32)
    assert problem.judge(a, b, c, right).correct
    right[3, 4] ^= 1
    verdict = problem.judge(a, b, c, right)
    assert (verdict.correct, verdict.wrong) == (False, 1)
    assert verdict.worst is not None
    assert verdict.worst[:2] == (3, 4)


def test_gemm_without_products_scales_c() -> None:
    c = np.ones((3, 4), np.float32)
    hipgemm.gemm(_halves(3, 0), _halves(0, 4), c, beta=3.0, device="simulated")
    assert (c == 3).all()
    nothing = hipgemm.gemm(np.full((3, 2), np.nan, np.float16), _halves(2, 4), alpha=0.0, device="simulated")
    assert (nothing == 0).all()


def test_gemm_of_float32_is_sgemm() -> None:
    a, b = _halves(20, 8).astype(np.float32), _halves(8, 12).astype(np.float32)
    np.testing.assert_allclose(hipgemm.gemm(a, b, device="simulated"), a @ b, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "said"),
    [
        ((_halves(2, 3), _halves(3, 2).astype(np.float32)), {}, ArrayTypeError, "both float16, bfloat16, int8"),
        ((_halves(2, 3), _halves(2, 2)), {}, ArrayValueError, "as many columns of a as rows of b"),
        ((_halves(2, 3), _halves(3, 2)), {"packed": "int4"}, ArrayTypeError, "both uint8"),
        ((_halves(2, 3), _halves(3, 2)), {"packed": "int2"}, ArrayValueError, "int4"),
        ((_halves(2, 3), _halves(3, 2)), {"out_dtype": "int32"}, ArrayTypeError, "float32 or float16 or bfloat16"),
        ((_halves(2, 3), _halves(3, 2)), {"kernel": "kernel12"}, ArrayTypeError, "kernel12 does not take"),
        ((_halves(2, 3).astype(np.int8), _halves(3, 2).astype(np.int8)), {"alpha": 0.5}, ArrayTypeError,
         "alpha of an int32 C is not an int32"),
        ((_halves(2, 3).astype(np.int8), _halves(3, 2).astype(np.int8)), {"out_dtype": "int16"}, ArrayTypeError,
         "cannot be int16"),
        ((_halves(2, 3), _halves(3, 2)), {"bias": np.zeros(3, np.float32)}, ArrayValueError, "bias does not fit C"),
        ((_halves(2, 3), _halves(3, 2)), {"bias": [1.0, 2.0]}, ArrayTypeError, "bias is not an array"),
        ((_halves(2, 3), _halves(3, 2)), {"activation": "tanh"}, ParameterError, "relu, silu, gelu"),
        ((_halves(2, 3), [[1.0]]), {}, ArrayTypeError, "b is not an array"),
        ((_halves(2), _halves(3, 2)), {}, ArrayValueError, "2 dimensions or 3 dimensions of a batch"),
        ((_halves(2, 3), _halves(3, 2)), {"gate": True}, ArrayValueError, "a gate multiplies by the previous contents"),
        ((_halves(2, 3), _halves(3, 2), _halves(2, 2)), {"gate": True, "beta": 1.0}, ArrayValueError, "beta = 1"),
        ((_halves(2, 3), _halves(3, 2)), {"sums": "int32"}, ArrayTypeError, "cannot be int32"),
        ((_halves(2, 3), _halves(3, 2)), {"sums": "float8"}, ArrayTypeError, "cannot be float8"),
        ((_halves(2, 3).astype(np.int8), _halves(3, 2).astype(np.int8)), {"sums": "int8"}, ArrayTypeError, "int32"),
        ((_halves(2, 3).astype(np.float32), _halves(3, 2).astype(np.float32)), {"out_dtype": "float16"},
         ArrayTypeError, "float32"),
    ],
)  # fmt: skip
def test_what_gemm_does_not_take_is_named(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        hipgemm.gemm(*arguments, device="simulated", **options)
    assert said in str(refused.value)


def test_gemm_with_an_epilogue() -> None:
    a, b = _halves(40, 33), _halves(50, 33, seed=2)
    rng = np.random.default_rng(3)
    bias, rows, columns = (rng.uniform(0, 1, n).astype(np.float32) for n in (50, 40, 50))
    kernel = "gemm_f16_f32_64x64x32_32x32_s1_scales_bias_silu_nt"
    got = hipgemm.gemm(a, b.T, bias=bias, scales=(rows, columns), activation="silu", kernel=kernel, device="simulated")
    x = a.astype(np.float64) @ b.T * rows[:, None] * columns + bias
    np.testing.assert_allclose(got, x / (1 + np.exp(-x)), rtol=2e-5, atol=1e-5)
    none = hipgemm.gemm(a, b.T, alpha=0.0, bias=bias, scales=(rows, columns), activation="silu", kernel=kernel,
                        device="simulated")  # fmt: skip
    np.testing.assert_allclose(none, np.broadcast_to(bias / (1 + np.exp(-bias.astype(float))), (40, 50)), rtol=2e-5)


def test_a_run_with_an_epilogue_is_judged() -> None:
    result = hipgemm.run("gemm_f16_f32_64x64x32_32x32_s1_scales_bias_silu_nt", n=70, k=40, beta=0.5, device="simulated")
    assert result.correct
    problem = Problem(40, 48, 96, types=Types("f16", "f32"), epilogue=Epilogue(bias=True, activation="gelu"))
    a, b, c = problem.matrices()
    x = a.astype(np.float64) @ b + problem.vectors()["bias"]
    right = problem.epilogue.activated(x).astype(np.float32)
    assert problem.judge(a, b, c, right).correct
    assert not problem.judge(a, b, c, x.astype(np.float32)).correct  # none
    assert not problem.judge(a, b, c, (x / (1 + np.exp(-1.702 * x))).astype(np.float32)).correct  # another gelu


def test_the_judge_knows_gates() -> None:
    problem = Problem(40, 48, 96, types=Types("f16", "f32"), epilogue=Epilogue(activation="silu", gate=True))
    a, b, c = problem.matrices()
    x = problem.epilogue.activated(a.astype(np.float64) @ b)
    assert problem.judge(a, b, c, (x * c).astype(np.float32)).correct
    for wrong in (x, x + c, x * c.T.reshape(40, 48), x * np.roll(c, 1, axis=1)):
        assert not problem.judge(a, b, c, wrong.astype(np.float32)).correct
    with pytest.raises(ProblemError, match="beta cannot be used with a gate"):
        dataclasses.replace(problem, beta=0.5)


def test_small_problems_get_small_tiles() -> None:
    def tiles(*flips: bool) -> list[str]:
        names = (choose(n, n, 96, Types("f16", "f32"), flips) for n in (256, 1024, 2048, 8192))
        return [name.split("_")[3] for name in names]

    assert tiles(False, False) == ["64x32x64", "64x64x64", "64x64x32", "128x128x32"]
    assert tiles(False, True) == ["64x32x64", "64x64x64", "64x64x32", "128x128x32"]
    assert tiles(True, False) == ["64x64x64", "64x64x64", "64x64x32", "128x128x32"]  # the smallest has no such kernel
    bytes_ = Types("i8", "f32")
    assert choose(256, 256, 96, bytes_, (True, False)) == "gemm_i8_f32_64x64x128_32x32_s1_g16_tn"
    assert choose(8192, 8192, 96, bytes_, (False, True)) == "gemm_i8_f32_64x64x64_32x32_s1_g16_nt"
    assert choose(1024, 1024, 96, Types("i4", "i32")) == "gemm_i4_i32_64x64x256_32x32_s1_g16_nn"
    assert choose(8192, 8192, 96, bytes_) == "gemm_i8_f32_128x128x64_64x64_s1_g8_nn"


def test_time_holds_them_against_the_matrix_units() -> None:
    found = json.loads(CliRunner().invoke(main, ["time", name(), "-n", "256", "--json"]).stdout)
    assert found["tflops"] / found["peak_share"] == pytest.approx(122.88)


def test_explain_says_which_tile_and_why() -> None:
    def explain(*arguments: str) -> dict[str, Any]:
        done = invoked(["explain", *arguments, "--json"])
        return dict(json.loads(done.stdout))

    found = explain("300", "200", "40", "--types", "f16_f32", "--trans", "nt")
    assert found["kernel"] == choose(300, 200, 96, Types("f16", "f32"), (False, True))
    assert found["reason"] == "the first tile of which a CU has more than 0: 0.4"
    assert found["predicted"][0]["kernel"] == found["kernel"]
    assert 0 < found["predicted"][0]["peak_share"] < 1
    assert "few rows" in explain("1", "4096", "4096", "--types", "i8_i32", "--trans", "nt", "--no-predict")["reason"]
