"""Vector comparison (VOPC): V_CMP writes a lane mask, V_CMPX writes EXEC. RDNA3 ISA guide 16.9."""

from __future__ import annotations

from collections.abc import Callable

from isa.instructions.words import is_nan
from isa.semantics.instruction import inst
from isa.semantics.values import Value

_Compare = Callable[[Value, Value], Value]
_ORDERED: dict[str, _Compare] = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _false(a: Value, b: Value) -> Value:
    return (a.bits("u" + a.type[1:]) & 0) != 0


def _true(a: Value, b: Value) -> Value:
    return ~_false(a, b)


def _not(f: _Compare) -> _Compare:
    return lambda a, b: ~f(a, b)


def _lg(a: Value, b: Value) -> Value:
    return (a < b) | (a > b)


def _unordered(a: Value, b: Value) -> Value:
    return is_nan(a) | is_nan(b)


_INTEGER = _ORDERED | {"ne": lambda a, b: a != b}
FLOAT = _ORDERED | {
    "lg": _lg,
    "o": _not(_unordered),
    "u": _unordered,
    "nge": _not(_ORDERED["ge"]),
    "nlg": _not(_lg),
    "ngt": _not(_ORDERED["gt"]),
    "nle": _not(_ORDERED["le"]),
    "neq": _not(_ORDERED["eq"]),
    "nlt": _not(_ORDERED["lt"]),
    "f": _false,
    "t": _true,
}


def _class(a: Value, mask: Value) -> Value:
    """Whether the class of `a` is one that the mask names: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0,
    +denormal, +normal, +inf are its bits 0 to 9."""
    mantissa_bits, size = {"f16": (10, 16), "f32": (23, 32), "f64": (52, 64)}[a.type]
    u = f"u{size}"
    bits = a.bits(u)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    top = (1 << (size - 1 - mantissa_bits)) - 1
    exponent = (bits >> mantissa_bits) & top
    negative = (bits >> (size - 1)) == 1
    quiet = ((mantissa >> (mantissa_bits - 1)) & 1) == 1
    inf, nan = (exponent == top) & (mantissa == 0), (exponent == top) & (mantissa != 0)
    zero, denormal = (exponent == 0) & (mantissa == 0), (exponent == 0) & (mantissa != 0)
    normal = (exponent != 0) & (exponent != top)
    classes = [nan & ~quiet, nan & quiet]
    classes += [negative & c for c in (inf, normal, denormal, zero)]
    classes += [~negative & c for c in (zero, denormal, normal, inf)]
    result = _false(a, a)
    for number, holds in enumerate(classes):
        result = result | (holds & (((mask >> number) & 1) == 1))
    return result


def _describe(name: str, operands: str, f: _Compare, kind: str, **lives: str) -> None:
    sched = "f64" if kind == "f64" else "valu_64" if kind.endswith("64") else "valu"
    inst(f"v_cmp_{name} =m, {operands}", f, sched=sched, **lives)
    inst(f"v_cmpx_{name} {operands}", f, sched=sched, writes="exec", **lives)


for kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for op, f in _INTEGER.items():
        _describe(f"{op}_{kind}", f"a.{kind}, a.{kind}", f, kind)
    if not kind.endswith("16"):
        _describe(f"f_{kind}", f"a.{kind}, a.{kind}", _false, kind, until="gfx1200")
        _describe(f"t_{kind}", f"a.{kind}, a.{kind}", _true, kind, until="gfx1200")
for kind in ("f16", "f32", "f64"):
    for op, f in FLOAT.items():
        _describe(f"{op}_{kind}", f"a.{kind}, a.{kind}", f, kind, **({"until": "gfx1200"} if op in "ft" else {}))
    _describe(f"class_{kind}", f"a.{kind}, a.{'u16' if kind == 'f16' else 'u32'}", _class, kind)
