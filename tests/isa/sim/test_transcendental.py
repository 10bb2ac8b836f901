"""The transcendental unit's functions: both engines alike, and digests of a card's results over whole ranges."""

import numpy as np
import programs
import pytest

from isa.semantics.float_mode import FloatMode
from isa.semantics.reference.values import NumpyValue
from isa.sim.run.card import Card

FUNCTIONS = {"v_exp_f32": "exp2", "v_log_f32": "log2", "v_sin_f32": "sin", "v_cos_f32": "cos"} | {
    f"v_{name}_f32": name for name in ("rcp", "rsq", "sqrt")
}


def native(operation, words):
    """Of words, a multiple of 256, by native code; an f16 is the lower half of one."""
    low = ".l" if operation.endswith("16") else ""
    body = ["s_load_b64 s[4:5], s[0:1], null", "s_lshl_b32 s6, s2, 10", "v_lshl_add_u32 v1, v0, 2, s6"]
    body += ["s_waitcnt lgkmcnt(0)", "global_load_b32 v2, v1, s[4:5]", "s_waitcnt vmcnt(0)"]
    body += [f"{operation}_e32 v2{low}, v2{low}", "global_store_b32 v1, v2, s[4:5]", "s_endpgm"]
    image, grid = programs.assembled("\n".join(body)), (len(words) // 256, 1, 1)
    return programs.launched(image, words, grid, (256, 1, 1), Card(capacity=1 << 28))


def _edges():
    """Numbers around each 1/128 in size of each binade, and random ones, of either sign."""
    near = np.arange(0, 1 << 31, 1 << 16)[:, None] + np.arange(-2, 2)
    words = np.concatenate([near.ravel(), np.random.default_rng(1).integers(0, 1 << 32, 1 << 15)]).astype(np.uint32)
    return np.concatenate([words, words ^ np.uint32(1 << 31)])


@pytest.mark.parametrize("operation", FUNCTIONS)
def test_engines_agree_at_the_edges(operation):
    words = _edges()
    expected = NumpyValue("f32", words.view(np.float32), FloatMode()).call(FUNCTIONS[operation]).a.view(np.uint32)
    zero = (words << 1 == 0) & (operation == "v_sin_f32")  # keeps its sign
    assert np.array_equal(native(operation, words), np.where(zero, words, expected))


def _fractions(sign):
    return (np.arange(1 << 24) * 2.0**-24).astype(np.float32).view(np.uint32) | np.uint32(sign << 31)


def _digest(words):
    """FNV-1a by words."""
    found = 14695981039346656037
    for word in words.tolist():
        found = (found ^ word) * 1099511628211 & (1 << 64) - 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "words", "digest"),
    [
        ("v_exp_f32", lambda: _fractions(0), 0x68959BB684F42E5F),
        ("v_exp_f32", lambda: _fractions(1), 0x88B75684494DB8D3),
        ("v_log_f32", lambda: np.arange(0x3F000000, 0x40000000, dtype=np.uint32), 0xC33A54EFBAE098BE),
    ],
    ids=["exp", "exp of negative", "log"],
)
def test_digest_of_a_cards_f32(operation, words, digest):
    """Of what a gfx1100 and a gfx1201 gave (ROCm/rocm-systems, rocjitsu, transcendental_test.cpp)."""
    assert _digest(native(operation, words())) == digest


@pytest.mark.parametrize(
    ("operation", "digest"),
    [
        ("v_exp_f16", 0x7A49D8175530C589), ("v_log_f16", 0xAB561022E31BA143), ("v_rcp_f16", 0x0667B75D288E9039),
        ("v_sin_f16", 0xB6245E65A23F99F9), ("v_cos_f16", 0xC6C3112C531E4391),
    ],
)  # fmt: skip
def test_digest_of_a_cards_f16(operation, digest):
    """Of all f16, by the same tests: the sine, the cosine and the reciprocal of a gfx1201."""
    assert _digest(native(operation, np.arange(1 << 16, dtype=np.uint32))) == digest
