"""Each rule of the validator's algebra held against arithmetic, for all values, by a solver (z3).

A rule is an arm of the code: a branch, a conditional expression or a return in a method of `Terms`, the two classes
that it is made of, or `SymbolicValue`. `Instrumented` reads their modules, marks all arms, and so knows which of them a
check went through: the registry of rules is the code itself, and an arm that no check reaches is a rule that nobody
checked.

A check makes terms, calls one method, and asks the solver whether some values of the unknowns, in some lane, make the
result another number than the method's meaning does. Meanings stand in `MEANING`, in SMT-LIB's bit vectors at whole
width. An unknown that differs from lane to lane is a function of the lane; `mask` is put together of 32 lanes. Each
term's `ones` and `uniform` are claims, too, and are asked for. Floats are IEEE 754's with 6 bits, where NaNs are one
value: commuted operands may exchange payloads.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import random
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import prod
from typing import Any
from unittest import mock

import z3

from isa.algebra import ranges, sums, terms, truth, values

CHECKED = {ranges: "Ranges", sums: "Sums", truth: "Truth", terms: "Terms", values: "SymbolicValue"}
"""Each behind those that it imports."""
MOST = (1 << 32) - 1
LANE = z3.BitVec("lane", 5)


# --- arms
class _Mark(ast.NodeTransformer):
    def __init__(self, klass: str, arms: dict[str, str], source: str) -> None:
        self.klass, self.arms, self.lines, self.method = klass, arms, source.splitlines(keepends=True), ""

    def _call(self, node: ast.AST) -> ast.expr:
        # ast.get_source_segment splits the whole source each time.
        rows = self.lines[node.lineno - 1 : node.end_lineno]  # type: ignore[attr-defined]
        rows[-1] = rows[-1][: node.end_col_offset]  # type: ignore[attr-defined]
        rows[0] = rows[0][node.col_offset :]  # type: ignore[attr-defined]
        text = " ".join("".join(rows).split())
        name = f"{self.klass}.{self.method}: {text}"
        while name in self.arms:
            name += " (again)"
        self.arms[name] = text
        return ast.Call(ast.Name("_hit", ast.Load()), [ast.Constant(name)], [])

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if node.name == self.klass:
            node.body = [self._function(n) if isinstance(n, ast.FunctionDef) else n for n in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # of no class, or of one that has no rules

    def _function(self, node: ast.FunctionDef) -> ast.AST:
        self.method = node.name
        node.body = [self.visit(n) for n in node.body]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        marks = [ast.Expr(self._call(body[0])) if body else None for body in (node.body, node.orelse)]
        self.generic_visit(node)
        node.body = [marks[0], *node.body] if marks[0] else node.body
        node.orelse = [marks[1], *node.orelse] if marks[1] else node.orelse
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None:
            mark = self._call(node)
            value = self.visit(node.value)
            node.value = ast.Subscript(ast.Tuple([mark, value], ast.Load()), ast.Constant(1), ast.Load())
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        marks = [self._call(n) for n in (node.body, node.orelse)]
        self.generic_visit(node)
        node.body, node.orelse = (
            ast.Subscript(ast.Tuple([mark, n], ast.Load()), ast.Constant(1), ast.Load())
            for mark, n in zip(marks, (node.body, node.orelse), strict=True)
        )
        return node


@cache
def _marked(klass: str, source: str, file: str) -> tuple[types.CodeType, dict[str, str]]:
    """A module's code with the arms of a class marked, and these."""
    arms: dict[str, str] = {}
    tree = ast.fix_missing_locations(_Mark(klass, arms, source).visit(ast.parse(source)))
    return compile(tree, file, "exec"), arms


class Instrumented:
    """The modules with their arms marked. change: (old, new) texts of a rule that is broken on purpose."""

    def __init__(self, change: tuple[str, str] | None = None) -> None:
        self.arms: dict[str, str] = {}
        self.hits: set[str] = set()
        made: dict[str, types.ModuleType] = {}
        changed = change is None
        for module, klass in CHECKED.items():
            source = inspect.getsource(module)
            if change is not None and change[0] in source:
                source, changed = source.replace(*change, 1), True
            code, arms = _marked(klass, source, module.__file__ or "")
            self.arms |= arms
            out = types.ModuleType(f"marked.{module.__name__}")
            out.__dict__["_hit"] = self.hits.add
            with mock.patch.dict(sys.modules, {m.__name__: made[k] for m, k in CHECKED.items() if k in made}):
                exec(code, out.__dict__)
            made[klass] = out
        assert changed, f"no {change} in the validator's algebra"
        self.terms, self.values = made["Terms"], made["SymbolicValue"]


