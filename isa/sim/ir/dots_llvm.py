"""The sums of `isa.semantics.reference.dots` as LLVM IR: functions that a kernel's module has once, and calls.

`dot2_<kind>_v<lanes>` is one step on vectors, special values and all; `isa.sim.ir.matrices_llvm` has what makes eight
of them a matrix product.

A step is arithmetic on i32 alone. A factor's size is kept with two or five zeros after it, so that a product has 26
bits, the accumulator 27, and an exponent with the 12 or 26 taken off that make a grid of it. The sum has 29 bits.
Turning it into an f32 rounds as it must; its exponent is then moved by integer arithmetic. An f16 comes from that f32
if the sum's low five bits were made one last bit before (rounding to odd): then nothing is rounded twice.
"""

from __future__ import annotations

from isa.semantics import dot_step
from isa.semantics.reference.dots import KINDS, DotKind
from isa.sim.ir.halves import round_half
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue

_FAR = -(1 << 13)
"""The exponent of a zero: no other one is as small."""


class Code:
    """Lines of one region, whose values are vectors of `lanes` integers. A number stands for itself in each lane."""

    def __init__(self, function: Function, region: Region, lanes: int, type_: str = "i32") -> None:
        self.function, self.region, self.lanes, self.type = function, region, lanes, type_
        self.words, self.bits = f"<{lanes} x {type_}>", f"<{lanes} x i1>"

    def emit(self, form: str, *operands: str | int) -> str:
        return self.function.emit(self.region, form, *operands)

    def _operand(self, x: str | int) -> str:
        return f"splat ({self.type} {x})" if isinstance(x, int) else x

    def op(self, name: str, a: str | int, b: str | int) -> str:
        return self.emit(f"{name} {self.words} %s, %s", self._operand(a), self._operand(b))

    def pick(self, name: str, a: str | int, b: str | int) -> str:
        """smax, umin and their like."""
        symbol = f"llvm.{name}.v{self.lanes}{self.type}"
        self.function.declare(f"declare {self.words} @{symbol}({self.words}, {self.words})")
        form = f"call {self.words} @{symbol}({self.words} %s, {self.words} %s)"
        return self.emit(form, self._operand(a), self._operand(b))

    def both(self, a: str, b: str) -> str:
        return self.emit(f"and {self.bits} %s, %s", a, b)

    def either(self, a: str, b: str) -> str:
        return self.emit(f"or {self.bits} %s, %s", a, b)

    def select(self, condition: str, yes: str | int, no: str | int) -> str:
        yes, no = self._operand(yes), self._operand(no)
        return self.emit(f"select {self.bits} %s, {self.words} %s, {self.words} %s", condition, yes, no)

    def splat(self, scalar: str) -> str:
        return self.function.splat(self.region, self.type, self.lanes, scalar)

    def load(self, pointer: str) -> str:
        return self.emit(f"load {self.words}, ptr %s, align 4", pointer)

    def at(self, pointer: str, offset: str | int) -> str:
        return self.emit("getelementptr i8, ptr %s, i32 %s", pointer, offset)

    def some(self, condition: str) -> str:
        """Whether it holds in a lane: i1."""
        mask = self.emit(f"bitcast {self.bits} %s to i{self.lanes}", condition)
        return self.emit(f"icmp ne i{self.lanes} %s, 0", mask)

    def again(self, number: str, count: int, begin: str, end: str) -> None:
        """The end of a loop: `number`, an i32, grows; below `count` the block `begin` is next, else `end`, which begins
        here."""
        r, next_, last = self.region, f"%{number}.next", f"%{number}.last"
        r.line(f"{next_} = add i32 %{number}, 1")
        r.line(f"{last} = icmp eq i32 {next_}, {count}")
        r.line(f"br i1 {last}, label %{end}, label %{begin}")
        r.label(end)


_Factor = tuple[str, str, str]
"""Size, exponent, a word whose top bit is the sign."""


def _factor(v: Code, kind: DotKind, word: str, high: bool) -> tuple[_Factor, str]:
    """One half of each word, and its exponent as it is encoded."""
    bits = v.op("lshr", word, 16) if high else word
    field = v.op("and", v.op("lshr", bits, kind.fraction), kind.top)
    rest = v.op("and", bits, (1 << kind.fraction) - 1)
    normal = v.emit(f"icmp ne {v.words} %s, zeroinitializer", field)
    whole = v.op("or", rest, 1 << kind.fraction)
    size = v.op("shl", v.select(normal, whole, rest if kind.factor == "f16" else 0), 12 - kind.fraction)
    exponent = v.op("sub", v.pick("smax", field, 1), kind.bias + 12)
    there = v.emit(f"icmp ne {v.words} %s, zeroinitializer", size)
    return (size, v.select(there, exponent, _FAR), word if high else v.op("shl", word, 16)), field


