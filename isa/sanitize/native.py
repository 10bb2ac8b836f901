"""Small functions in Python's syntax -> native code, for what observers do between instructions.

In:  Python functions. Each value is an unsigned number of 64 bits; arithmetic wraps; comparisons give 0 or 1.
Out: LLVM IR with one function `i64 @name(i64, ...)` for each, optimised and compiled by `compile_functions`.

What may be written:

    x = y + 1, x |= 2            locals; + - * // % & | ^ << >> ~, and or not (which stop early), comparisons,
                                 x in (a, b)
    if, while, for i in range    range(n) or range(a, n); `return x`
    u8[p], u32[p + 4 * i] = x    memory at an address: u8, u16, u32, u64
    t.field, t.field[i] = x      a ctypes Structure at address t: of a parameter `t: Thread`, or a local
                                 `t: Thread = struct(address)`; at(t) is its address
    f(x, y)                      another of the functions; `call(p, x, y)` one by its address; `fetch_add(p, n)` and
                                 `fetch_set(p, n)`, each as one step for all threads
    NAME, Class.MEMBER           integers of the functions' module

A shift by 64 or more gives what LLVM says: anything. There is no other type, no exception, no allocation.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from isa.sim import translations
from isa.sim.jit import Native, Target, compile_ir, load_object
from isa.sim.translations import Translated

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "udiv", ast.Mod: "urem", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "lshr",
}  # fmt: skip
_COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "ult", ast.LtE: "ule", ast.Gt: "ugt", ast.GtE: "uge"}


class Memory:
    """What `u8` to `u64` are for a reader and for mypy; native code has them built in."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __getitem__(self, address: int) -> int:
        raise TypeError("only in native code")

    def __setitem__(self, address: int, value: int) -> None:
        raise TypeError("only in native code")


u8, u16, u32, u64 = (Memory(bits) for bits in (8, 16, 32, 64))


def at(structure: object) -> int:
    """The address of a structure; only in native code."""
    raise TypeError("only in native code")


def struct(address: int) -> Any:
    """The structure at an address; only in native code."""
    raise TypeError("only in native code")


def call(function: int, *arguments: int) -> int:
    """Call the function at an address; only in native code."""
    raise TypeError("only in native code")


def fetch_add(address: int, value: int) -> int:
    """Add to the u64 at an address and give what it was, as one step; only in native code."""
    raise TypeError("only in native code")


def fetch_set(address: int, value: int) -> int:
    """Set the u64 at an address and give what it was, as one step, which nothing else is moved across; only in native
    code."""
    raise TypeError("only in native code")


def compile_functions(functions: Sequence[Callable[..., Any]], target: Target) -> Native:
    """Native code with each function under its own name, from the disk where it was made before. A function that uses
    anything else raises SyntaxError."""
    which = [f"{f.__module__}.{f.__name__}" for f in functions]
    name = translations.key(("functions", which, target.name, target.features))

    def translate() -> Translated:
        return Translated(compile_ir(functions_text(functions), target, optimise=True), 0, frozenset())

    return load_object(translations.find_or_make(name, translate).code, target)


def functions_text(functions: Sequence[Callable[..., Any]]) -> str:
    """Their IR."""
    names = {f.__name__ for f in functions}
    return "\n".join(_Function(f, names).text() for f in functions)


