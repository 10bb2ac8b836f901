"""Matrix products, V_WMMA_*, as LLVM IR: functions that a kernel's module has once, and calls.

A function takes the tables of A and B (`isa.sim.ir.matrix_factors`) and 8 registers of C in memory, which become D:
those of the wave itself, where D has 32 bits. It runs all steps on 16 columns of some rows at a time, which do not wait
for each other.

A step of `isa.semantics.dots` is done in integers, but for the accumulator, which is an f32 between steps.
E(p) of a product is the sum of its factors' exponents. With

    top = max(E(p0) + 2, E(p1) + 2, E(c))     26 more than the grid's exponent
    q(p) = (size of a * size of b + 1) * signs >> top + 2 - E(p)
    q(c) = trunc(c * 2**(26 - top))
    total = q(c) + q(p0) + q(p1), and 2 more where c is negative
    result = f32(total) * 2**(top - 26)       rounded once, by the conversion

where signs is 1 or -1 and sizes have 15 bits: 1 * 1 is 2**28, or 2**24 units of the finest grid that it may have. The
added 1 is less than the last bit of any product. So the shift gives the units of the grid where a product is positive,
and one less than minus those where it is negative, also if nothing is cut off, and if the product is 0. That is the
complement which a card adds to an accumulator that is positive. One that is negative takes it of positive products, as
one more than their units; that is one more than the shift gives, of both kinds.

One instruction of the host makes the sum of a product and its signs, from two halves of a word. Exponents are bytes, so
that what an accumulator has beside its own one need not be masked: its sign goes to the next byte, where each product
has a 1. Of two factors of 0 or more the exponent is the difference of what the tables have, or 0 where that is
negative, as for a factor that is 0. Powers of two are subtracted from the exponents of floats as integers.

That holds while no factor is an infinity or a NaN, and exponents are moderate: E(p) up to 24. For f16, an accumulator
is 0, or from 2**-60 to 2**36, and between steps 2**-40 of that, so that it is below 2 and the second bit of its word 0:
the first two are the 2 that is added where it is negative. For bf16, factors are below 2**64, E(p) is from -76 on where
a product is not 0, and an accumulator is 0, or from 2**-80 to 2**100. No later accumulator is smaller than 2**-60, or
2**-100, or overflows. Rows where anything else stands, and those where an f16 accumulator became an infinity, are done
by `isa.semantics.dots` itself. Where all terms are 0, so is top as it is encoded; its power of two is taken for 0 then,
and adding +0 makes the result positive.

An f16 accumulator always counts, with 2**-14 at least. An f16 result is rounded once, too: of a total of more than 24
bits the low five are made one bit that says whether they were 0, before the conversion.

Products of integers (V_WMMA_I32_*) take fields of 4 or 8 bits apart into words; sums are exact, and saturated at the
end or wrapped.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from isa.semantics.dots import KINDS, DotKind
from isa.semantics.values import RDNA4_SUMS
from isa.sim.ir.dots_llvm import Code, step_function, symbol_of
from isa.sim.ir.halves import from_half, round_half
from isa.sim.ir.ir import Function, Line, Region
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.matrix_factors import ENDS, EXPONENTS, PAIRS, ROW, columns_table, rows_table
from isa.sim.ir.matrix_registers import (
    copied,
    lanes_of,
    load_row,
    place_of,
    read_back,
    result_place,
    row_places,
    store_row,
    whole_of,
)
from isa.sim.ir.shuffles import shuffle

_STAGGER = 0.34, 0.1
"""Of a row's operations, those before the next row's begin, of 4 rows and of 8: the best of some that were tried."""
_SIGN = -(1 << 31)
_EXPONENT = 0xFF << 23
_GRID = 26
_UP = 127 + _GRID


class _Code(Code):
    """Also on f32: values are words, which these operations take for floats."""

    def __init__(self, function: Function, region: Region, lanes: int) -> None:
        super().__init__(function, region, lanes)
        self.floats = f"<{lanes} x float>"

    def scaled(self, a: str, power: str) -> str:
        """An integer, as an f32, * power + 0, where the product is exact: in one instruction if the host has it."""
        number = self.emit(f"sitofp {self.words} %s to {self.floats}", a)
        factor = self.emit(f"bitcast {self.words} %s to {self.floats}", power)
        product = self.emit(f"fmul contract {self.floats} %s, %s", number, factor)
        result = self.emit(f"fadd contract {self.floats} %s, zeroinitializer", product)
        return self.emit(f"bitcast {self.floats} %s to {self.words}", result)

    def cut(self, word: str) -> str:
        number = self.emit(f"bitcast {self.words} %s to {self.floats}", word)
        return self.emit(f"freeze {self.words} %s", self.emit(f"fptosi {self.floats} %s to {self.words}", number))

    def scaled_by(self, word: str, exponent: int) -> str:
        """An f32 * 2**exponent."""
        operands = (word, self._operand(_power(exponent)))
        number, factor = (self.emit(f"bitcast {self.words} %s to {self.floats}", x) for x in operands)
        product = self.emit(f"fmul {self.floats} %s, %s", number, factor)
        return self.emit(f"bitcast {self.floats} %s to {self.words}", product)

    def apart(self, size: int, name: str, a: str, b: str | int) -> str:
        """umax, usub.sat or their like, of parts of so many bits."""
        parts = Code(self.function, self.region, 32 // size * self.lanes, f"i{size}")
        x, y = (self.emit(f"bitcast {self.words} %s to {parts.words}", self._operand(z)) for z in (a, b))
        return self.emit(f"bitcast {parts.words} %s to {self.words}", parts.pick(name, x, y))

    def high_twice(self, a: str) -> str:
        """The upper half of each word, in both its halves."""
        halves, order = f"<{2 * self.lanes} x i16>", ", ".join(f"i32 {i | 1}" for i in range(2 * self.lanes))
        whole = self.emit(f"bitcast {self.words} %s to {halves}", a)
        twice = self.emit(f"shufflevector {halves} %s, {halves} poison, <{2 * self.lanes} x i32> <{order}>", whole)
        return self.emit(f"bitcast {halves} %s to {self.words}", twice)

    def pairs(self, a: str, b: str) -> str:
        """a0 * b0 + a1 * b1 of the two signed halves of each word, in a form that LLVM knows as one instruction."""
        halves, products = f"<{2 * self.lanes} x i16>", []
        words = [self.emit(f"bitcast {self.words} %s to {halves}", word) for word in (a, b)]
        for first in (0, 1):
            order = ", ".join(f"i32 {2 * i + first}" for i in range(self.lanes))
            form = f"shufflevector {halves} %s, {halves} poison, <{self.lanes} x i32> <{order}>"
            factors = [self.emit(form, word) for word in words]
            wide = [self.emit(f"sext <{self.lanes} x i16> %s to {self.words}", factor) for factor in factors]
            products.append(self.op("mul", *wide))
        return self.op("add", *products)

    def compare(self, how: str, a: str, b: int) -> str:
        return self.emit(f"icmp {how} {self.words} %s, splat (i32 {b})", a)


def _power(exponent: int) -> int:
    """2**exponent as the bits of an f32."""
    return 127 + exponent << 23


def wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """A, B and C, all lanes of each; D."""
    like = registers[0]
    w, kind = like.w, KINDS[name]
    a = rows_table(kind, registers[:8])
    # Exponents of products: 127 as f32 encodes them, the 2 that top has more, and what accumulators have less.
    b, upper = columns_table(kind, registers[8:16], 127 + 2 - _less(kind))
    place = result_place(registers[16:], packed=kind.packed)
    pointers = "".join(f"ptr {x}, " for x in (a, *[b] * _views(like)))
    w.vector.line(f"call void @{_wmma(w.function, name, like)}({pointers}{place}, i64 {upper})")
    return read_back(like, place)


def _rows(like: LlvmValue) -> int:
    """Rows that are done at a time: as many as the registers hold accumulators of."""
    return 8 if like.w.masked else 4


def _views(like: LlvmValue) -> int:
    """How many pointers to B's table the function takes, all the same. By one of its own for each row LLVM takes B's
    entries from memory wherever they are needed, and not into registers; AVX-512 has enough of these."""
    return 1 if like.w.masked else _rows(like)


def _wmma(into: Function, name: str, like: LlvmValue) -> str:
    """The function's name."""
    kind, symbol, count = KINDS[name], f"wmma_{symbol_of(name)}", _rows(like)
    views = [f"%b{i}" for i in range(_views(like))]
    pointers = "".join(f"ptr {b}, " for b in views)
    f = Function(f"internal void @{symbol}(ptr %a, {pointers}ptr %m, i64 %apart, i64 %upper) noinline")
    v = _Code(f, f.entry, 16)
    v.region.line(f"%special = or i1 {_beyond(v, kind)}, false")
    v.region.line("br label %row")
    v = _Code(f, f.region("row"), 16)
    r = v.region
    r.line("%i = phi i32 [ 0, %entry ], [ %i.next, %row.done ]")
    # Rows of one parity: of odd ones, lanes 16 and up have the columns of B.
    odd = v.emit("and i32 %s, 1", "%i")
    columns = v.emit("mul i64 %s, %s", v.emit("zext i32 %s to i64", odd), "%upper")
    views = [v.emit("getelementptr i8, ptr %s, i64 %s", view, columns) for view in views]
    upper = v.emit("add i32 %s, %s", v.emit("mul i32 %s, %s", v.emit("lshr i32 %s, 1", "%i"), 2 * count), odd)
    rows = [v.at("%a", v.emit("mul i32 %s, 4", v.emit("add i32 %s, %s", upper, 2 * n))) for n in range(count)]
    strip = whole_of(like).strip
    places = row_places(v, strip, "%m", "%apart", v.emit("lshr i32 %s, 1", upper), odd)
    owns = [[v.at(place, 4 * strip * n) for place in places] for n in range(count)]
    first = [load_row(v, strip, own) for own in owns]

    def store(done: list[str]) -> None:
        for result, own in zip(done, owns, strict=True):
            store_row(v, strip, own, result)

    start, strange = _accumulators(v, kind, like, first)
    r.line(f"br i1 {v.emit('or i1 %s, %s', '%special', strange)}, label %slow, label %fast")
    store(_steps(v, kind, like, rows, views, start))
    r.line(f"br i1 {v.some(v.compare('eq', '%peak.next', _EXPONENT))}, label %slow, label %row.done")
    store(_exact_steps(v, step_function(into, name, 1, 16, like), rows, views[0], first))
    r.go_on("row.done")
    v.again("i", 16 // count, "row", "done")
    r.line("ret void")
    into.define(f)
    return symbol


def _steps(v: _Code, kind: DotKind, like: LlvmValue, rows: list[str], views: list[str], start: list[str]) -> list[str]:
    """The block `fast` and what follows: all steps where everything is moderate; D's rows. %peak.next is the largest
    exponent of an f16 accumulator."""
    r = v.region
    r.label("fast")
    r.go_on("step")
    r.line("%k = phi i32 [ 0, %fast ], [ %k.next, %step ]")
    for n, c in enumerate(start):
        r.line(f"%c{n} = phi {v.words} [ {c}, %fast ], [ %c{n}.next, %step ]")
    r.line(f"%peak = phi {v.words} [ zeroinitializer, %fast ], [ %peak.next, %step ]")
    one, two = (v.emit("mul i32 %s, %s", "%k", size) for size in (ROW, 2 * ROW))
    peak, chains = "%peak", []
    for n, row in enumerate(rows):
        begin = len(r.lines)
        a, b = (
            [v.at(v.at(x, two), PAIRS), v.at(v.at(x, two), PAIRS + ROW), v.at(v.at(x, one), EXPONENTS)]
            for x in (row, views[n % len(views)])
        )
        elements = [v.splat(v.emit("load i32, ptr %s, align 4", place)) for place in a]
        result = _step(v, kind, like, elements, [v.load(place) for place in b], f"%c{n}")
        r.line(f"%c{n}.next = or {v.words} {result}, zeroinitializer")
        if _is_half(kind):
            peak = v.pick("umax", peak, v.op("and", f"%c{n}.next", _EXPONENT))
        chains.append(r.lines[begin:])
        del r.lines[begin:]
    r.lines += _staggered(chains)
    r.line(f"%peak.next = or {v.words} {peak}, zeroinitializer")
    v.again("k", 8, "step", "steps.done")
    done = [f"%c{n}.next" for n in range(len(start))]
    if _is_half(kind):
        return [_half(v, like, c) for c in done]
    if less := _less(kind):
        done = [v.scaled_by(c, less) for c in done]
    return [v.op("lshr", c, 16) for c in done] if kind.packed else done


def _exact_steps(v: _Code, step: str, rows: list[str], view: str, start: list[str]) -> list[str]:
    """The block `slow` and what follows: all steps by that function, whatever the values; D's rows."""
    r = v.region
    r.label("slow")
    r.go_on("slow.step")
    r.line("%s = phi i32 [ 0, %slow ], [ %s.next, %slow.step ]")
    for n, c in enumerate(start):
        r.line(f"%d{n} = phi {v.words} [ {c}, %slow ], [ %d{n}.next, %slow.step ]")
    at = v.emit("mul i32 %s, %s", "%s", ROW)
    column = v.load(v.at(view, at))
    for n, row in enumerate(rows):
        element = v.splat(v.emit("load i32, ptr %s, align 4", v.at(row, at)))
        r.line(f"%d{n}.next = call {v.words} @{step}({v.words} {element}, {v.words} {column}, {v.words} %d{n})")
    v.again("s", 8, "slow.step", "slow.done")
    return [f"%d{n}.next" for n in range(len(start))]


def _staggered(chains: list[list[Line]]) -> list[Line]:
    """Chains of operations that do not wait for each other, each begun when so much of the one before is done: a host
    looks only so far ahead."""
    stagger = _STAGGER[len(chains) > 4]
    places = [(n * len(chain) * stagger + i, n, line) for n, chain in enumerate(chains) for i, line in enumerate(chain)]
    return [line for _, _, line in sorted(places, key=lambda place: place[:2])]


def _is_half(kind: DotKind) -> bool:
    """Whether it adds in f16."""
    return kind.packed and kind.factor == "f16"


def _less(kind: DotKind) -> int:
    """Accumulators are 2**-this of themselves between steps."""
    return 40 if kind.factor == "f16" and not kind.packed else 0


def _beyond(v: _Code, kind: DotKind) -> str:
    """Whether factors are not moderate: i1."""
    tables = ["%a", "%b0", v.emit("getelementptr i8, ptr %s, i64 %s", "%b0", "%upper")]
    most, least = ([v.emit("load i16, ptr %s, align 2", v.at(t, ENDS + at)) for t in tables] for at in (0, 2))
    largest = kind.top - 1 if kind.factor == "f16" else kind.bias + 63
    found = [v.emit(f"icmp ugt i16 %s, {largest}", x) for x in most]
    bounds = [(most, "ugt", 2 * kind.bias + _GRID - 2)]
    if kind.factor == "bf16":
        bounds.append((least, "ult", 2 * kind.bias - 76 - 2))
    for (x, *columns), how, bound in bounds:
        for y in columns:
            wide = [v.emit("zext i16 %s to i32", end) for end in (x, y)]
            found.append(v.emit(f"icmp {how} i32 %s, {bound}", v.emit("add i32 %s, %s", *wide)))
    return functools.reduce(lambda x, y: v.emit("or i1 %s, %s", x, y), found)


def _accumulators(v: _Code, kind: DotKind, like: LlvmValue, rows: list[str]) -> tuple[list[str], str]:
    """Rows of C as the steps have them, and whether one is not moderate: i1."""
    if _is_half(kind):
        rows = [_from_half(v, like, c) for c in rows]
        ends = [v.compare("eq", v.op("and", c, _EXPONENT), _EXPONENT) for c in rows]
        return rows, v.some(functools.reduce(v.either, ends))
    if kind.packed:
        rows = [v.op("shl", c, 16) for c in rows]
    sizes = [v.op("add", c, c) for c in rows]  # without the sign
    largest = functools.reduce(lambda x, y: v.pick("umax", x, y), sizes)
    # What is 0 becomes the largest word.
    least = functools.reduce(lambda x, y: v.pick("umin", x, y), [v.op("sub", size, 1) for size in sizes])
    less = _less(kind)
    low, high = (-60, 36) if less else (-80, 100)
    beyond = v.compare("ugt", largest, 2 * _power(high))
    strange = v.some(v.either(beyond, v.compare("ult", least, 2 * _power(low) - 1)))
    return [v.scaled_by(c, -less) for c in rows] if less else rows, strange


def _step(v: _Code, kind: DotKind, like: LlvmValue, a: list[str], b: list[str], c: str) -> str:
    """The next accumulator. a, b: two pairs of factors, and their exponents."""
    products = [v.pairs(x, y) for x, y in zip(a[:2], b[:2], strict=True)]
    exponents = v.apart(8, "usub.sat", a[2], b[2])
    powers = [exponents, v.high_twice(exponents)]
    top = v.apart(8, "umax", v.apart(8, "umax", *powers), v.op("lshr", c, 23))
    if _is_half(kind):
        top = v.apart(8, "umax", top, 127 - 14)
    last = v.op("add", top, 4)
    shifts = [v.pick("umin", v.op("sub", last, power), 31) for power in powers]
    total = v.op("add", *(v.op("ashr", product, shift) for product, shift in zip(products, shifts, strict=True)))
    negative = v.op("lshr", c, 30) if _less(kind) else v.op("and", v.op("ashr", c, 31), 2)
    total = v.op("add", total, negative)
    power = v.op("shl", top, 23)  # with the sign bit of the 1 in the second byte
    total = v.op("add", total, v.cut(v.op("sub", v.op("add", c, _SIGN | _UP << 23), power)))
    # The lower halves are 0.
    down = v.apart(16, "usub.sat", power, _SIGN | _GRID << 23)
    if not _is_half(kind):
        result = v.scaled(total, down)
        return v.op("and", result, -(1 << 16)) if kind.packed else result
    rest = v.op("and", v.op("add", v.op("and", total, 31), 31), 32)
    odd = v.op("or", v.op("and", total, -32), rest)
    large = v.compare("ugt", v.op("add", total, 1 << 24), 1 << 25)
    result = _half(v, like, v.scaled(v.select(large, odd, total), down))
    nothing = v.compare("eq", v.op("and", result, 0x7FFF), 0)
    return _from_half(v, like, v.select(nothing, 0, result))


def _word(v: _Code, like: LlvmValue, word: str) -> LlvmValue:
    """like: a value of the instruction, for the host that it is computed on."""
    writer = like.w.within(v.function, v.region)
    return LlvmValue(writer, "u32", v.lanes, word)


def _half(v: _Code, like: LlvmValue, word: str) -> str:
    """An f32 to an f16 in the low half of a word."""
    return round_half(_word(v, like, word).bits("f32")).bits("u16").to("u32").ref


def _from_half(v: _Code, like: LlvmValue, word: str) -> str:
    return from_half(_word(v, like, word).to("u16").bits("f16")).bits("u32").ref


def integer_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """name: bits of a field, whether A and B are signed, whether to saturate, as `8 1 0 clamp`."""
    size, a_signed, b_signed, clamp = name.split()
    symbol = "wmma_i" + symbol_of(name)
    first, count = registers[0], int(size) // 2  # registers of A, and of B
    whole = whole_of(first)
    _integer(first.w.function, symbol, int(size), (a_signed == "1", b_signed == "1"), clamp == "clamp", whole.strip)
    return _called(symbol, registers, count)


def _integer(into: Function, symbol: str, size: int, signed: tuple[bool, bool], clamp: bool, strip: int) -> None:
    count = size // 2
    arguments = ", ".join(f"ptr %{x}, i64 %{x}.apart" for x in "abd")
    f = Function(f"internal void @{symbol}({arguments}) noinline")
    table = f.alloca("[32 x <32 x i32>]")
    v = _tabled(f, table, count, size, signed, strip)
    r = v.region
    half = v.emit("and i32 %s, 1", "%i")
    columns = v.emit("mul i32 %s, %s", half, ROW)
    lane = v.emit("add i32 %s, %s", "%i", v.emit("mul i32 %s, 16", half))
    row = v.emit("mul i32 %s, 4", lane)
    own = row_places(v, strip, "%d", "%d.apart", v.emit("lshr i32 %s, 1", "%i"), half)
    a_row, b_column = v.at(table, row), v.at(table, columns)
    total = ""
    for k in range(16):
        x = v.splat(v.emit("load i32, ptr %s, align 4", v.at(a_row, k * 2 * ROW)))
        product = v.op("mul", x, v.load(v.at(b_column, (16 + k) * 2 * ROW)))
        total = v.op("add", total, product) if total else product
    c = load_row(v, strip, own)
    total = v.pick("sadd.sat", c, total) if clamp else v.op("add", c, total)
    store_row(v, strip, own, total)
    v.again("i", 16, "row", "done")
    r.line("ret void")
    into.define(f)


def _called(symbol: str, registers: list[LlvmValue], count: int, packed: bool = False) -> tuple[LlvmValue, ...]:
    """count: registers of A, and of B; packed: the rows of D are not the registers of the instruction."""
    like, accumulators = registers[0], registers[2 * count :]
    # What D is made of may have to be moved there, where A or B may stand.
    place = place_of if packed or whole_of(like).holds(accumulators) else copied
    a, b = (place(registers[i * count :][:count], f"{symbol} {i}") for i in (0, 1))
    d = result_place(accumulators, packed=packed)
    like.w.vector.line(f"call void @{symbol}({a}, {b}, {d})")
    return read_back(like, d)


def _tabled(f: Function, table: str, count: int, size: int, signed: Sequence[bool], strip: int) -> Code:
    """Puts A and B, registers of so many, into the table: a row of 32 lanes for each field, or for each word of 32
    bits. Gives the code of the loop over rows, which begins."""
    v, each = Code(f, f.entry, 32), 32 // size
    for matrix, sign in enumerate(signed):
        for n in range(count):
            place = v.at(f"%{'ab'[matrix]}", 4 * strip * n)
            lower, upper = lanes_of(v, strip, place, f"%{'ab'[matrix]}.apart")
            field = word = shuffle(f, v.region, lower, upper, 16, range(32))
            for i in range(each):
                if each > 1:
                    top = v.op("shl", word, 32 - size * (i + 1))
                    field = v.op("ashr" if sign else "lshr", top, 32 - size)
                place = v.at(table, ((matrix * count + n) * each + i) * 2 * ROW)
                v.region.line(f"store {v.words} {field}, ptr {place}, align 64")
    v.region.line("br label %row")
    v = Code(f, f.region("row"), 16)
    v.region.line("%i = phi i32 [ 0, %entry ], [ %i.next, %row ]")
    return v


def spread_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """RDNA4's products, whose A and B stand once in a wave (`isa.semantics.reference.matrices.spread_wmma`)."""
    first, count = registers[0], (len(registers) - 8) // 2
    symbol, whole = f"spread{count}_{symbol_of(name)}", whole_of(registers[0])
    _spread(first.w.function, symbol, name, count, whole.strip, first)
    packed = name.startswith(("f16", "bf16"))  # whose rows are not the registers of the instruction
    return _called(symbol, registers, count, packed)


def _spread(into: Function, symbol: str, name: str, count: int, strip: int, like: LlvmValue) -> None:
    """A row of D at a time: 16 columns, of the lower lanes for the first eight rows and of the upper ones for the
    others."""
    integer = name.startswith("iu")
    size = int(name.removeprefix("iu").split()[0]) if integer else 32
    signed = [word == "1" for word in name.split()[1:3]] if integer else [False, False]
    each, arguments = 32 // size, ", ".join(f"ptr %{x}, i64 %{x}.apart" for x in "abd")
    f = Function(f"internal void @{symbol}({arguments}) noinline")
    table = f.alloca(f"[{2 * count * each} x <32 x i32>]")
    v = _tabled(f, table, count, size, signed, strip)
    r = v.region
    upper, register = v.emit("lshr i32 %s, 3", "%i"), v.emit("and i32 %s, 7", "%i")
    a_row = v.at(table, v.emit("mul i32 %s, 4", "%i"))
    own = row_places(v, strip, "%d", "%d.apart", register, upper)

    def factors(n: int, half: int) -> tuple[str, str]:
        x = v.splat(v.emit("load i32, ptr %s, align 4", v.at(a_row, n * 2 * ROW + half * ROW)))
        return x, v.load(v.at(table, (count * each + n) * 2 * ROW + half * ROW))

    c = load_row(v, strip, own)
    if integer:
        products = [v.op("mul", *factors(n, half)) for half in (0, 1) for n in range(count * each)]
        total = functools.reduce(lambda x, y: v.op("add", x, y), products)
        c = v.pick("sadd.sat", c, total) if name.endswith("clamp") else v.op("add", c, total)
    else:
        step = step_function(into, name + RDNA4_SUMS, 2, 16, like)
        for first in (0, 2):
            for half in (0, 1):
                pairs = [factors(n, half) for n in (first, first + 1)]
                words = ", ".join(f"{v.words} {x}" for x in (*(p[0] for p in pairs), *(p[1] for p in pairs), c))
                c = v.emit(f"call {v.words} @{step}({words})")
    store_row(v, strip, own, c)
    v.again("i", 16, "row", "done")
    r.line("ret void")
    into.define(f)
