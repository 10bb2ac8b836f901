"""Matrix products, V_WMMA_*, as LLVM IR: functions that a kernel's module has once, and calls.

A function works in memory: registers of A, of B, and 8 of C that become D, 32 words each. It runs all steps on 16
columns of some rows at a time, which do not wait for each other. A and B are taken apart before, once: of floats into
a table of each, which a block of code keeps for its next products with the same registers.

**Floats.** A step of `isa.sim.dots`, in f32 and i32. Where nothing is special and exponents are moderate, a product of
two factors is exact in f32. So, with powers of two E(p) and E(c) of the terms and

    top = max(4 E(p0), 4 E(p1), E(c))         2**26 times the grid
    q(t) = trunc(t * 2**26 / top)             a term in units of the grid, cut: below 2**27, exact but for the cut
    total = q(c) + q(p0) + q(p1) - [p0 < 0] - [p1 < 0] + 2 [c < 0]
    result = f32(total) * top / 2**26         rounded once, by the conversion

E(p) is the sum of two exponents. [x < 0] asks the sign bit. A product whose sign is not c's counts as the complement of
its size, which is one more away from c's side: -q - 1 where c is positive, q + 1 where it is negative, and that is what
the line adds. Where all terms are 0, so is top / 2**26, and adding +0 makes the result positive.
An f16 accumulator always counts, with 2**-14 at least. An f16 result is rounded once, too: of a total of more than 24
bits the low five are made one bit that says whether they were 0, before the conversion.

Moderate are: factors of f16, all but infinities and NaNs; those of bf16 below 2**64 whose products lie between 2**-76
and 2**90; an accumulator that is 0, or from 2**-80 to 2**100. No later accumulator is smaller than 2**-100 then, or
overflows f32. Rows where anything else stands, and those where an f16 accumulator became an infinity, are done by
`dot2`.

**Integers.** Fields of 4 or 8 bits are taken apart into words; sums are exact, and saturated at the end or wrapped.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from isa.sim.dots import KINDS, DotKind
from isa.sim.dots_llvm import Code, define, dot2_function, symbol_of
from isa.sim.halves import from_half, round_half
from isa.sim.ir import Function, Region
from isa.sim.llvm_text import llvm_type
from isa.sim.writer import Writer

if TYPE_CHECKING:
    from isa.sim.llvm_values import LlvmValue

_ELEMENT = 16 * 4
_ROW = 32 * 4
_ROWS = 4
"""Rows done at a time."""
_EXPONENT = 0xFF << 23
_GRID = 26 << 23
_VALUES, _POWERS, _ENDS = 8 * _ROW, 24 * _ROW, 40 * _ROW
"""Where the table of a factor has its values, their powers of two, and the largest and the smallest of these; its
registers come first."""
_TABLE = _ENDS + 64
_TABLES = 16
"""Factors whose tables a block of code keeps."""
_NO_POWER = -(1 << 14)
"""That of 0: with any other one it makes a sum below 0."""


class _Code(Code):
    """Also on f32: values are words, which these operations take for floats."""

    def __init__(self, function: Function, region: Region, lanes: int) -> None:
        super().__init__(function, region, lanes)
        self.floats = f"<{lanes} x float>"

    def number(self, word: str) -> str:
        return self.emit(f"bitcast {self.words} %s to {self.floats}", word)

    def word(self, number: str) -> str:
        return self.emit(f"bitcast {self.floats} %s to {self.words}", number)

    def times(self, a: str, b: str) -> str:
        return self.emit(f"fmul {self.floats} %s, %s", a, b)

    def scaled(self, a: str, power: str, addend: str) -> str:
        """a * power + addend, where the product is exact: in one instruction if the host has it."""
        product = self.emit(f"fmul contract {self.floats} %s, %s", a, power)
        return self.emit(f"fadd contract {self.floats} %s, {addend}", product)

    def cut(self, a: str) -> str:
        return self.emit(f"freeze {self.words} %s", self.emit(f"fptosi {self.floats} %s to {self.words}", a))

    def rounded(self, a: str) -> str:
        return self.emit(f"sitofp {self.words} %s to {self.floats}", a)

    def less(self, a: str, b: int) -> str:
        """a - b of numbers whose lower halves are 0, or 0 where that is negative."""
        halves = Code(self.function, self.region, 2 * self.lanes, "i16")
        x, y = (self.emit(f"bitcast {self.words} %s to {halves.words}", self._operand(z)) for z in (a, b))
        return self.emit(f"bitcast {halves.words} %s to {self.words}", halves.pick("usub.sat", x, y))

    def compare(self, how: str, a: str, b: int) -> str:
        return self.emit(f"icmp {how} {self.words} %s, splat (i32 {b})", a)


def _power(exponent: int) -> int:
    """2**exponent as the bits of an f32."""
    return 127 + exponent << 23


def wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """A, B and C, all lanes of each; D."""
    w = registers[0].w
    _wmma(w.function, name, registers[0])
    a, b = (_table(KINDS[name], registers[i : i + 8]) for i in (0, 8))
    memory = _memory("wmma", registers[16:])
    w.vector.line(f"call void @wmma_{symbol_of(name)}(ptr {a}, ptr {b}, ptr {memory})")
    return _loaded(registers[0], memory, 0)


def _memory(name: str, registers: list[LlvmValue], size: int = 0) -> str:
    """The place of that name in the frame, beginning with these registers."""
    w = registers[0].w
    memory = w.function.place(name, f"[{size or len(registers) * _ROW} x i8]")
    for i, register in enumerate(registers):
        place = w.function.emit(w.vector, f"getelementptr i8, ptr %s, i32 {_ROW * i}", memory)
        w.vector.line(f"store {register!r}, ptr {place}, align 64")
    return memory


def _loaded(like: LlvmValue, memory: str, first: int) -> tuple[LlvmValue, ...]:
    """8 registers from there."""
    w, type_ = like.w, llvm_type("u32", 32)
    places = [
        w.function.emit(w.vector, f"getelementptr i8, ptr %s, i32 {_ROW * (first + i)}", memory) for i in range(8)
    ]
    loads = [w.function.emit(w.vector, f"load {type_}, ptr %s, align 64", place) for place in places]
    return tuple(type(like)(w, "u32", 32, load) for load in loads)


def _table(kind: DotKind, registers: list[LlvmValue]) -> str:
    """The table of A or B; the one that there is, if this block of code has made one of the same values."""
    w = registers[0].w
    symbol = f"wmma_{kind.factor}_table"
    key = (symbol, *(r.ref for r in registers))
    if key in w.tables:
        w.tables[key] = w.tables.pop(key)  # the last to go
    else:
        _table_function(w.function, symbol, kind, registers[0])
        number = len(w.tables) if len(w.tables) < _TABLES else w.tables.pop(next(iter(w.tables)))
        w.tables[key] = number
        w.vector.line(f"call void @{symbol}(ptr {_memory(f'table {number}', registers, _TABLE)})")
    return w.function.place(f"table {w.tables[key]}", "")


def _wmma(into: Function, name: str, like: LlvmValue) -> None:
    kind = KINDS[name]
    step = dot2_function(into, name, 16, like)
    f = Function(f"internal void @wmma_{symbol_of(name)}(ptr %a, ptr %b, ptr %m) noinline")
    v = _Code(f, f.entry, 16)
    v.region.line(f"%special = or i1 {_beyond(v, kind)}, false")
    v.region.line("br label %row")
    v = _Code(f, f.region("row"), 16)
    r = v.region
    r.line("%i = phi i32 [ 0, %entry ], [ %i.next, %row.done ]")
    # Rows of one parity: of an odd one, lanes 16 and up have A and B.
    odd = v.emit("and i32 %s, 1", "%i")
    columns = v.emit("mul i32 %s, %s", odd, _ELEMENT)
    upper = v.emit("add i32 %s, %s", v.emit("mul i32 %s, %s", v.emit("lshr i32 %s, 1", "%i"), 2 * _ROWS), odd)
    lane = v.emit("add i32 %s, %s", upper, v.emit("shl i32 %s, 4", odd))
    rows = [v.emit("mul i32 %s, 4", v.emit("add i32 %s, %s", lane, 2 * n)) for n in range(_ROWS)]
    own = v.at("%m", v.emit("mul i32 %s, %s", upper, _ELEMENT))
    owns = [v.at(own, 2 * n * _ELEMENT) for n in range(_ROWS)]
    first = [v.load(place) for place in owns]
    start = [_accumulator(v, kind, like, c) for c in first]
    strange = v.some(functools.reduce(v.either, (strange for _, strange in start)))
    r.line(f"br i1 {v.emit('or i1 %s, %s', '%special', strange)}, label %slow, label %fast")
    r.label("fast")
    r.line("br label %step")
    r.label("step")
    r.line("%k = phi i32 [ 0, %fast ], [ %k.next, %step ]")
    for n, (c, _) in enumerate(start):
        r.line(f"%c{n} = phi {v.words} [ {c}, %fast ], [ %c{n}.next, %step ]")
    r.line(f"%peak = phi {v.words} [ zeroinitializer, %fast ], [ %peak.next, %step ]")
    k_at = v.emit("mul i32 %s, %s", "%k", 2 * _ROW)
    tables = [table + high * _ROW for high in (0, 1) for table in (_VALUES, _POWERS)]
    b_at = v.at("%b", v.emit("add i32 %s, %s", k_at, columns))
    b = [v.load(v.at(b_at, table)) for table in tables]
    peak = "%peak"
    for n, row in enumerate(rows):
        a_at = v.at("%a", v.emit("add i32 %s, %s", k_at, row))
        a = [v.splat(v.emit("load i32, ptr %s, align 4", v.at(a_at, table))) for table in tables]
        r.line(f"%c{n}.next = or {v.words} {_step(v, kind, like, a, b, f'%c{n}')}, zeroinitializer")
        if _is_half(kind):
            peak = v.pick("umax", peak, v.op("and", f"%c{n}.next", _EXPONENT))
    r.line(f"%peak.next = or {v.words} {peak}, zeroinitializer")
    r.line("%k.next = add i32 %k, 1")
    r.line("%k.last = icmp eq i32 %k.next, 8")
    r.line("br i1 %k.last, label %steps.done, label %step")
    r.label("steps.done")
    for n, place in enumerate(owns):
        done = f"%c{n}.next"
        if kind.packed:
            done = _half(v, like, done) if _is_half(kind) else v.op("lshr", done, 16)
        r.line(f"store {v.words} {done}, ptr {place}, align 4")
    r.line(f"br i1 {v.some(v.compare('eq', '%peak.next', _EXPONENT))}, label %slow, label %row.done")
    r.label("slow")
    r.line("br label %slow.step")
    r.label("slow.step")
    r.line("%s = phi i32 [ 0, %slow ], [ %s.next, %slow.step ]")
    for n, c in enumerate(first):
        r.line(f"%d{n} = phi {v.words} [ {c}, %slow ], [ %d{n}.next, %slow.step ]")
    s_at = v.emit(f"mul i32 %s, {_ROW}", "%s")
    column = v.load(v.at("%b", v.emit("add i32 %s, %s", s_at, columns)))
    for n, row in enumerate(rows):
        element = v.splat(v.emit("load i32, ptr %s, align 4", v.at("%a", v.emit("add i32 %s, %s", s_at, row))))
        r.line(f"%d{n}.next = call {v.words} @{step}({v.words} {element}, {v.words} {column}, {v.words} %d{n})")
    r.line("%s.next = add i32 %s, 1")
    r.line("%s.last = icmp eq i32 %s.next, 8")
    r.line("br i1 %s.last, label %slow.done, label %slow.step")
    r.label("slow.done")
    for n, place in enumerate(owns):
        r.line(f"store {v.words} %d{n}.next, ptr {place}, align 4")
    r.line("br label %row.done")
    r.label("row.done")
    _next_row(v, 16 // _ROWS)
    define(into, f)


def _is_half(kind: DotKind) -> bool:
    """Whether it adds in f16."""
    return kind.packed and kind.factor == "f16"


def _table_function(into: Function, symbol: str, kind: DotKind, like: LlvmValue) -> None:
    """Makes the table of a factor whose registers are in it. The sum of the powers of two numbers is 4 E(p) as an f32;
    that of a number that is 0 makes the sum negative. The ends are of f32 in upper halves, the smallest is that of what
    is not 0, less one."""
    f = Function(f"internal void @{symbol}(ptr %table) noinline")
    f.entry.line("br label %register")
    v = _Code(f, f.region("register"), 32)
    r = v.region
    halves = Code(f, r, 2 * v.lanes, "i16")
    r.line("%n = phi i32 [ 0, %entry ], [ %n.next, %register ]")
    for name, initial in (("most", 0), ("least", -1)):
        r.line(f"%{name} = phi {halves.words} [ splat (i16 {initial}), %entry ], [ %{name}.next, %register ]")
    word = v.load(v.at("%table", v.emit("mul i32 %s, %s", "%n", _ROW)))
    power = _exponents(halves, kind, v.emit(f"bitcast {v.words} %s to {halves.words}", word))
    most = halves.pick("umax", "%most", power)
    least = halves.pick("umin", "%least", halves.op("sub", power, 1))
    nothing = v.emit(f"icmp eq {halves.words} %s, zeroinitializer", power)
    power = halves.select(nothing, _NO_POWER, halves.op("add", power, (1 << 7) - (127 << 6)))
    pair = v.emit(f"bitcast {halves.words} %s to {v.words}", power)
    own = v.at("%table", v.emit("mul i32 %s, %s", "%n", 2 * _ROW))
    for high, part in ((0, v.op("shl", pair, 16)), (1, v.op("and", pair, -(1 << 16)))):
        for table, entry in ((_VALUES, _value(v, kind, like, word, bool(high))), (_POWERS, part)):
            r.line(f"store {v.words} {entry}, ptr {v.at(own, table + high * _ROW)}, align 64")
    for name, found in (("most", most), ("least", least)):
        r.line(f"%{name}.next = or {halves.words} {found}, zeroinitializer")
    r.line("%n.next = add i32 %n, 1")
    r.line("%last = icmp eq i32 %n.next, 8")
    r.line("br i1 %last, label %done, label %register")
    r.label("done")
    for n, (name, how) in enumerate((("most", "umax"), ("least", "umin"))):
        r.line(f"store i16 {_reduced(halves, how, f'%{name}.next')}, ptr {v.at('%table', _ENDS + 2 * n)}, align 2")
    r.line("ret void")
    define(into, f)


def _exponents(v: Code, kind: DotKind, halves: str) -> str:
    """The powers of two of factors' exponents as an f32 has them in its upper half; 0 has no power."""
    if kind.factor == "bf16":
        return v.op("and", halves, _EXPONENT >> 16)
    nothing = v.emit(f"icmp eq {v.words} %s, zeroinitializer", v.op("and", halves, 0x7FFF))
    field = v.op("lshr", v.pick("umax", v.op("and", halves, 0x7C00), 0x400), 3)
    return v.select(nothing, 0, v.op("add", field, 112 << 7))


