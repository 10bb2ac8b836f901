"""The proof by definition of what becomes of sums: proved as generated, and faults by hand, each of which it names; the
definition itself is held against float64."""

from __future__ import annotations

import dataclasses
import functools
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

from .edits import faults, replaced

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


FAULTS = faults("definition/epilogue")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    where, pattern, new = FAULTS[name]
    variant, number = where.rsplit(" ", 1)
    changed = replaced(text(variant), pattern, new, int(number))
    some = proving.launches(rung(name_of(parameters(variant))))[3:5]  # edges, and whole tiles; beta and none
    assert prove(parse(changed, "gemm.s"), "gemm", some, whole=False, explain=False).verdict == "different"


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
        "term": lambda operation, *x: TERMS[operation](*x), "add": np.add, "_mul": np.multiply,
        "_fma": lambda x, y, z: (x.astype(float) * y + z).astype(np.float32), "number": np.float32, "_int": np.uint32,
        "either": lambda x, y: _bits(x) | y, "sum_of": lambda x, y, z: _bits(x) + y + z,
    }.items():  # fmt: skip
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