# --- terms as bit vectors
class Meaning:
    """Terms of one table as z3's expressions, in one lane."""

    def __init__(self) -> None:
        self._of: dict[tuple[Any, Any], Any] = {}
        self.given: list[Any] = []
        self.held: dict[int, Any] = {}
        """Claims that hold, by their numbers: what is given only becomes more."""
        self._limited: set[Any] = set()

    def of(self, t: Any, lane: Any = LANE) -> Any:
        key = (t, None if t.uniform else lane)
        found = self._of.get(key)
        if found is None:
            found = self._of[key] = self._made(t, LANE if t.uniform and t.op not in ("unknown", "lane") else lane)
        return found

    def _made(self, t: Any, lane: Any) -> Any:
        width, a = t.width, t.args
        args = (
            [self.of(x, lane) for x in a if type(x) is type(t)]
            if t.op not in ("mask", "sum", "lane", "shuffle")
            else []
        )
        match t.op:
            case "const":
                return z3.BitVecVal(a[0], width)
            case "unknown":
                return self._limit(self._unknown(str(a[0]), width, t.uniform, lane), t.ones)
            case "sum":
                rows = [self.of(u, lane) * z3.BitVecVal(c, width) for u, c in a[1]]
                return sum(rows, z3.BitVecVal(a[0], width))
            case "mul":
                return args[0] * args[1]
            case "product":
                return prod(args[1:], start=args[0])
            case "zext" | "wide":
                return z3.ZeroExt(width - a[0].width, args[0])
            case "word" | "low":
                return z3.Extract(width - 1, 0, args[0])
            case "hi":
                return z3.Extract(63, 32, args[0])
            case "select" | "ite":
                return z3.If(args[0] == 1, args[1], args[2])
            case "lanes":
                return z3.Extract(0, 0, z3.LShR(args[0], z3.ZeroExt(27, lane)))
            case "mask":
                return z3.Concat([self.of(a[0], z3.BitVecVal(k, 5)) for k in reversed(range(32))])
            case "zero":
                return _bit(args[0] == 0)
            case "equal" if len(args) == len(a):
                return _bit(args[0] == args[1])
            case "ult":
                return _bit(z3.ULT(args[0], args[1]))
            case "slt":
                return _bit(args[0] < args[1])
            case "and":
                return args[0] & args[1]
            case "or":
                return args[0] | args[1]
            case "xor":
                return args[0] ^ args[1]
            case "shl" | "shr" | "sar":
                return _shifted(t.op, args[0], args[1])
            case "lane" | "shuffle":
                return self.of(a[0], z3.Extract(4, 0, self.of(a[1], lane)))
            case "high product":
                type_ = a[0]
                return _mulhi(args[0], args[1], signed=type_[0] == "i")
            case "sext" | "extend":
                return z3.SignExt(width - args[0].size(), args[0])
        return _float(t, args)

    def _unknown(self, name: str, width: int, uniform: bool, lane: Any) -> Any:
        if uniform:
            return z3.BitVec(name, width)
        return z3.Function(name, z3.BitVecSort(5), z3.BitVecSort(width))(lane)

    def _limit(self, value: Any, ones: int) -> Any:
        if ones != (1 << value.size()) - 1:
            self.given.append(value & z3.BitVecVal(~ones, value.size()) == 0)
        return value


def _bit(truth: Any) -> Any:
    return z3.If(truth, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def _shifted(op: str, a: Any, by: Any) -> Any:
    """By any amount, as SMT-LIB shifts."""
    width = max(a.size(), by.size())
    full = z3.SignExt if op == "sar" else z3.ZeroExt
    wide, n = full(width - a.size(), a), z3.ZeroExt(width - by.size(), by)
    out = {"shl": lambda: wide << n, "shr": lambda: z3.LShR(wide, n), "sar": lambda: wide >> n}[op]()
    return z3.Extract(a.size() - 1, 0, out)


def _mulhi(a: Any, b: Any, *, signed: bool) -> Any:
    full = z3.SignExt if signed else z3.ZeroExt
    width = a.size()
    return z3.Extract(2 * width - 1, width, full(width, a) * full(width, b))


SMALL = z3.FPSort(3, 3)
"""What stands for f16: rules of floats ask for no width, and a solver decides sums of products of 6 bits at once."""
ROUNDING = z3.Const("rounding", z3.RNE().sort())


def _small(bits: Any) -> Any:
    return z3.fpBVToFP(z3.Extract(5, 0, bits), SMALL)


FLOATS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: z3.fpAdd(ROUNDING, a, b), "subtract": lambda a, b: z3.fpSub(ROUNDING, a, b),
    "multiply": lambda a, b: z3.fpMul(ROUNDING, a, b), "fma": lambda a, b, c: z3.fpFMA(ROUNDING, a, b, c),
    "negate": z3.fpNeg, "equal": z3.fpEQ, "less": z3.fpLT, "at most": z3.fpLEQ,
}  # fmt: skip


def _float(t: Any, args: list[Any]) -> Any:
    """Of f16; a number as what it is, a comparison as a bit."""
    known = FLOATS.get(t.op)
    if known is None or not any(x == "f16" for x in t.args):
        raise NotImplementedError(f"say in Meaning what {t.op!r} means")
    found = known(*[a if z3.is_fp(a) else _small(a) for a in args])
    return _bit(found) if t.width == 1 else found


