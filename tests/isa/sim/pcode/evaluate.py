"""Tree -> closures: `program(text)` gives what runs the statements in an environment.

An environment holds the values of names: `Value`s, lists of them (arrays), `Place`s (memory and register files) and
dictionaries of fields (WAVE_MODE.IEEE). What a text writes lies in it afterwards. Another instruction that a text calls
(v_max_f16) is its own text, run on the arguments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pcode import floats, syntax
from pcode.floats import EVEN, F64, ZERO
from pcode.functions import FUNCTIONS, conversion, two_over_pi
from pcode.values import (
    NO,
    ONE,
    Value,
    binary,
    cast,
    flag,
    integer,
    piece,
    placed,
    rounded,
    stored,
    unary,
    view,
    view_type,
)

Env = dict[str, Any]
Expression = Callable[[Env], Any]
Statement = Callable[[Env], "str | None"]


class Place(Protocol):
    """Memory, or a register file: `depth` indexes name one item of `bits` bits."""

    depth: int

    def load(self, at: Sequence[int], bits: int) -> Value: ...

    def store(self, at: Sequence[int], bits: int, new: Value) -> None: ...


class NoValue(Exception):
    """The text has no value: a name or function that nobody defined."""


def _f64(x: float) -> Value:
    return Value("F", 64, floats.pack(F64, floats.from_float(x)))


def _f32(bits: int) -> Value:
    return Value("F", 32, bits)


CONSTANTS: Env = {
    "INF": _f64(math.inf),
    "NAN": Value("F", 64, F64.infinity | F64.quiet, ((0, F64),)),
    "DENORM": Value("D", 0, 0),
    "PI": _f64(math.pi),
    "MAX_FLOAT_F32": _f32(0x7F7FFFFF),
    # What an overflow and an underflow give where rounding is to nearest.
    "OVERFLOW_F32": _f32(0x7F800000),
    "UNDERFLOW_F32": _f32(0),
    "OVERFLOW_F64": _f64(math.inf),
    "UNDERFLOW_F64": _f64(0.0),
    "WAVE32": ONE,
    "wave32": ONE,
    "WAVE64": NO,
    "ROUND_MODE": Value("U", 2, EVEN),
    "ROUND_NEAREST_EVEN": Value("U", 2, EVEN),
    "ROUND_TOWARD_ZERO": Value("U", 2, ZERO),
    # The table of V_CVT_OFF_F32_I4 (ISA guide 16.8): a signed number of sixteenths.
    "CVT_OFF_TABLE": [rounded("F", 32, floats.from_float((n if n < 8 else n - 16) / 16)) for n in range(16)],
    "true": ONE,
    "false": NO,
}


@functools.cache
def program(text: str) -> Statement:
    """The statements of a text."""
    return _block(syntax.parse(text))


@functools.cache
def condition(text: str) -> Expression:
    """One expression."""
    return _expression(syntax.parse_expression(text))


# --- statements


def _block(nodes: Sequence[object]) -> Statement:
    rows = [_statement(node) for node in nodes]
    if len(rows) == 1:
        return rows[0]

    def run(env: Env) -> str | None:
        for row in rows:
            left = row(env)
            if left is not None:
                return left
        return None

    return run


def _statement(node: object) -> Statement:
    if isinstance(node, syntax.Assign):
        return _assignment(node)
    if isinstance(node, syntax.If):
        return _branches(node)
    if isinstance(node, syntax.For):
        return _loop(node)
    if isinstance(node, syntax.Declare):
        return _declaration(node)
    if isinstance(node, syntax.Break):
        return lambda env: "break"
    if isinstance(node, syntax.Return):
        value = _expression(node.value)

        def leave(env: Env) -> str:
            env["return"] = value(env)
            return "return"

        return leave
    assert isinstance(node, syntax.Call)
    if node.name in ("nop", "s_nop"):
        return lambda env: None
    raise NoValue(f"{node.name} as a statement")


def _branches(node: syntax.If) -> Statement:
    arms = [(_expression(test), _block(body)) for test, body in node.arms]
    otherwise = _block(node.otherwise)

    def run(env: Env) -> str | None:
        for test, body in arms:
            if test(env).true:
                return body(env)
        return otherwise(env)

    return run


def _loop(node: syntax.For) -> Statement:
    first, last, body, name = _expression(node.first), _expression(node.last), _block(node.body), node.name

    def run(env: Env) -> str | None:
        low, high = first(env), last(env)
        for i in range(low.number, high.number + 1):
            env[name] = Value(low.kind, low.width, i)
            left = body(env)
            if left == "break":
                break
            if left is not None:
                return left
        return None

    return run


def _declaration(node: syntax.Declare) -> Statement:
    """Of a name that is not there yet: the operands are declared, too."""

    def run(env: Env) -> None:
        if node.name not in env and node.name not in CONSTANTS:
            zero = Value(node.kind, node.width, 0)
            env[node.name] = [zero] * node.count if node.count else zero

    return run


def _assignment(node: syntax.Assign) -> Statement:
    if isinstance(node.value, syntax.Lambda):
        assert isinstance(node.target, syntax.Name)
        name, function = node.target.name, _lambda(node.value)

        def define(env: Env) -> None:
            env[name] = lambda *arguments: function(env, arguments)

        return define
    value = _expression(node.value)
    if isinstance(node.target, syntax.Concat):
        parts = [(_target(part), _width(part)) for part in reversed(node.target.parts)]

        def spread(env: Env) -> None:
            whole, at = value(env), 0
            for part, width in parts:
                part(env, piece(whole, at, width))
                at += width

        return spread
    write = _target(node.target)
    if not node.op:
        return lambda env: write(env, value(env))
    read, op = _expression(node.target), node.op
    return lambda env: write(env, binary(op, read(env), value(env)))


def _width(node: object) -> int:
    """Of a part of a concatenation that is written: its view says it."""
    assert isinstance(node, syntax.Path)
    assert isinstance(node.steps[-1], syntax.View)
    type_ = view_type(node.steps[-1].name)
    assert type_ is not None
    return type_[1]


def _target(node: object) -> Callable[[Env, Value], None]:
    if isinstance(node, syntax.Name):
        name = node.name

        def whole(env: Env, new: Value) -> None:
            old = env.get(name)
            env[name] = placed(old, 0, old.width, stored(new, "B", old.width)) if name in env["registers"] else new

        return whole
    assert isinstance(node, syntax.Path)
    assert isinstance(node.base, syntax.Name)
    name = node.base.name
    if name == "TRAPSTS":  # exceptions, which nobody reads
        return lambda env, new: None
    steps = [_step(step) for step in node.steps]

    def part(env: Env, new: Value) -> None:
        old = env.get(name)
        if hasattr(old, "store"):
            at = [steps[k](env)[0] for k in range(old.depth)]
            kind, first, count = _where(steps[old.depth :], env, new.width)
            new = stored(new, kind, count)
            if name == "VGPR" and (first or count < 32):  # a part of a register
                count, new = 32, placed(old.load(at, 32), first, count, new)
            old.store(at, count, new)
            return
        if isinstance(old, list):
            at = steps[0](env)[0]
            old = list(old)
            kind, first, count = _where(steps[1:], env, old[at].width)
            old[at] = placed(old[at], first, count, stored(new, kind, count))
            env[name] = old
            return
        kind, first, count = _where(steps, env, 0)
        env[name] = placed(old or Value("B", 0, 0), first, count, stored(new, kind, count))

    return part


def _where(steps: Sequence[Callable[..., Any]], env: Env, width: int) -> tuple[str, int, int]:
    """(type, first bit, how many) of the place that views, bits and slices name."""
    kind, first, count = "B", 0, width
    for step in steps:
        low, bits, type_ = step(env)
        first += low
        count = bits
        kind = type_
    return kind, first, count


def _step(step: object) -> Callable[[Env], tuple[int, int, str]]:
    """(first bit, how many, type) relative to what stands in front."""
    if isinstance(step, syntax.View):
        type_ = view_type(step.name)
        if type_ is None:
            raise NoValue(f"the field {step.name} as a place")
        kind, width = type_
        return lambda env: (0, width, kind)
    if isinstance(step, syntax.Index):
        at = _expression(step.at)
        return lambda env: (at(env).number, 1, "B")
    assert isinstance(step, syntax.Slice)
    high, low = _expression(step.high), _expression(step.low)
    if step.count:
        return lambda env: (high(env).number, low(env).number, "B")

    def between(env: Env) -> tuple[int, int, str]:
        a, b = high(env).number, low(env).number
        return b, a - b + 1, "B"

    return between


# --- expressions


def _expression(node: object) -> Expression:
    if isinstance(node, syntax.Number):
        return _constant(_number(node))
    if isinstance(node, syntax.Name):
        return _name(node.name)
    if isinstance(node, syntax.Path):
        return _path(node)
    if isinstance(node, syntax.Unary):
        op, a = node.op, _expression(node.a)
        return lambda env: unary(op, a(env))
    if isinstance(node, syntax.Binary):
        return _binary(node)
    if isinstance(node, syntax.Choice):
        test, yes, no = _expression(node.condition), _expression(node.yes), _expression(node.no)
        return lambda env: yes(env) if test(env).true else no(env)
    if isinstance(node, syntax.Cast):
        return _cast(node)
    if isinstance(node, syntax.Concat):
        return _concatenation([_expression(part) for part in reversed(node.parts)])
    assert isinstance(node, syntax.Call)
    return _call(node)


def _constant(value: object) -> Expression:
    return lambda env: value


def _number(node: syntax.Number) -> Value:
    if node.kind == "F":
        return rounded("F", node.width, floats.from_float(node.value))
    assert isinstance(node.value, int)
    return integer(node.kind, node.width, node.value)


def _name(name: str) -> Expression:
    def read(env: Env) -> Any:
        found = env.get(name)
        if found is None:
            found = CONSTANTS.get(name)
            if found is None:
                raise NoValue(f"the name {name}")
        return found

    return read


def _binary(node: syntax.Binary) -> Expression:
    op, a, b = node.op, _expression(node.a), _expression(node.b)
    if op == "&&":
        return lambda env: flag(a(env).true and b(env).true)
    if op == "||":
        return lambda env: flag(a(env).true or b(env).true)
    return lambda env: binary(op, a(env), b(env))


def _cast(node: syntax.Cast) -> Expression:
    kind, width = node.kind, node.width
    if kind == "F" and isinstance(node.a, syntax.Number) and node.a.hexadecimal:  # 16'F(0xfe00): a pattern
        return _constant(Value("F", width, node.a.value))
    if kind == "B" and width > 1000:  # 1201'B(2.0 / PI): the digits after the point, which the text explains
        return _constant(Value("B", width, two_over_pi(width)))
    a = _expression(node.a)
    if kind == "B":
        return lambda env: stored(a(env), "B", width)
    return lambda env: cast(a(env), kind, width)


def _concatenation(parts: Sequence[Expression]) -> Expression:
    def join(env: Env) -> Value:
        whole = Value("B", 0, 0)
        for part in parts:
            value = part(env)
            whole = placed(whole, whole.width, value.width, value)
        return whole

    return join


def _call(node: syntax.Call) -> Expression:
    name, arguments = node.name, [_expression(a) for a in node.arguments]
    function = FUNCTIONS.get(name)
    if function is not None:
        return lambda env: function(*(a(env) for a in arguments))
    convert = conversion(name)
    if convert is not None:
        mode = _name("ROUND_MODE")
        return lambda env: convert(arguments[0](env), mode(env).bits)
    if name.startswith("Calc"):  # CalcGlobalAddr(v_addr.b64, s_saddr.b64) and the like: places.Memory knows it
        return _name("ADDR")
    if name.startswith(("v_", "s_")):
        return lambda env: _other(name, env, [a(env) for a in arguments])
    return lambda env: _defined(name, env)(*(a(env) for a in arguments))


def _defined(name: str, env: Env) -> Callable[..., Value]:
    if name not in env:
        raise NoValue(f"the function {name}")
    found: Callable[..., Value] = env[name]
    return found


def _other(name: str, env: Env, arguments: Sequence[Value]) -> Value:
    """What another instruction's text leaves in D0."""
    text = env["TEXTS"].get(name)
    if text is None:
        raise NoValue(f"the instruction {name}")
    inner: Env = {key: env[key] for key in ("WAVE_MODE", "TEXTS")} | {"registers": {}, "D0": Value("B", 0, 0)}
    inner.update({f"S{i}": a for i, a in enumerate(arguments)})
    program(text)(inner)
    found = inner["D0"]
    like = arguments[0]
    return view(found, like.kind, like.width) if like.width == found.width else found


