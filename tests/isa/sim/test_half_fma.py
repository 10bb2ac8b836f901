"""FMAs of f16 are rounded once, held to exact fractions; among the operands are those whose sum, rounded to f32 first,
would be a tie that it is not."""

import sys
from fractions import Fraction

import numpy as np
import programs
import pytest

from isa.sim.ir import floats
from isa.sim.run.card import Card

COUNT = 64 * 32
TEXT = f"""
s_load_b64 s[4:5], s[0:1], 0x0
s_lshl_b32 s2, s2, 5
v_add_nc_u32 v1, s2, v0
v_lshlrev_b32 v1, 2, v1
s_waitcnt lgkmcnt(0)
global_load_b32 v2, v1, s[4:5]
s_add_u32 s4, s4, {4 * COUNT}
s_addc_u32 s5, s5, 0
global_load_b32 v3, v1, s[4:5]
s_add_u32 s4, s4, {4 * COUNT}
s_addc_u32 s5, s5, 0
global_load_b32 v4, v1, s[4:5]
s_waitcnt vmcnt(0)
v_pk_fma_f16 v4, v2, v3, v4
global_store_b32 v1, v4, s[4:5]
s_endpgm
"""


def operands():
    """Rows of a, b and c: random ones, with sums that cancel and denormals, and near ties."""
    rng = np.random.default_rng(1)
    n = COUNT // 2
    rows = (rng.standard_normal((3, 2 * COUNT)) * 2.0 ** rng.integers(-14, 5, (3, 2 * COUNT))).astype(np.float16)
    rows[2, n : 2 * n] = -(rows[0, n : 2 * n] * rows[1, n : 2 * n])
    # c and half of its last bit, but for a 2**-20th of that half.
    near = slice(2 * n, 4 * n)
    c = (rng.integers(1024, 2048, 2 * n) * 2.0 ** rng.integers(-10, 3, 2 * n)).astype(np.float16)
    half = np.spacing(c).astype(np.float64) / 2
    scale = 2.0 ** np.floor(np.log2(half) / 2)
    sign = rng.choice([-1.0, 1.0], 2 * n)
    rows[0, near], rows[1, near] = sign * (1 + 2.0**-10) * scale, (1 - 2.0**-10) * (half / scale)
    rows[2, near] = c * rng.choice([-1.0, 1.0], 2 * n)
    return rows


def rounded(exact):
    """An exact number as f16, to nearest even; an exact 0 is +0."""
    near = np.float16(float(exact))
    some = (near, np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf)))
    return min(some, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint16)) & 1))


def results(rows, baseline):
    card = Card(baseline=baseline, capacity=1 << 24)
    return programs.launched(programs.assembled(TEXT), rows, (COUNT // 32, 1, 1), card=card)[2]


@pytest.fixture(scope="module")
def known():
    rows = operands()
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in rows.T]
    return rows, np.array([rounded(x) for x in exact])


@pytest.mark.parametrize("baseline", [False, True])
def test_rounded_once(known, baseline):
    rows, expected = known
    assert (results(rows, baseline) == expected).all()


def test_twice_is_found(known, monkeypatch):
    rows, expected = known
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(floats, "_odd_fma", lambda a, b, c: a._raw("fmul", b)._raw("fadd", c))
    monkeypatch.setattr("isa.sim.run.tiers._recent", type(sys.modules["isa.sim.run.tiers"]._recent)())
    assert (results(rows, True) != expected).mean() > 0.1