# --- the solver
def counterexample(meaning: Meaning, claim: Any) -> str | None:
    """Values for which a claim does not hold; None where there are none."""
    claim = z3.simplify(claim) if not isinstance(claim, bool) else z3.BoolVal(claim)
    if z3.is_true(claim) or claim.get_id() in meaning.held:
        return None
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(*meaning.given)
    solver.add(z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, f"the solver gives up on {claim}"
    if answer == z3.sat:
        return str(solver.model())
    meaning.held[claim.get_id()] = claim
    return None


def same(a: Any, b: Any) -> Any:
    if z3.is_fp(a) or z3.is_fp(b):
        a, b = (x if z3.is_fp(x) else _small(x) for x in (a, b))
        return z3.Or(z3.And(z3.fpIsNaN(a), z3.fpIsNaN(b)), a == b)
    return a == b


# --- what is called
def zoo(t: Any, width: int) -> list[Any]:
    """Terms of a width, of each form that a rule looks for."""
    u = [t.unknown(f"u{width}.{k}", width, uniform=True) for k in range(2)]
    v = [t.unknown(f"v{width}.{k}", width, uniform=False) for k in range(2)]
    if width == 1:
        words = [t.unknown(f"u32.{k}", 32, uniform=True) for k in range(2)]
        lanes = [t.lanes(w) for w in words]
        ult = t.less(t.unknown("v32.0", 32, uniform=False), t.unknown("v32.1", 32, uniform=False), signed=False)
        return [t.false, t.true, u[0], v[0], *lanes, ult, t.both(lanes[0], v[0]), t.either(u[0], lanes[1]),
                t.differ(lanes[0], lanes[1]), t.invert(lanes[0]), t.ite(lanes[0], lanes[1], v[0])]  # fmt: skip
    full, half = (1 << width) - 1, width // 2
    small = t.unknown(f"small{width}", width, uniform=False, ones=0xF0 if width > 8 else 0x18)
    low = t.unknown(f"low{width}", width, uniform=True, ones=(1 << half) - 1)
    c = t.lanes(t.unknown("u32.0", 32, uniform=True))
    numbers = [t.const(n, width) for n in (0, 1, 0xF0 & full, full, full >> 1, 1 << half)]
    found = [*u, *v, small, low, *numbers, t.number(c, width), t.select(c, u[0], v[0]),
             t.select(t.invert(c), numbers[2], v[1]), t.select(c, t.const(5, width), t.const(9, width))]  # fmt: skip
    found += [t.bit_and(v[0], numbers[2]), t.bit_or(v[0], v[1]), t.bit_or(small, v[0]), t.bit_xor(v[0], v[1])]
    found += [t.shr(v[0], t.const(3, 32)), t.shl(v[0], t.const(3, 32)), t.bit_or(small, t.const(0xF, width))]
    if width >= 32:
        found += [t.add(u[0], v[0]), t.add(small, t.const(16, width)), t.scale(low, 8), t.sub(v[0], u[0]),
                  t.add(t.scale(v[0], 3), t.const(full - 4, width))]  # fmt: skip
    if width == 32:
        wide = t.unknown("u64.0", 64, uniform=True)
        found += [t.trunc(wide), t.hi(wide), t.mask(v_one(t)), t.wide(t.unknown("v16.0", 16, uniform=False), 32),
                  t.mask(t.both(c, v_one(t)))]  # fmt: skip
    if width == 64:
        word, other = (t.unknown(f"v32.{k}", 32, uniform=False) for k in range(2))
        near = t.unknown("small32", 32, uniform=False, ones=0xF0)
        found += [t.zext(word), t.high(other), t.joined(word, other), t.zext(near), t.add(t.zext(near), t.zext(word)),
                  t.scale(t.zext(word), 1 << 32), t.add(t.scale(t.zext(near), 1 << 32), u[0])]  # fmt: skip
    if width == 16:
        found += [t.low(t.unknown("v32.0", 32, uniform=False), 16), t.wide(t.unknown("v8.0", 8, uniform=False), 16)]
    return list(dict.fromkeys(found))


def v_one(t: Any) -> Any:
    return t.unknown("v1.0", 1, uniform=False)


WIDTHS = (8, 16, 32, 64)
Case = tuple[str, Any, Callable[[Meaning], Any]]
"""What was called, its result, and what must hold of it."""


def cases(marked: Instrumented, per: int = 26, only: str = "") -> Iterator[Case]:
    """Calls of each method. per: pairs of operands, by chance, where there are more; only: the method."""
    t, pick = marked.terms.Terms(), random.Random(7)
    every = {width: zoo(t, width) for width in (1, *WIDTHS)}

    def wanted(name: str) -> bool:
        return only in ("", name)

    def pairs(a: list[Any], b: list[Any]) -> list[tuple[Any, Any]]:
        rows = list(itertools.product(a, b))
        equal = [row for row in rows if row[0] is row[1]]
        return (pick.sample(rows, per) if len(rows) > per else rows) + pick.sample(equal, min(3, len(equal)))

    def unary(
        name: str, widths: tuple[int, ...], f: Callable[[Any], Any], means: Callable[[Any], Any]
    ) -> Iterator[Case]:
        for a in [a for w in widths for a in every[w]] if wanted(name) else ():
            yield f"{name}({a})", f(a), lambda m, r=None, a=a: means(m.of(a))

    def binary(name: str, widths: tuple[int, ...], f: Callable[..., Any], means: Callable[..., Any]) -> Iterator[Case]:
        for w in widths if wanted(name) else ():
            for a, b in pairs(every[w], every[w]):
                yield f"{name}({a}, {b})", f(a, b), lambda m, a=a, b=b: means(m.of(a), m.of(b))

    bit = z3.BitVecVal
    yield from binary("add", (32, 64), t.add, lambda a, b: a + b)
    yield from binary("add", (32,), lambda a, b: t.add(a, b, 3), lambda a, b: a + 3 * b)
    yield from binary("sub", (32, 64), t.sub, lambda a, b: a - b)
    yield from binary("mul", WIDTHS[:3], t.mul, lambda a, b: a * b)
    for by in (3, -1, 1 << 31) if wanted("scale") else ():
        yield from unary("scale", (32, 64), lambda a, by=by: t.scale(a, by), lambda a, by=by: a * by)
    yield from unary("split", (32, 64), lambda a: t.sum(t.split(a)[0], t.parts(t.split(a)[1])[1], a.width), lambda a: a)
    yield from unary("zext", (32,), t.zext, lambda a: z3.ZeroExt(32, a))
    for ones in (0xFFFFFFFF, 0x1FFFFFFFF) if wanted("zext") else ():
        word = t.trunc(t.unknown(f"ones{ones}", 64, uniform=False, ones=ones))
        yield f"zext({word})", t.zext(word), lambda m, a=word: z3.ZeroExt(32, m.of(a))
    yield from unary("trunc", (64,), t.trunc, lambda a: z3.Extract(31, 0, a))
    yield from unary("hi", (64,), t.hi, lambda a: z3.Extract(63, 32, a))
    yield from unary("high", (32,), t.high, lambda a: z3.Concat(a, bit(0, 32)))
    carry = t.number(t.less(every[32][2], every[32][0], signed=False), 32)
    if wanted("high"):
        yield "high(carry)", t.high(carry), lambda m: z3.Concat(m.of(carry), bit(0, 32))
        other = t.select(t.less(every[32][2], every[32][0], signed=True), t.const(1, 32), t.const(0, 32))
        yield "high(no carry)", t.high(other), lambda m: z3.Concat(m.of(other), bit(0, 32))
        wide = t.number(t.less(every[64][0], every[64][1], signed=False), 32)
        yield "high(a wide carry)", t.high(wide), lambda m: z3.Concat(m.of(wide), bit(0, 32))
        deep = t.number(t.both(v_one(t), t.less(every[32][2], every[32][0], signed=False)), 32)
        yield "high(two conditions)", t.high(deep), lambda m: z3.Concat(m.of(deep), bit(0, 32))
        total = t.add(every[32][0], every[32][4])  # the carry of an address, as compilers add it
        over = t.number(t.less(total, every[32][4], signed=False), 32)
        yield "joined(carry)", t.joined(total, over), lambda m: z3.Concat(m.of(over), m.of(total))
    yield from binary("joined", (32,), t.joined, lambda a, b: z3.Concat(b, a))
    yield from unary("invert", (1,), t.invert, lambda a: ~a)
    yield from binary("both", (1,), t.both, lambda a, b: a & b)
    yield from binary("either", (1,), t.either, lambda a, b: a | b)
    yield from binary("differ", (1,), t.differ, lambda a, b: a ^ b)
    for w in (1, *WIDTHS) if wanted("select") else ():
        for c in every[1]:
            for a, b in pick.sample(list(itertools.product(every[w], every[w])), max(per // 6, 2)):
                yield (
                    f"select({c}, {a}, {b})",
                    t.select(c, a, b),
                    lambda m, a=a, b=b, c=c: z3.If(m.of(c) == 1, m.of(a), m.of(b)),
                )
    if wanted("select"):
        alone = [t.unknown(f"alone{k}", 1, uniform=False) for k in range(20)]
        for values in ([0, 1, 2, 1, 0, 3], [*range(truth.MOST_ARMS + 3)]):  # some twice; more than have an order
            found, means = every[32][4], lambda m: m.of(every[32][4])
            for c, n in zip(alone, values, strict=False):
                found = t.select(c, t.const(n, 32), found)
                means = partial(lambda c, n, rest, m: z3.If(m.of(c) == 1, bit(n, 32), rest(m)), c, n, means)
            yield f"select of {len(values)} values", found, means
    if wanted("implies"):
        for a, b in itertools.product(every[1], every[1]):
            if t.implies(a, b):
                yield f"implies({a}, {b})", t.true, lambda m, a=a, b=b: m.of(a) & ~m.of(b) ^ bit(1, 1)
    nested = [t.select(a, t.select(b, x, y), z) for a, b, (x, y, z) in itertools.product(
        every[1][4:8], every[1][2:6], [every[32][:3], every[32][6:9]])]  # fmt: skip
    for name, rows in (("under", [*every[32], *nested]), ("narrowed", every[1])):
        for a, c in pairs(rows, every[1]) * 2 if wanted(name) else ():
            made = getattr(t, name)(a, c)
            # It must agree where c holds, and may be anything elsewhere.
            yield f"{name}({a}, {c})", made, lambda m, a=a, c=c, made=made: z3.If(m.of(c) == 1, m.of(a), m.of(made))
    for w in WIDTHS if wanted("number") else ():
        yield from unary("number", (1,), lambda c, w=w: t.number(c, w), lambda c, w=w: z3.ZeroExt(w - 1, c))
    for a in every[32] if wanted("lanes") else ():
        if a.uniform:
            yield f"lanes({a})", t.lanes(a), lambda m, a=a: z3.Extract(0, 0, z3.LShR(m.of(a), z3.ZeroExt(27, LANE)))
    for c in every[1] if wanted("mask") else ():
        yield f"mask({c})", t.mask(c), lambda m, c=c: z3.Concat([m.of(c, bit(k, 5)) for k in reversed(range(32))])
    yield from unary("zero", WIDTHS, t.zero, lambda a: _bit(a == 0))
    yield from binary("equal", (1, *WIDTHS), t.equal, lambda a, b: _bit(a == b))
    chosen = [t.select(c, t.const(x, 32), t.const(y, 32)) for c in every[1][4:6] for x, y in ((1, 2), (3, 3), (1, 7))]
    for a, n in itertools.product(chosen, (1, 7)) if wanted("equal") else ():
        yield f"equal({a}, {n})", t.equal(a, t.const(n, 32)), lambda m, a=a, n=n: _bit(m.of(a) == n)
    yield from binary("less", WIDTHS, lambda a, b: t.less(a, b, signed=False), lambda a, b: _bit(z3.ULT(a, b)))
    yield from binary("less", WIDTHS, lambda a, b: t.less(a, b, signed=True), lambda a, b: _bit(a < b))
    for n in (0, 1, 2, 0x80) if wanted("less") else ():
        for w in WIDTHS:
            k = t.const(n, w)
            for a in every[w][:6]:
                yield f"less({a}, {k})", t.less(a, k, signed=False), lambda m, a=a, k=k: _bit(z3.ULT(m.of(a), m.of(k)))
                yield f"less({k}, {a})", t.less(k, a, signed=False), lambda m, a=a, k=k: _bit(z3.ULT(m.of(k), m.of(a)))
    for name, means in (
        ("bit_and", lambda a, b: a & b),
        ("bit_or", lambda a, b: a | b),
        ("bit_xor", lambda a, b: a ^ b),
    ):
        yield from binary(name, WIDTHS, getattr(t, name), means)
        words = [a for a in every[32] if a.uniform]
        for a, b in pick.sample(list(itertools.product(words, words)), per) if wanted(name) else ():
            yield f"{name}({a}, {b})", getattr(t, name)(a, b), lambda m, a=a, b=b, f=means: f(m.of(a), m.of(b))
    for w in WIDTHS if wanted("bit_and") else ():
        ored = next(a for a in every[w] if a.op == "or")
        for a in [*every[w], t.select(every[1][4], ored, every[w][0]), t.select(every[1][5], every[w][2], ored)]:
            k = t.const(0x5C, w)
            yield f"bit_and({a}, {k})", t.bit_and(a, k), lambda m, a=a, k=k: m.of(a) & m.of(k)
    yield from unary("bit_not", WIDTHS, t.bit_not, lambda a: ~a)
    for n in (0, 1, 3, 5, 31, 32, 35, 64) if per > 8 else (0, 3, 35) if wanted("shl") or wanted("shr") else ():
        by = t.const(n, 32)
        yield from unary("shl", WIDTHS, lambda a, by=by: t.shl(a, by), lambda a, n=n: _shifted("shl", a, bit(n, 32)))
        yield from unary("shr", WIDTHS, lambda a, by=by: t.shr(a, by), lambda a, n=n: _shifted("shr", a, bit(n, 32)))
        signed = [a for w in WIDTHS for a in every[w]] if wanted("shr") else []
        for a in signed:
            yield f"sar({a}, {n})", t.shr(a, by, signed=True), lambda m, a=a, n=n: _shifted("sar", m.of(a), bit(n, 32))
    unknown = every[32][2]
    for op, signed_ in (("shl", False), ("shr", False), ("sar", True)) if wanted("shl") or wanted("shr") else ():
        a = every[32][3]
        made = t.shl(a, unknown) if op == "shl" else t.shr(a, unknown, signed=signed_)
        yield f"{op}({a}, {unknown})", made, lambda m, a=a, op=op: _shifted(op, m.of(a), m.of(unknown))
    if wanted("shr"):
        twice = t.shr(t.scale(every[32][5], 8), t.const(2, 32))
        yield "shr of a multiple", twice, lambda m: z3.LShR(m.of(every[32][5]) * 8, 2)
        yield from _shifted_sums(t)
    for w in (8, 16) if wanted("low") else ():
        masked = [t.bit_and(a, t.const(0xFFFF, 32)) for a in every[32][:6]]
        for a in [*every[32], *every[64], *masked, t.wide(every[w][2], 32)]:
            yield f"low({a}, {w})", t.low(a, w), lambda m, a=a, w=w: z3.Extract(w - 1, 0, m.of(a))
    for a in every[16] if wanted("low") else ():
        yield f"low({a}, 8)", t.low(a, 8), lambda m, a=a: z3.Extract(7, 0, m.of(a))
    for w, to in ((8, 16), (8, 32), (16, 32), (8, 64), (16, 64)) if wanted("wide") else ():
        yield from unary("wide", (w,), lambda a, to=to: t.wide(a, to), lambda a, w=w, to=to: z3.ZeroExt(to - w, a))
    yield from _symbols(marked, every, t, wanted, pairs, per)
    yield from _sums(every, t, wanted)
    yield from _ranged(marked, wanted, per)


def _sums(every: dict[int, list[Any]], t: Any, wanted: Callable[[str], bool]) -> Iterator[Case]:
    """Products of products and of long sums; masks of sums whose parts are apart, or not; selections in sums."""
    x, y, z = (t.unknown(f"factor{i}", 32, uniform=True) for i in range(3))
    bits = [t.unknown(f"one{i}", 32, uniform=False, ones=1) for i in range(16)]
    long = t.sum(0, {b: 3 << i for i, b in enumerate(bits)}, 32)
    if wanted("mul"):
        yield "mul of a product", t.mul(t.mul(x, y), z), lambda m: m.of(x) * m.of(y) * m.of(z)
        wide = t.mul(t.zext(x), t.zext(y))
        yield "trunc of a product", t.trunc(wide), lambda m: m.of(x) * m.of(y)
        yield "mul of long sums", t.mul(long, long), lambda m: m.of(long) * m.of(long)
    near, far, odd = (t.unknown(f"apart {o:#x}", 32, uniform=False, ones=o) for o in (0x7, 0x3F0, 0x38))
    rows = [(0, {bits[0]: 5, bits[1]: 0x30, near: 1 << 8}), (0, {bits[0]: 5, bits[1]: 6}), (3, {near: 8, far: 16}),
            (1, {odd: 3 << 10, near: 1 << 4}), (0, {far: 3}), (0, {far: 1 << 26, near: 1}), (9, {x: 1 << 16, near: 2}),
            (0, {bits[0]: 0x40001, bits[1]: 0x80002, bits[2]: 0x100004})]  # fmt: skip
    for (const, factors), n in itertools.product(rows, (0x5C, 0xFFFF, 0xF00, 0xFFFF0000)) if wanted("bit_and") else ():
        a = t.sum(const, factors, 32)
        k = t.const(n, 32)
        yield f"{a} & {n:#x}", t.bit_and(a, k), lambda m, a=a, k=k: m.of(a) & m.of(k)
    for const, factors in rows if wanted("shr") else ():
        a = t.sum(const, factors, 32)
        yield f"{a} >> 16", t.shr(a, t.const(16, 32)), lambda m, a=a: z3.LShR(m.of(a), 16)
    c, d = every[1][4], every[1][3]
    nothing = t.const(0, 32)
    for other in (t.invert(c), d):
        one, two = t.select(c, x, nothing), t.select(other, y, nothing)
        made = t.add(t.scale(one, 4), t.add(t.scale(two, 4), z))
        if wanted("add"):
            yield f"sum {made}", made, lambda m, a=one, b=two: 4 * m.of(a) + 4 * m.of(b) + m.of(z)
    same = t.unknown("same", 1, uniform=True)
    for a in (t.select(same, t.const(-1, 32), nothing), t.select(same, x, nothing)) if wanted("lanes") else ():
        yield f"lanes({a})", t.lanes(a), lambda m, a=a: z3.Extract(0, 0, z3.LShR(m.of(a), z3.ZeroExt(27, LANE)))
    chosen = t.select(same, x, y)
    for a in (
        chosen, t.add(t.scale(chosen, 3), z), t.mul(chosen, near), t.zext(chosen), t.sext(t.add(chosen, z)), t.zext(z),
    ):  # fmt: skip
        for b in (same, t.invert(same)) if wanted("assumed") else ():
            made = t.assumed(a, b, {})
            yield f"assumed({a}, {b})", made, lambda m, a=a, b=b, made=made: z3.If(m.of(b) == 1, m.of(a), m.of(made))


def _ranged(marked: Instrumented, wanted: Callable[[str], bool], per: int) -> Iterator[Case]:
    """Terms of a launch of which something is known: n and k units of 8, n * k at most 2**20, a group below n, a
    counter below k, a lane's bits."""
    t = marked.terms.Terms()
    n, k = (t.unknown(f"{name} units", 32, uniform=True, ones=(1 << 20) - 1) for name in "nk")
    group = t.unknown("group", 32, uniform=True)
    counter = t.unknown("counter", 64, uniform=True)
    bits = [t.unknown(f"bit{i}", 32, uniform=False, ones=1) for i in range(4)]
    item = t.sum(0, {b: 1 << i for i, b in enumerate(bits)}, 32)
    for unit in (n, k):
        t.ranges.lower[unit] = 1
        t.ranges.limit((unit,), 1 << 20)
    t.ranges.limit((n, k), 1 << 20)
    t.ranges.learn(group, (-1, {(n,): 1}))
    t.ranges.learn(counter, (-1, {(k,): 1}))
    times = t.trunc(counter)
    eight = t.scale(k, 8)
    after = t.add(t.scale(times, 8), t.const(8, 32))
    clamped = t.select(t.less(after, eight, signed=False), after, t.scale(times, 8))
    index = t.add(t.mul(t.scale(group, 8), k), item)
    free = t.unknown("free", 32, uniform=True)
    words = [n, group, times, after, clamped, index, t.scale(index, 64), t.scale(index, 512), t.mul(n, clamped),
             t.sub(eight, after), t.sub(after, eight), t.sub(times, k), t.add(item, t.const(-8, 32)), t.mul(n, k),
             t.mul(free, item), t.add(t.mul(n, times), free), t.scale(t.mul(item, item), 3), t.mul(n, free),
             t.select(t.less(eight, after, signed=False), free, item),
             t.select(t.less(after, eight, signed=False), t.sub(eight, after), n)]  # fmt: skip

    def known(m: Meaning, means: Any) -> Any:
        a, b, c, d = (m.of(x) for x in (n, k, group, counter))
        wide = [z3.ZeroExt(32, x) for x in (a, b, c)]
        m.given += [a != 0, b != 0, z3.ULE(wide[0] * wide[1], 1 << 20), z3.ULT(c, a), z3.ULT(d, wide[1])]
        m.given = list(dict.fromkeys(m.given))
        return means

    if wanted("ranges"):
        late, early = (
            t.unknown("late", 32, uniform=True, ones=0xFFFF),
            t.unknown("31 bits", 32, uniform=True, ones=MOST >> 1),
        )
        t.ranges.lower[late] = 1
        for a, b in ((t.add(late, t.const(-1, 32)), early), (early, t.add(late, t.const(-1, 32)))):
            yield (
                f"less({a}, {b})",
                t.less(a, b, signed=False),
                lambda m, a=a, b=b: z3.If(
                    m.of(late) == 0, m.of(t.less(a, b, signed=False)), _bit(z3.ULT(m.of(a), m.of(b)))
                ),
            )
        small, far = (t.unknown(f"{o:#x}", 32, uniform=True, ones=o) for o in (0xFF, 0xFFFFFE00))
        above = t.add(far, t.const(256, 32))
        yield "less(small, far)", t.less(small, above, signed=False), lambda m: _bit(z3.ULT(m.of(small), m.of(above)))
    for a in (words if per > 5 else words[1::3]) if wanted("ranges") else ():
        yield f"zext({a})", t.zext(a), lambda m, a=a: known(m, z3.ZeroExt(32, m.of(a)))
        yield f"sext({a})", t.sext(a), lambda m, a=a: known(m, z3.SignExt(32, m.of(a)))
        yield f"sar({a})", t.shr(a, t.const(31, 32), signed=True), lambda m, a=a: known(m, m.of(a) >> 31)
        yield f"shr({a})", t.shr(a, t.const(20, 32)), lambda m, a=a: known(m, z3.LShR(m.of(a), 20))
        yield f"zero({a})", t.zero(a), lambda m, a=a: known(m, _bit(m.of(a) == 0))
        wide = t.add(t.sext(a), t.scale(t.zext(n), 1 << 32))
        yield f"hi({wide})", t.hi(wide), lambda m, wide=wide: known(m, z3.Extract(63, 32, m.of(wide)))
        for b in (eight, after, item, t.const(8, 32)):
            for signed in (False, True):
                yield (
                    f"less({a}, {b}, {signed})", t.less(a, b, signed=signed),
                    lambda m, a=a, b=b, s=signed: known(m, _bit(m.of(a) < m.of(b) if s else z3.ULT(m.of(a), m.of(b)))),
                )  # fmt: skip


def _shifted_sums(t: Any) -> Iterator[Case]:
    """Sums that do not wrap, of which some parts carry into the high bits of others and some do not."""
    x, y, far, odd = (
        t.unknown(f"bits {ones:#x}", 32, uniform=False, ones=ones) for ones in (0x3FF, 0x1C, 0xFFFF, 0x38)
    )
    rows = [(0, {x: 128, y: 1}), (32, {x: 128, y: 4}), (0x90, {x: 4, y: 1}), (0x20, {x: 3, y: 4}), (3, {x: 64, y: 1})]
    rows += [(0x1FF, {far: 16, odd: 1}), (1, {odd: 48}), (0x81, {odd: 48, y: 1}), (5, {x: 1}), (-1, {x: 1})]
    rows += [(0, {y: 3}), (7, {x: 4, far: 3, odd: 16}), (0x84, {x: 128, y: 3}), (256, {x: 6})]
    rows += [(6, {x: 1 << 28, y: 8}), (0x1F0, {x: -16, far: 48 << 16}), (-1, {odd: 1 << 27})]
    for (const, factors), n in itertools.product(rows, (3, 5, 7)):
        a = t.sum(const, factors, 32)
        yield f"shr({a}, {n})", t.shr(a, t.const(n, 32)), lambda m, a=a, n=n: z3.LShR(m.of(a), n)


def _symbols(
    marked: Instrumented, every: dict[int, list[Any]], t: Any, wanted: Callable[[str], bool],
    pairs: Callable[[list[Any], list[Any]], list[tuple[Any, Any]]], per: int,
) -> Iterator[Case]:  # fmt: skip
    """The same of operands: what they do by their types."""
    setting = marked.values.Setting(t)

    def symbol(type_: str, a: Any) -> Any:
        return marked.values.SymbolicValue(type_, a, setting)

    def both(name: str, f: Callable[..., Any], means: Callable[..., Any], *types_: str) -> Iterator[Case]:
        for type_ in types_ if wanted(name) else ():
            width = 1 if type_ == "b1" else int(type_[1:])
            for a, b in pairs(every[width], every[width])[:12]:
                made = f(symbol(type_, a), symbol(type_, b))
                yield (
                    f"{type_}: {a} {name} {b}",
                    made.term,
                    lambda m, a=a, b=b, type_=type_: means(m.of(a), m.of(b), type_[0] == "i"),
                )

    integers = ("u32", "i32", "u64")
    yield from both("+", lambda a, b: a + b, lambda a, b, s: a + b, *integers)
    yield from both("-", lambda a, b: a - b, lambda a, b, s: a - b, *integers)
    yield from both("*", lambda a, b: a * b, lambda a, b, s: a * b, "u32", "i32", "u16")
    yield from both("neg", lambda a, b: -a, lambda a, b, s: -a, *integers)
    yield from both("fma", lambda a, b: a.fma(b, 7), lambda a, b, s: a * b + 7, "u32")
    yield from both("mulhi", lambda a, b: a.mulhi(b), lambda a, b, s: _mulhi(a, b, signed=s), "u32", "i32")
    for name, f in (("&", lambda a, b: a & b), ("|", lambda a, b: a | b), ("^", lambda a, b: a ^ b)):
        yield from both(name, f, lambda a, b, s, f=f: f(a, b), "u32", "b1")
    yield from both("~", lambda a, b: ~a, lambda a, b, s: ~a, "u32", "b1")
    yield from both("<<", lambda a, b: a << 5, lambda a, b, s: a << 5, *integers)
    yield from both("<< of", lambda a, b: a << b, lambda a, b, s: _shifted("shl", a, b), "u32")
    yield from both(">>", lambda a, b: a >> 5, lambda a, b, s: a >> 5 if s else z3.LShR(a, 5), *integers)
    for name, f, g in (
        ("==", lambda a, b: a == b, lambda a, b, s: _bit(a == b)),
        ("!=", lambda a, b: a != b, lambda a, b, s: _bit(a != b)),
        ("<", lambda a, b: a < b, lambda a, b, s: _bit(a < b if s else z3.ULT(a, b))),
        (">", lambda a, b: a > b, lambda a, b, s: _bit(a > b if s else z3.UGT(a, b))),
        ("<=", lambda a, b: a <= b, lambda a, b, s: _bit(a <= b if s else z3.ULE(a, b))),
        (">=", lambda a, b: a >= b, lambda a, b, s: _bit(a >= b if s else z3.UGE(a, b))),
    ):
        yield from both(name, f, g, *integers)
    yield from both("select", lambda a, b: symbol("b1", every[1][4]).select(a, b), _chosen(every[1][4]), "u32")
    yield from both("joined", lambda a, b: a.joined(b), lambda a, b, s: z3.Concat(b, a), "u32")
    yield from both("halves", lambda a, b: a.halves()[0], lambda a, b, s: z3.Extract(31, 0, a), "u64")
    yield from both("halves", lambda a, b: a.halves()[1], lambda a, b, s: z3.Extract(63, 32, a), "u64")
    yield from both("bits", lambda a, b: a.bits("i32"), lambda a, b, s: a, "u32")
    yield from _conversions(every, symbol, wanted)
    yield from _lanes(every, t, symbol, wanted)
    yield from _floats(marked, wanted, per)


def _chosen(c: Any) -> Callable[..., Any]:
    def means(a: Any, b: Any, _: bool, m: Meaning = Meaning()) -> Any:  # noqa: B008
        return z3.If(m.of(c) == 1, a, b)

    return means


def _conversions(every: dict[int, list[Any]], symbol: Any, wanted: Callable[[str], bool]) -> Iterator[Case]:
    for old, new in (("b1", "u32"), ("b1", "u64"), ("u64", "u32"), ("u32", "u16"), ("i32", "i8"), ("u32", "i32"),
                     ("u32", "u32"), ("u16", "u32"), ("i16", "i32"), ("i32", "i64"), ("u32", "u64"),
                     ("u16", "i64")):  # fmt: skip
        width, to = (1 if x == "b1" else int(x[1:]) for x in (old, new))
        for a in every[width] if wanted("to") else ():

            def means(m: Meaning, a: Any = a, width: int = width, to: int = to, signed: bool = old[0] == "i") -> Any:
                value = m.of(a)
                if to <= width:
                    return z3.Extract(to - 1, 0, value)
                return (z3.SignExt if signed else z3.ZeroExt)(to - width, value)

            yield f"{old} to {new}: {a}", symbol(old, a).to(new).term, means


def _lanes(every: dict[int, list[Any]], t: Any, symbol: Any, wanted: Callable[[str], bool]) -> Iterator[Case]:
    words, number = every[32][:6], t.unknown("low32", 32, uniform=True, ones=31)
    index = t.unknown("index", 32, uniform=False, ones=31)
    for a in words if wanted("lane") else ():
        for n in (number, t.const(5, 32)):
            by = symbol("u32", n) if n is number else 5
            yield (
                f"lane {n} of {a}",
                symbol("u32", a).lane(by).term,
                lambda m, a=a, n=n: m.of(a, z3.Extract(4, 0, m.of(n))),
            )
        yield (
            f"{a} shuffled",
            symbol("u32", a).shuffle(symbol("u32", index)).term,
            lambda m, a=a: m.of(a, z3.Extract(4, 0, m.of(index))),
        )
    if wanted("lane"):
        truth = every[1][4]
        yield (
            "truth shuffled",
            symbol("b1", truth).shuffle(symbol("u32", index)).term,
            lambda m: m.of(truth, z3.Extract(4, 0, m.of(index))),
        )
        mask, c = every[32][0], every[1][4]
        yield (
            "lanes",
            symbol("u32", mask).lanes().term,
            lambda m: z3.Extract(0, 0, z3.LShR(m.of(mask), z3.ZeroExt(27, LANE))),
        )
        yield (
            "mask",
            symbol("b1", c).mask().term,
            lambda m: z3.Concat([m.of(c, z3.BitVecVal(k, 5)) for k in reversed(range(32))]),
        )


def _floats(marked: Instrumented, wanted: Callable[[str], bool], per: int) -> Iterator[Case]:
    """Operands in both orders of age, so that what exchanges them does; with and without leave to."""
    for commute in (True, False) if wanted("floats") else ():
        t = marked.terms.Terms(floats="commuted" if commute else "exact")
        setting = marked.values.Setting(t)
        a, b, c = (t.unknown(f"f{k}", 16, uniform=False) for k in range(3))

        def symbol(x: Any, setting: Any = setting) -> Any:
            return marked.values.SymbolicValue("f16", x, setting)

        for name, f, g in (
            ("==", lambda x, y, z: x == y, lambda x, y, z: _bit(z3.fpEQ(x, y))),
            ("!=", lambda x, y, z: x != y, lambda x, y, z: _bit(z3.Not(z3.fpEQ(x, y)))),
            ("<", lambda x, y, z: x < y, lambda x, y, z: _bit(z3.fpLT(x, y))),
            (">", lambda x, y, z: x > y, lambda x, y, z: _bit(z3.fpGT(x, y))),
            ("<=", lambda x, y, z: x <= y, lambda x, y, z: _bit(z3.fpLEQ(x, y))),
            (">=", lambda x, y, z: x >= y, lambda x, y, z: _bit(z3.fpGEQ(x, y))),
            ("+", lambda x, y, z: x + y, lambda x, y, z: z3.fpAdd(ROUNDING, x, y)),
            ("-", lambda x, y, z: x - y, lambda x, y, z: z3.fpSub(ROUNDING, x, y)),
            ("*", lambda x, y, z: x * y, lambda x, y, z: z3.fpMul(ROUNDING, x, y)),
            ("fma", lambda x, y, z: x.fma(y, z), lambda x, y, z: z3.fpFMA(ROUNDING, x, y, z)),
            ("neg", lambda x, y, z: -x, lambda x, y, z: z3.fpNeg(x)),
        ):
            for x, y, z in ((b, a, c), (a, b, c), (a, a, b), (c, b, a))[: 4 if per > 8 else 1 + commute]:
                made = f(symbol(x), symbol(y), symbol(z))
                yield (
                    f"{name} of f16, commute {commute}",
                    made.term,
                    lambda m, g=g, x=x, y=y, z=z: g(*(_small(m.of(v)) for v in (x, y, z))),
                )


def failures(marked: Instrumented, **how: Any) -> Iterator[str]:
    """Each rule that does not hold, with values that show it."""
    meaning = Meaning()
    for called, made, means in cases(marked, **how):
        wrong = counterexample(meaning, same(meaning.of(made), means(meaning)))
        if wrong:
            yield f"{called} is not {made}: {wrong}"
            continue
        if made.width > 1 and made.ones != (1 << made.width) - 1 and not z3.is_fp(meaning.of(made)):
            wrong = counterexample(meaning, meaning.of(made) & z3.BitVecVal(~made.ones, made.width) == 0)
            if wrong:
                yield f"{called}: {made} has bits beyond {made.ones:#x}: {wrong}"
        if made.uniform and made.op == "mask":  # of others it follows from their operands
            here, there = (_made_at(made, lane) for lane in (z3.BitVecVal(3, 5), z3.BitVecVal(21, 5)))
            wrong = counterexample(meaning, same(here, there))
            if wrong:
                yield f"{called}: {made} is not the same in all lanes: {wrong}"


def _made_at(t: Any, lane: Any) -> Any:
    """A term in a lane, whatever it says of itself."""
    m = Meaning()
    return m._made(t, lane)
