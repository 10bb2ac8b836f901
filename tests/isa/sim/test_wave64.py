"""Waves of 64 lanes: compiled HIP on both engines against NumPy, what crosses the halves, and what is refused."""

import contextlib
from pathlib import Path

import numpy as np
import programs
import pytest
from test_compiled import INCLUDE, KERNELS, run_card, run_numpy

from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.semantics import wave64

SOURCE = Path(__file__).parent / "compiled" / "wave64.hip"
ENGINES = pytest.mark.parametrize("engine", [run_numpy, run_card], ids=["numpy", "card"])
LANES = np.arange(64)


def image(level="-O3"):
    return programs.compiled(SOURCE, (level, "-mwavefrontsize64"), True, INCLUDE)


@ENGINES
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "exchange"])
def test_as_in_waves_of_32(name, engine):
    arguments, expected = KERNELS[name](np.random.default_rng(7))
    found = engine(image(), name, arguments)
    for got, want in zip(found, expected, strict=False):
        if want is not None:
            np.testing.assert_array_equal(got, np.asarray(want).astype(got.dtype))


def across(a, n):
    odd, written = a & 1, a.copy()
    written[n] = n
    total = np.full(64, a.reshape(2, 32).sum(1).sum())
    shifted = np.where((LANES // 16 % 2 == 1) & (LANES % 16 != 0), np.roll(a, 1), 7)
    other = np.where((LANES ^ 16) <= 40, a[LANES ^ 16], 0)
    return np.concatenate(
        [
            np.cumsum(odd) - odd, np.full(64, odd.sum()), np.full(64, a[n] + a[n - 37]), written, a[LANES ^ 32], total,
            shifted, np.where(LANES > 40, a[41], other),
        ]
    )  # fmt: skip


@ENGINES
@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_halves_tell_each_other(level, engine):
    a = np.random.default_rng(3).integers(0, 1000, 64).astype(np.int32)
    out, _ = engine(image(level), "across", [np.zeros(512, np.int32), a, 45])
    np.testing.assert_array_equal(out.reshape(8, 64), across(a, 45).reshape(8, 64))


@ENGINES
@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_scratch_lds_and_atomics(level, engine):
    a, n = np.random.default_rng(3).integers(0, 1000, 64).astype(np.int32), 6
    out, _ = engine(image(level), "spilled", [np.zeros(65, np.int32), a, n])
    want = a[(63 - LANES + (n & 3)) & 63] + a[(LANES + ((LANES + n) & 3)) & 63]
    np.testing.assert_array_equal(out[:64], want)
    assert out[64] == a[(LANES >= 32) & (a > 500)].sum()


@pytest.mark.parametrize("broken", ["_mask_of", "_within", "_mbcnt_hi"])
def test_a_wrong_half_is_found(broken, monkeypatch):
    """The comparison can fail: masks of the lower half for both, results of both in the lower one, no count of it."""
    wrong = {
        "_mask_of": lambda operand, role, half: right(operand, role, 0),
        "_within": lambda engine, half, put: right(engine, 0, put),
        "_mbcnt_hi": lambda engine, inst, desc: wave64._half(engine, inst, desc, 0),
    }[broken]
    right = getattr(wave64, broken)
    monkeypatch.setattr(wave64, broken, wrong)
    monkeypatch.setitem(wave64._ACROSS, "v_mbcnt_hi_u32_b32", wave64._mbcnt_hi)
    a = np.random.default_rng(3).integers(0, 1000, 64).astype(np.int32)
    out = np.zeros(512, np.int32)
    with contextlib.suppress(IsaError):
        out, _ = run_numpy(image(), "across", [out, a, 45])
    assert (out != across(a, 45)).any()


@pytest.mark.parametrize("size", [1, 33, 64, 100])
def test_lanes_beyond_the_workgroup_are_off(size):
    """A workgroup of any size: its last wave has so many lanes as are left."""
    text = (
        programs.source(
            "s_load_b64 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 1\ns_waitcnt lgkmcnt(0)\n"
            "global_atomic_add_u32 v1, v2, s[4:5]\ns_endpgm"
        )
        .replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 0")
        .replace("size: 32\n", "size: 64\n")
    )
    found = programs.launched(programs.linked(text), np.zeros(128, np.uint32), (3, 1, 1), (size, 1, 1))
    np.testing.assert_array_equal(found, np.where(np.arange(128) < size, 3, 0))


@pytest.mark.parametrize(
    "text",
    [
        "v_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[16:23], v[0:3]",
        "ds_append v0",
        "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2",
    ],
)
def test_what_is_refused(text):
    with pytest.raises(IsaError, match="in a wave of 64 lanes is not simulated"):
        wave64.steps(parse_instruction(text))