class _Function:
    """One function on its way to IR. Locals are allocas; LLVM makes values of them."""

    def __init__(self, function: Callable[..., Any], functions: set[str]) -> None:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree, self.functions = tree, functions
        self.globals: dict[str, Any] = function.__globals__
        self.structs: dict[str, type[ctypes.Structure]] = {}
        self.locals: dict[str, None] = {}
        self.lines: list[str] = []
        self.count = 0
        self.closed = False

    def text(self) -> str:
        parameters = [a.arg for a in self.tree.args.args]
        for a in self.tree.args.args:
            self._annotate(a.arg, a.annotation)
        for name in parameters:
            self.locals[name] = None
        self._body(self.tree.body)
        if not self.closed:
            self._line("ret i64 0")
        head = [f"  %{name}.at = alloca i64" for name in self.locals]
        head += [f"  store i64 %{name}, ptr %{name}.at" for name in parameters]
        signature = ", ".join(f"i64 %{name}" for name in parameters)
        return "\n".join(
            [f"define i64 @{self.tree.name}({signature}) {{", "entry.0:", *head, *self.lines, "}"]
        )  # fmt: skip

    # --- writing
    def _line(self, text: str) -> None:
        if self.closed:  # behind a return: a block that nothing reaches
            self._label(self._name("dead"))
        self.lines.append("  " + text)
        self.closed = text.startswith(("ret ", "br "))

    def _label(self, name: str) -> None:
        if not self.closed:
            self.lines.append(f"  br label %{name}")
        self.lines.append(f"{name}:")
        self.closed = False

    def _name(self, hint: str = "t") -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def _emit(self, expression: str) -> str:
        name = f"%{self._name()}"
        self._line(f"{name} = {expression}")
        return name

    def _refuse(self, node: ast.AST, what: str = "") -> SyntaxError:
        return SyntaxError(f"{self.tree.name}: {ast.unparse(node)}: {what or 'is not part of the language'}")

    def _annotate(self, name: str, annotation: ast.expr | None) -> None:
        found = self.globals.get(annotation.id) if isinstance(annotation, ast.Name) else None
        if isinstance(found, type) and issubclass(found, ctypes.Structure):
            self.structs[name] = found

    # --- statements
    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):  # a docstring
                self._value(node.value)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node.targets[0], self._value(node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            assert isinstance(node.target, ast.Name)
            self._annotate(node.target.id, node.annotation)
            self._assign(node.target, self._value(node.value))
        elif isinstance(node, ast.AugAssign):
            old = self._value(node.target)
            self._assign(node.target, self._binary(node.op, old, self._value(node.value)))
        elif isinstance(node, ast.Return):
            value = self._value(node.value) if node.value is not None else "0"
            self._line(f"ret i64 {value}")
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.While) and not node.orelse:
            self._while(node)
        elif isinstance(node, ast.For) and not node.orelse:
            self._for(node)
        else:
            raise self._refuse(node)

    def _if(self, node: ast.If) -> None:
        name = self._name("if")
        self._line(f"br i1 {self._truth(node.test)}, label %{name}.then, label %{name}.else")
        self._label(f"{name}.then")
        self._body(node.body)
        if not self.closed:
            self._line(f"br label %{name}.end")
        self._label(f"{name}.else")
        self._body(node.orelse)
        self._label(f"{name}.end")

    def _while(self, node: ast.While) -> None:
        name = self._name("while")
        self._label(name)
        self._line(f"br i1 {self._truth(node.test)}, label %{name}.do, label %{name}.end")
        self._label(f"{name}.do")
        self._body(node.body)
        if not self.closed:
            self._line(f"br label %{name}")
        self._label(f"{name}.end")

    def _for(self, node: ast.For) -> None:
        """`for i in range(...)`: the end is computed once."""
        calls = (
            isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range"
        )
        if not calls or not isinstance(node.target, ast.Name):
            raise self._refuse(node)
        assert isinstance(node.iter, ast.Call)
        bounds = [self._value(a) for a in node.iter.args]
        first, end = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        self._assign(node.target, first)
        name = self._name("for")
        self._label(name)
        more = self._emit(f"icmp ult i64 {self._value(node.target)}, {end}")
        self._line(f"br i1 {more}, label %{name}.do, label %{name}.end")
        self._label(f"{name}.do")
        self._body(node.body)
        if not self.closed:
            self._assign(node.target, self._emit(f"add i64 {self._value(node.target)}, 1"))
            self._line(f"br label %{name}")
        self._label(f"{name}.end")

    def _assign(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.locals[target.id] = None
            self._line(f"store i64 {value}, ptr %{target.id}.at")
            return
        place, bits = self._place(target)
        if bits < 64:
            value = self._emit(f"trunc i64 {value} to i{bits}")
        self._line(f"store i{bits} {value}, ptr {place}, align 1")

    # --- expressions
    def _value(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(int(node.value))
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                return self._emit(f"load i64, ptr %{node.id}.at")
            return self._constant(node, self.globals.get(node.id))
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self._value(node.left), self._value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self._emit(f"xor i64 {self._value(node.operand)}, -1")
        if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
            return self._emit(f"zext i1 {self._truth(node)} to i64")
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in self.structs:
            return self._constant(node, getattr(self.globals.get(node.value.id), node.attr, None))
        if isinstance(node, ast.Attribute | ast.Subscript):
            place, bits = self._place(node)
            word = self._emit(f"load i{bits}, ptr {place}, align 1")
            return word if bits == 64 else self._emit(f"zext i{bits} {word} to i64")
        raise self._refuse(node)

    def _constant(self, node: ast.expr, value: object) -> str:
        if not isinstance(value, int):
            raise self._refuse(node, "is no number")
        return str(int(value))

    def _binary(self, operator: ast.operator, a: str, b: str) -> str:
        return self._emit(f"{_BINARY[type(operator)]} i64 {a}, {b}")

    def _truth(self, node: ast.expr) -> str:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            assert isinstance(node.comparators[0], ast.Tuple)
            return self._truth(
                ast.BoolOp(ast.Or(), [ast.Compare(node.left, [ast.Eq()], [e]) for e in node.comparators[0].elts])
            )
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            a, b = self._value(node.left), self._value(node.comparators[0])
            return self._emit(f"icmp {_COMPARE[type(node.ops[0])]} i64 {a}, {b}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._emit(f"xor i1 {self._truth(node.operand)}, true")
        if isinstance(node, ast.BoolOp):
            return self._early(node)
        return self._emit(f"icmp ne i64 {self._value(node)}, 0")

    def _early(self, node: ast.BoolOp) -> str:
        name = self._name("early")
        self.locals[name] = None
        decides = "false" if isinstance(node.op, ast.And) else "true"
        for i, part in enumerate(node.values):
            truth = self._truth(part)
            self._line(f"store i64 {self._emit(f'zext i1 {truth} to i64')}, ptr %{name}.at")
            if i + 1 < len(node.values):
                more = truth if decides == "false" else self._emit(f"xor i1 {truth}, true")
                self._line(f"br i1 {more}, label %{name}.{i}, label %{name}.end")
                self._label(f"{name}.{i}")
        self._label(f"{name}.end")
        return self._emit(f"icmp ne i64 {self._emit(f'load i64, ptr %{name}.at')}, 0")

    def _call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name):
            raise self._refuse(node)
        name, values = node.func.id, [self._value(a) for a in node.args]
        arguments = ", ".join(f"i64 {v}" for v in values)
        if name in self.functions:
            return self._emit(f"call i64 @{name}({arguments})")
        if name in ("at", "struct"):
            return values[0]
        if name == "call":
            pointer = self._emit(f"inttoptr i64 {values[0]} to ptr")
            return self._emit(f"call i64 {pointer}({arguments.partition(', ')[2]})")
        if name == "fetch_add":
            pointer = self._emit(f"inttoptr i64 {values[0]} to ptr")
            return self._emit(f"atomicrmw add ptr {pointer}, i64 {values[1]} monotonic")
        if name == "fetch_set":
            pointer = self._emit(f"inttoptr i64 {values[0]} to ptr")
            return self._emit(f"atomicrmw xchg ptr {pointer}, i64 {values[1]} seq_cst")
        raise self._refuse(node)

    def _place(self, node: ast.expr) -> tuple[str, int]:
        """(a pointer, bits) of memory."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            memory = self.globals.get(node.value.id)
            if not isinstance(memory, Memory):
                raise self._refuse(node)
            return self._emit(f"inttoptr i64 {self._value(node.slice)} to ptr"), memory.bits
        index = node.slice if isinstance(node, ast.Subscript) else None
        field = node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(field, ast.Attribute) or not isinstance(field.value, ast.Name):
            raise self._refuse(node)
        struct = self.structs.get(field.value.id)
        types = {name: type_ for name, type_, *_ in getattr(struct, "_fields_", ())}
        if struct is None or field.attr not in types:
            raise self._refuse(node, "no such field")
        type_ = types[field.attr]
        if isinstance(type_, type) and issubclass(type_, ctypes.Array):
            type_ = type_._type_
        at = self._emit(f"add i64 {self._value(field.value)}, {getattr(struct, field.attr).offset}")
        size = ctypes.sizeof(type_)
        if index is not None:
            at = self._emit(f"add i64 {at}, {self._emit(f'mul i64 {self._value(index)}, {size}')}")
        return self._emit(f"inttoptr i64 {at} to ptr"), 8 * size
