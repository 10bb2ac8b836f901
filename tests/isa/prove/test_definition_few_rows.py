"""The proof by definition of kernels for few rows: what it proves, and faults made by hand, each of which it names;
what weights are held to be, and what instructions make of their bits, against arithmetic."""

from __future__ import annotations

import dataclasses
import functools
import re

import numpy as np
import pytest

from hipgemm.judge import proving
from hipgemm.kernels.ladder import rung
from hipgemm.launch.weights import Weights
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.gemv.generate import generate
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.names import name_of
from isa.prove.definition import halves, narrow, nibbles, prove, weights

from .edits import assert_refused, faults, quick

SMALL = GemvParameters(2, 13, 2)
VARIANTS = {
    "f16": SMALL,
    "q4_0": dataclasses.replace(SMALL, weights="q4_0", rows=1),
    "awq": dataclasses.replace(SMALL, weights="awq", rows=3),
    "q8": dataclasses.replace(SMALL, weights="q8", rows=1),
    "q8_0": dataclasses.replace(SMALL, weights="q8_0", rows=4),
    "bf16, one wave": dataclasses.replace(SMALL, factor="bf16", result="bf16", waves=1),
    "i8": GemvParameters(5, 40, 4, "i8", result="i32"),
    "16 rows, f16 C": GemvParameters(16, 22, 8, result="f16"),
    "q4_0, 16 rows": GemvParameters(16, 43, 8, weights="q4_0"),
    "awq, three fragments": GemvParameters(1, 43, 4, weights="awq"),
    "one wave in turns": GemvParameters(3, 35, 1, activation="relu"),
    "i8, scales, bias and silu": GemvParameters(
        5, 13, 2, "i8", result="bf16", scales=True, bias=True, activation="silu"
    ),
    "q8, bias and gelu": GemvParameters(5, 13, 2, weights="q8", bias=True, activation="gelu"),
    "one column": GemvParameters(1, 1, 4, weights="q8_0"),
}
QUICK = ["f16", "q4_0", "awq", "q8"]


@functools.cache
def text(p: GemvParameters, arch: str = "gfx1100") -> str:
    return emit(generate(p, name_of(p), arch=arch))


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_it_is_proved(name: str, arch: str) -> None:
    proof = quick(VARIANTS[name], text(VARIANTS[name], arch))
    assert proof.proved, str(proof)
    assert "blocks of 128 steps by 2 waves in turn and then in ascending order" in proof.statement
    assert "all branches went both ways" in proof.statement


def test_floats_of_bytes_are_proved_and_their_order_is_assumed() -> None:
    p = GemvParameters(5, 40, 4, "fp8")
    proof = quick(p, text(p, "gfx1201"))
    assert proof.proved, str(proof)
    assert "assumed for fp8" in proof.statement


RDNA4 = faults("definition/few_rows-rdna4")


@pytest.mark.parametrize("name", RDNA4)
def test_faults_of_rdna4_are_found(name: str) -> None:
    assert_refused(name, RDNA4, VARIANTS, text, "gfx1201")


def test_it_says_where() -> None:
    p = VARIANTS["q4_0"]
    proof = proving.generated(rung(name_of(p)), parse(text(p)))
    assert proof.proved, str(proof)
    assert "sums of q4_0 weights by v_wmma, those of 32 steps times their scale, blocks of" in proof.statement
    assert "1 to 1 rows and 1 to 13 columns at the edges of C" in proof.statement
    assert "8 tiles of launches up to 65535 x 67108859 x 1152" in proof.statement
    assert "every K" not in str(proof)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_edges_and_far_tiles(name: str) -> None:
    p = VARIANTS[name]
    proof = proving.generated(rung(name_of(p)), parse(text(p)), thorough=name in QUICK)
    assert proof.proved, str(proof)


FAULTS = faults("definition/few_rows")
FIRST = ["low nibbles are high ones", "the scale of the group before", "a zero point added", "one wave less is added"]