def _step(v: Code, kind: DotKind, pairs: list[tuple[_Factor, _Factor]], c: str, like: LlvmValue) -> str:
    """The next accumulator where all is finite, f16 in its low half or f32 (bf16, too)."""
    half = kind.packed and kind.factor == "f16"
    if half:
        field, rest = v.op("and", v.op("lshr", c, 10), 31), v.op("and", c, 0x3FF)
        normal = v.emit(f"icmp ne {v.words} %s, zeroinitializer", field)
        c_size = v.op("shl", v.select(normal, v.op("or", rest, 0x400), rest), 16)
        c_place = v.op("sub", v.pick("smax", field, 1), 15 + 26)
        c_sign = v.op("shl", c, 16)
    else:
        field = v.op("and", v.op("lshr", c, 23), 255)
        c_size = v.op("shl", v.op("or", v.op("and", c, 0x7FFFFF), 0x800000), 3)
        c_place = v.op("sub", field, 127 + 26)
        if kind.factor == "bf16":
            # Products of f16 are so much larger than what stands here for 0 that it is shifted away, and without
            # products the result is too small.
            normal = v.emit(f"icmp ne {v.words} %s, zeroinitializer", field)
            c_size, c_place = v.select(normal, c_size, 0), v.select(normal, c_place, _FAR)
        c_sign = c
    places = [v.op("add", x[1], y[1]) for x, y in pairs]
    place = v.pick("smax", v.pick("smax", *places), c_place)
    terms = []
    for (x, y), own in zip(pairs, places, strict=True):
        small = [v.op("and", f[0], 0x3FFF) for f in (x, y)]  # lets LLVM multiply halves
        product = v.op("mul", *small)
        cut = v.op("lshr", product, v.pick("umin", v.op("sub", place, own), 31))
        other = v.op("ashr", v.op("xor", v.op("xor", x[2], y[2]), c_sign), 31)
        terms.append(v.op("xor", cut, other))
    total = v.op("lshr", c_size, v.pick("umin", v.op("sub", place, c_place), 31))
    total = v.op("add", total, v.op("add", *terms))
    if half:
        return _to_f16(v, total, place, c_sign, like)
    return _to_f32(v, kind, total, place, c_sign)


def _to_f32(v: Code, kind: DotKind, total: str, place: str, c_sign: str) -> str:
    number = v.emit(f"sitofp {v.words} %s to <{v.lanes} x float>", total)
    bits = v.emit(f"bitcast <{v.lanes} x float> %s to {v.words}", number)
    size = v.op("and", bits, 0x7FFFFFFF)
    exponent = v.op("add", v.op("lshr", size, 23), place)
    result = v.op("add", size, v.op("shl", place, 23))
    result = v.select(v.emit(f"icmp sgt {v.words} %s, splat (i32 254)", exponent), 0x7F800000, result)
    result = v.op("or", result, v.op("and", v.op("xor", bits, c_sign), -(1 << 31)))
    below = v.emit(f"icmp slt {v.words} %s, splat (i32 1)", exponent)
    result = v.select(v.either(below, v.emit(f"icmp eq {v.words} %s, zeroinitializer", size)), 0, result)
    return v.op("and", result, -(1 << 16)) if kind.packed else result


def _to_f16(v: Code, total: str, place: str, c_sign: str, like: LlvmValue) -> str:
    """like: a value of the instruction, for the host that it is computed on."""
    size = v.pick("smax", total, v.op("sub", 0, total))
    rough = v.emit(f"icmp ne {v.words} %s, zeroinitializer", v.op("and", size, 31))
    odd = v.op("or", v.op("and", size, -32), v.select(rough, 32, 0))
    size = v.select(v.emit(f"icmp ugt {v.words} %s, splat (i32 %s)", size, (1 << 24) - 1), odd, size)
    scale = v.op("shl", v.op("add", v.pick("smin", place, 76), 127), 23)
    floats = [
        v.emit(f"sitofp {v.words} %s to <{v.lanes} x float>", size),
        v.emit(f"bitcast {v.words} %s to <{v.lanes} x float>", scale),
    ]
    number = v.emit(f"fmul <{v.lanes} x float> %s, %s", floats[0], floats[1])
    writer = like.w.within(v.function, v.region)
    result = round_half(LlvmValue(writer, "f32", v.lanes, number)).bits("u16").to("u32").ref
    sign = v.op("and", v.op("lshr", v.op("xor", total, c_sign), 16), 0x8000)
    nothing = v.emit(f"icmp eq {v.words} %s, zeroinitializer", result)
    return v.select(nothing, 0, v.op("or", result, sign))


