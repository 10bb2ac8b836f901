"""The sums of `isa.semantics.dots` as LLVM IR: functions that a kernel's module has once, and calls.

`step<words>_<kind>_v<lanes>` is one step on vectors, special values and all; `isa.sim.ir.matrices_llvm` has what makes
a matrix product of them.
"""

from __future__ import annotations

from isa.semantics import dots
from isa.sim.ir.ir import Function, Region
from isa.sim.ir.llvm_values import LlvmValue


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
        r.branch(last, end, begin, end)


def symbol_of(name: str) -> str:
    return name.replace(" ", "_")


def step_function(into: Function, name: str, words: int, lanes: int, like: LlvmValue) -> str:
    """A step of so many words of A, of B, and the accumulator."""
    type_, symbol = f"<{lanes} x i32>", f"step{words}_{symbol_of(name)}_v{lanes}"
    names = [f"%{m}{i}" for m in "ab" for i in range(words)] + ["%c"]
    f = Function(f"internal {type_} @{symbol}({', '.join(f'{type_} {n}' for n in names)}) noinline")
    writer = like.w.within(f, f.entry)
    *factors, c = (LlvmValue(writer, "u32", lanes, n) for n in names)
    result = dots.step(name, factors[:words], factors[words:], c)
    assert isinstance(result, LlvmValue)
    f.entry.line(f"ret {type_} {result.ref}")
    into.define(f)
    return symbol


def dot2(name: str, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """A step of two products: words in as many lanes, at least one."""
    symbol = step_function(a.w.function, name, 1, a.lanes_, a)
    form = f"call {a.llvm} @{symbol}({a.llvm} %s, {b.llvm} %s, {c.llvm} %s)"
    return a._emit("u32", a.lanes_, form, a.ref, b.ref, c.ref)
