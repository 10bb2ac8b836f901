"""Values for the tracer: an instruction's body, run on them, writes NumPy source instead of computing.

A vector value is an array (waves, 32), a scalar one (waves, 1): one operation then serves all waves of a recording.
`Statements` collects the statements of one basic block; `isa.timing.trace.tracer` compiles them once and runs them as
often as the block is executed. Results are those of `isa.semantics.values`; what no address or branch condition has
needed so far is rejected with an error that names it.
"""

from __future__ import annotations

from isa.errors import IsaError
from isa.semantics.instruction import bit_width
from isa.semantics.values import DispatchedValue, Number, Value

_TYPES = {
    "b1": "np.bool_", "u8": "np.uint8", "i8": "np.int8", "u16": "np.uint16", "i16": "np.int16", "u32": "np.uint32",
    "i32": "np.int32", "u64": "np.uint64", "i64": "np.int64", "f16": "np.float16", "f32": "np.float32",
    "f64": "np.float64",
}  # fmt: skip


_FORMS = {
    "__add__": "{} + {}", "__sub__": "{} - {}", "__mul__": "{} * {}", "__neg__": "np.negative({})",
    "__and__": "{} & {}", "__or__": "{} | {}", "__xor__": "{} ^ {}", "__invert__": "~{}",
    "__eq__": "{} == {}", "__ne__": "{} != {}", "__lt__": "{} < {}", "__le__": "{} <= {}", "__gt__": "{} > {}",
    "__ge__": "{} >= {}", "popcount": "np.bitwise_count({}).astype({own})", "clz": "clz({}, {bits})",
    "ctz": "ctz({}, {bits})", "bitreverse": "bitreverse({}, {bits})", "floor": "np.floor({})",
    "ceil": "np.ceil({})", "trunc": "np.trunc({})", "rint": "np.rint({})",
    "sqrt": "np.sqrt({})", "rcp": "(1 / {}.astype(np.float64)).astype({own})",
    "rsq": "(1 / np.sqrt({}.astype(np.float64))).astype({own})", "exp2": "np.exp2({}.astype(np.float64)).astype({own})",
    "log2": "np.log2({}.astype(np.float64)).astype({own})",
    "sin": "np.sin(2 * np.pi * {}.astype(np.float64)).astype({own})",
    "cos": "np.cos(2 * np.pi * {}.astype(np.float64)).astype({own})",
    "scaled_fma": "np.ldexp({}.astype(np.float64) * {} + {}, {}).astype({own})",
}  # fmt: skip


class Statements:
    """Statements of a block; `constants` are the arrays they name as K[i]."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: list[tuple[str, float]] = []
        self._count = 0

    def let(self, expression: str) -> str:
        """A new name for the value of an expression."""
        self._count += 1
        name = f"t{self._count}"
        self.lines.append(f"{name} = {expression}")
        return name

    def value(self, type_: str, expression: str) -> ArrayValue:
        return ArrayValue(self, type_, self.let(expression))

    def constant(self, type_: str, number: float) -> ArrayValue:
        """A scalar that is the same in all waves."""
        if type_[0] in "ui":
            bits = bit_width(type_)
            number = int(number) & ((1 << bits) - 1)
            if type_[0] == "i" and number >> (bits - 1):
                number -= 1 << bits
        key = (type_, number)
        if key not in self.constants:
            self.constants.append(key)
        return ArrayValue(self, type_, f"K[{self.constants.index(key)}]")


class ArrayValue(DispatchedValue):
    """A NumPy expression by name. See the module's docstring."""

    def __init__(self, code: Statements, type_: str, text: str) -> None:
        self.code, self.type, self.text = code, type_, text

    def _of(self, other: Number, type_: str | None = None) -> str:
        if isinstance(other, ArrayValue):
            return other.text
        assert isinstance(other, (int, float))
        return self.code.constant(type_ or self.type, other).text

    def _emit(self, expression: str, type_: str | None = None) -> ArrayValue:
        return self.code.value(type_ or self.type, expression)

    def _refuse(self, what: str) -> IsaError:
        return IsaError(
            f"the tracer cannot compute {what}",
            hint="an address or a branch depends on it: add it to isa/timing/trace/arrays.py",
        )

    def operation(self, name: str, *operands: Number, type_: str = "") -> Value:
        if name not in _FORMS:
            raise self._refuse(name.strip("_"))
        text = _FORMS[name].format(
            self.text, *map(self._of, operands), bits=bit_width(self.type), own=_TYPES[self.type]
        )
        return self._emit(text, type_)

    def __rsub__(self, other: Number) -> Value:
        return self._emit(f"{self._of(other)} - {self.text}")

    def fma(self, b: Number, c: Number) -> Value:
        wide = f"{self.text}.astype(np.float64) * {self._of(b)} + {self._of(c)}"
        return self._emit(f"({wide}).astype({_TYPES[self.type]})")

    def div(self, other: Number) -> Value:
        return self._emit(f"{self.text} {'/' if self.type[0] == 'f' else '//'} {self._of(other)}")

    def mulhi(self, other: Number) -> Value:
        if self.type not in ("u32", "i32"):
            raise self._refuse("a 128-bit product")
        wide = "np.uint64" if self.type == "u32" else "np.int64"
        return self._emit(f"(({self.text}.astype({wide}) * {self._of(other)}) >> 32).astype({_TYPES[self.type]})")

    def _amount(self, other: Number) -> str:
        if isinstance(other, ArrayValue) and other.type != self.type:
            return f"{other.text}.astype({_TYPES[self.type]})"
        return self._of(other)

    def __lshift__(self, other: Number) -> Value:
        return self._emit(f"{self.text} << {self._amount(other)}")

    def __rshift__(self, other: Number) -> Value:
        return self._emit(f"{self.text} >> {self._amount(other)}")

    def select(self, yes: Number, no: Number) -> Value:
        model = yes if isinstance(yes, ArrayValue) else no
        assert isinstance(model, ArrayValue)
        return self._emit(f"np.where({self.text}, {model._of(yes)}, {model._of(no)})", model.type)

    def bits(self, type_: str) -> Value:
        if type_ == self.type:
            return self
        return self._emit(f"{self.text}.view({_TYPES[type_]})", type_)

    def to(self, type_: str) -> Value:
        if type_ == self.type:
            return self
        if "bf16" in (type_, self.type):
            raise self._refuse("bfloat16")
        return self._emit(f"{self.text}.astype({_TYPES[type_]})", type_)

    def to_int(self, type_: str) -> Value:
        low, high = (-(1 << bit_width(type_) - 1), (1 << bit_width(type_) - 1) - 1)
        if type_[0] == "u":
            low, high = 0, (1 << bit_width(type_)) - 1
        return self._emit(
            f"np.clip(np.trunc(np.nan_to_num({self.text}.astype(np.float64))), {low}, {high}).astype({_TYPES[type_]})",
            type_,
        )

    def lane(self, index: Number) -> Value:
        return self._emit(f"lane({self.text}, {self._of(index, 'u32')})")

    def with_lane(self, index: Number, value: Number) -> Value:
        return self._emit(f"np.where(LANES == {self._of(index, 'u32')}, {self._of(value)}, {self.text})")

    def shuffle(self, index: Value) -> Value:
        return self._emit(f"lane({self.text}, {self._of(index)})")

    def mask(self) -> Value:
        return self._emit(f"mask({self.text})", "u32")

    def lanes(self) -> Value:
        return self._emit(f"({self.text} >> LANES & ONE) != 0", "b1")