def _lambda(node: syntax.Lambda) -> Callable[[Env, Sequence[Value]], Value]:
    if isinstance(node.body, tuple):
        body = _block(node.body)

        def result(env: Env) -> Any:
            body(env)
            return env["return"]

    else:
        result = _expression(node.body)
    return lambda env, arguments: result({**env, **dict(zip(node.parameters, arguments, strict=True))})


def _reversed(a: Value) -> Value:
    return Value(a.kind, a.width, int(f"{a.bits:0{a.width}b}"[::-1], 2))


def _path(node: syntax.Path) -> Expression:
    base = _expression(node.base)
    first = node.steps[0]
    if isinstance(first, syntax.View) and view_type(first.name) is None:
        field = first.name
        read = _follow(node.steps[1:])
        return lambda env: read(env, base(env)[field])
    read = _follow(node.steps)
    return lambda env: read(env, base(env))


def _follow(steps: Sequence[object]) -> Callable[[Env, Any], Any]:
    if not steps:
        return lambda env, value: value
    readers = [_reader(step) for step in steps]
    places = [None if isinstance(step, syntax.View) else _step(step) for step in steps]
    if len(readers) == 1 and isinstance(steps[0], syntax.View):
        return readers[0]
    # What is read of memory or of a register file: the view after the indexes says how much.
    after = next((step for step in steps if not isinstance(step, syntax.Index)), None)
    type_ = view_type(after.name) if isinstance(after, syntax.View) else None
    bits = type_[1] if type_ else 32

    def read(env: Env, value: Any) -> Any:
        todo = 0
        if hasattr(value, "load"):
            todo = value.depth
            value = value.load([places[k](env)[0] for k in range(todo)], bits)
        elif isinstance(value, list):
            value, todo = value[places[0](env)[0]], 1
        for reader in readers[todo:]:
            value = reader(env, value)
        return value

    return read


def _reader(step: object) -> Callable[[Env, Value], Value]:
    if isinstance(step, syntax.View):
        type_ = view_type(step.name)
        if type_ is None:
            raise NoValue(f"the field {step.name} of a value")
        return lambda env, value: view(value, *type_)
    where = _step(step)

    def read(env: Env, value: Value) -> Value:
        first, count, _ = where(env)
        if count < 1:  # [0 : 31]
            return _reversed(piece(value, first + count - 1, 2 - count))
        return piece(value, first, count)

    return read
