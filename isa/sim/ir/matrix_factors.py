"""Factors of V_WMMA_* as tables in the frame: what `isa.sim.ir.matrices_llvm` multiplies.

In:  the registers of A or B (`isa.sim.ir.matrix_registers`).
Out: a place in the frame for 16 lanes. It begins with the registers as they are, two numbers a word. Rows of one number
     a word follow: of pairs, the size with its sign, moved up to 15 bits, and 1 or -1 for the sign, a half each. Then
     exponents, two a word again: as bytes of which A's less B's are those of products, negative where one of them is 0.
     The second byte is 1 for A. At the end stand the largest exponent as it is encoded, and the smallest of what is
     not 0, less one.

A has one table: even rows come from the lower lanes, odd ones from the upper. B has one of its columns in the lower
lanes and, where the upper lanes have others, one of those: programs have the same there, as the ISA guide wants it. A
block of code keeps the tables of its last factors for products with the same registers.
"""

from __future__ import annotations

from isa.semantics.dots import DotKind
from isa.sim.ir.dots_llvm import Code
from isa.sim.ir.ir import Function
from isa.sim.ir.llvm_values import LlvmValue
from isa.sim.ir.matrix_registers import lanes_of, place_of, whole_of
from isa.sim.ir.shuffles import shuffle

ROW = 16 * 4
"""Bytes of 16 lanes."""
PAIRS, EXPONENTS, ENDS = 8 * ROW, 24 * ROW, 32 * ROW
SIZE = ENDS + ROW
_TABLES = 16
"""Factors whose tables a block of code keeps."""
_ONE = 192
"""The exponent of 1 in A's table: 2**63 is 255 then."""


def rows_table(kind: DotKind, registers: list[LlvmValue]) -> str:
    """A's table; the one that there is, if this block of code has made one of the same values."""
    number, new, _ = _slot(kind, "rows", registers)
    w = registers[0].w
    table = w.function.place(f"table {number}", f"[{2 * SIZE} x i8]")
    if new:
        symbol = _rows_function(w.function, kind, whole_of(registers[0]).strip)
        w.vector.line(f"call void @{symbol}(ptr {table}, {place_of(registers, 'factor')})")
    return table


def columns_table(kind: DotKind, registers: list[LlvmValue], zero: int) -> tuple[str, str]:
    """B's likewise, of the lower lanes, and how far from there that of the upper lanes is, i64. zero: the exponent of a
    product that is 1."""
    number, new, offset = _slot(kind, f"columns {zero}", registers)
    w = registers[0].w
    table = w.function.place(f"table {number}", f"[{2 * SIZE} x i8]")
    if new:
        symbol = _columns_function(w.function, kind, zero, whole_of(registers[0]).strip)
        w.vector.line(f"{offset} = call i64 @{symbol}(ptr {table}, {place_of(registers, 'factor')})")
    return table, offset


def _slot(kind: DotKind, role: str, registers: list[LlvmValue]) -> tuple[int, bool, str]:
    """The number of a factor's table, whether it is to be made, and the name of its offset."""
    tables = registers[0].w.tables
    key = (kind.factor, role, *(r.identity for r in registers))
    new = key not in tables
    if new:
        number = len(tables) if len(tables) < _TABLES else tables.pop(next(iter(tables)))[0]
        tables[key] = (number, f"%{registers[0].w.function.name('upper')}")
    else:
        tables[key] = tables.pop(key)  # the last to go
    return tables[key][0], new, tables[key][1]


def _rows_function(into: Function, kind: DotKind, strip: int) -> str:
    """Makes A's table of the registers at a place."""
    symbol, table = f"wmma_{kind.factor}_rows", _table_function(into, kind)
    f = Function(f"internal void @{symbol}(ptr %table, ptr %m, i64 %apart) noinline")
    v = Code(f, f.entry, 16)
    for n in range(8):
        lower, upper = lanes_of(v, strip, v.at("%m", 4 * strip * n), "%apart")
        row = shuffle(f, v.region, lower, upper, 16, [i + i % 2 * 16 for i in range(16)])
        v.region.line(f"store {v.words} {row}, ptr {v.at('%table', n * ROW)}, align 64")
    v.region.line(f"call void @{table}(ptr %table, i16 0, i16 {256 + _ONE - kind.bias}, i16 256)")
    v.region.line("ret void")
    into.define(f)
    return symbol


