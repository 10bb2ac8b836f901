"""Operands as LLVM IR: an `isa.semantics.values.Value` whose operations write the instructions that compute them.

A value is a scalar (`lanes` 0) or a vector of `lanes` elements. Scalars are written into `Writer.scalar`, vectors into
`Writer.vector`: where the vector region is the body of a loop over lanes, whatever is the same in each lane ends up in
front of the loop by itself.

What takes several instructions (arithmetic on floats, dot products, matrices) is a function of the `Operations` that
a writer is given: `isa.sim.ir.operations`. Everything is exact: no fast-math flags.

An operation across lanes (`lane`, `shuffle`, `mask` ...) needs all lanes at once; on a vector with fewer than 32 it
raises `NeedsAllLanes`, from which the translator learns to write that instruction on whole vectors.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from isa.registers import LANES
from isa.semantics.float_mode import FloatMode
from isa.semantics.values import Number, Value
from isa.sim.ir.ir import Function, Region, splat_constant
from isa.sim.ir.llvm_text import ELEMENTS, FOLDS, literal, llvm_type, suffix
from isa.sim.translate.forms import Carry, Form, Pair


class NeedsAllLanes(Exception):
    """This body works across lanes; it cannot be run on a part of them."""


def masked(strip: int) -> bool:
    """Whether the vector instructions of a processor with so many lanes in a register take masks: AVX-512's alone."""
    return strip == 16


class Operations(Protocol):
    """What takes several instructions, as `isa.sim.ir.floats` and its neighbours describe it."""

    def __hash__(self) -> int: ...
    def arithmetic(self, name: str, a: LlvmValue, b: LlvmValue, /) -> LlvmValue: ...
    def fma(self, x: LlvmValue, y: LlvmValue, z: LlvmValue, /) -> LlvmValue: ...
    def compared(self, predicate: str, a: LlvmValue, b: LlvmValue, /) -> LlvmValue: ...
    def converted(self, a: LlvmValue, type_: str, /) -> LlvmValue: ...
    def bfloat(self, a: LlvmValue, /) -> LlvmValue: ...
    def from_integer(self, a: LlvmValue, type_: str, /) -> LlvmValue: ...
    def to_integer(self, a: LlvmValue, type_: str, /) -> LlvmValue: ...
    def to_integral(self, a: LlvmValue, name: str, /) -> LlvmValue: ...
    def sqrt(self, a: LlvmValue, /) -> LlvmValue: ...
    def product(self, x: LlvmValue, y: LlvmValue, /) -> LlvmValue: ...
    def function(self, a: LlvmValue, name: str, /) -> LlvmValue: ...
    def primitive(self, name: str, operands: list[LlvmValue], /) -> LlvmValue: ...
    def primitives(self, name: str, operands: list[LlvmValue], /) -> tuple[LlvmValue, ...]: ...


class AllLanes(Protocol):
    """The VGPRs in memory, for what works across lanes: `isa.sim.translate.registers.Whole`."""

    @property
    def strip(self) -> int: ...
    @property
    def apart(self) -> int: ...
    def place_of(self, values: Sequence[LlvmValue]) -> str | None: ...
    def holds(self, values: Sequence[LlvmValue]) -> bool: ...
    def hold(self, values: Sequence[LlvmValue]) -> str: ...
    def held(self, count: int) -> tuple[LlvmValue, ...]: ...
    def load(self, region: Region, place_of: Callable[[int], str]) -> str: ...
    def store(self, value: LlvmValue, place_of: Callable[[int], str]) -> None: ...
    def active(self, half: int) -> LlvmValue | None: ...


