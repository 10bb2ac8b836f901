"""Parser of the pseudocode: text -> tree of nodes.

Statements end with `;` or with the keyword that closes their block; comments run from `//` to the line's end. Operators
bind as in C, `**` strongest; `<>` is "less or greater". Postfix: a view (`.u32`), a bit (`[i]`), a slice (`[hi : lo]`,
reversed where hi < lo) and `[base +: count]`. Numbers: `1` (i32), `1U`, `1LL`, `1ULL`, `1.0` (f64), `1.0F`, and with a
width in front, `16'0.5`, `1'1U`, `8'0xff`. A text that is prose, not code, is a SyntaxError.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """kind: U, I, B or F; width 0 where none is written; hexadecimal: written as 0x..."""

    value: int | float
    kind: str
    width: int
    hexadecimal: bool = False


@dataclass(frozen=True)
class Path:
    """A base (a name or an expression) with its steps: View, Index or Slice."""

    base: object
    steps: tuple[object, ...]


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class View:
    name: str


@dataclass(frozen=True)
class Index:
    at: object


@dataclass(frozen=True)
class Slice:
    """[high : low], or [high +: count] where `count` is set."""

    high: object
    low: object
    count: bool = False


@dataclass(frozen=True)
class Unary:
    op: str
    a: object


@dataclass(frozen=True)
class Binary:
    op: str
    a: object
    b: object


@dataclass(frozen=True)
class Choice:
    condition: object
    yes: object
    no: object


@dataclass(frozen=True)
class Cast:
    width: int
    kind: str
    a: object


@dataclass(frozen=True)
class Concat:
    parts: tuple[object, ...]


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[object, ...]


@dataclass(frozen=True)
class Lambda:
    """body: statements, or one expression."""

    parameters: tuple[str, ...]
    body: object


@dataclass(frozen=True)
class Assign:
    """op: "" for =, else + or -."""

    target: object
    op: str
    value: object


@dataclass(frozen=True)
class If:
    arms: tuple[tuple[object, tuple[object, ...]], ...]
    otherwise: tuple[object, ...]


@dataclass(frozen=True)
class For:
    name: str
    first: object
    last: object
    body: tuple[object, ...]


@dataclass(frozen=True)
class Declare:
    """count 0: one value, else an array."""

    name: str
    kind: str
    width: int
    count: int


@dataclass(frozen=True)
class Return:
    value: object


@dataclass(frozen=True)
class Break:
    pass


_TOKEN = re.compile(
    r"\s+|//[^\n]*"
    r"|(?P<number>(?:\d+')?(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?:ULL|LL|U|F)?(?![\w.']))"
    r"|(?P<cast>\d+'[UIBF](?![\w']))"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>\+:|\+=|-=|\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||[-+*/%&|^~!<>=?:;,.(){}\[\]])"
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_ENDS = {"elsif", "else", "endif", "endfor", ")", ""}


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        if m is None:
            raise SyntaxError(f"{text[at : at + 20]!r} is no token")
        at = m.end()
        if m.lastgroup is not None:
            found.append((m.lastgroup, m[0]))
    return [*found, ("end", "")]


def parse(text: str) -> tuple[object, ...]:
    """The statements of a text."""
    parser = _Parser(_tokens(text))
    body = parser.block()
    parser.take("")
    return body


def parse_expression(text: str) -> object:
    """One expression."""
    parser = _Parser(_tokens(text))
    found = parser.expression()
    parser.take("")
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][1]

    def take(self, expected: str | None = None) -> str:
        token = self.next
        if expected is not None and token != expected:
            raise SyntaxError(f"{token!r} where {expected!r} is expected")
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def found(self, token: str) -> bool:
        if self.next != token or self.tokens[self.at][0] == "end":
            return False
        self.at += 1
        return True

    # --- statements

    def block(self) -> tuple[object, ...]:
        rows = []
        while self.next not in _ENDS:
            rows.append(self.statement())
            while self.found(";"):
                pass
        return tuple(rows)

    def statement(self) -> object:
        if self.found("if"):
            return self.branches()
        if self.found("for"):
            name = self.take()
            self.take("in")
            first = self.expression()
            self.take(":")
            last = self.expression()
            self.take("do")
            body = self.block()
            self.take("endfor")
            return For(name, first, last, body)
        if self.found("declare"):
            name = self.take()
            self.take(":")
            width, kind = self.take().split("'")
            count = 0
            if self.found("["):
                count = int(self.take())
                self.take("]")
            return Declare(name, kind, int(width), count)
        if self.found("return"):
            return Return(self.expression())
        if self.found("break"):
            return Break()
        target = self.unary()
        if isinstance(target, Call):
            return target
        if self.next not in ("=", "+=", "-="):
            raise SyntaxError(f"{self.next!r} where an assignment is expected")
        op = self.take()[:-1]
        if self.found("lambda"):
            return Assign(target, op, self.function())
        return Assign(target, op, self.expression())

    def branches(self) -> If:
        arms: list[tuple[object, tuple[object, ...]]] = []
        otherwise: tuple[object, ...] = ()
        while True:
            condition = self.expression()
            self.take("then")
            arms.append((condition, self.block()))
            if self.found("elsif"):
                continue
            if self.found("else"):
                otherwise = self.block()
            self.take("endif")
            return If(tuple(arms), otherwise)

    def function(self) -> Lambda:
        self.take("(")
        parameters = [self.take()]
        while self.found(","):
            parameters.append(self.take())
        self.take(")")
        self.take("(")
        body = self.block() if self.next in ("if", "declare", "for", "return") else self.expression()
        self.take(")")
        return Lambda(tuple(parameters), body)

    # --- expressions

    def expression(self) -> object:
        condition = self.level(0)
        if not self.found("?"):
            return condition
        yes = self.expression()
        self.take(":")
        return Choice(condition, yes, self.expression())

    def level(self, n: int) -> object:
        if n == len(_LEVELS):
            return self.power()
        a = self.level(n + 1)
        while self.next in _LEVELS[n] and self.tokens[self.at][0] == "op":
            a = Binary(self.take(), a, self.level(n + 1))
        return a

    def power(self) -> object:
        a = self.unary()
        return Binary("**", a, self.unary()) if self.found("**") else a

    def unary(self) -> object:
        if self.next in ("-", "+", "~", "!"):
            return Unary(self.take(), self.unary())
        return self.postfix()

    def postfix(self) -> object:
        base = self.primary()
        steps: list[object] = []
        while True:
            if self.found("."):
                steps.append(View(self.take()))
            elif self.found("["):
                at = self.expression()
                if self.found(":"):
                    steps.append(Slice(at, self.expression()))
                elif self.found("+:"):
                    steps.append(Slice(at, self.expression(), True))
                else:
                    steps.append(Index(at))
                self.take("]")
            else:
                return Path(base, tuple(steps)) if steps else base

    def primary(self) -> object:
        group, token = self.tokens[self.at]
        self.take()
        if group == "number":
            return _number(token)
        if group == "cast":
            width, kind = token.split("'")
            self.take("(")
            a = self.expression()
            self.take(")")
            return Cast(int(width), kind, a)
        if group == "name":
            if self.next != "(":
                return Name(token)
            return Call(token, self.listed("(", ")"))
        if token == "(":
            a = self.expression()
            self.take(")")
            return a
        if token == "{":
            self.at -= 1
            return Concat(self.listed("{", "}"))
        raise SyntaxError(f"{token!r} where an expression is expected")

    def listed(self, first: str, last: str) -> tuple[object, ...]:
        self.take(first)
        rows: list[object] = []
        while not self.found(last):
            rows.append(self.expression())
            if self.next != last:
                self.take(",")
        return tuple(rows)


def _number(token: str) -> Number:
    prefix, _, rest = token.rpartition("'")
    hexadecimal = rest.startswith("0x")
    # F is a digit where the number is hexadecimal.
    digits, suffix = re.fullmatch(r"(0x[0-9a-fA-F]+|[\d.]+)(ULL|LL|U|F)?", rest).groups()
    width = int(prefix) if prefix else {"ULL": 64, "LL": 64, "F": 32}.get(suffix, 0)
    if "." in digits and not hexadecimal:
        return Number(float(digits), "F", width or 64)
    value = int(digits, 0) if hexadecimal else int(digits)
    kind = {"ULL": "U", "U": "U", "LL": "I"}.get(suffix, "B" if prefix else "I")
    return Number(value, kind, width or 32, hexadecimal)
