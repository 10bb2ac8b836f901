"""`isa.values.Value` on LLVM IR: a body run on these writes the instructions that compute it.

A value is a scalar (`lanes` 0) or a vector of `lanes` elements. Scalars are written into `Writer.scalar`, vectors into
`Writer.vector`: where the vector region is the body of a loop over lanes, whatever is the same in each lane ends up in
front of the loop by itself.

Everything is exact: no fast-math flags, fma through llvm.fma, f16 arithmetic in f32 or f64 wide enough that the second
rounding is innocuous. Denormals are flushed by explicit selects where the wave's mode says so. rcp, rsq, exp2, log2,
sin and cos are what their f64 values round to, not the hardware's tables, which are within 1 ULP (ISA guide, V_RCP_F32
and its kind).

An operation across lanes (`lane`, `shuffle`, `mask` ...) needs all lanes at once; on a vector with fewer than 32 it
raises `NeedsAllLanes`, from which the translator learns to write that instruction on whole vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from isa.sim.forms import Form
from isa.sim.halves import bfloat, float_from_half, round_half
from isa.sim.ir import Function, Region, splat_constant
from isa.sim.llvm_text import ELEMENTS, EXPONENT, FOLDS, HOST_ROUNDING, literal, llvm_type, suffix
from isa.sim.mode import FloatMode
from isa.sim.nans import settled
from isa.sim.natural import Fma
from isa.sim.state import LANES
from isa.values import Number, Value


class NeedsAllLanes(Exception):
    """This body works across lanes; it cannot be run on a part of them."""


class NeedsClosedLoop(Exception):
    """A scalar that the open loop over strips produces is needed before the loop ends."""


@dataclass(eq=False)
class Writer:
    """Where values write themselves.

    native_half: the processor converts f16 by itself; native_nans: its FMA takes NaNs as `isa.sim.natural` needs it.
    strip_of: inside a loop over strips, how a scalar mask becomes the strip's b1.
    """

    function: Function
    scalar: Region
    vector: Region
    mode: FloatMode = field(default_factory=FloatMode)
    native_half: bool = True
    native_nans: bool = False
    splats: dict[tuple[str, str, int], str] = field(default_factory=dict)
    strip_of: Callable[[LlvmValue], LlvmValue] | None = None

    def at(self, lanes: int) -> Region:
        return self.vector if lanes else self.scalar

    def constant(self, type_: str, number: float) -> LlvmValue:
        return LlvmValue(self, type_, 0, literal(type_, number), constant=number)


def _wrap(value: LlvmValue, size: int) -> int:
    assert value.constant is not None
    return int(value.constant) & (1 << size) - 1


class LlvmValue(Value):
    """One operand as LLVM IR. `ref` is its text; `constant` its number where it is known at translation; `form` what
    it is the sum of, where that is known (isa.sim.forms)."""

    __slots__ = ("_casts", "constant", "form", "lanes_", "ref", "type", "w")

    def __init__(
        self,
        writer: Writer,
        type_: str,
        lanes: int,
        ref: str,
        *,
        constant: float | None = None,
        form: Form | None = None,
    ) -> None:
        self.w, self.type, self.lanes_, self.ref, self.constant = writer, type_, lanes, ref, constant
        self.form = form
        self._casts: dict[str, LlvmValue] | None = None

    def __repr__(self) -> str:
        return f"{self.llvm} {self.ref}"

    @property
    def llvm(self) -> str:
        return llvm_type(self.type, self.lanes_)

    @property
    def is_float(self) -> bool:
        return self.type[0] == "f"

    # --- writing
    def _emit(self, type_: str, lanes: int, expression: str) -> LlvmValue:
        return LlvmValue(self.w, type_, lanes, self.w.function.emit(self.w.at(lanes), expression))

    def _same(self, expression: str) -> LlvmValue:
        return self._emit(self.type, self.lanes_, expression)

    def vector(self, lanes: int) -> LlvmValue:
        """This scalar in each of so many lanes."""
        if self.lanes_ or not lanes:
            assert self.lanes_ in (0, lanes) or not lanes
            return self
        type_ = llvm_type(self.type, lanes)
        if self.constant is not None:
            return LlvmValue(self.w, self.type, lanes, splat_constant(type_, self.ref), constant=self.constant)
        key = (self.ref, self.type, lanes)
        w = self.w
        if key not in w.splats:
            one = w.function.emit(w.scalar, f"insertelement {type_} poison, {ELEMENTS[self.type]} {self.ref}, i32 0")
            w.splats[key] = w.function.emit(
                w.scalar, f"shufflevector {type_} {one}, {type_} poison, <{lanes} x i32> zeroinitializer"
            )
        return LlvmValue(w, self.type, lanes, w.splats[key])

    def _other(self, other: Number) -> LlvmValue:
        return other if isinstance(other, LlvmValue) else self.w.constant(self.type, other)  # type: ignore[arg-type]

    def _pair(self, other: Number) -> tuple[LlvmValue, LlvmValue]:
        o = self._other(other)
        lanes = max(self.lanes_, o.lanes_)
        a, b = self.vector(lanes), o.vector(lanes)
        assert a.type == b.type, f"{a.type} and {b.type} in one operation"
        return a, b

    def _intrinsic(self, name: str, *args: LlvmValue, tail: str = "") -> LlvmValue:
        return self._call(f"llvm.{name}.{suffix(self.type, self.lanes_)}", self.type, *args, tail=tail)

    def _call(self, symbol: str, result: str, *args: LlvmValue, tail: str = "") -> LlvmValue:
        operands = ", ".join(repr(a) for a in args) + tail
        types = ", ".join(a.llvm for a in args) + (", i1" if tail else "")
        type_ = llvm_type(result, self.lanes_)
        self.w.function.declare(f"declare {type_} @{symbol}({types})")
        return self._emit(result, self.lanes_, f"call {type_} @{symbol}({operands})")

    # --- denormals and half precision
    def _flush(self, bit: int) -> LlvmValue:
        """Denormals to zero of the same sign, where the mode drops them; bit 0 for an input, 1 for a result."""
        if not self.is_float or self.w.mode.keeps(self.type) >> bit & 1:
            return self
        size, exponent = int(self.type[1:]), EXPONENT[self.type]
        word = self.bits(f"u{size}")
        denormal = (word & exponent) == 0
        return denormal.select((word & (1 << size - 1)).bits(self.type), self)

    def _arith(self, name: str, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        a, b = a._flush(0), b._flush(0)
        rounding = a.w.mode.rounding(a.type)
        if a.type == "f16":
            return round_half(a.to("f32")._in_mode(rounding, name, b.to("f32")))._flush(1)
        return a._in_mode(rounding, name, b)._flush(1)

    def _in_mode(self, rounding: int, name: str, *others: LlvmValue, result: str = "") -> LlvmValue:
        value = self._computed(rounding, name, *others, result=result)
        return value if result else settled(value, self, *others)

    def _computed(self, rounding: int, name: str, *others: LlvmValue, result: str = "") -> LlvmValue:
        """An operation in one of the wave's rounding modes (FloatMode).

        NaNs are settled. To nearest even it is the plain one. Otherwise the processor's own mode is set for this one
        operation, which is written as a constrained intrinsic, so that LLVM neither moves nor folds it.
        """
        type_ = result or self.type
        target = llvm_type(type_, self.lanes_)
        if not rounding:
            if name in ("fma", "sqrt"):
                return self._intrinsic(name, self, *others)
            if name in ("fptrunc", "sitofp", "uitofp"):
                return self._emit(type_, self.lanes_, f"{name} {self.llvm} {self.ref} to {target}")
            return self._raw(name, *others)
        w, lanes = self.w, self.lanes_
        symbol = f"llvm.experimental.constrained.{name}.{suffix(type_, lanes)}"
        if type_ != self.type:
            symbol += f".{suffix(self.type, lanes)}"
        types = ", ".join(a.llvm for a in (self, *others))
        w.function.declare("declare void @llvm.set.rounding(i32)")
        w.function.declare(f"declare {target} @{symbol}({types}, metadata, metadata)")
        region = w.at(lanes)
        region.line(f"call void @llvm.set.rounding(i32 {HOST_ROUNDING[rounding]})")
        operands = ", ".join(repr(a) for a in (self, *others))
        value = self._emit(
            type_,
            lanes,
            f'call {target} @{symbol}({operands}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp',
        )
        region.line(f"call void @llvm.set.rounding(i32 {HOST_ROUNDING[0]})")
        return value

    def _raw(self, name: str, b: LlvmValue) -> LlvmValue:
        if self.constant is not None and b.constant is not None and (fold := FOLDS.get(name)) and not self.is_float:
            size = 1 if self.type == "b1" else int(self.type[1:])
            number = fold(_wrap(self, size), _wrap(b, size), size) & (1 << size) - 1
            return self.w.constant(self.type, number).vector(self.lanes_)
        return self._same(f"{name} {self.llvm} {self.ref}, {b.ref}")

    # --- arithmetic
    def __add__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self._arith("fadd", other)
        o = self._other(other)
        a, b = self._pair(o)
        if b.constant == 0:
            return a
        if a.constant == 0:
            return b
        result = a._raw("add", b)
        if a.lanes_ and (a.form or b.form):
            x, y = (self, o) if a.form else (o, self)
            result.form = _sum(x, y)
        return result

    def __sub__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self._arith("fsub", other)
        a, b = self._pair(other)
        return a + -b.constant if b.constant is not None else a._raw("sub", b)

    def __rsub__(self, other: Number) -> LlvmValue:
        return self._other(other) - self

    def __mul__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self._arith("fmul", other)
        a, b = self._pair(other)
        result = a._raw("mul", b)
        for x, y in ((a, b), (b, a)):
            if x.form and y.constant is not None:
                result.form = x.form.times(int(y.constant))
        return result

    def __neg__(self) -> LlvmValue:
        return self._same(f"fneg {self.llvm} {self.ref}") if self.is_float else self._other(0) - self

    def fma(self, b: Number, c: Number) -> LlvmValue:
        x, y = self._pair(b)
        x, z = x._pair(c)
        y = y.vector(x.lanes_)
        x, y, z = x._flush(0), y._flush(0), z._flush(0)
        if x.type == "f16":
            # f64 holds the product exactly, and the sum well enough for one rounding to 11 bits.
            wide = x.to("f64")
            rounded = wide._in_mode(x.w.mode.rounding("f16"), "fma", y.to("f64"), z.to("f64"))
            return round_half(rounded)._flush(1)
        if x.w.native_nans and x.type == "f32" and x.lanes_ and not x.w.mode.rounding("f32"):
            return x._natural_fma(y, z)._flush(1)
        return x._in_mode(x.w.mode.rounding(x.type), "fma", y, z)._flush(1)

    def _natural_fma(self, y: LlvmValue, z: LlvmValue) -> LlvmValue:
        """An FMA that `isa.sim.natural` may leave to the host. Nothing but its result is known outside of its lines."""
        for operand in (self, y, z):
            operand.bits("u32")
        lines = self.w.vector.lines
        start = len(lines)
        result = self._in_mode(0, "fma", y, z)
        lines[start:] = [Fma.of(lines[start:], self.llvm, (self.ref, y.ref, z.ref))]
        return LlvmValue(self.w, "f32", self.lanes_, result.ref)

    def div(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self._arith("fdiv", other)
        a, b = self._pair(other)
        return a._raw("sdiv" if a.type[0] == "i" else "udiv", b)

    def mulhi(self, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        wide = a.type[0] + "64"
        return (a.to(wide) * b.to(wide) >> 32).to(a.type)

    # --- bits
    def _bitwise(self, name: str, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        if name == "and" and a.type == "b1":
            for x, y in ((a, b), (b, a)):
                if y.constant:
                    return x
        result = a._raw(name, b)
        if name == "or" and a.form and b.form and a.type[1:] == "64":
            result.form = a.form.joined(b.form)
        return result

    def __and__(self, other: Number) -> LlvmValue:
        return self._bitwise("and", other)

    def __or__(self, other: Number) -> LlvmValue:
        return self._bitwise("or", other)

    def __xor__(self, other: Number) -> LlvmValue:
        return self._bitwise("xor", other)

    def __invert__(self) -> LlvmValue:
        return self ^ (1 if self.type == "b1" else -1)

    def _shift(self, name: str, other: Number) -> LlvmValue:
        o = self._other(other)
        if o.type != self.type:
            o = o.to(self.type)
        a, b = self._pair(o)
        return a._raw(name, b)

    def __lshift__(self, other: Number) -> LlvmValue:
        result = self._shift("shl", other)
        n = other if isinstance(other, int) else other.constant if isinstance(other, LlvmValue) else None
        if self.form and n is not None:
            result.form = self.form.moved_up() if n == 32 and self.form.size == 64 else self.form.times(1 << int(n))
        return result

    def __rshift__(self, other: Number) -> LlvmValue:
        return self._shift("ashr" if self.type[0] == "i" else "lshr", other)

    def popcount(self) -> LlvmValue:
        return self._intrinsic("ctpop", self)

    def clz(self) -> LlvmValue:
        return self._intrinsic("ctlz", self, tail=", i1 false")

    def ctz(self) -> LlvmValue:
        return self._intrinsic("cttz", self, tail=", i1 false")

    def bitreverse(self) -> LlvmValue:
        return self._intrinsic("bitreverse", self)

    def is_nan(self) -> LlvmValue:
        return self._emit("b1", self.lanes_, f"fcmp uno {self.llvm} {self.ref}, {self.ref}")

    # --- comparison
    def _compare(self, integer: str, ordered: str, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        if a.is_float:
            a, b = a._flush(0), b._flush(0)
            if a.type == "f16":
                a, b = a.to("f32"), b.to("f32")
            return a._emit("b1", a.lanes_, f"fcmp {ordered} {a.llvm} {a.ref}, {b.ref}")
        if integer == "ge" and a.type[0] == "u" and b.constant == 0:
            return a.w.constant("b1", 1).vector(a.lanes_)
        sign = "s" if a.type[0] == "i" else "u"
        predicate = integer if integer in ("eq", "ne") else sign + integer
        return a._emit("b1", a.lanes_, f"icmp {predicate} {a.llvm} {a.ref}, {b.ref}")

    def __eq__(self, other: Any) -> LlvmValue:  # type: ignore[override]
        return self._compare("eq", "oeq", other)

    def __ne__(self, other: Any) -> LlvmValue:  # type: ignore[override]
        return self._compare("ne", "une", other)

    def __lt__(self, other: Number) -> LlvmValue:
        return self._compare("lt", "olt", other)

    def __le__(self, other: Number) -> LlvmValue:
        return self._compare("le", "ole", other)

    def __gt__(self, other: Number) -> LlvmValue:
        return self._compare("gt", "ogt", other)

    def __ge__(self, other: Number) -> LlvmValue:
        return self._compare("ge", "oge", other)

    __hash__ = None

    def select(self, yes: Number, no: Number) -> LlvmValue:
        if isinstance(yes, LlvmValue):
            a, b = yes._pair(no)
        elif isinstance(no, LlvmValue):
            b, a = no._pair(yes)
        else:
            raise TypeError("select between two Python numbers has no type")
        lanes = max(self.lanes_, a.lanes_)
        c, a, b = self.vector(lanes) if a.lanes_ and self.lanes_ else self, a.vector(lanes), b.vector(lanes)
        return a._same(f"select {c.llvm} {c.ref}, {a.llvm} {a.ref}, {b.llvm} {b.ref}")

    # --- conversion
    def bits(self, type_: str) -> LlvmValue:
        source, target = self.llvm, llvm_type(type_, self.lanes_)
        if source == target:
            same = LlvmValue(self.w, type_, self.lanes_, self.ref, constant=self.constant, form=self.form)
            same._casts = self._casts
            return same
        if self._casts is None:
            self._casts = {}
        if target not in self._casts:
            cast = self._emit(type_, self.lanes_, f"bitcast {source} {self.ref} to {target}")
            cast._casts = {source: self}
            self._casts[target] = cast
        return self._casts[target]._as(type_)

    def _as(self, type_: str) -> LlvmValue:
        if type_ == self.type:
            return self
        same = LlvmValue(self.w, type_, self.lanes_, self.ref, constant=self.constant, form=self.form)
        same._casts = self._casts
        return same

    def to(self, type_: str) -> LlvmValue:
        if type_ == self.type:
            return self
        target = llvm_type(type_, self.lanes_)
        source_float, target_float = self.type[0] == "f", type_[0] == "f"
        if self.type == "bf16":
            return (self.bits("u16").to("u32") << 16).bits("f32").to(type_)
        if type_ == "bf16":
            return bfloat(self.to("f32"))
        if self.constant is not None and not source_float and not target_float:
            number = int(self.constant) & (1 << int(self.type[1:])) - 1
            if self.type[0] == "i" and number >> int(self.type[1:]) - 1:
                number -= 1 << int(self.type[1:])
            return self.w.constant(type_, number).vector(self.lanes_)
        if source_float and target_float:
            return self._to_float(type_)
        if source_float:
            raise TypeError("float -> integer goes through to_int")
        if target_float:
            if type_ == "f16":
                return self.to("f32").to("f16")
            if self.type[0] == "i":
                return self._in_mode(self.w.mode.rounding(type_), "sitofp", result=type_)
            result = self._in_mode(self.w.mode.rounding(type_), "uitofp", result=type_)
            # Towards -inf the host finds a 0 as a difference, which is then -0.
            return result if self.w.mode.rounding(type_) != 2 else (self == 0).select(0.0, result)
        else:
            size, old = int(type_[1:]), int(self.type[1:])
            if size == old:
                return self.bits(type_)
            name = "trunc" if size < old else "sext" if self.type[0] == "i" else "zext"
        result = self._emit(type_, self.lanes_, f"{name} {self.llvm} {self.ref} to {target}")
        if self.form and name == "zext" and type_[1:] == "64":
            result.form = self.form.extended()
        return result

    def _to_float(self, type_: str) -> LlvmValue:
        a = self._flush(0)
        if type_ == "f16":
            return round_half(a)._flush(1)
        if a.type == "f16" and not a.w.native_half:
            return float_from_half(a).to(type_)
        if int(type_[1:]) < int(a.type[1:]):
            return a._in_mode(a.w.mode.rounding(type_), "fptrunc", result=type_)._flush(1)
        return a._emit(type_, a.lanes_, f"fpext {a.llvm} {a.ref} to {llvm_type(type_, a.lanes_)}")._flush(1)

    def to_b1(self) -> LlvmValue:
        """Bit 0 of an integer."""
        return self._emit("b1", self.lanes_, f"trunc {self.llvm} {self.ref} to {llvm_type('b1', self.lanes_)}")

    def to_int(self, type_: str) -> LlvmValue:
        a = self.to("f32") if self.type == "f16" else self
        name = "fptosi.sat" if type_[0] == "i" else "fptoui.sat"
        return a._call(f"llvm.{name}.{suffix(type_, a.lanes_)}.{suffix(a.type, a.lanes_)}", type_, a)

    # --- float functions
    def _unary(self, name: str) -> LlvmValue:
        a = self._flush(0)
        if a.type == "f16":
            wide = a.to("f32")
            return round_half(settled(wide._intrinsic(name, wide), wide))
        return settled(a._intrinsic(name, a), a)._flush(1)

    def floor(self) -> LlvmValue:
        return self._unary("floor")

    def ceil(self) -> LlvmValue:
        return self._unary("ceil")

    def trunc(self) -> LlvmValue:
        return self._unary("trunc")

    def rint(self) -> LlvmValue:
        return self._unary("rint")

    def sqrt(self) -> LlvmValue:
        a = self._flush(0)
        rounding = a.w.mode.rounding(a.type)
        if a.type == "f16":
            return round_half(a.to("f32")._in_mode(rounding, "sqrt"))
        return a._in_mode(rounding, "sqrt")._flush(1)

    def call(self, name: str) -> LlvmValue:
        a = self._flush(0)
        wide = a.to("f64")
        if name == "rcp":
            result = wide._other(1.0).vector(wide.lanes_)._raw("fdiv", wide)
        elif name == "rsq":
            result = wide._other(1.0).vector(wide.lanes_)._raw("fdiv", wide._intrinsic("sqrt", wide))
        elif name in ("exp2", "log2"):
            result = wide._intrinsic(name, wide)
        elif name in ("sin", "cos"):
            result = wide._turns(name)
        else:
            raise ValueError(f"no function {name!r}")
        result = settled(result, wide)
        return result._flush(1) if a.type == "f64" else result.to(a.type)

    def _turns(self, name: str) -> LlvmValue:
        """sin or cos of so many turns, f64, to nearest in any mode; the reduction to a quarter turn is exact, and so
        are the zeros."""

        def number(x: float) -> LlvmValue:
            return self.w.constant("f64", x).vector(self.lanes_)

        r = self._raw("fsub", self._intrinsic("rint", self))
        size = r._intrinsic("fabs", r)
        if name == "cos":
            r = number(0.25)._raw("fsub", size)
        else:
            folded = number(0.5)._raw("fsub", size)
            r = (size > 0.25).select((r < 0.0).select(-folded, folded), r)
        angle = r._raw("fmul", number(2 * math.pi))
        return angle._intrinsic("sin", angle)

    # --- lanes
    def _whole(self) -> None:
        if self.lanes_ != LANES:
            raise NeedsAllLanes

    def lane(self, index: Number) -> LlvmValue:
        self._whole()
        i = index if isinstance(index, LlvmValue) else self.w.constant("u32", index)  # type: ignore[arg-type]
        i = (i & 31) if i.constant is None else i
        return self._emit(self.type, 0, f"extractelement {self.llvm} {self.ref}, {i!r}")

    def with_lane(self, index: Number, value: Number) -> LlvmValue:
        self._whole()
        i = index if isinstance(index, LlvmValue) else self.w.constant("u32", index)  # type: ignore[arg-type]
        i = (i & 31) if i.constant is None else i
        return self._same(f"insertelement {self.llvm} {self.ref}, {self._other(value)!r}, {i!r}")

    def shuffle(self, index: Value) -> LlvmValue:
        self._whole()
        assert isinstance(index, LlvmValue)
        w = self.w
        slot = w.function.alloca(self.llvm, 128)
        w.vector.line(f"store {self.llvm} {self.ref}, ptr {slot}")
        element = ELEMENTS[self.type]
        result = f"{self.llvm} poison"
        for i in range(LANES):
            one = w.function.emit(w.vector, f"extractelement {index!r}, i32 {i}")
            wrapped = w.function.emit(w.vector, f"and i32 {one}, 31")
            place = w.function.emit(w.vector, f"getelementptr {element}, ptr {slot}, i32 {wrapped}")
            got = w.function.emit(w.vector, f"load {element}, ptr {place}")
            result = f"{self.llvm} " + w.function.emit(w.vector, f"insertelement {result}, {element} {got}, i32 {i}")
        return LlvmValue(w, self.type, LANES, result.split()[-1])

    def mask(self) -> LlvmValue:
        if self.lanes_ != LANES:
            return StripMask(self.w, self)
        return self._emit("u32", 0, f"bitcast {self.llvm} {self.ref} to i32")

    def lanes(self) -> LlvmValue:
        if self.w.strip_of is not None:
            return self.w.strip_of(self)
        return self._emit("b1", LANES, f"bitcast i32 {self.ref} to <{LANES} x i1>")


def _sum(a: LlvmValue, b: LlvmValue) -> Form | None:
    """The form of a + b, of which a has one; b may be a scalar."""
    assert a.form is not None
    if b.constant is not None:
        number, size = int(b.constant), int(b.type[1:])
        number &= (1 << size) - 1
        return a.form.plus(number - (1 << size) if number >> size - 1 else number)
    if b.lanes_ == 0:
        return a.form.plus(b)
    return a.form.plus(b.form) if b.form else None


class StripMask(LlvmValue):
    """The scalar mask that a loop over strips is still producing; `strip` is the current strip's part, b1.

    Within the loop it can be turned back into lanes, or written to a register. Anything else needs the loop to end.
    """

    __slots__ = ("strip",)

    def __init__(self, writer: Writer, strip: LlvmValue) -> None:
        super().__init__(writer, "u32", 0, "")
        self.strip = strip

    def lanes(self) -> LlvmValue:
        return self.strip

    def bits(self, type_: str) -> LlvmValue:
        if type_ != "u32":
            raise NeedsClosedLoop
        return self

    def to(self, type_: str) -> LlvmValue:
        return self.bits(type_)

    def _pair(self, other: Number) -> tuple[LlvmValue, LlvmValue]:
        raise NeedsClosedLoop

    def _emit(self, type_: str, lanes: int, expression: str) -> LlvmValue:
        raise NeedsClosedLoop

    def vector(self, lanes: int) -> LlvmValue:
        raise NeedsClosedLoop