def dot2(name: str, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """Words in as many lanes, at least one, as `isa.semantics.reference.dots.dot2` has them."""
    return _called(dot2_function(a.w.function, name, a.lanes_, a), a, b, c)


def _called(symbol: str, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    form = f"call {a.llvm} @{symbol}({a.llvm} %s, {b.llvm} %s, {c.llvm} %s)"
    return a._emit("u32", a.lanes_, form, a.ref, b.ref, c.ref)


def symbol_of(name: str) -> str:
    return name.replace(" ", "_")


def step_function(into: Function, name: str, words: int, lanes: int, like: LlvmValue) -> str:
    """A step of `isa.semantics.dot_step`, of so many words of A, of B, and the accumulator."""
    type_, symbol = f"<{lanes} x i32>", f"step{words}_{symbol_of(name)}_v{lanes}"
    names = [f"%{m}{i}" for m in "ab" for i in range(words)] + ["%c"]
    f = Function(f"internal {type_} @{symbol}({', '.join(f'{type_} {n}' for n in names)}) noinline")
    writer = like.w.within(f, f.entry)
    *factors, c = (LlvmValue(writer, "u32", lanes, n) for n in names)
    result = dot_step.step(name, factors[:words], factors[words:], c)
    assert isinstance(result, LlvmValue)
    f.entry.line(f"ret {type_} {result.ref}")
    into.define(f)
    return symbol


def summed(name: str, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """A step of two products."""
    return _called(step_function(a.w.function, name, 1, a.lanes_, a), a, b, c)


def dot2_function(into: Function, name: str, lanes: int, like: LlvmValue) -> str:
    kind, words = KINDS[name], f"<{lanes} x i32>"
    symbol = f"dot2_{symbol_of(name)}_v{lanes}"
    f = Function(f"internal {words} @{symbol}({words} %a, {words} %b, {words} %c) noinline")
    v = Code(f, f.entry, lanes)
    wide = kind.packed and kind.factor == "bf16"  # worked on as f32
    c = v.op("shl", "%c", 16) if wide else "%c"
    pairs, fields = [], []
    for high in (False, True):
        (x, x_field), (y, y_field) = (_factor(v, kind, word, high) for word in ("%a", "%b"))
        pairs.append((x, y))
        fields.append((x_field, y_field))
    result = _special(v, kind, pairs, fields, c, _step(v, kind, pairs, c, like), wide)
    v.region.line(f"ret {words} {v.op('lshr', result, 16) if wide else result}")
    into.define(f)
    return symbol


def _special(
    v: Code,
    kind: DotKind,
    pairs: list[tuple[_Factor, _Factor]],
    fields: list[tuple[str, str]],
    c: str,
    result: str,
    wide: bool,
) -> str:
    half = kind.packed and not wide
    fraction, top_bit = (10, 1 << 15) if half else (23, 1 << 31)
    infinity = top_bit - (1 << fraction)
    up = 16 if wide else 0
    made, factor_nan = (_word(x << up) for x in (kind.made_nan, kind.factor_nan))
    whole = 1 << 12  # an infinity's size: the first bit alone

    def compare(how: str, a: str, b: int) -> str:
        return v.emit(f"icmp {how} {v.words} %s, splat (i32 %s)", a, _word(b))

    nan = wrong = ""
    products: dict[str, str] = {}
    for (x, y), (x_field, y_field) in zip(pairs, fields, strict=True):
        tops = [compare("eq", field, kind.top) for field in (x_field, y_field)]
        infinite = [v.both(t, compare("eq", g[0], whole)) for t, g in zip(tops, (x, y), strict=True)]
        for t, g, i, other in zip(tops, (x, y), infinite, (y, x), strict=True):
            is_nan, lost = v.both(t, compare("ne", g[0], whole)), v.both(i, compare("eq", other[0], 0))
            nan, wrong = (v.either(old, new) if old else new for old, new in ((nan, is_nan), (wrong, lost)))
        some, sign = v.either(*infinite), v.op("xor", x[2], y[2])
        for name, how in (("plus", "sge"), ("minus", "slt")):
            this = v.both(some, compare(how, sign, 0))
            products[name] = v.either(products[name], this) if name in products else this
    wrong = v.either(wrong, v.both(products["plus"], products["minus"]))
    plus = v.either(products["plus"], compare("eq", c, infinity))
    minus = v.either(products["minus"], compare("eq", c, infinity | top_bit))
    below = v.op("and", c, top_bit - 1)
    for condition, value in (
        (plus, infinity),
        (minus, _word(infinity | top_bit)),
        (v.both(plus, minus), made),
        (compare("sgt", below, infinity), v.op("or", c, 1 << fraction - 1)),
        (wrong, made),
        (nan, factor_nan),
    ):
        result = v.select(condition, value, result)
    return result


def _word(bits: int) -> int:
    """A word as LLVM's signed numbers have it."""
    return bits - (1 << 32) if bits >> 31 & 1 else bits