def _columns_function(into: Function, kind: DotKind, zero: int, strip: int) -> str:
    """Makes B's tables of the registers at a place; gives 0 if the upper lanes have the same, else SIZE."""
    # Accumulators of 16 bits have other exponents.
    symbol, table = f"wmma_{kind.factor}_columns_{zero}", _table_function(into, kind)
    f = Function(f"internal i64 @{symbol}(ptr %table, ptr %m, i64 %apart) noinline")
    v = Code(f, f.entry, 16)
    different = ""
    for n in range(8):
        halves = lanes_of(v, strip, v.at("%m", 4 * strip * n), "%apart")
        for half, row in enumerate(halves):
            v.region.line(f"store {v.words} {row}, ptr {v.at('%table', n * ROW + half * SIZE)}, align 64")
        unlike = v.op("xor", *halves)
        different = v.op("or", different, unlike) if different else unlike
    call = f"call void @{table}(ptr %s, i16 -1, i16 {_ONE - zero + kind.bias + 1}, i16 255)"
    v.region.line(call % "%table")
    some = v.some(v.emit(f"icmp ne {v.words} %s, zeroinitializer", different))
    v.region.branch(some, "other", "same", "other")
    v.region.line(call % v.at("%table", SIZE))
    v.region.line(f"ret i64 {SIZE}")
    v.region.label("same")
    v.region.line("ret i64 0")
    into.define(f)
    return symbol


def _table_function(into: Function, kind: DotKind) -> str:
    """Makes the table of 16 lanes whose registers are in it. Exponents become (exponent ^ flip) + zero, or none for
    0."""
    symbol = f"wmma_{kind.factor}_table"
    f = Function(f"internal void @{symbol}(ptr %table, i16 %flip, i16 %zero, i16 %none) noinline")
    flip, zero, none = (f.splat(f.entry, "i16", 32, x) for x in ("%flip", "%zero", "%none"))
    f.entry.line("br label %register")
    v = Code(f, f.region("register"), 16)
    r = v.region
    halves = Code(f, r, 2 * v.lanes, "i16")
    r.line("%n = phi i32 [ 0, %entry ], [ %n.next, %register ]")
    for name, initial in (("most", 0), ("least", -1)):
        r.line(f"%{name} = phi {halves.words} [ splat (i16 {initial}), %entry ], [ %{name}.next, %register ]")
    word = v.load(v.at("%table", v.emit("mul i32 %s, %s", "%n", ROW)))
    size, field, sign = _taken_apart(halves, kind, v.emit(f"bitcast {v.words} %s to {halves.words}", word))
    most = halves.pick("umax", "%most", field)
    least = halves.pick("umin", "%least", halves.op("sub", field, 1))
    nothing = halves.emit(f"icmp eq {halves.words} %s, zeroinitializer", field)
    exponent = halves.select(nothing, none, halves.op("add", halves.op("xor", field, flip), zero))
    number = halves.op("sub", halves.op("xor", size, sign), sign)
    number, sign, exponent = (
        v.emit(f"bitcast {halves.words} %s to {v.words}", x) for x in (number, halves.op("or", sign, 1), exponent)
    )
    low = v.op("or", v.op("and", number, 0xFFFF), v.op("shl", sign, 16))
    high = v.op("or", v.op("lshr", number, 16), v.op("and", sign, -(1 << 16)))
    own = v.at("%table", v.emit("mul i32 %s, %s", "%n", ROW))
    pairs = v.at(own, v.emit("mul i32 %s, %s", "%n", ROW))
    for place, entry in ((v.at(pairs, PAIRS), low), (v.at(pairs, PAIRS + ROW), high), (v.at(own, EXPONENTS), exponent)):
        r.line(f"store {v.words} {entry}, ptr {place}, align 64")
    for name, found in (("most", most), ("least", least)):
        r.line(f"%{name}.next = or {halves.words} {found}, zeroinitializer")
    v.again("n", 8, "register", "done")
    for n, (name, how) in enumerate((("most", "umax"), ("least", "umin"))):
        r.line(f"store i16 {_reduced(halves, how, f'%{name}.next')}, ptr {v.at('%table', ENDS + 2 * n)}, align 2")
    r.line("ret void")
    into.define(f)
    return symbol


def _taken_apart(v: Code, kind: DotKind, halves: str) -> tuple[str, str, str]:
    """Of factors: the size, of 15 bits; the exponent as it is encoded, at least 1, but 0 of a factor that is 0; -1 or 0
    for the sign."""
    field = v.op("and", v.op("lshr", halves, kind.fraction), kind.top)
    rest, whole = v.op("and", halves, (1 << kind.fraction) - 1), 1 << kind.fraction
    if kind.factor == "f16":
        size = v.op("or", rest, v.pick("umin", v.op("and", halves, kind.top << kind.fraction), whole))
        field = v.pick("umax", field, v.pick("umin", size, 1))
    else:
        nothing = v.emit(f"icmp eq {v.words} %s, zeroinitializer", field)
        size = v.select(nothing, 0, v.op("or", rest, whole))
    return v.op("shl", size, 14 - kind.fraction), field, v.op("ashr", halves, 15)


def _reduced(v: Code, name: str, a: str) -> str:
    """umax or umin of all lanes: a scalar."""
    symbol = f"llvm.vector.reduce.{name}.v{v.lanes}{v.type}"
    v.function.declare(f"declare {v.type} @{symbol}({v.words})")
    return v.emit(f"call {v.type} @{symbol}({v.words} %s)", a)