@dataclass(eq=False)
class Writer:
    """Where values write themselves, and in which mode: scalars into one region, vectors into another.

    splats: scalars that are in each lane of a vector already.
    native_half: the processor converts f16 by itself; native_nans: its FMA takes NaNs as
    `isa.sim.translate.fma_fast_path` needs it. masked: the processor's vector instructions take a mask
    (`LlvmValue.select` says what follows). baseline: few lines count for more than quick code. tables: matrix factors
    that the block has taken apart (`isa.sim.ir.matrix_factors`), by the values in their registers. whole: the VGPRs,
    for what works on all lanes at once. strip_of, mask_of: inside a loop over strips, how a scalar mask becomes the
    strip's b1, and that a scalar mask.
    """

    function: Function
    scalar: Region
    vector: Region
    operations: Operations
    mode: FloatMode = field(default_factory=FloatMode)
    native_half: bool = True
    native_nans: bool = False
    masked: bool = False
    baseline: bool = False
    splats: dict[tuple[str, str, int], str] = field(default_factory=dict)
    tables: dict[tuple[str, ...], tuple[int, str]] = field(default_factory=dict)
    strip_of: Callable[[LlvmValue], LlvmValue] | None = None
    mask_of: Callable[[LlvmValue], LlvmValue] | None = None
    whole: AllLanes | None = None

    def at(self, lanes: int) -> Region:
        return self.vector if lanes else self.scalar

    def within(self, function: Function, region: Region, mode: FloatMode | None = None) -> Writer:
        """A writer for the same processor into a function of its own; mode: to nearest even unless given."""
        mode = mode or FloatMode()
        return Writer(function, region, region, self.operations, mode=mode, native_half=self.native_half)