@pytest.mark.parametrize("name", [n if n in FIRST else pytest.param(n, marks=pytest.mark.slow) for n in FAULTS])
def test_faults_are_found(name: str) -> None:
    assert_refused(name, FAULTS, VARIANTS, text)


@pytest.mark.slow
def test_lost_high_halves_show_in_far_tiles() -> None:
    """Of the offsets of B, of its scales, of A, which takes a large K, and of C."""
    p = GemvParameters(16, 13, 2, weights="q4_0")
    kernel, before = rung(name_of(p)), text(p)
    lines = [line for line in before.splitlines() if "s_mul_hi_u32" in line]
    assert len(lines) == 4
    found = []
    for number in range(4):
        at = [m.start() for m in re.finditer("s_mul_hi_u32", before)][number]
        lost = before[:at] + re.sub(r"s_mul_hi_u32 (s\d+), .*", r"s_mov_b32 \1, 0", before[at:], count=1)
        assert quick(p, lost).proved
        far = [proving.far_pieces(kernel), proving.far_launches(kernel)]
        found.append([not prove(parse(lost), kernel.name, at, whole=False).proved for at in far])
    assert found == [[True, True], [True, True], [False, True], [True, True]]


# --- what weights are
@pytest.mark.parametrize("format", weights.FORMATS)
def test_weights_are_what_their_format_says(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition's numbers of bytes, looked up, against `Weights`, which tests hold against ggml's and AWQ's
    formulas; scales apart."""
    n, k = 3, 2048
    w = Weights.quantised(np.random.default_rng(1).normal(size=(n, k)), format)
    flat = w.words.view(np.uint8).ravel()
    points = w.zeros.view(np.uint8).ravel() if w.zeros is not None else flat
    bits = functools.partial(_value, flat, points)
    monkeypatch.setattr(weights, "whole", lambda x, less: (bits(x) - bits(less)).astype(np.uint16).astype(np.uint64))
    words = weights.words(format, n, range(n), k)
    assert not words[1].any()
    found = np.stack([words[0] & np.uint64(0xFFFF), words[0] >> np.uint64(16)], axis=1).reshape(k, n).T
    scales = w.scales.reshape(n, -1).astype(np.float64)
    real = w.numbers() / np.repeat(scales, k // scales.shape[1], axis=1)
    np.testing.assert_array_equal(found.astype(np.int16), np.rint(real[:, weights.in_order(format, k)]))


def _value(words: np.ndarray, zeros: np.ndarray, number: np.ndarray) -> np.ndarray:
    """What of a byte these numbers stand for."""
    number = number.astype(np.int64)
    place, kind = number & (1 << 25) - 1, number >> 25 & 3
    of_zeros = place >= 1 << 24
    byte = np.where(
        of_zeros, zeros[np.where(of_zeros, place - (1 << 24), 0)], words[np.where(of_zeros, 0, place) % len(words)]
    )
    found = np.choose(kind, [byte, byte & 15, byte >> 4, byte ^ 128])
    return np.where(number < 256, number, found).astype(np.int64)


# --- what instructions make of their bits
def some(word: int) -> np.ndarray:
    """The name of a constant."""
    return np.array([word, 0], np.uint64).reshape(2, 1, 1)


def known(bytes_: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The number of a word of bytes of weights that hold these; a shift beside them is done."""
    low, high = names
    by = np.where(high != 0, low >> np.uint64(28) & np.uint64(7), np.uint64(0))
    found, good = narrow.unpacked(np.stack((low ^ by << np.uint64(28), high)))
    assert good.all()
    values = _value(bytes_, bytes_, found)
    whole = (values << 8 * np.arange(4).reshape(4, *[1] * (values.ndim - 1))).sum(axis=0)
    return whole >> 4 * by.astype(np.int64)


@pytest.mark.parametrize("seed", range(3))
def test_bits_are_moved_as_numbers_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bytes_ = rng.integers(0, 256, 64, np.uint8)
    word = narrow.packed(np.arange(64, dtype=np.uint64).reshape(16, 4).T[:, :, None] + np.uint64(narrow.FIRST_OF_B))
    real = bytes_.view("<u4").astype(np.int64)[:, None]
    for by in range(0, 32, 4):
        shifted, good = nibbles.OPERATIONS["v_lshrrev_b32"](some(by), word)
        assert good.all()
        np.testing.assert_array_equal(known(bytes_, shifted), real >> by)
        for mask, top in ((0x0F0F0F0F, 0), (0x000F000F, 0x64006400), (0xF, 0xABCD00)):
            masked, good = nibbles.OPERATIONS["v_and_or_b32"](shifted, some(mask), some(top))
            assert good.all()
            np.testing.assert_array_equal(known(bytes_, masked), (real >> by) & mask | top)
        field, good = nibbles.OPERATIONS["v_bfe_u32"](word, some(by), some(4))
        assert good.all()
        np.testing.assert_array_equal(known(bytes_, field), real >> by & 15)
        again, good = nibbles.OPERATIONS["v_lshrrev_b32"](some(4), shifted)
        np.testing.assert_array_equal(known(bytes_, again), real >> by + 4)
    turned, good = nibbles.OPERATIONS["v_xor_b32"](some(0x80008080), word)
    assert good.all()
    np.testing.assert_array_equal(known(bytes_, turned), real ^ 0x80008080)
    back, good = nibbles.OPERATIONS["v_xor_b32"](turned, some(0x80008080))
    np.testing.assert_array_equal(back, word)


def test_what_is_no_bits_of_whole_nibbles_is_not_known() -> None:
    word = narrow.packed(np.arange(4, dtype=np.uint64).reshape(4, 1, 1) + np.uint64(narrow.FIRST_OF_B))
    for name, operands in (
        ("v_lshrrev_b32", (some(3), word)),
        ("v_and_b32", (some(0x0E), word)),
        ("v_and_b32", (word, word)),
        ("v_xor_b32", (some(0x40), word)),
        ("v_or_b32", (some(1), word)),
        ("v_and_or_b32", (word, some(0x0F), some(0x50))),
        ("v_bfe_u32", (word, some(4), some(3))),
        ("v_and_b32", (some(0xF), word + np.uint64(1 << 31))),  # a term
    ):
        assert not nibbles.OPERATIONS[name](*operands)[1].any(), name


def test_differences_of_halves_are_exact() -> None:
    """For all x and y: (1024 + x) - (1024 + y) in float16, as `weights.whole` has it."""
    x, y = np.arange(256)[:, None], np.arange(1024)
    first, second = ((0x6400 | z).astype(np.uint16).view(np.float16) for z in (x, y))
    np.testing.assert_array_equal((first.astype(np.float64) - second).astype(np.float16), (x - y).astype(np.float16))
    np.testing.assert_array_equal(first - second, x - y)
    assert not np.signbit((first - second)[x == y]).any()


def test_halves_that_are_added_are_told_apart() -> None:
    byte = np.array([narrow.FIRST_OF_B, narrow.FIRST_OF_B + 1], np.uint64)
    b = narrow.packed(np.array([byte[0], 0x64, byte[1], 0x64], np.uint64).reshape(4, 1, 1))
    sums = nibbles._sum([b, some(0xE408E408)], (False, False), (False, False))
    assert sums == weights.whole(byte[0], np.uint64(8))
    assert nibbles._sum([some(0x64056405), b], (False, True), (False, True)) == weights.whole(np.uint64(5), byte[1])
    for other in (some(0x64086408), some(0xE808E808), some(0x3C003C00)):  # no difference, or of no thousand
        assert nibbles._sum([b, other], (False, False), (False, False)) != sums
    assert (nibbles._sum([b, b], (False, True), (False, False)) > 1 << 58).all()
    assert not (halves.made("x", b) == sums).any()
