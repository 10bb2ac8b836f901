"""The sums of `isa.sim.dots` as LLVM IR: functions that a kernel's module has once, and calls.

`dot2_<kind>_v<lanes>` is one step on vectors, special values and all. `wmma_<kind>` does a whole matrix product in
memory: 8 registers of A, 8 of B, 8 of C that become D, 32 words each. It takes A and B apart once (size, exponent and
sign of each element), and then runs the eight steps on 16 columns of two rows at a time, which wait for nothing of each
other, without a thought for special values. Where A or B holds one, or an accumulator became one, the two rows are done
again by `dot2`.

A step is arithmetic on i32 alone. A factor's size is kept with two or five zeros after it, so that a product has 26
bits, the accumulator 27, and an exponent with the 12 or 26 taken off that make a grid of it. The sum has 29 bits.
Turning it into an f32 rounds as it must; its exponent is then moved by integer arithmetic. An f16 comes from that f32
if the sum's low five bits were made one last bit before (rounding to odd): then nothing is rounded twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.sim.dots import KINDS, Kind
from isa.sim.halves import round_half
from isa.sim.ir import Function, Region
from isa.sim.llvm_text import llvm_type
from isa.sim.writer import Writer

if TYPE_CHECKING:
    from isa.sim.llvm_values import LlvmValue

_FAR = -(1 << 13)
"""The exponent of a zero: no other one is as small."""
_ELEMENT = 16 * 4
_ROW = 32 * 4


class _Code:
    """Lines of one region, whose values are vectors of `lanes` words. A number stands for itself in each lane."""

    def __init__(self, function: Function, region: Region, lanes: int) -> None:
        self.function, self.region, self.lanes = function, region, lanes
        self.words, self.bits = f"<{lanes} x i32>", f"<{lanes} x i1>"

    def emit(self, form: str, *operands: str | int) -> str:
        return self.function.emit(self.region, form, *operands)

    def _operand(self, x: str | int) -> str:
        return f"splat (i32 {x})" if isinstance(x, int) else x

    def op(self, name: str, a: str | int, b: str | int) -> str:
        return self.emit(f"{name} {self.words} %s, %s", self._operand(a), self._operand(b))

    def pick(self, name: str, a: str | int, b: str | int) -> str:
        """smax, umin and their like."""
        symbol = f"llvm.{name}.v{self.lanes}i32"
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
        one = self.emit(f"insertelement {self.words} poison, i32 %s, i32 0", scalar)
        return self.emit(f"shufflevector {self.words} %s, {self.words} poison, {self.words} zeroinitializer", one)

    def load(self, pointer: str) -> str:
        return self.emit(f"load {self.words}, ptr %s, align 4", pointer)

    def at(self, pointer: str, offset: str | int) -> str:
        return self.emit("getelementptr i8, ptr %s, i32 %s", pointer, offset)

    def some(self, condition: str) -> str:
        """Whether it holds in a lane: i1."""
        mask = self.emit(f"bitcast {self.bits} %s to i{self.lanes}", condition)
        return self.emit(f"icmp ne i{self.lanes} %s, 0", mask)


_Factor = tuple[str, str, str]
"""Size, exponent, a word whose top bit is the sign."""


def _factor(v: _Code, kind: Kind, word: str, high: bool) -> tuple[_Factor, str]:
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


def _step(
    v: _Code, kind: Kind, pairs: list[tuple[_Factor, _Factor]], c: str, like: LlvmValue, whole: bool = True
) -> tuple[str, str]:
    """The next accumulator where all is finite, f16 in its low half or f32 (bf16, too), and its exponent as it is
    encoded, or above, where it is beyond the range. Without `whole` such an f32 is garbage."""
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
        result = _to_f16(v, total, place, c_sign, like)
        return result, v.op("lshr", v.op("and", result, 0x7C00), 10)
    return _to_f32(v, kind, total, place, c_sign, whole)


def _to_f32(v: _Code, kind: Kind, total: str, place: str, c_sign: str, whole: bool) -> tuple[str, str]:
    number = v.emit(f"sitofp {v.words} %s to <{v.lanes} x float>", total)
    bits = v.emit(f"bitcast <{v.lanes} x float> %s to {v.words}", number)
    size = v.op("and", bits, 0x7FFFFFFF)
    exponent = v.op("add", v.op("lshr", size, 23), place)
    result = v.op("add", size, v.op("shl", place, 23))
    if whole:
        result = v.select(v.emit(f"icmp sgt {v.words} %s, splat (i32 254)", exponent), 0x7F800000, result)
    result = v.op("or", result, v.op("and", v.op("xor", bits, c_sign), -(1 << 31)))
    below = v.emit(f"icmp slt {v.words} %s, splat (i32 1)", exponent)
    result = v.select(v.either(below, v.emit(f"icmp eq {v.words} %s, zeroinitializer", size)), 0, result)
    return v.op("and", result, -(1 << 16)) if kind.packed else result, exponent


def _to_f16(v: _Code, total: str, place: str, c_sign: str, like: LlvmValue) -> str:
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
    writer = Writer(v.function, v.region, v.region, native_half=like.w.native_half)
    result = round_half(type(like)(writer, "f32", v.lanes, number)).bits("u16").to("u32").ref
    sign = v.op("and", v.op("lshr", v.op("xor", total, c_sign), 16), 0x8000)
    nothing = v.emit(f"icmp eq {v.words} %s, zeroinitializer", result)
    return v.select(nothing, 0, v.op("or", result, sign))


def dot2(name: str, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """Words in as many lanes, at least one, as `isa.sim.dots.dot2` has them."""
    function = a.w.function
    symbol = _dot2(function, name, a.lanes_, a)
    form = f"call {a.llvm} @{symbol}({a.llvm} %s, {b.llvm} %s, {c.llvm} %s)"
    return a._emit("u32", a.lanes_, form, a.ref, b.ref, c.ref)


def _symbol(name: str) -> str:
    return name.replace(" ", "_")


def _dot2(into: Function, name: str, lanes: int, like: LlvmValue) -> str:
    kind, words = KINDS[name], f"<{lanes} x i32>"
    symbol = f"dot2_{_symbol(name)}_v{lanes}"
    f = Function(f"internal {words} @{symbol}({words} %a, {words} %b, {words} %c) noinline")
    v = _Code(f, f.entry, lanes)
    wide = kind.packed and kind.factor == "bf16"  # worked on as f32
    c = v.op("shl", "%c", 16) if wide else "%c"
    pairs, fields = [], []
    for high in (False, True):
        (x, x_field), (y, y_field) = (_factor(v, kind, word, high) for word in ("%a", "%b"))
        pairs.append((x, y))
        fields.append((x_field, y_field))
    result = _special(v, kind, pairs, fields, c, _step(v, kind, pairs, c, like)[0], wide)
    v.region.line(f"ret {words} {v.op('lshr', result, 16) if wide else result}")
    _define(into, f)
    return symbol


def _define(into: Function, f: Function) -> None:
    for declaration in sorted(f.declarations):
        into.declare(declaration)
    into.declare("\n".join(f.lines()))


def _special(
    v: _Code,
    kind: Kind,
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


# --- matrices


def wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """A, B and C, all lanes of each; D."""
    _wmma(registers[0].w.function, name, registers[0])
    return _call(f"wmma_{_symbol(name)}", registers)


def _call(symbol: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """A function of matrices in memory, the last of which is replaced by the result."""
    w, value = registers[0].w, type(registers[0])
    f, type_ = w.function, llvm_type("u32", 32)
    memory = f.alloca(f"[{len(registers)} x {type_}]")
    places = [f.emit(w.vector, "getelementptr i8, ptr %s, i32 %s", memory, _ROW * i) for i in range(len(registers))]
    for place, register in zip(places, registers, strict=True):
        w.vector.line(f"store {register!r}, ptr {place}, align 64")
    w.vector.line(f"call void @{symbol}(ptr {memory})")
    loads = [f.emit(w.vector, f"load {type_}, ptr %s, align 64", place) for place in places[-8:]]
    return tuple(value(w, "u32", 32, load) for load in loads)


def _wmma(into: Function, name: str, like: LlvmValue) -> None:
    kind = KINDS[name]
    wide = kind.packed and kind.factor == "bf16"
    step = _dot2(into, name, 16, like)
    f = Function(f"internal void @wmma_{_symbol(name)}(ptr %m) noinline")
    # Sizes, exponents and signs: 32 elements (A's k, then B's) of 32 lanes each.
    tables = [f.alloca("[32 x <32 x i32>]") for _ in range(3)]
    f.entry.line("br label %apart")
    _take_apart(_Code(f, f.region("apart"), 32), kind, tables)
    v = _Code(f, f.region("row"), 16)
    r = v.region
    r.line("%i = phi i32 [ 0, %apart.done ], [ %i.next, %row.done ]")
    # Rows 4q + h and 4q + h + 2, of which lanes 16h and up have A and B.
    half = v.emit("and i32 %s, 1", "%i")
    columns = v.emit("mul i32 %s, %s", half, _ELEMENT)
    four = v.emit("shl i32 %s, 2", v.emit("lshr i32 %s, 1", "%i"))
    upper = v.emit("add i32 %s, %s", four, half)
    lane = v.emit("add i32 %s, %s", upper, v.emit("shl i32 %s, 4", half))
    rows = [v.emit("mul i32 %s, 4", v.emit("add i32 %s, %s", lane, n)) for n in (0, 2)]
    own = v.at("%m", v.emit("add i32 %s, %s", v.emit("mul i32 %s, %s", upper, _ELEMENT), 16 * _ROW))
    owns = [own, v.at(own, 2 * _ELEMENT)]
    first = [v.load(place) for place in owns]
    r.line("br i1 %special, label %slow, label %fast")
    r.label("fast")
    start = [v.op("shl", c, 16) if wide else c for c in first]
    field, top = (10, 31) if kind.packed and not wide else (23, 255)
    encoded = v.pick("smax", *(v.op("and", v.op("lshr", c, field), top) for c in start))
    r.line("br label %step")
    r.label("step")
    r.line("%k = phi i32 [ 0, %fast ], [ %k.next, %step ]")
    for n, c in enumerate(start):
        r.line(f"%c{n} = phi {v.words} [ {c}, %fast ], [ %c{n}.next, %step ]")
    r.line(f"%peak = phi {v.words} [ {encoded}, %fast ], [ %peak.next, %step ]")
    k_at = v.emit("mul i32 %s, %s", "%k", 2 * _ROW)
    b_at = v.emit("add i32 %s, %s", k_at, columns)
    b = [[v.load(v.at(v.at(table, b_at), (16 + high) * _ROW)) for table in tables] for high in (0, 1)]
    exponents = []
    for n, row in enumerate(rows):
        a_at = v.emit("add i32 %s, %s", k_at, row)
        pairs = []
        for high in (0, 1):
            places = [v.at(v.at(table, a_at), high * _ROW) for table in tables]
            a = [v.splat(v.emit("load i32, ptr %s, align 4", place)) for place in places]
            pairs.append(((a[0], a[1], a[2]), (b[high][0], b[high][1], b[high][2])))
        result, exponent = _step(v, kind, pairs, f"%c{n}", like, whole=False)
        r.line(f"%c{n}.next = or {v.words} {result}, zeroinitializer")
        exponents.append(exponent)
    r.line(f"%peak.next = or {v.words} {v.pick('smax', '%peak', v.pick('smax', *exponents))}, zeroinitializer")
    r.line("%k.next = add i32 %k, 1")
    r.line("%k.last = icmp eq i32 %k.next, 8")
    r.line("br i1 %k.last, label %steps.done, label %step")
    r.label("steps.done")
    for n, place in enumerate(owns):
        done = v.op("lshr", f"%c{n}.next", 16) if wide else f"%c{n}.next"
        r.line(f"store {v.words} {done}, ptr {place}, align 4")
    odd = v.some(v.emit(f"icmp sge {v.words} %s, splat (i32 %s)", "%peak.next", top))
    r.line(f"br i1 {odd}, label %slow, label %row.done")
    r.label("slow")
    r.line("br label %slow.step")
    r.label("slow.step")
    r.line("%s = phi i32 [ 0, %slow ], [ %s.next, %slow.step ]")
    for n, c in enumerate(first):
        r.line(f"%d{n} = phi {v.words} [ {c}, %slow ], [ %d{n}.next, %slow.step ]")
    s_at = v.emit(f"mul i32 %s, {_ROW}")
    column = v.load(v.at(v.at("%m", v.emit("add i32 %s, %s", s_at, columns)), 8 * _ROW))
    for n, row in enumerate(rows):
        element = v.splat(v.emit("load i32, ptr %s, align 4", v.at("%m", v.emit("add i32 %s, %s", s_at, row))))
        r.line(f"%d{n}.next = call {v.words} @{step}({v.words} {element}, {v.words} {column}, {v.words} %d{n})")
    r.line("%s.next = add i32 %s, 1")
    r.line("%s.last = icmp eq i32 %s.next, 8")
    r.line("br i1 %s.last, label %slow.done, label %slow.step")
    r.label("slow.done")
    for n, place in enumerate(owns):
        r.line(f"store {v.words} %d{n}.next, ptr {place}, align 4")
    r.line("br label %row.done")
    r.label("row.done")
    _next_row(v, 8)
    _define(into, f)


def _next_row(v: _Code, count: int) -> None:
    r = v.region
    r.line("%i.next = add i32 %i, 1")
    r.line(f"%i.last = icmp eq i32 %i.next, {count}")
    r.line("br i1 %i.last, label %done, label %row")
    r.label("done")
    r.line("ret void")


def _take_apart(v: _Code, kind: Kind, tables: list[str]) -> None:
    r = v.region
    r.line("%n = phi i32 [ 0, %entry ], [ %n.next, %apart ]")
    r.line(f"%most = phi {v.words} [ zeroinitializer, %entry ], [ %most.next, %apart ]")
    at = v.emit("mul i32 %s, %s", "%n", _ROW)
    word = v.load(v.at("%m", at))
    fields = []
    for high in (0, 1):
        factor, field = _factor(v, kind, word, bool(high))
        fields.append(field)
        for table, value in zip(tables, factor, strict=True):
            place = v.at(v.at(table, v.emit("mul i32 %s, 2", at)), high * _ROW)
            r.line(f"store {v.words} {value}, ptr {place}, align 64")
    largest = v.pick("smax", *fields)
    r.line(f"%most.next = or {v.words} {v.pick('smax', '%most', largest)}, zeroinitializer")
    r.line("%n.next = add i32 %n, 1")
    r.line("%n.last = icmp eq i32 %n.next, 16")
    r.line("br i1 %n.last, label %apart.done, label %apart")
    r.label("apart.done")
    some = v.some(v.emit(f"icmp eq {v.words} %s, splat (i32 %s)", "%most.next", kind.top))
    r.line(f"%special = or i1 {some}, false")
    r.line("br label %row")


def integer_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """name: bits of a field, whether A and B are signed, whether to saturate, as `8 1 0 clamp`."""
    size, a_signed, b_signed, clamp = name.split()
    symbol = "wmma_i" + _symbol(name)
    _integer(registers[0].w.function, symbol, int(size), (a_signed == "1", b_signed == "1"), clamp == "clamp")
    return _call(symbol, registers)


def _integer(into: Function, symbol: str, size: int, signed: tuple[bool, bool], clamp: bool) -> None:
    count = size // 2  # registers of A, and of B
    f = Function(f"internal void @{symbol}(ptr %m) noinline")
    table = f.alloca("[32 x <32 x i32>]")
    v = _Code(f, f.entry, 32)
    for matrix, sign in enumerate(signed):
        for n in range(count):
            word = v.load(v.at("%m", (matrix * count + n) * _ROW))
            for i in range(32 // size):
                top = v.op("shl", word, 32 - size * (i + 1))
                field = v.op("ashr" if sign else "lshr", top, 32 - size)
                place = v.at(table, (16 * matrix + n * 32 // size + i) * _ROW)
                v.region.line(f"store {v.words} {field}, ptr {place}, align 64")
    v.region.line("br label %row")
    v = _Code(f, f.region("row"), 16)
    r = v.region
    r.line("%i = phi i32 [ 0, %entry ], [ %i.next, %row ]")
    half = v.emit("and i32 %s, 1", "%i")
    columns = v.emit("mul i32 %s, %s", half, _ELEMENT)
    lane = v.emit("add i32 %s, %s", "%i", v.emit("mul i32 %s, 16", half))
    row = v.emit("mul i32 %s, 4", lane)
    own = v.at("%m", v.emit("add i32 %s, %s", v.emit("mul i32 %s, %s", "%i", _ELEMENT), 2 * count * _ROW))
    a_row, b_column = v.at(table, row), v.at(table, columns)
    total = ""
    for k in range(16):
        x = v.splat(v.emit("load i32, ptr %s, align 4", v.at(a_row, k * _ROW)))
        product = v.op("mul", x, v.load(v.at(b_column, (16 + k) * _ROW)))
        total = v.op("add", total, product) if total else product
    c = v.load(own)
    total = v.pick("sadd.sat", c, total) if clamp else v.op("add", c, total)
    r.line(f"store {v.words} {total}, ptr {own}, align 4")
    _next_row(v, 16)
    _define(into, f)
