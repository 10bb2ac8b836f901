"""`isa.semantics.values.Value` on NumPy arrays: 32 elements for a vector, a 0-d array for a scalar. Slow, and exact by
design.

f32 and f16 results come from f64, where a product of two of them is exact. A sum is taken with its error (two-sum), and
where there is one the f64 is rounded to odd: then rounding once more, to f32 or f16, gives what one rounding of the
exact number gives (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
to odd", 2008), and comparing the two tells on which side the exact number lies, for the directed modes. f64 fma, and
all that f64 cannot hold so, go through exact fractions, lane by lane.

Two habits make this a good oracle for engines that write code: a shift by the width or more is an AssertionError, and
so is asking Python for the truth of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from isa.registers import LANES
from isa.semantics import dots
from isa.semantics.float_mode import FloatMode
from isa.semantics.reference import matrices, transcendental
from isa.semantics.reference.exact import (
    DTYPES,
    FUNCTIONS,
    directed_root,
    fraction_fma,
    fraction_operation,
    odd_sum,
    round_fraction,
)
from isa.semantics.reference.nans import MADE, handed_on, settled
from isa.semantics.values import LIFT, MIN_NORMAL, RDNA4_SUMS, DispatchedValue, Number, Value

_Array = Any
_BITWISE = {"__and__": np.bitwise_and, "__or__": np.bitwise_or, "__xor__": np.bitwise_xor, "__invert__": np.invert}
_COMPARISONS = {
    "__eq__": np.equal, "__ne__": np.not_equal, "__lt__": np.less, "__le__": np.less_equal, "__gt__": np.greater,
    "__ge__": np.greater_equal,
}  # fmt: skip
_COUNTS: dict[str, Callable[[int, int], int]] = {
    "popcount": lambda x, size: bin(x).count("1"),
    "clz": lambda x, size: size - x.bit_length(),
    "ctz": lambda x, size: (x & -x).bit_length() - 1 if x else size,
    "bitreverse": lambda x, size: int(f"{x:0{size}b}"[::-1], 2),
}
"""Of the bits of one element and how many they are."""
_ROUNDINGS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint}


class NumpyValue(DispatchedValue):
    """One operand's value: `a` is its array, `mode` the wave's float mode."""

    __slots__ = ("a", "mode", "type")

    def __init__(self, type_: str, array: _Array, mode: FloatMode) -> None:
        self.type, self.mode = type_, mode
        self.a = np.asarray(array, dtype=DTYPES[type_])

    @classmethod
    def scalar(cls, type_: str, number: float, mode: FloatMode) -> NumpyValue:
        """A number; an integer wraps into its type."""
        if type_[0] in "ui":
            size = int(type_[1:])
            bits = np.array(int(number) & ((1 << size) - 1), dtype=DTYPES[f"u{size}"])
            return cls(type_, bits.view(DTYPES[type_]), mode)
        with np.errstate(over="ignore"):
            return cls(type_, np.array(number).astype(DTYPES[type_]), mode)

    def __repr__(self) -> str:
        return f"{self.type} {self.a}"

    def __bool__(self) -> bool:
        raise AssertionError("the truth of a value is not known when code is written; use select")

    @property
    def is_float(self) -> bool:
        return self.type[0] == "f"

    def _new(self, type_: str, array: _Array) -> NumpyValue:
        return NumpyValue(type_, array, self.mode)

    def _other(self, other: Number) -> NumpyValue:
        if isinstance(other, NumpyValue):
            assert other.type == self.type, f"{self.type} and {other.type} in one operation"
            return other
        assert isinstance(other, int | float)
        return NumpyValue.scalar(self.type, other, self.mode)

    def operation(self, name: str, *operands: Number, type_: str = "") -> NumpyValue:
        if name in _BITWISE:
            return self._new(self.type, _BITWISE[name](self.a, *(self._other(o).a for o in operands)))
        if name in _COMPARISONS:
            return self._compare(operands[0], _COMPARISONS[name])
        return self._each(_COUNTS[name]) if name in _COUNTS else self._unary(_ROUNDINGS[name])

    # --- floats: flushing and rounding
    def _flushed(self, bit: int) -> NumpyValue:
        """Denormals to zero of their sign where the mode drops them. bit: 0 for an input, 1 for a result."""
        if not self.is_float or self.mode.keeps(self.type) >> bit & 1:
            return self
        with np.errstate(invalid="ignore"):
            return self._dropped(np.abs(self.a) < MIN_NORMAL[self.type])

    def _rounded(self, type_: str, wide: _Array) -> NumpyValue:
        """f64, exact or rounded to odd, as `type_` in the wave's rounding mode; what is below the smallest normal
        number, rounded to as many bits as that has, is flushed where the mode drops denormals."""
        rounding = self.mode.rounding(type_)
        near = self._near(type_, wide, rounding)
        if self.mode.keeps(type_) & 2 or type_ == "f64":
            return self._new(type_, near)._flushed(1)
        lifted = self._near(type_, wide * LIFT[type_], rounding)
        return self._new(type_, near)._dropped(np.abs(lifted) < MIN_NORMAL[type_] * LIFT[type_])

    def _dropped(self, tiny: _Array) -> NumpyValue:
        return self._new(self.type, np.where(tiny, np.copysign(DTYPES[self.type](0), self.a), self.a))

    def _near(self, type_: str, wide: _Array, rounding: int) -> _Array:
        dtype = DTYPES[type_]
        near = wide.astype(dtype)
        if rounding and type_ != "f64":
            back = near.astype(np.float64)
            infinity = dtype(np.inf)
            if rounding == 1:
                near = np.where(back < wide, np.nextafter(near, infinity), near)
            elif rounding == 2:
                near = np.where(back > wide, np.nextafter(near, -infinity), near)
            else:
                near = np.where(np.abs(back) > np.abs(wide), np.nextafter(near, dtype(0)), near)
        return near

    def _exactly(self, function: Callable[..., Fraction | float], *others: NumpyValue) -> NumpyValue:
        """Lane by lane: `function` of Python floats gives a Fraction, rounded here, or a float that stands."""
        arrays = np.broadcast_arrays(self.a, *(o.a for o in others))
        out = np.empty(arrays[0].shape, DTYPES[self.type])
        tiny = np.zeros(out.shape, np.bool_)
        rounding, lift = self.mode.rounding(self.type), LIFT[self.type]
        drops = not self.mode.keeps(self.type) & 2
        for at in np.ndindex(out.shape):
            result = function(*(float(x[at]) for x in arrays))
            out[at] = round_fraction(result, self.type, rounding) if isinstance(result, Fraction) else result
            if drops and isinstance(result, Fraction):
                lifted = round_fraction(result * Fraction(lift), self.type, rounding)
                tiny[at] = abs(lifted) < MIN_NORMAL[self.type] * lift
        return self._new(self.type, out)._flushed(1)._dropped(tiny)

    # --- arithmetic
    def _float_operation(self, other: Number, operation: Callable[[Any, Any], Any], kind: str) -> NumpyValue:
        x, y = self._flushed(0), self._other(other)._flushed(0)
        return x._computed(y, operation, kind)._settled(x, y)

    def _settled(self, *operands: NumpyValue) -> NumpyValue:
        """With the NaN that an operation with these operands has to give in the wave's mode."""
        return settled(self, *operands) if self.mode.ieee else handed_on(settled(self, *operands), *operands)

    def _computed(self, y: NumpyValue, operation: Callable[[Any, Any], Any], kind: str) -> NumpyValue:
        """As numbers: some NaN where it is none."""
        x = self
        rounding = self.mode.rounding(self.type)
        with np.errstate(all="ignore"):
            if self.type == "f64":
                if rounding == 0 and (kind != "mul" or self.mode.keeps("f64") & 2):  # a sum that is denormal is exact
                    return self._new("f64", operation(x.a, y.a))._flushed(1)
                return x._exactly(lambda a, b: fraction_operation(a, b, kind, rounding), y)
            a, b = x.a.astype(np.float64), y.a.astype(np.float64)
            if kind == "mul":
                return self._rounded(self.type, a * b)
            return self._rounded(self.type, odd_sum(a, b if kind == "add" else -b, rounding))

    def is_nan(self) -> NumpyValue:
        return self._new("b1", np.isnan(self.a))

    def __add__(self, other: Number) -> NumpyValue:
        if self.is_float:
            return self._float_operation(other, np.add, "add")
        with np.errstate(over="ignore"):
            return self._new(self.type, self.a + self._other(other).a)

    def __sub__(self, other: Number) -> NumpyValue:
        if self.is_float:
            return self._float_operation(other, np.subtract, "sub")
        with np.errstate(over="ignore"):
            return self._new(self.type, self.a - self._other(other).a)

    def __mul__(self, other: Number) -> NumpyValue:
        if self.is_float:
            return self._float_operation(other, np.multiply, "mul")
        with np.errstate(over="ignore"):
            return self._new(self.type, self.a * self._other(other).a)

    def __neg__(self) -> NumpyValue:
        with np.errstate(over="ignore"):
            return self._new(self.type, -self.a)

    def fma(self, b: Number, c: Number) -> NumpyValue:
        x, y, z = self._flushed(0), self._other(b)._flushed(0), self._other(c)._flushed(0)
        rounding = self.mode.rounding(self.type)
        if self.type == "f64":
            return x._exactly(lambda p, q, r: fraction_fma(p, q, r, rounding), y, z)._settled(x, y, z)
        with np.errstate(all="ignore"):
            p, q, r = (v.a.astype(np.float64) for v in (x, y, z))
            result = self._rounded(self.type, odd_sum(p * q, r, rounding))
            addend = z if self.type == "f32" else self._new("b1", np.isnan(p * q)).select(0.0, z)
            return result._settled(x, y, addend)

    def primitive(self, name: str, *others: Value, type_: str = "") -> NumpyValue:
        operands = [o for o in others if isinstance(o, NumpyValue)]
        if name == "scaled_fma":
            return self._scaled_fma(*operands)
        if name.startswith("dot2 "):
            b, c = operands
            return self._new("u32", summed(name.removeprefix("dot2 "), [self.a], [b.a], c.a))
        raise ValueError(f"no primitive {name!r}")

    def primitives(self, name: str, *others: Value, count: int) -> tuple[NumpyValue, ...]:
        rows = [np.broadcast_to(o.a, (LANES,)) for o in (self, *others) if isinstance(o, NumpyValue)]
        kind, sources = name.removeprefix("wmma "), (len(rows) - 8) // 2
        a, b, c = rows[:sources], rows[sources:-8], rows[-8:]
        spread = kind.endswith(RDNA4_SUMS)
        if kind[0] == "i":
            size, a_signed, b_signed, clamp = kind.removeprefix("iu").removesuffix(RDNA4_SUMS).split()
            product = matrices.spread_integer if spread else matrices.integer_wmma
            signed = a_signed == "1", b_signed == "1"
            result = product(a, b, c, int(size), signed, clamp == "clamp")
        else:
            result = (matrices.spread_wmma if spread else matrices.wmma)(partial(summed, kind), a, b, c)
        return tuple(self._new("u32", row) for row in result)

    def _scaled_fma(self, y: NumpyValue, z: NumpyValue, n: NumpyValue) -> NumpyValue:
        x = self
        keep = self.mode.with_inputs_kept()
        plain = NumpyValue(x.type, x.a, keep).fma(NumpyValue(x.type, y.a, keep), NumpyValue(x.type, z.a, keep))
        arrays = np.broadcast_arrays(n.a, plain.a, x.a, y.a, z.a)
        out = arrays[1].copy()
        rounding = self.mode.rounding(self.type)
        for at in np.argwhere(arrays[0]):
            power, _, *operands = (v[tuple(at)] for v in arrays)
            a, b, c = map(float, operands)
            exact = fraction_fma(a, b, c, rounding)
            if isinstance(exact, Fraction):  # otherwise it is a zero, an infinity or a NaN
                out[tuple(at)] = round_fraction(exact * Fraction(2) ** int(power), self.type, rounding)
        return self._new(self.type, out)._flushed(1)

    def div(self, other: Number) -> NumpyValue:
        if self.is_float:
            x, y = self._flushed(0), self._other(other)._flushed(0)
            rounding = self.mode.rounding(self.type)
            return x._exactly(lambda a, b: fraction_operation(a, b, "div", rounding), y)._settled(x, y)
        a, b = np.broadcast_arrays(self.a, self._other(other).a)
        out = np.empty(a.shape, DTYPES[self.type])
        for at in np.ndindex(a.shape):
            n, d = int(a[at]), int(b[at])
            out[at] = NumpyValue.scalar(self.type, abs(n) // abs(d) * (-1 if (n < 0) != (d < 0) else 1), self.mode).a
        return self._new(self.type, out)

    def mulhi(self, other: Number) -> NumpyValue:
        wide = np.int64 if self.type == "i32" else np.uint64
        product = self.a.astype(wide) * self._other(other).a.astype(wide)
        return self._new(self.type, (product >> wide(32)).astype(DTYPES[self.type]))

    def _amount(self, other: Number) -> _Array:
        amount = other.to(self.type) if isinstance(other, NumpyValue) else self._other(other)
        assert isinstance(amount, NumpyValue)
        size = int(self.type[1:])
        assert np.all((amount.a >= 0) & (amount.a < size)), f"shift of {self.type} by {amount.a}"
        return amount.a

    def __lshift__(self, other: Number) -> NumpyValue:
        return self._new(self.type, self.a << self._amount(other))

    def __rshift__(self, other: Number) -> NumpyValue:
        return self._new(self.type, self.a >> self._amount(other))

    def _each(self, function: Callable[[int, int], int]) -> NumpyValue:
        """function(bits, width) for each element."""
        size = int(self.type[1:])
        out = np.empty(self.a.shape, DTYPES[f"u{size}"])
        bits = self.a.view(DTYPES[f"u{size}"])
        for at in np.ndindex(out.shape):
            out[at] = function(int(bits[at]), size)
        return self._new(self.type, out.view(DTYPES[self.type]))

    def _compare(self, other: Number, function: Callable[[Any, Any], Any]) -> NumpyValue:
        with np.errstate(invalid="ignore"):
            return self._new("b1", function(self._flushed(0).a, self._other(other)._flushed(0).a))

    def select(self, yes: Number, no: Number) -> NumpyValue:
        typed = yes if isinstance(yes, NumpyValue) else no
        assert isinstance(typed, NumpyValue), "select between two Python numbers has no type"
        assert self.type == "b1"
        return self._new(typed.type, np.where(self.a, typed._other(yes).a, typed._other(no).a))

    # --- conversion
    def bits(self, type_: str) -> NumpyValue:
        assert type_[1:] == self.type[1:], f"{self.type} has not the width of {type_}"
        return self._new(type_, self.a.view(DTYPES[type_]))

    def to(self, type_: str) -> NumpyValue:
        if type_ == self.type:
            return self
        if type_[0] != "f":
            assert not self.is_float, "float -> integer goes through to_int"
            return self._new(type_, self.a.astype(DTYPES[type_]))
        if self.is_float:
            x = self._flushed(0)
            with np.errstate(all="ignore"):
                return x._converted(x._rounded(type_, x.a.astype(np.float64)))
        if self.type[1:] == "64":
            out = np.empty(self.a.shape, DTYPES[type_])
            for at in np.ndindex(out.shape):
                out[at] = round_fraction(Fraction(int(self.a[at])), type_, self.mode.rounding(type_))
            return self._new(type_, out)
        with np.errstate(all="ignore"):
            return self._rounded(type_, self.a.astype(np.float64))

    def _converted(self, result: NumpyValue) -> NumpyValue:
        """A conversion's result with its NaNs as `nans` has them: sign and upper payload stay, and they are quiet."""
        old, new = (int(v.type[1:]) for v in (self, result))
        bits = self.a.view(DTYPES[f"u{old}"]).astype(np.uint64)
        fraction, wider = ({16: 10, 32: 23, 64: 52}[size] for size in (old, new))
        payload = bits & np.uint64((1 << fraction) - 1)
        moved = payload << np.uint64(wider - fraction) if wider > fraction else payload >> np.uint64(fraction - wider)
        sign = bits >> np.uint64(old - 1) << np.uint64(new - 1)
        word = (sign | moved | np.uint64(MADE[result.type] & ~(1 << new - 1))).astype(DTYPES[f"u{new}"])
        return self._new(result.type, np.where(np.isnan(self.a), word.view(DTYPES[result.type]), result.a))

    def to_int(self, type_: str) -> NumpyValue:
        info = np.iinfo(DTYPES[type_])
        assert info.bits <= 32
        with np.errstate(invalid="ignore"):  # a signalling NaN is one all the same
            wide = np.trunc(self.a.astype(np.float64))
        clipped = np.clip(np.where(np.isnan(wide), 0.0, wide), float(info.min), float(info.max))
        return self._new(type_, clipped.astype(np.int64).astype(DTYPES[type_]))

    # --- float functions
    def _unary(self, function: Callable[[Any], Any]) -> NumpyValue:
        with np.errstate(all="ignore"):
            x = self._flushed(0)
            return settled(self._new(self.type, function(x.a)), x)._flushed(1)

    def sqrt(self) -> NumpyValue:
        if self.type == "f32":
            return self.call("sqrt")
        x = self._flushed(0)
        with np.errstate(all="ignore"):
            wide = np.sqrt(x.a.astype(np.float64))
        rounding = self.mode.rounding(self.type)
        if rounding == 0:  # twice 24 bits and two more: rounding twice is innocuous, and a root is never denormal
            return self._new(self.type, wide.astype(DTYPES[self.type]))._settled(x)
        out = np.empty(wide.shape, DTYPES[self.type])
        for at in np.ndindex(out.shape):
            out[at] = directed_root(float(x.a[at]), float(wide[at]), self.type, rounding)
        return self._new(self.type, out)._settled(x)

    def entry(self, table: tuple[int, ...]) -> NumpyValue:
        """The table's entry at this index, u32."""
        return self._new("u32", np.asarray(table, np.uint32)[self.a])

    def product(self, other: NumpyValue) -> NumpyValue:
        """As `transcendental.product` says."""
        result: NumpyValue = transcendental.product(self, other)
        return result

    def call(self, name: str) -> NumpyValue:
        x = self._flushed(0)
        if (name, self.type) in transcendental.KNOWN:
            result: NumpyValue = transcendental.function(x, name)
            return result._settled(x)
        with np.errstate(all="ignore"):
            wide = FUNCTIONS[name](x.a.astype(np.float64))
            return x._rounded(self.type, np.asarray(wide))._settled(x)

    # --- lanes
    def lane(self, index: Number) -> NumpyValue:
        i = int(index.a) if isinstance(index, NumpyValue) else int(index)  # type: ignore[arg-type]
        return self if self.a.ndim == 0 else self._new(self.type, self.a[i])

    def with_lane(self, index: Number, value: Number) -> NumpyValue:
        i = int(index.a) if isinstance(index, NumpyValue) else int(index)  # type: ignore[arg-type]
        copy = np.broadcast_to(self.a, (LANES,)).copy()
        copy[i] = self._other(value).a
        return self._new(self.type, copy)

    def shuffle(self, index: Value) -> NumpyValue:
        assert isinstance(index, NumpyValue)
        return self._new(self.type, np.broadcast_to(self.a, (LANES,))[np.broadcast_to(index.a, (LANES,))])

    def mask(self) -> NumpyValue:
        assert self.type == "b1"
        assert self.a.shape == (LANES,)
        return NumpyValue.scalar("u32", sum(1 << i for i in range(LANES) if self.a[i]), self.mode)

    def lanes(self) -> NumpyValue:
        assert self.type == "u32"
        assert self.a.ndim == 0
        return self._new("b1", np.array([int(self.a) >> i & 1 for i in range(LANES)], dtype=np.bool_))


def summed(name: str, a: Sequence[_Array], b: Sequence[_Array], c: _Array) -> _Array:
    """`isa.semantics.dots.step` on arrays of one shape."""
    *factors, c_ = (NumpyValue("u32", array, FloatMode()) for array in np.broadcast_arrays(*a, *b, c))
    total = dots.step(name, factors[: len(a)], factors[len(a) :], c_)
    assert isinstance(total, NumpyValue)
    return total.a