def _value(v: _Code, kind: DotKind, like: LlvmValue, word: str, high: bool) -> str:
    """One half of each word, as an f32."""
    if kind.factor == "f16":
        return _from_half(v, like, v.op("lshr", word, 16) if high else word)
    value = v.op("and", word, -(1 << 16)) if high else v.op("shl", word, 16)
    nothing = v.compare("eq", v.op("and", value, _EXPONENT), 0)
    return v.select(nothing, v.op("and", value, -(1 << 31)), value)


def _reduced(v: Code, name: str, a: str) -> str:
    """umax or umin of all lanes: a scalar."""
    symbol = f"llvm.vector.reduce.{name}.v{v.lanes}{v.type}"
    v.function.declare(f"declare {v.type} @{symbol}({v.words})")
    return v.emit(f"call {v.type} @{symbol}({v.words} %s)", a)


def _beyond(v: _Code, kind: DotKind) -> str:
    """Whether factors are not moderate: i1."""
    largest = 15 if kind.factor == "f16" else 63
    most, least = (
        [v.emit("load i16, ptr %s, align 2", v.at(table, _ENDS + at)) for table in ("%a", "%b")] for at in (0, 2)
    )
    found = [v.emit(f"icmp ugt i16 %s, {_power(largest) >> 16}", x) for x in most]
    if kind.factor == "bf16":
        sums = (v.emit("add i32 %s, %s", *(v.emit("zext i16 %s to i32", x) for x in ends)) for ends in (most, least))
        found.append(v.emit(f"icmp ugt i32 %s, {2 * _power(45) >> 16}", next(sums)))
        found.append(v.emit(f"icmp ult i32 %s, {(2 * _power(-38) >> 16) - 2}", next(sums)))
    return functools.reduce(lambda x, y: v.emit("or i1 %s, %s", x, y), found)