class LlvmValue(Value):
    """One operand as LLVM IR. `ref` is its text; `constant` its number where it is known at translation; `form` what
    it is the sum of, where that is known (isa.sim.translate.forms)."""

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

    @staticmethod
    def of(writer: Writer, type_: str, number: float) -> LlvmValue:
        """A number, as a scalar."""
        return LlvmValue(writer, type_, 0, literal(type_, number), constant=number)

    def number(self, type_: str, number: float) -> LlvmValue:
        """A number in as many lanes as this value has."""
        return LlvmValue.of(self.w, type_, number).vector(self.lanes_)

    @property
    def identity(self) -> str:
        """Equal for the same value."""
        return self.ref

    def alone(self) -> LlvmValue:
        """The same value, of which nothing else is known."""
        return LlvmValue(self.w, self.type, self.lanes_, self.ref)

    def __repr__(self) -> str:
        return f"{self.llvm} {self.ref}"

    @property
    def llvm(self) -> str:
        return llvm_type(self.type, self.lanes_)

    @property
    def is_float(self) -> bool:
        return self.type[0] == "f"

    # --- writing
    def _emit(self, type_: str, lanes: int, form: str, *operands: str | int) -> LlvmValue:
        w = self.w
        return LlvmValue(w, type_, lanes, w.function.append(w.vector if lanes else w.scalar, form, operands))

    def _same(self, form: str, *operands: str | int) -> LlvmValue:
        return self._emit(self.type, self.lanes_, form, *operands)

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
            w.splats[key] = w.function.splat(w.scalar, ELEMENTS[self.type], lanes, self.ref)
        return LlvmValue(w, self.type, lanes, w.splats[key])

    def _other(self, other: Number) -> LlvmValue:
        return other if isinstance(other, LlvmValue) else LlvmValue.of(self.w, self.type, other)  # type: ignore[arg-type]

    def _pair(self, other: Number) -> tuple[LlvmValue, LlvmValue]:
        o = self._other(other)
        lanes = max(self.lanes_, o.lanes_)
        a, b = self.vector(lanes), o.vector(lanes)
        assert a.type == b.type, f"{a.type} and {b.type} in one operation"
        return a, b

    def _intrinsic(self, name: str, *args: LlvmValue, tail: str = "") -> LlvmValue:
        return self._call(f"llvm.{name}.{suffix(self.type, self.lanes_)}", self.type, *args, tail=tail)

    def _call(self, symbol: str, result: str, *args: LlvmValue, tail: str = "") -> LlvmValue:
        form, declaration = _called(symbol, llvm_type(result, self.lanes_), tuple([a.llvm for a in args]), tail)
        self.w.function.declare(declaration)
        return self._emit(result, self.lanes_, form, *[a.ref for a in args])

    def _raw(self, name: str, b: LlvmValue) -> LlvmValue:
        if self.constant is not None and b.constant is not None and (fold := FOLDS.get(name)) and not self.is_float:
            size = 1 if self.type == "b1" else int(self.type[1:])
            bits = (1 << size) - 1
            return self.number(self.type, fold(int(self.constant) & bits, int(b.constant) & bits, size) & bits)
        return self._emit(self.type, self.lanes_, f"{name} {self.llvm} %s, %s", self.ref, b.ref)

    # --- arithmetic
    def __add__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self.w.operations.arithmetic("fadd", *self._pair(other))
        o = self._other(other)
        a, b = self._pair(o)
        if b.constant == 0:
            return a
        if a.constant == 0:
            return b
        if a.form and b.form and b.form.carry:
            return a._with_carry(b, b.form.carry)
        result = a._raw("add", b)
        if a.lanes_ and (a.form or b.form):
            result.form = self._sum(o) if a.form else o._sum(self)
        return result

    def _with_carry(self, carried: LlvmValue, carry: Carry) -> LlvmValue:
        """The sum with a carry: where that makes it a pair's new high word, computed from the pair's first one."""
        assert self.form is not None
        form, old = self.form, self.form.pair
        first = old is None and len(form.terms) == 1 and form.terms[0][1] == 1 and carry.before.is_register
        if not (first or (old is not None and carry.before.same(old.low))) or len(form.scalars) > 1:
            return self._raw("add", carried)
        if form.scalars and form.constant:
            return self._raw("add", carried)
        step = self._both_words(carry.step, form.scalars[0] if form.scalars else form.constant)
        if old is None:
            result = self._raw("add", carried)
            pair = Form(64, low=carry.before, high=Form(32, form.terms))
            new = Pair(self._moved(pair, step), carry.after, result.ref)
        else:
            since = self._added(old.since, step)
            new = Pair(self._moved(old.sum, step), carry.after, old.high, since)
            low, high = self._words(since)
            word, begin = (LlvmValue(self.w, "u32", self.lanes_, ref) for ref in (carry.word, old.high))
            result = begin + high + (word < low).to("u32")
        result.form = Form(32, pair=new)
        return result

    def _both_words(self, low: str | int, high: str | int) -> tuple[str, int]:
        """64 bits, as a scalar and a constant."""
        f, region, total = self.w.function, self.w.scalar, ("", 0)
        for word, place in ((low, 0), (high, 32)):
            if isinstance(word, int):
                total = total[0], total[1] + ((word & 0xFFFFFFFF) << place)
            else:
                wide = f.emit(region, "zext i32 %s to i64", word)
                total = self._added(total, (f.emit(region, "shl i64 %s, %s", wide, place) if place else wide, 0))
        return total

    def _added(self, a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
        both = self.w.function.emit(self.w.scalar, "add i64 %s, %s", a[0], b[0]) if a[0] and b[0] else a[0] or b[0]
        number = a[1] + b[1] & (1 << 64) - 1
        return both, number - (1 << 64) if number >> 63 else number

    def _moved(self, pair: Form, step: tuple[str, int]) -> Form:
        """A pair plus a scalar and a constant."""
        scalar, constant = self._added((pair.scalars[0] if pair.scalars else "", pair.constant), step)
        return replace(pair, scalars=(scalar,) if scalar else (), constant=constant)

    def _words(self, number: tuple[str, int]) -> tuple[LlvmValue, LlvmValue]:
        """The low and the high word of a scalar plus a constant, u32."""
        scalar, constant = number
        whole = LlvmValue.of(self.w, "u64", constant)
        if scalar:
            whole = LlvmValue(self.w, "u64", 0, scalar) + whole
        return whole.to("u32"), (whole >> 32).to("u32")

    def _sum(self, b: LlvmValue) -> Form | None:
        """The form of self + b, of which self has one; b may be a scalar."""
        assert self.form is not None
        if b.constant is not None:
            number, size = int(b.constant), int(b.type[1:])
            number &= (1 << size) - 1
            return self.form.plus(number - (1 << size) if number >> size - 1 else number)
        if b.lanes_ == 0:
            return self.form.plus(b.ref)
        return self.form.plus(b.form) if b.form else None

    def __sub__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self.w.operations.arithmetic("fsub", *self._pair(other))
        a, b = self._pair(other)
        return a + -b.constant if b.constant is not None else a._raw("sub", b)

    def __rsub__(self, other: Number) -> LlvmValue:
        return self._other(other) - self

    def __mul__(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self.w.operations.arithmetic("fmul", *self._pair(other))
        a, b = self._pair(other)
        result = a._raw("mul", b)
        for x, y in ((a, b), (b, a)):
            if x.form and y.constant is not None:
                result.form = x.form.times(int(y.constant))
        return result

    def __neg__(self) -> LlvmValue:
        return self._same(f"fneg {self.llvm} %s", self.ref) if self.is_float else self._other(0) - self

    def fma(self, b: Number, c: Number) -> LlvmValue:
        x, y = self._pair(b)
        x, z = x._pair(c)
        return self.w.operations.fma(x, y.vector(x.lanes_), z)

    def primitive(self, name: str, *others: Value, type_: str = "") -> LlvmValue:
        operands = [self, *(o for o in others if isinstance(o, LlvmValue))]
        lanes = max(o.lanes_ for o in operands)
        if not lanes:
            return self._scalar_primitive(name, operands)
        return self.w.operations.primitive(name, [o.vector(lanes) for o in operands])

    def _scalar_primitive(self, name: str, operands: list[LlvmValue]) -> LlvmValue:
        """By vectors of one lane, among the scalars."""
        w = self.w
        vector, w.vector = w.vector, w.scalar
        try:
            first, *rest = (
                o._emit(o.type, 1, f"insertelement {llvm_type(o.type, 1)} poison, {o.llvm} %s, i32 0", o.ref)
                for o in operands
            )
            result = first.primitive(name, *rest)
        finally:
            w.vector = vector
        return result._emit(result.type, 0, f"extractelement {result.llvm} %s, i32 0", result.ref)

    def primitives(self, name: str, *others: Value, count: int) -> tuple[LlvmValue, ...]:
        operands = [o for o in (self, *others) if isinstance(o, LlvmValue)]
        if any(o.lanes_ not in (0, LANES) for o in operands):
            raise NeedsAllLanes
        return self.w.operations.primitives(name, [o.vector(LANES) for o in operands])

    def div(self, other: Number) -> LlvmValue:
        if self.is_float:
            return self.w.operations.arithmetic("fdiv", *self._pair(other))
        a, b = self._pair(other)
        return a._raw("sdiv" if a.type[0] == "i" else "udiv", b)

    def mulhi(self, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        wide = a.type[0] + "64"
        return (a.to(wide) * b.to(wide) >> 32).to(a.type)

    # --- bits
    def _bitwise(self, name: str, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        if a.type == "b1" and name in ("and", "or"):
            for x, y in ((a, b), (b, a)):
                if y.constant is not None and bool(y.constant) == (name == "and"):
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
        return self._emit("b1", self.lanes_, f"fcmp uno {self.llvm} %s, %s", self.ref, self.ref)

    # --- comparison
    def _compare(self, integer: str, ordered: str, other: Number) -> LlvmValue:
        a, b = self._pair(other)
        if a.is_float:
            return self.w.operations.compared(ordered, a, b)
        if integer == "ge" and a.type[0] == "u" and b.constant == 0:
            return a.number("b1", 1)
        if integer == "lt" and a.ref == b.ref:
            return a.number("b1", 0)
        sign = "s" if a.type[0] == "i" else "u"
        predicate = integer if integer in ("eq", "ne") else sign + integer
        return a._emit("b1", a.lanes_, f"icmp {predicate} {a.llvm} %s, %s", a.ref, b.ref)

    def __eq__(self, other: Any) -> LlvmValue:  # type: ignore[override]
        return self._compare("eq", "oeq", other)

    def __ne__(self, other: Any) -> LlvmValue:  # type: ignore[override]
        return self._compare("ne", "une", other)

    def __lt__(self, other: Number) -> LlvmValue:
        result = self._compare("lt", "olt", other)
        if self.form and self.type == "u32" and self.lanes_:
            o = self._other(other)
            addend = o.form or (o.ref if o.constant is None else int(o.constant))
            if o.form or o.constant is not None or not o.lanes_:
                result.form = self.form.carry_of(addend, self.ref)
        return result

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
        if self.w.masked and lanes and a.type != "b1":
            b = b._fenced()
        return a._same(f"select {c.llvm} %s, {a.llvm} %s, {b.llvm} %s", c.ref, a.ref, b.ref)

    def larger(self, other: Number) -> LlvmValue:
        return self._intrinsic("smax" if self.type[0] == "i" else "umax", *self._pair(other))

    def smaller(self, other: Number) -> LlvmValue:
        return self._intrinsic("smin" if self.type[0] == "i" else "umin", *self._pair(other))

    def _fenced(self) -> LlvmValue:
        """The same bits as a value of which LLVM knows nothing more; it costs no instruction.

        What a select keeps under a mask must be no operand of what it chooses otherwise. LLVM up to 22 makes one
        merge-masked vpternlog of both, and where one more operand comes from memory it exchanges two of the six orders
        of operands, so that the truth table is another order's (VPTERNLOG231_imm8 and VPTERNLOG312_imm8 in
        X86InstrAVX512.td; issue 157929, mended by pull request 209782 in July 2026).
        """
        size = int(self.type.lstrip("bfui"))
        float_, count = ("f64", self.lanes_) if size == 64 else ("f32", self.lanes_ * size // 32)
        type_ = llvm_type(float_, count)
        form, declaration = _called(f"llvm.arithmetic.fence.{suffix(float_, count)}", type_, (type_,), "")
        f, at = self.w.function, self.w.at(self.lanes_)
        f.declare(declaration)
        if type_ == self.llvm:
            return self._same(form, self.ref)
        same = f.emit(at, form, f.emit(at, f"bitcast {self.llvm} %s to {type_}", self.ref))
        return self._same(f"bitcast {type_} %s to {self.llvm}", same)

    # --- conversion
    def bits(self, type_: str) -> LlvmValue:
        if type_ == self.type:
            return self
        source, target = self.llvm, llvm_type(type_, self.lanes_)
        if source == target:
            return self._renamed(type_)
        if self._casts is None:
            self._casts = {}
        if target not in self._casts:
            cast = self._emit(type_, self.lanes_, f"bitcast {source} %s to {target}", self.ref)
            cast._casts = {source: self}
            self._casts[target] = cast
        return self._casts[target]._as(type_)

    def _as(self, type_: str) -> LlvmValue:
        return self if type_ == self.type else self._renamed(type_)

    def _renamed(self, type_: str) -> LlvmValue:
        """The same bits under another type that LLVM does not tell from this one."""
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
            return self.w.operations.bfloat(self.to("f32"))
        if self.constant is not None and not source_float and not target_float:
            number = int(self.constant) & (1 << int(self.type[1:])) - 1
            if self.type[0] == "i" and number >> int(self.type[1:]) - 1:
                number -= 1 << int(self.type[1:])
            return self.number(type_, number)
        if source_float and target_float:
            return self.w.operations.converted(self, type_)
        if source_float:
            raise TypeError("float -> integer goes through to_int")
        if target_float:
            return self.w.operations.from_integer(self, type_)
        size, old = int(type_[1:]), int(self.type[1:])
        if size == old:
            return self.bits(type_)
        name = "trunc" if size < old else "sext" if self.type[0] == "i" else "zext"
        result = self._emit(type_, self.lanes_, f"{name} {self.llvm} %s to {target}", self.ref)
        if self.form and name == "zext" and type_[1:] == "64":
            result.form = self.form.extended()
        if self.form and self.form.carry and type_ == "u32":
            result.form = self.form
        return result

    def to_b1(self) -> LlvmValue:
        """Bit 0 of an integer."""
        return self._emit("b1", self.lanes_, f"trunc {self.llvm} %s to {llvm_type('b1', self.lanes_)}", self.ref)

    def to_int(self, type_: str) -> LlvmValue:
        return self.w.operations.to_integer(self, type_)

    # --- float functions
    def floor(self) -> LlvmValue:
        return self.w.operations.to_integral(self, "floor")

    def ceil(self) -> LlvmValue:
        return self.w.operations.to_integral(self, "ceil")

    def trunc(self) -> LlvmValue:
        return self.w.operations.to_integral(self, "trunc")

    def rint(self) -> LlvmValue:
        return self.w.operations.to_integral(self, "rint")

    def sqrt(self) -> LlvmValue:
        return self.w.operations.sqrt(self)

    def call(self, name: str) -> LlvmValue:
        return self.w.operations.function(self, name)

    def product(self, other: LlvmValue) -> LlvmValue:
        """As `isa.semantics.reference.transcendental.product` says."""
        return self.w.operations.product(self, other)

    def entry(self, table: tuple[int, ...]) -> LlvmValue:
        """The table's entry at this index, u32."""
        if masked(self.lanes_) and len(table) <= 4 * self.lanes_:
            return self._of_registers(table)
        name, text = _table(table)
        self.w.function.declare(text)
        place = self._emit("u64", self.lanes_, f"getelementptr i32, ptr {name}, {self.llvm} %s", self.ref)
        if not self.lanes_:
            return self._emit("u32", 0, "load i32, ptr %s", place.ref)
        words, bits, places = self.llvm, llvm_type("b1", self.lanes_), f"<{self.lanes_} x ptr>"
        symbol = f"llvm.masked.gather.v{self.lanes_}i32.v{self.lanes_}p0"
        self.w.function.declare(f"declare {words} @{symbol}({places}, i32, {bits}, {words})")
        form = f"call {words} @{symbol}({places} %s, i32 4, {bits} splat (i1 true), {words} poison)"
        return self._emit("u32", self.lanes_, form, place.ref)

    def _of_registers(self, table: tuple[int, ...]) -> LlvmValue:
        """The same of a table that fits into four vectors: AVX-512 picks from two by one instruction."""
        n = self.lanes_
        rows = [LlvmValue(self.w, "u32", n, _row(table[i : i + n], n)) for i in range(0, len(table), n)]
        rows += rows[-1:] if len(rows) % 2 else []
        pairs = zip(rows[::2], rows[1::2], strict=True)
        found = [self._call("llvm.x86.avx512.vpermi2var.d.512", "u32", a, self, b) for a, b in pairs]
        return found[0] if len(found) == 1 else (self < 2 * n).select(*found)

    # --- lanes
    def _whole(self) -> None:
        if self.lanes_ != LANES:
            raise NeedsAllLanes

    def _lane_number(self, index: Number) -> LlvmValue:
        self._whole()
        i = index if isinstance(index, LlvmValue) else LlvmValue.of(self.w, "u32", index)  # type: ignore[arg-type]
        return (i & 31) if i.constant is None else i

    def lane(self, index: Number) -> LlvmValue:
        i = self._lane_number(index)
        return self._emit(self.type, 0, f"extractelement {self.llvm} %s, {i.llvm} %s", self.ref, i.ref)

    def with_lane(self, index: Number, value: Number) -> LlvmValue:
        i, other = self._lane_number(index), self._other(value)
        return self._same(f"insertelement {self.llvm} %s, {other.llvm} %s, {i.llvm} %s", self.ref, other.ref, i.ref)

    def shuffle(self, index: Value) -> LlvmValue:
        self._whole()
        assert isinstance(index, LlvmValue)
        w = self.w
        slot = w.function.alloca(self.llvm, 128)
        w.vector.line(f"store {self.llvm} {self.ref}, ptr {slot}")
        element = ELEMENTS[self.type]
        result = "poison"
        for i in range(LANES):
            one = w.function.emit(w.vector, f"extractelement {index.llvm} %s, i32 %s", index.ref, i)
            wrapped = w.function.emit(w.vector, "and i32 %s, 31", one)
            place = w.function.emit(w.vector, f"getelementptr {element}, ptr %s, i32 %s", slot, wrapped)
            got = w.function.emit(w.vector, f"load {element}, ptr %s", place)
            result = w.function.emit(w.vector, f"insertelement {self.llvm} %s, {element} %s, i32 %s", result, got, i)
        return LlvmValue(w, self.type, LANES, result)

    def mask(self) -> LlvmValue:
        if self.lanes_ != LANES:
            assert self.w.mask_of is not None
            return self.w.mask_of(self)
        return self._emit("u32", 0, f"bitcast {self.llvm} %s to i32", self.ref)

    def lanes(self) -> LlvmValue:
        if self.w.strip_of is not None:
            return self.w.strip_of(self)
        return self._emit("b1", LANES, f"bitcast i32 %s to <{LANES} x i1>", self.ref)


def _row(entries: tuple[int, ...], lanes: int) -> str:
    """Entries of a table as a constant vector; beyond them anything."""
    return f"<{', '.join([*(f'i32 {entry}' for entry in entries), *['i32 poison'] * (lanes - len(entries))])}>"


@functools.cache
def _table(entries: tuple[int, ...]) -> tuple[str, str]:
    """A constant of the module: its name, which is equal for equal entries, and its definition."""
    name = f"@table_{hashlib.sha256(repr(entries).encode()).hexdigest()[:16]}"
    listed = ", ".join(f"i32 {entry}" for entry in entries)
    return name, f"{name} = internal constant [{len(entries)} x i32] [{listed}], align 64"


@functools.cache
def _called(symbol: str, result: str, types: tuple[str, ...], tail: str) -> tuple[str, str]:
    """The form of a call, and the function's declaration. tail: what follows the operands, an i1 if anything."""
    gaps, listed = ", ".join(f"{t} %s" for t in types) + tail, ", ".join(types) + (", i1" if tail else "")
    return f"call {result} @{symbol}({gaps})", f"declare {result} @{symbol}({listed})"
