"""f32 and f64 divisions as clang compiles them (v_div_scale, v_rcp, FMAs, v_div_fmas, v_div_fixup), natively.

The judge is the host's own division through NumPy, which IEEE 754 wants correctly rounded; a NaN is any NaN. A tenth of
the pairs has edge values on both sides, a fifth lies where quotients are denormal or overflow, a fifth is such that the
quotient comes close to the middle between two numbers, the rest is random bits.
"""

import struct
from pathlib import Path

import numpy as np
import programs
import pytest

from isa.sim.run.card import Card

HERE = Path(__file__).parent

SOURCE = HERE / "compiled" / "division.hip"
INCLUDE = HERE.parents[2] / "kernels_hip" / "include"
BLOCK = 256
FORMATS = {"f32": (np.float32, np.uint32, 23, 127), "f64": (np.float64, np.uint64, 52, 1023)}


def _numbers(rng, count, low, high, mantissa, word, bits):
    """Numbers whose encoded exponents are in a range."""
    exponent = rng.integers(low, high, count, dtype=np.uint64, endpoint=True)
    fraction = rng.integers(0, 1 << mantissa, count, dtype=np.uint64)
    sign = rng.integers(0, 2, count, dtype=np.uint64)
    return (sign << np.uint64(bits - 1) | exponent << np.uint64(mantissa) | fraction).astype(word)


def pairs(kind, count, seed):
    """Numerators and denominators."""
    dtype, word, mantissa, bias = FORMATS[kind]
    bits, top = word().itemsize * 8, 2 * bias + 1
    rng = np.random.default_rng(seed)
    n, d = (rng.integers(0, 1 << bits, count, dtype=word) for _ in range(2))
    fifth = count // 5
    # Quotients about the smallest normal number and below, and about the largest.
    d[:fifth] = _numbers(rng, fifth, 0, top - 1, mantissa, word, bits)
    exponent = d[:fifth] >> word(mantissa) & word(top)
    end = rng.choice([-bias - mantissa - 1, -bias - 1, 1 - bias, bias, bias + 1], fifth) + rng.integers(-1, 2, fifth)
    near = np.clip(exponent.astype(np.int64) + end, 0, top - 1).astype(word)
    n[:fifth] = near << word(mantissa) | n[:fifth] & word((1 << mantissa) - 1)
    # n = d * q and a little more or less, q half-way between two numbers: as exact as this type has it.
    middle = slice(fifth, 2 * fifth)
    d[middle] = _numbers(rng, fifth, bias - 20, bias + 20, mantissa, word, bits)
    q = _numbers(rng, fifth, bias - 20, bias + 20, mantissa, word, bits).view(dtype)
    n[middle] = (d[middle].view(dtype) * q).view(word) + rng.integers(-1, 2, fifth).astype(word)
    edges = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, bias << mantissa, (bias << mantissa) + 1]
    edges += [(bias << mantissa) - 1, (bias + 1) << mantissa, (top << mantissa) - 1, top << mantissa]
    edges += [(top << mantissa) + 1, (top << mantissa) | 1 << (mantissa - 1), (top - 1) << mantissa]
    edges += [(top - 2) << mantissa]
    edges += [e << mantissa for e in range(1, top, max(1, top // 60))]
    edge = slice(2 * fifth, 2 * fifth + count // 10)
    signs = np.array([0, 1 << (bits - 1)], word)
    for side in (n, d):
        side[edge] = rng.choice(np.array(edges, word), count // 10) | rng.choice(signs, count // 10)
    return n.view(dtype), d.view(dtype)


def divided(kind, n, d):
    """The quotients by the kernel, natively."""
    card = Card(capacity=1 << 26)
    kernel = card.load(programs.compiled(SOURCE, ("-O3",), True, INCLUDE)).kernels[f"divide_{kind}"]
    places = programs.put(card, n, d, np.zeros_like(n))
    card.launch(kernel, (len(n) // BLOCK, 1, 1), (BLOCK, 1, 1), struct.pack("<QQQ", *places))
    return programs.held(places[2], n)


@pytest.mark.parametrize("blocks", [80, pytest.param(3907, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", FORMATS)
def test_division(kind, blocks):
    n, d = pairs(kind, blocks * BLOCK, blocks)
    with np.errstate(all="ignore"):
        expected = n / d
    found, word = divided(kind, n, d), FORMATS[kind][1]
    wrong = (found.view(word) != expected.view(word)) & ~(np.isnan(found) & np.isnan(expected))
    assert not wrong.any(), [
        f"{x!r} / {y!r} is {q!r}, not {e!r}"
        for x, y, q, e in zip(*(v[wrong][:10] for v in (n, d, found, expected)), strict=True)
    ]
    kinds = np.isnan(expected).mean(), np.isinf(expected).mean(), (expected == 0).mean()
    tiny = ((np.abs(expected) < 2.0 ** (1 - FORMATS[kind][3])) & (expected != 0)).mean()
    assert min(*kinds, tiny) > 0.005, "the pairs miss a kind of quotient"
