"""Matrix products of integers, V_WMMA_I32_*, as LLVM IR: a function that a kernel's module has once, and calls.

It works in memory: registers of A, of B, and 8 of C that become D, 32 words each. Fields of 4 or 8 bits are taken apart
into words; sums are exact, and saturated at the end or wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.sim.dots_llvm import Code, define, symbol_of
from isa.sim.ir import Function
from isa.sim.matrix_factors import ROW, loaded, memory

if TYPE_CHECKING:
    from isa.sim.llvm_values import LlvmValue


def integer_wmma(name: str, registers: list[LlvmValue]) -> tuple[LlvmValue, ...]:
    """name: bits of a field, whether A and B are signed, whether to saturate, as `8 1 0 clamp`."""
    size, a_signed, b_signed, clamp = name.split()
    symbol = "wmma_i" + symbol_of(name)
    _integer(registers[0].w.function, symbol, int(size), (a_signed == "1", b_signed == "1"), clamp == "clamp")
    place = memory(registers[0], symbol, registers)
    registers[0].w.vector.line(f"call void @{symbol}(ptr {place})")
    return loaded(registers[0], place, len(registers) - 8)


def _integer(into: Function, symbol: str, size: int, signed: tuple[bool, bool], clamp: bool) -> None:
    count = size // 2  # registers of A, and of B
    f = Function(f"internal void @{symbol}(ptr %m) noinline")
    table = f.alloca("[32 x <32 x i32>]")
    v = Code(f, f.entry, 32)
    for matrix, sign in enumerate(signed):
        for n in range(count):
            word = v.load(v.at("%m", (matrix * count + n) * 2 * ROW))
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
    own = v.at("%m", v.emit("add i32 %s, %s", v.emit("mul i32 %s, %s", "%i", ROW), 2 * count * 2 * ROW))
    a_row, b_column = v.at(table, row), v.at(table, columns)
    total = ""
    for k in range(16):
        x = v.splat(v.emit("load i32, ptr %s, align 4", v.at(a_row, k * 2 * ROW)))
        product = v.op("mul", x, v.load(v.at(b_column, (16 + k) * 2 * ROW)))
        total = v.op("add", total, product) if total else product
    c = v.load(own)
    total = v.pick("sadd.sat", c, total) if clamp else v.op("add", c, total)
    r.line(f"store {v.words} {total}, ptr {own}, align 4")
    r.line("%i.next = add i32 %i, 1")
    r.line("%i.last = icmp eq i32 %i.next, 16")
    r.line("br i1 %i.last, label %done, label %row")
    r.label("done")
    r.line("ret void")
    define(into, f)
