"""The proof by definition of what becomes of sums: proved as generated, and faults by hand, each of which it names; the
definition itself is held against float64."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hipgemm.judge import proving
from hipgemm.kernels.ladder import rung
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.matrix.generate import generate
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.names import name_of
from isa.prove.definition import epilogue, halves, prove
from isa.prove.definition.epilogue import Epilogue
from isa.prove.proof import Proof

SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32, trans_b=True)
VARIANTS: dict[str, dict[str, Any]] = {
    "f16": {"result": "f16"},
    "bf16": {"result": "bf16"},
    "f16 bias relu": {"result": "f16", "bias": True, "activation": "relu"},
    "bf16 all": {"result": "bf16", "factor": "bf16", "bias": True, "scales": True, "activation": "gelu"},
    "f32 silu": {"activation": "silu"},
    "f16 silu gate": {"result": "f16", "activation": "silu", "gate": True},
    "bf16 gate": {"result": "bf16", "gate": True},
    "i8 f16": {"factor": "i8", "depth": 64, "result": "f16", "scales": True},
}


@functools.cache
def text(name: str) -> str:
    return emit(generate(parameters(name), "gemm"))


def parameters(name: str) -> MatrixParameters:
    return dataclasses.replace(SMALL, **VARIANTS[name])


def quick(name: str, changed: str) -> Proof:
    """At small sizes."""
    return prove(parse(changed, "gemm.s"), "gemm", proving.launches(rung(name_of(parameters(name)))))


@pytest.mark.parametrize("name", VARIANTS)
def test_it_is_proved(name: str) -> None:
    proof = quick(name, text(name))
    assert proof.proved, str(proof)
    if name == "bf16 all":
        what = "computes C = bf16(gelu(row_scale column_scale alpha A B + beta C + bias)) by definition"
        assert what in proof.statement


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_every_k(name: str) -> None:
    kernel = rung(name_of(parameters(name)))
    proof = prove(parse(text(name)), "gemm", proving.launches(kernel)[:1], whole=False, every=proving.every(kernel))
    assert proof.proved, str(proof)
    assert "for every K from 1 to" in proof.statement


ADDED = r"(v_add_f32_e32 (v\d+), v\d+, \2\n)"
BIASED = r"(v_add_f32_e32 (v\d+), v)53(, \2\n)"
RELU = r"(\tv_cmp_gt_f32_e32 vcc_lo, 0, \2\n\tv_cndmask_b32_e64 \2, \2, 0, vcc_lo\n)"
COMPARED = r"(v_cmp_gt_f32_e32.*\n\tv_cndmask.*\n)\tv_cmp_gt_f32_e32 vcc_lo, 0, v\d+\n"
ROUNDED = r"v_add3_u32 (v\d+), (v\d+), (v\d+), 0x7fff"
JOINED = r"v_perm_b32 (v\d+), (v\d+), (v\d+), s34\n(\tgl)"
FAULTS = {
    "alpha twice": ("f16", r"v_fma_mixlo_f16 (v\d+), s15, (v\d+), 0", r"v_mul_f32_e32 \2, s15, \2\n\t\g<0>"),
    "bias twice": ("f16 bias relu", ADDED, r"\1\t\1"),
    "bias of another column": ("f16 bias relu", BIASED, r"\g<1>54\3"),
    "activation before bias": ("f16 bias relu", ADDED + r"((?:\tv_mul.*\n|\tv_add.*\n)*)" + RELU, r"\3\4\t\1"),
    "relu of what is above 0": ("f16 bias relu", r"v_cmp_gt_f32_e32 vcc_lo, 0,", r"v_cmp_lt_f32_e32 vcc_lo, 0,"),
    "the comparison before": ("f16 bias relu", COMPARED, r"\1"),
    "cut, not rounded": ("bf16", ROUNDED, r"v_add3_u32 \1, \2, \3, 0"),
    "ties away from zero": ("bf16", ROUNDED, r"v_add3_u32 \1, \2, 0x8000, 0"),
    "NaN not looked at": ("bf16", r"\tv_cmp_u_f32_e32 vcc_lo, (v\d+), \1\n", ""),
    "neighbours exchanged": ("bf16", JOINED, r"v_perm_b32 \1, \3, \2, s34\n\4"),
    "both into one half": ("f16", "v_fma_mixhi_f16", "v_fma_mixlo_f16"),
    "the other half of C": ("f16", r"op_sel:\[1,0,0\]", "op_sel:[0,0,0]"),
    "the other half stored": ("f16", "global_store_d16_hi_b16", "global_store_b16"),
    "stored one further": ("f16", "(global_store_d16_hi_b16 .*) offset:2", r"\1 offset:4"),
    "another constant": ("bf16 all", "0xc0135761", "0xc0135762"),
    "scale of another row": ("bf16 all", "s_lshl_b32 s24, s17, 2", "s_lshl_b32 s24, s17, 3"),
    "bias for scale": ("bf16 all", r"s\[0:1\], 0x40", "s[0:1], 0x30"),
    "a gate that is added": (
        "f16 silu gate",
        r"(v_fma_mix_f32 (v\d+), v\d+, )v\d+, 0 (op_sel:\[\d,0,0\] op_sel_hi:\[1,0,0\])",
        r"\g<1>1.0, \2 \3",
    ),
    "the gate of a neighbour": (
        "f16 silu gate",
        r"op_sel:\[0,0,0\] op_sel_hi:\[1,0,0\]",
        "op_sel:[1,0,0] op_sel_hi:[1,0,0]",
    ),
    "a gate before rounding twice": ("bf16 gate", r"(v_mul_f32_e32 (v\d+), (v\d+), \2\n)(?=\tv_cmp_u)", r"\1\t\1"),
    "a gate cut from below": ("bf16 gate", r"v_lshlrev_b32_e32 (v\d+), 16, (v\d+)\n", r"v_mov_b32 \1, \2\n"),
    "sums not converted": ("i8 f16", r"\tv_cvt_f32_i32_e32 .*\n", ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    variant, pattern, new = FAULTS[name]
    changed, count = re.subn(pattern, new, text(variant), count=1)
    assert count
    assert changed != text(variant)
    some = proving.launches(rung(name_of(parameters(variant))))[3:5]  # edges, and whole tiles; beta and none
    assert prove(parse(changed, "gemm.s"), "gemm", some, whole=False).verdict == "different"


# --- the definition, with numbers in place of terms
Floats = NDArray[np.float32]


def _bits(x: Floats) -> NDArray[np.uint32]:
    return x.astype(np.float32).view(np.uint32)


TERMS: dict[str, Any] = {
    "gt": lambda x, y: x > y,
    "unordered": lambda x, y: np.isnan(x) | np.isnan(y),
    "select": np.where,
    "2^": lambda x: np.exp2(np.minimum(x, 127)),
    "1/": lambda x: 1 / x,
    "bits": lambda x, first, count: _bits(x) >> first & ((1 << count) - 1),
}


@pytest.fixture
def _numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, run in {
        "term": lambda operation, *x: TERMS[operation](*x),
        "add": np.add,
        "_mul": np.multiply,
        "_fma": lambda x, y, z: (x.astype(float) * y + z).astype(np.float32),
        "number": np.float32,
        "_int": np.uint32,
        "either": lambda x, y: _bits(x) | y,
        "sum_of": lambda x, y, z: _bits(x) + y + z,
    }.items():
        monkeypatch.setattr(epilogue, name, run)


@pytest.mark.usefixtures("_numbers")
def test_the_definition_of_bf16_is_the_nearest_one_of_ties_the_even() -> None:
    random = np.random.default_rng(1)
    bits = np.concatenate((random.integers(0, 1 << 32, 100000), [0x3F808000, 0x3F818000, 0x80000000, 0x7F800001]))
    x: Any = bits.astype(np.uint32).view(np.float32)
    made: Any = epilogue.brain(x)
    found = made.view(np.uint32) >> 16
    below = bits >> 16
    with np.errstate(invalid="ignore"):
        value = [(n % 65536 << 16).astype(np.uint32).view(np.float32).astype(float) for n in (below, below + 1)]
    some = np.isfinite(value[0]) & np.isfinite(value[1])
    near = [np.abs(x[some].astype(float) - v[some]) for v in value]
    tie = near[0] == near[1]
    wanted = below[some] + np.where(tie, below[some] & 1, near[1] < near[0])
    assert tie.sum() >= 2
    assert np.array_equal(found[some], wanted)
    nan = np.isnan(x)
    assert ((found[nan] & 0x7FC0) == 0x7FC0).all()


@pytest.mark.usefixtures("_numbers")
@pytest.mark.parametrize("activation", ["relu", "silu", "gelu"])
def test_the_definition_of_activations_is_that_of_textbooks(activation: str) -> None:
    sums: Any = np.linspace(-8, 8, 1001, dtype=np.float32)
    alpha, beta, bias = (np.float32(x) for x in (0.5, 2, 0.25))
    of: Any = Epilogue("f32", bias=True, activation=activation)
    x = 2.5 * sums.astype(float) + 0.25
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    wanted = {"relu": np.maximum(x, 0), "silu": x / (1 + np.exp(-x)), "gelu": x / 2 * (1 + np.tanh(u))}[activation]
    assert np.allclose(of.stored(sums, alpha, beta, sums, {"bias": bias}), wanted, rtol=1e-5, atol=1e-6)
    gated: Any = dataclasses.replace(of, gate=True)  # 2.5 takes the place of alpha and beta together
    assert np.allclose(
        gated.stored(sums, np.float32(2.5), beta, sums, {"bias": bias}), wanted * sums, rtol=1e-5, atol=1e-6
    )


def test_words_are_told_half_by_half() -> None:
    made = halves.made("x", np.array([[1, 2], [3, 4]], np.uint64))
    low, high = np.meshgrid(np.concatenate((made, np.array([0, 3], np.uint64))), made)
    found = halves.split(halves.packed(low, high))
    assert np.array_equal(found, (low, high))
    three = np.array([3], np.uint64)
    assert halves.packed(three, three).tolist() == [[3 | 3 << 16], [0]]
