"""Names of C++ kernels: what the source calls a symbol of the Itanium C++ ABI, and which symbol a user means.

    source_name("_Z5scaleIfLi64EEvPT_S0_")  ->  "scale<float, 64>"
    meant_by("scale<float,64>", symbols)    ->  that symbol, if there is no other of this name

Of a symbol only the function's name is read, with its namespaces and template arguments, not its parameters. Limits:
templates whose arguments are expressions, functions, or templates themselves stay as they are mangled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from isa.errors import IsaError, meant

K = TypeVar("K")

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "w": "wchar_t", "Dh": "half", "DF16_": "_Float16", "DF16b": "__bf16", "Di": "char32_t",
    "Ds": "char16_t", "Du": "char8_t", "Dn": "decltype(nullptr)",
}  # fmt: skip
_AFTER = {"P": "*", "R": "&", "O": "&&", "K": " const", "V": " volatile", "r": " restrict"}
_STD = {"Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string"}
_SUFFIX = {"j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
"""Of a literal, by its type."""


class _Unread(Exception):
    """What this reader does not know."""


class _NameReader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.seen: list[str] = []
        """What S_, S0_, S1_ and so on stand for."""
        self.given: list[str] = []
        """The last template arguments: what T_, T0_ and so on stand for."""

    def take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def match(self, pattern: str) -> str:
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            raise _Unread
        self.at = found.end()
        return found[1]

    def name(self) -> str:
        if not self.take("N"):
            made = f"std::{self.source()}" if self.take("St") else self.back() if self.ahead("S") else self.source()
            if self.ahead("I"):
                if made not in self.seen:
                    self.seen.append(made)
                made += self.arguments()
            return made
        self.match("([rVK]*)")
        made = ""
        while not self.take("E"):
            if self.ahead("S") and not self.ahead("St"):
                made = self.back()
                continue
            if self.ahead("I"):
                made += self.arguments()
            elif self.take("St"):
                made = "std"
                continue
            else:
                made = f"{made}::{self.source()}" if made else self.source()
            if not self.ahead("E") or self.inside:
                self.seen.append(made)
        return made

    inside = False
    """Whether a type is read, all of which may be named again; the function itself may not."""

    def ahead(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def source(self) -> str:
        length = int(self.match(r"L?(\d+)"))
        self.at += length
        found = self.text[self.at - length : self.at]
        if len(found) != length:
            raise _Unread
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def back(self) -> str:
        for short, long in _STD.items():
            if self.take(short):
                return long
        digits = self.match("S([0-9A-Z]*)_")
        number = int(digits, 36) + 1 if digits else 0
        if number >= len(self.seen):
            raise _Unread
        return self.seen[number]

    def arguments(self) -> str:
        outer, self.inside = self.inside, True
        self.at += 1
        found: list[str] = []
        while not self.take("E"):
            found += self.argument()
        self.inside, self.given = outer, found
        text = ", ".join(found)
        return f"<{text}>"

    def argument(self) -> list[str]:
        if self.take("J"):
            pack: list[str] = []
            while not self.take("E"):
                pack += self.argument()
            return pack
        if not self.take("L"):
            return [self.type()]
        kind = self.text[self.at : self.at + 1]
        named = self.type()
        value = self.match(r"(n?\d+)E").replace("n", "-")
        if kind == "b":
            return ["true" if value == "1" else "false"]
        if kind != "i" and kind not in _SUFFIX:
            return [f"({named}){value}"]
        return [value + _SUFFIX.get(kind, "")]

    def type(self) -> str:
        for short, long in _BUILTIN.items():
            if self.take(short):
                return long
        letter = self.text[self.at : self.at + 1]
        if letter in _AFTER and letter:
            self.at += 1
            made = self.type() + _AFTER[letter]
        elif self.take("Dv"):
            length = self.match(r"(\d+)_")
            made = f"{self.type()} __vector({length})"
        elif letter == "S" and not self.ahead("St"):
            made = self.back()
            if not self.ahead("I"):
                return made
            made += self.arguments()
        elif letter == "T":
            digits = self.match("T([0-9A-Z]*)_")
            number = int(digits, 36) + 1 if digits else 0
            if number >= len(self.given):
                raise _Unread
            made = self.given[number]
        elif letter.isdigit() or letter == "N" or self.ahead("St"):
            nested = letter == "N"
            made = self.name()
            if nested:
                return made
        else:
            raise _Unread
        self.seen.append(made)
        return made


def source_name(symbol: str) -> str:
    """What the source calls a function; the symbol itself where that is not known."""
    if not symbol.startswith("_Z"):
        return symbol
    reader = _NameReader(symbol)
    reader.at = 2
    try:
        return reader.name()
    except (_Unread, RecursionError):
        return symbol


def parameters(symbol: str) -> list[str]:
    """The types of a function's parameters as the source calls them; none where they are not known."""
    reader = _NameReader(symbol.partition(".")[0])
    reader.at = 2
    found: list[str] = []
    try:
        if not symbol.startswith("_Z"):
            return []
        template = reader.name().endswith(">")
        given = reader.given
        reader.inside = True
        if template:
            reader.type()  # of what it gives back
        while reader.at < len(reader.text):
            reader.given = given
            found.append(reader.type())
    except (_Unread, RecursionError):
        return []
    return [] if found == ["void"] else found


def meant_by(name: str, symbols: Collection[str]) -> str | None:
    """The symbol that a user means by a symbol or by a name of the source, with or without its namespaces and template
    arguments; None where there is none, or more than one."""
    if name in symbols:
        return name
    wanted = "".join(name.split())
    named = {symbol: "".join(source_name(symbol).split()) for symbol in symbols}
    for shorten in ("^", "<.*", "^[^<]*::", "^[^<]*::|<.*"):
        found = [symbol for symbol, text in named.items() if re.sub(shorten, "", text) == wanted]
        if found:
            return found[0] if len(found) == 1 else None
    return None


_SHOWN = 8
"""Names in a message."""


def chosen(
    name: str | None, kernels: Mapping[str, K], called: str, expected: str, error: type[IsaError] = IsaError
) -> K:
    """The kernel that a user means by a name (`meant_by`), or the only one there is. Else the error, which lists the
    names. called: what holds the kernels; expected: what it lacks where there is none."""
    if not name and len(kernels) == 1:
        return next(iter(kernels.values()))
    if not kernels:
        raise error(f"{called} has no kernel", expected=expected)
    found = meant_by(name, kernels) if name else None
    if found is None:
        raise error(
            f"{called} has no kernel {name!r}" if name else f"{called} has several kernels",
            expected=one_of(kernels),
            hint=which(name, kernels),
        )
    return kernels[found]


def one_of(symbols: Collection[str]) -> str:
    """Kernels to choose from, as a message says it."""
    more = f" and {len(symbols) - _SHOWN} more" if len(symbols) > _SHOWN else ""
    return "one of " + ", ".join(map(source_name, list(symbols)[:_SHOWN])) + more


def which(name: str | None, symbols: Collection[str]) -> str | None:
    """What to do where a kernel's name was none of these, or none was said."""
    return meant(name, [*map(source_name, symbols), *symbols]) if name else "--kernel NAME"
