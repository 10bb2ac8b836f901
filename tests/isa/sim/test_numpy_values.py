"""The reference arithmetic rounds exactly once, in each mode."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan import examples

from isa.semantics.float_mode import FloatMode
from isa.semantics.reference.exact import round_fraction
from isa.semantics.reference.values import NumpyValue

KEEP = FloatMode()
WORD = st.integers(0, 2**32 - 1)
NEAR_ONE = st.builds(
    lambda e, m, s: s << 31 | e << 23 | m, st.integers(100, 154), st.integers(0, 2**23 - 1), st.booleans()
)
ANY_F32 = st.one_of(
    WORD, NEAR_ONE, st.integers(0, 100), st.sampled_from([0x80000000, 0x7F800000, 0x00800000, 0x7F7FFFFF])
)
ANY_F16 = st.integers(0, 2**16 - 1)
ROUNDINGS = st.integers(0, 3)


def _value(bits, type_="f32", mode=KEEP):
    unsigned = "u" + type_[1:]
    return NumpyValue.scalar(unsigned, bits, mode).bits(type_)


def _bits(value):
    return int(value.a.view("u" + str(value.a.itemsize)))


def _exact(bits, type_="f32"):
    number = float(_value(bits, type_).a)
    return Fraction(number) if math.isfinite(number) else None


def _by_hand(exact, type_, rounding):
    """Another way to round: find the two neighbours by their bits, then apply the rule."""
    infinity, sign = {"f16": (0x7C00, 0x8000), "f32": (0x7F800000, 0x80000000)}[type_]
    magnitude = abs(exact)

    def number(bits):
        if bits == infinity:  # where the next finite number would be
            return 2 * _exact(infinity - 1, type_) - _exact(infinity - 2, type_)
        return _exact(bits, type_)

    low, high = 0, infinity
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(middle) <= magnitude else (low, middle)
    away = rounding == (2 if exact < 0 else 1)
    if magnitude >= number(infinity):
        chosen = infinity if rounding == 0 or away else infinity - 1
    elif number(low) == magnitude:
        chosen = low
    elif rounding == 0:
        below, above = magnitude - number(low), number(high) - magnitude
        chosen = high if below > above or (below == above and low % 2 == 1) else low
    else:
        chosen = high if away else low
    return chosen | (sign if exact < 0 else 0)


@pytest.mark.parametrize("type_", ["f32", "f16"])
@settings(max_examples=examples(300))
@given(data=st.data(), rounding=ROUNDINGS)
def test_fma_add_and_mul_round_once(type_, data, rounding):
    operands = [data.draw(ANY_F32 if type_ == "f32" else ANY_F16) for _ in range(3)]
    a, b, c = (_exact(bits, type_) for bits in operands)
    if None in (a, b, c):
        return
    mode = FloatMode(round32=rounding, round16_64=rounding)
    x, y, z = (_value(bits, type_, mode) for bits in operands)
    for name, got, exact in (("fma", x.fma(y, z), a * b + c), ("add", x + z, a + c), ("mul", x * y, a * b)):
        if exact:
            assert _bits(got) == _by_hand(exact, type_, rounding), name


@settings(max_examples=examples(200))
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_f64_fma_is_exact(numbers):
    x, y, z = (NumpyValue.scalar("f64", n, KEEP) for n in numbers)
    exact = Fraction(numbers[0]) * Fraction(numbers[1]) + Fraction(numbers[2])
    if exact:
        try:
            expected = exact.numerator / exact.denominator
        except OverflowError:
            expected = math.inf if exact > 0 else -math.inf
        assert float(x.fma(y, z).a) == expected


@settings(max_examples=examples(300))
@given(ANY_F32, ANY_F32, ANY_F16, ROUNDINGS)
def test_division_and_root_round_once(p, q, s, rounding):
    a, b = _exact(p), _exact(q)
    mode = FloatMode(round32=rounding, round16_64=rounding)
    if a and b:
        assert _bits(_value(p, mode=mode).div(_value(q, mode=mode))) == _by_hand(a / b, "f32", rounding)
    a = _exact(s, "f16")
    if a and a > 0:
        root = _value(s, "f16", mode).sqrt()
        r = Fraction(float(root.a))
        down, up = (Fraction(float(np.nextafter(root.a, np.float16(d)))) for d in (0, 65504))
        low, high = {0: ((down + r) / 2, (r + up) / 2), 1: (down, r), 2: (r, up), 3: (r, up)}[rounding]
        assert low**2 <= a <= high**2


@settings(max_examples=examples(300))
@given(st.integers(-(2**63), 2**63 - 1), ROUNDINGS)
def test_integers_become_floats_in_one_step(n, rounding):
    mode = FloatMode(round32=rounding, round16_64=rounding)
    if n:
        assert _bits(NumpyValue.scalar("i64", n, mode).to("f32")) == _by_hand(Fraction(n), "f32", rounding)
        word = n >> 32
        if word:
            assert _bits(NumpyValue.scalar("i32", word, mode).to("f32")) == _by_hand(Fraction(word), "f32", rounding)


@settings(max_examples=examples(300))
@given(ANY_F32, ROUNDINGS)
def test_f32_becomes_f16_in_one_step(p, rounding):
    a = _exact(p)
    if a:
        got = _value(p, mode=FloatMode(round16_64=rounding)).to("f16")
        assert _bits(got) == _by_hand(a, "f16", rounding)


@settings(max_examples=examples(200))
@given(st.fractions(max_denominator=10**60), ROUNDINGS)
def test_round_fraction(exact, rounding):
    if exact:
        got = round_fraction(exact, "f32", rounding)
        assert struct.unpack("<I", struct.pack("<f", got))[0] == _by_hand(exact, "f32", rounding)


def test_a_value_has_no_truth():
    with pytest.raises(AssertionError, match="use select"):
        bool(NumpyValue.scalar("u32", 1, KEEP) == 1)


def test_a_shift_by_the_width_is_refused():
    with pytest.raises(AssertionError, match="shift of u32"):
        _ = NumpyValue.scalar("u32", 1, KEEP) << 32
