"""Matrix products of floats, V_WMMA_*, as LLVM IR: functions that a kernel's module has once, and calls.

A function takes the tables of A and B (`isa.sim.matrix_factors`) and 8 registers of C in memory, which become D: those
of the wave itself, where D has 32 bits. It runs all steps on 16 columns of some rows at a time, which do not wait for
each other.

A step of `isa.sim.dots` is done in integers, but for the accumulator, which is an f32 between steps. E(p) of a product
is the sum of its factors' exponents. With

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

One instruction of the host makes the sum of a product and its signs, from two halves of a word. Powers of two are added
to the exponents of floats as integers. That holds while no factor is an infinity or a NaN, and exponents are moderate:
E(p) up to 24, and from -76 on where a product is not 0; an accumulator that is 0, or from 2**-80 to 2**100. No later
accumulator is smaller than 2**-100 then, or overflows f32. Rows where anything else stands, and those where an f16
accumulator became an infinity, are done by `dot2`. Where all terms are 0, so is top as it is encoded; its power of two
is taken for 0 then, and adding +0 makes the result positive.

An f16 accumulator always counts, with 2**-14 at least. An f16 result is rounded once, too: of a total of more than 24
bits the low five are made one bit that says whether they were 0, before the conversion.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from isa.sim.dots import KINDS, DotKind
from isa.sim.dots_llvm import Code, define, dot2_function, symbol_of
from isa.sim.halves import from_half, round_half
from isa.sim.ir import Function, Line, Region
from isa.sim.matrix_factors import ENDS, EXPONENTS, PAIRS, ROW, columns_table, loaded, memory, rows_table
from isa.sim.shuffles import concatenate, shuffle
from isa.sim.writer import Writer

if TYPE_CHECKING:
    from isa.sim.llvm_values import LlvmValue
    from isa.sim.registers import Whole

_STAGGER = 0.34
"""Of a row's operations, those before the next row's begin: the best of some that were tried."""
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

    def less(self, a: str, b: int) -> str:
        """a - b of numbers whose lower halves are 0, or 0 where that is negative."""
        halves = Code(self.function, self.region, 2 * self.lanes, "i16")
        x, y = (self.emit(f"bitcast {self.words} %s to {halves.words}", self._operand(z)) for z in (a, b))
        return self.emit(f"bitcast {halves.words} %s to {self.words}", halves.pick("usub.sat", x, y))

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
    # Exponents: 127 as f32 encodes them, and the 2 that top has more.
    a = rows_table(kind, registers[:8], 64)
    b, upper = columns_table(kind, registers[8:16], 65)
    whole = _whole(like, kind)
    place = whole.hold(registers[16:]) if whole else memory(like, "wmma", registers[16:])
    pointers = ", ".join(f"ptr {x}" for x in (a, *[b] * _views(like), place))
    w.vector.line(f"call void @{_wmma(w.function, name, like, whole)}({pointers}, i64 {upper})")
    return whole.held(8) if whole else loaded(like, place, 0)


def _whole(like: LlvmValue, kind: DotKind) -> Whole | None:
    """The registers among which D is made in place; None: in the frame, as 16 bits or some lanes may have to stay."""
    whole = like.w.whole
    return None if kind.packed or whole is None or whole.active(0) is not None else whole


def _rows(like: LlvmValue) -> int:
    """How many rows are done at a time: four of one vector register each, as with AVX-512, or two."""
    return 4 if like.w.masked else 2


def _views(like: LlvmValue) -> int:
    """How many pointers to B's table the function takes, all the same. By one of its own for each row LLVM takes B's
    entries from memory wherever they are needed, and not into registers; AVX-512 has enough of these."""
    return 1 if like.w.masked else _rows(like)


def _wmma(into: Function, name: str, like: LlvmValue, whole: Whole | None) -> str:
    """The function's name."""
    kind, symbol = KINDS[name], f"wmma_{symbol_of(name)}{'_in_place' if whole else ''}"
    step, count = dot2_function(into, name, 16, like), _rows(like)
    views = [f"%b{i}" for i in range(_views(like))]
    pointers = "".join(f"ptr {b}, " for b in views)
    f = Function(f"internal void @{symbol}(ptr %a, {pointers}ptr %m, i64 %upper) noinline")
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
    rows = [v.emit("mul i32 %s, 4", v.emit("add i32 %s, %s", upper, 2 * n)) for n in range(count)]
    strip, vgprs = (whole.strip, whole.vgprs) if whole else (16, 1)
    register, part = (4 * strip, 4 * strip * vgprs) if whole else (2 * ROW, ROW)
    own = v.at("%m", v.emit("mul i32 %s, %s", v.emit("lshr i32 %s, 1", upper), register))
    own = v.at(own, v.emit("mul i32 %s, %s", odd, 16 // strip * part))
    owns = [[v.at(own, n * register + i * part) for i in range(16 // strip)] for n in range(count)]
    narrow = _Code(f, r, strip)
    first = [concatenate(f, r, [narrow.load(place) for place in places], strip) for places in owns]
    start, strange = _accumulators(v, kind, like, first)
    r.line(f"br i1 {v.emit('or i1 %s, %s', '%special', strange)}, label %slow, label %fast")
    r.label("fast")
    r.line("br label %step")
    r.label("step")
    r.line("%k = phi i32 [ 0, %fast ], [ %k.next, %step ]")
    for n, c in enumerate(start):
        r.line(f"%c{n} = phi {v.words} [ {c}, %fast ], [ %c{n}.next, %step ]")
    r.line(f"%peak = phi {v.words} [ zeroinitializer, %fast ], [ %peak.next, %step ]")
    two = v.emit("mul i32 %s, %s", "%k", 2 * ROW)
    peak, chains = "%peak", []
    for n, row in enumerate(rows):
        begin = len(r.lines)
        begins = v.at("%a", v.emit("add i32 %s, %s", two, row)), v.at(views[n % len(views)], two)
        a, b = ([v.at(x, table + high * ROW) for high in (0, 1) for table in (PAIRS, EXPONENTS)] for x in begins)
        elements = [v.splat(v.emit("load i32, ptr %s, align 4", place)) for place in a]
        result = _step(v, kind, like, elements, [v.load(place) for place in b], f"%c{n}")
        r.line(f"%c{n}.next = or {v.words} {result}, zeroinitializer")
        if _is_half(kind):
            peak = v.pick("umax", peak, v.op("and", f"%c{n}.next", _EXPONENT))
        chains.append(r.lines[begin:])
        del r.lines[begin:]
    r.lines += _staggered(chains)
    r.line(f"%peak.next = or {v.words} {peak}, zeroinitializer")
    r.line("%k.next = add i32 %k, 1")
    r.line("%k.last = icmp eq i32 %k.next, 8")
    r.line("br i1 %k.last, label %steps.done, label %step")
    r.label("steps.done")

    def store(done: str, places: list[str]) -> None:
        for i, place in enumerate(places):
            piece = done if strip == 16 else shuffle(f, r, done, "poison", 16, range(i * strip, (i + 1) * strip))
            r.line(f"store {narrow.words} {piece}, ptr {place}, align 4")

    for n, places in enumerate(owns):
        done = f"%c{n}.next"
        if kind.packed:
            done = _half(v, like, done) if _is_half(kind) else v.op("lshr", done, 16)
        store(done, places)
    r.line(f"br i1 {v.some(v.compare('eq', '%peak.next', _EXPONENT))}, label %slow, label %row.done")
    r.label("slow")
    r.line("br label %slow.step")
    r.label("slow.step")
    r.line("%s = phi i32 [ 0, %slow ], [ %s.next, %slow.step ]")
    for n, c in enumerate(first):
        r.line(f"%d{n} = phi {v.words} [ {c}, %slow ], [ %d{n}.next, %slow.step ]")
    s_at = v.emit("mul i32 %s, %s", "%s", ROW)
    column = v.load(v.at(views[0], s_at))
    for n, row in enumerate(rows):
        element = v.splat(v.emit("load i32, ptr %s, align 4", v.at("%a", v.emit("add i32 %s, %s", s_at, row))))
        r.line(f"%d{n}.next = call {v.words} @{step}({v.words} {element}, {v.words} {column}, {v.words} %d{n})")
    r.line("%s.next = add i32 %s, 1")
    r.line("%s.last = icmp eq i32 %s.next, 8")
    r.line("br i1 %s.last, label %slow.done, label %slow.step")
    r.label("slow.done")
    for n, places in enumerate(owns):
        store(f"%d{n}.next", places)
    r.line("br label %row.done")
    r.label("row.done")
    r.line("%i.next = add i32 %i, 1")
    r.line(f"%i.last = icmp eq i32 %i.next, {16 // count}")
    r.line("br i1 %i.last, label %done, label %row")
    r.label("done")
    r.line("ret void")
    define(into, f)
    return symbol


def _staggered(chains: list[list[Line]]) -> list[Line]:
    """Chains of operations that do not wait for each other, each begun when so much of the one before is done: a host
    looks only so far ahead."""
    places = [
        (n * len(chain) * _STAGGER + i, n, line) for n, chain in enumerate(chains) for i, line in enumerate(chain)
    ]
    return [line for _, _, line in sorted(places, key=lambda place: place[:2])]


def _is_half(kind: DotKind) -> bool:
    """Whether it adds in f16."""
    return kind.packed and kind.factor == "f16"


def _beyond(v: _Code, kind: DotKind) -> str:
    """Whether factors are not moderate: i1."""
    tables = ["%a", "%b0", v.emit("getelementptr i8, ptr %s, i64 %s", "%b0", "%upper")]
    most, least = ([v.emit("load i16, ptr %s, align 2", v.at(t, ENDS + at)) for t in tables] for at in (0, 2))
    found = [v.emit(f"icmp eq i16 %s, {kind.top}", x) for x in most]
    bounds = [(most, "ugt", 2 * kind.bias + _GRID - 2)]
    if kind.factor == "bf16":
        bounds.append((least, "ult", 2 * kind.bias - 76 - 2))
    for (x, *columns), how, bound in bounds:
        for y in columns:
            wide = [v.emit("zext i16 %s to i32", end) for end in (x, y)]
            found.append(v.emit(f"icmp {how} i32 %s, {bound}", v.emit("add i32 %s, %s", *wide)))
    return functools.reduce(lambda x, y: v.emit("or i1 %s, %s", x, y), found)


def _accumulators(v: _Code, kind: DotKind, like: LlvmValue, rows: list[str]) -> tuple[list[str], str]:
    """Rows of C as f32, and whether one is not moderate: i1."""
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
    beyond = v.compare("ugt", largest, 2 * _power(100))
    return rows, v.some(v.either(beyond, v.compare("ult", least, 2 * _power(-80) - 1)))


def _step(v: _Code, kind: DotKind, like: LlvmValue, a: list[str], b: list[str], c: str) -> str:
    """The next accumulator. a, b: pair and exponent of two factors."""
    products = [v.pairs(x, y) for x, y in zip(a[::2], b[::2], strict=True)]
    powers = [v.op("add", x, y) for x, y in zip(a[1::2], b[1::2], strict=True)]
    top = v.pick("smax", v.pick("smax", *powers), v.op("and", v.op("lshr", c, 23), 255))
    if _is_half(kind):
        top = v.pick("smax", top, 127 - 14)
    last = v.op("add", top, 4)
    shifts = [v.pick("umin", v.op("sub", last, power), 31) for power in powers]
    total = v.op("add", *(v.op("ashr", product, shift) for product, shift in zip(products, shifts, strict=True)))
    negative = v.emit(f"icmp slt {v.words} %s, zeroinitializer", c)
    total = v.op("add", total, v.select(negative, 2, 0))
    power = v.op("shl", top, 23)
    total = v.op("add", total, v.cut(v.op("add", c, v.op("sub", _UP << 23, power))))
    down = v.less(power, _GRID << 23)
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
    writer = Writer(v.function, v.region, v.region, native_half=like.w.native_half)
    return type(like)(writer, "u32", v.lanes, word)


def _half(v: _Code, like: LlvmValue, word: str) -> str:
    """An f32 to an f16 in the low half of a word."""
    return round_half(_word(v, like, word).bits("f32")).bits("u16").to("u32").ref


def _from_half(v: _Code, like: LlvmValue, word: str) -> str:
    return from_half(_word(v, like, word).to("u16").bits("f16")).bits("u32").ref
