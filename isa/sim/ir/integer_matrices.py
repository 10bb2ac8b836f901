"""Matrix products of integers, V_WMMA_I32_*, as LLVM IR: a function that a kernel's module has once, and calls.

It works in memory: registers of A, of B, and 8 of C that become D, those of the wave where they may be
(`isa.sim.ir.matrix_registers`). Fields of 4 or 8 bits are taken apart into words; sums are exact, and saturated at the
end or wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.sim.ir.dots_llvm import Code, symbol_of
from isa.sim.ir.ir import Function
from isa.sim.ir.matrix_factors import ROW
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

if TYPE_CHECKING:
    from isa.sim.ir.llvm_values import LlvmValue


def integer_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """name: bits of a field, whether A and B are signed, whether to saturate, as `8 1 0 clamp`."""
    size, a_signed, b_signed, clamp = name.split()
    symbol = "wmma_i" + symbol_of(name)
    first, count = registers[0], int(size) // 2  # registers of A, and of B
    whole = whole_of(first)
    _integer(first.w.function, symbol, int(size), (a_signed == "1", b_signed == "1"), clamp == "clamp", whole.strip)
    # What D is made of may have to be moved there, where A or B may stand.
    place = place_of if whole.holds(registers[2 * count :]) else copied
    a, b = (place(registers[i * count :][:count], f"{symbol} {i}") for i in (0, 1))
    d = result_place(registers[2 * count :])
    first.w.vector.line(f"call void @{symbol}({a}, {b}, {d})")
    return read_back(first, d)


def _integer(into: Function, symbol: str, size: int, signed: tuple[bool, bool], clamp: bool, strip: int) -> None:
    count = size // 2
    arguments = ", ".join(f"ptr %{x}, i64 %{x}.apart" for x in "abd")
    f = Function(f"internal void @{symbol}({arguments}) noinline")
    table = f.alloca("[32 x <32 x i32>]")
    v = Code(f, f.entry, 32)
    for matrix, sign in enumerate(signed):
        for n in range(count):
            place = v.at(f"%{'ab'[matrix]}", 4 * strip * n)
            lower, upper = lanes_of(v, strip, place, f"%{'ab'[matrix]}.apart")
            word = shuffle(f, v.region, lower, upper, 16, range(32))
            for i in range(32 // size):
                top = v.op("shl", word, 32 - size * (i + 1))
                field = v.op("ashr" if sign else "lshr", top, 32 - size)
                place = v.at(table, (16 * matrix + n * 32 // size + i) * 2 * ROW)
                v.region.line(f"store {v.words} {field}, ptr {place}, align 64")
    v.region.line("br label %row")
    v = Code(f, f.region("row"), 16)
    r = v.region
    r.line("%i = phi i32 [ 0, %entry ], [ %i.next, %row ]")
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