def _accumulator(v: _Code, kind: DotKind, like: LlvmValue, c: str) -> tuple[str, str]:
    """C as an f32, and whether it is not moderate."""
    if _is_half(kind):
        value = _from_half(v, like, c)
        return value, v.compare("eq", v.op("and", value, _EXPONENT), _EXPONENT)
    value = v.op("shl", c, 16) if kind.packed else c
    power = v.op("and", value, _EXPONENT)
    nothing = v.compare("eq", power, 0)
    value = v.select(nothing, v.op("and", value, -(1 << 31)), value)
    low = _power(-80)
    strange = v.compare("ugt", v.op("sub", v.select(nothing, low, power), low), _power(100) - low)
    return value, strange


def _step(v: _Code, kind: DotKind, like: LlvmValue, a: list[str], b: list[str], c: str) -> str:
    """The next accumulator. a, b: value and power of two factors."""
    products = [v.times(v.number(x), v.number(y)) for x, y in zip(a[::2], b[::2], strict=True)]
    powers = [v.op("add", x, y) for x, y in zip(a[1::2], b[1::2], strict=True)]
    top = v.pick("smax", v.pick("smax", *powers), v.op("and", c, _EXPONENT))
    if _is_half(kind):
        top = v.pick("smax", top, _power(-14))
    up = v.number(v.op("sub", 2 * _power(13) - (1 << 32), top))
    down = v.number(v.less(top, _GRID))
    cut = [v.cut(v.times(term, up)) for term in (*products, v.number(c))]
    signs = v.op("add", *(v.op("ashr", v.word(product), 31) for product in products))
    signs = v.op("add", signs, v.op("and", v.op("lshr", c, 30), 2))
    total = v.op("add", v.op("add", *cut[:2]), v.op("add", cut[2], signs))
    if not _is_half(kind):
        result = v.word(v.scaled(v.rounded(total), down, "zeroinitializer"))
        return v.op("and", result, -(1 << 16)) if kind.packed else result
    rest = v.op("and", v.op("add", v.op("and", total, 31), 31), 32)
    odd = v.op("or", v.op("and", total, -32), rest)
    large = v.compare("ugt", v.op("add", total, 1 << 24), 1 << 25)
    result = _half(v, like, v.word(v.times(v.rounded(v.select(large, odd, total)), down)))
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


def _next_row(v: Code, count: int) -> None:
    r = v.region
    r.line("%i.next = add i32 %i, 1")
    r.line(f"%i.last = icmp eq i32 %i.next, {count}")
    r.line("br i1 %i.last, label %done, label %row")
    r.label("done")
    r.line("ret void")


def integer_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """name: bits of a field, whether A and B are signed, whether to saturate, as `8 1 0 clamp`."""
    size, a_signed, b_signed, clamp = name.split()
    symbol = "wmma_i" + symbol_of(name)
    _integer(registers[0].w.function, symbol, int(size), (a_signed == "1", b_signed == "1"), clamp == "clamp")
    memory = _memory(symbol, registers)
    registers[0].w.vector.line(f"call void @{symbol}(ptr {memory})")
    return _loaded(registers[0], memory, len(registers) - 8)


def _integer(into: Function, symbol: str, size: int, signed: tuple[bool, bool], clamp: bool) -> None:
    count = size // 2  # registers of A, and of B
    f = Function(f"internal void @{symbol}(ptr %m) noinline")
    table = f.alloca("[32 x <32 x i32>]")
    v = Code(f, f.entry, 32)
    for matrix, sign in enumerate(signed):
        for n in range(count):
            word = v.load(v.at("%m", (matrix * count + n) * _ROW))
            for i in range(32 // size):
                top = v.op("shl", word, 32 - size * (i + 1))
                field = v.op("ashr" if sign else "lshr", top, 32 - size)
                place = v.at(table, (16 * matrix + n * 32 // size + i) * _ROW)
                v.region.line(f"store {v.words} {field}, ptr {place}, align 64")
    v.region.line("br label %row")
    v = Code(f, f.region("row"), 16)
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
    define(into, f)
