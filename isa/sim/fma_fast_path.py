"""FMAs at the host's speed, whose NaNs are right all the same.

In:  the body of a loop over strips that only computes, with FMAs as the rule of `isa.sim.nans` has them, each of which
     also knows its natural form, the host's one instruction.
Out: a body whose FMAs are natural, with one check of the strip's operands, and the body as it was, for strips that
     do not pass it:

        operands that the check is of
        if a lane of one of them is a NaN: all of the body in full
        else: all of the body, natural

An x86 FMA follows the rule but for one thing: LLVM may exchange its multiplicands, so where both are NaNs either may
win (and where LLVM finds a negation or a constant, it takes other instructions). So a natural body is right if one
multiplicand of each FMA is a number. The check takes one of each FMA's two, either those that more FMAs share or the
others, whichever is less work. It comes before anything is stored: the full body finds all as it was.

Hosts with other FMAs, or none, always run the full body.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isa.sim.accumulator_order import Result, ordered
from isa.sim.ir import Function

_LOCAL = re.compile(r"%(?:t|place)\d+")
_CAST = re.compile(r"= (?:bitcast|fpext) <.*?> (%t\d+) to ")
_SPLAT = re.compile(r"= shufflevector <.*?> (%t\d+), <.*?> poison, <.*?> zeroinitializer")
_INSERT = re.compile(r"= insertelement <\d+ x i32> poison, i32 (%t\d+), i32 0")
_LOAD = re.compile(r"= load i32, ptr (%t\d+), align 1")
_MOVED = re.compile(r"= getelementptr i8, ptr (%t\d+), i64 (-?\d+)$")
_SUMS = 4
"""Sums that the check takes side by side."""


class Fma(str):
    """The lines of an FMA in full, as one text. `natural`: one line with the same name; `call`: the same by a call of
    `FULL`; operands: the multiplicands and the addend."""

    __slots__ = ("call", "natural", "operands")
    natural: str
    call: str
    operands: tuple[str, str, str]

    @classmethod
    def of(cls, lines: Sequence[str], type_: str, operands: tuple[str, str, str]) -> Fma:
        """lines: the natural one first; the last one names the result."""
        fma = cls("\n".join(lines))
        name, expression = lines[-1].split("=", 1)[0], lines[0].split("=", 1)[1]
        fma.natural = f"{name}={expression}"
        listed = ", ".join(f"{type_} {operand}" for operand in operands)
        fma.call = f"{name}= call {type_} @{full_name(type_)}({listed})"
        fma.operands = operands
        return fma


def full_name(type_: str) -> str:
    """The function that computes an FMA in full; type_: of LLVM, `<8 x float>`."""
    return f"full_fma_v{type_[1:].split(' ')[0]}"


def flat(lines: Sequence[str]) -> list[str]:
    """The lines with all FMAs in full."""
    return [single for line in lines for single in (line.split("\n") if isinstance(line, Fma) else (line,))]


def naturally(
    f: Function,
    body: Sequence[str],
    results: Sequence[Result],
    others: Sequence[str],
    tile: tuple[int, int],
    strip: int,
) -> tuple[list[str], str] | None:
    """(lines of the new body with the stores of its results, the label that it ends in); None where it has no FMAs, or
    some that may not be natural. others: names that are needed behind it. Declaring the function of
    `full_name` is the caller's."""
    fmas = {line.split(" = ", 1)[0].strip(): line for line in _natural_names(body)}
    if not fmas:
        return None
    lines = [line.natural if isinstance(line, Fma) else line for line in body]
    defined = {line.split(" = ", 1)[0].strip(): line for line in lines}
    if any(not _may_be_natural(operand, defined) for fma in fmas.values() for operand in fma.operands):
        return None
    if _reach(others, defined) & fmas.keys():
        return None
    name = f.name("natural")
    check, odd = _Check(f, strip, defined).cheapest(list(fmas.values()))
    last = next(reversed(check))
    check[last] += [f"  br i1 {odd}, label %{name}.full, label %{name}", f"{name}:"]
    full = [line.call if isinstance(line, Fma) else line for line in body]
    full += [line for result in results for line in result.store]
    lines = [
        *ordered(lines, results, others, tile, check), f"  br label %{name}.done", f"{name}.full:", *_renamed(full),
        f"  br label %{name}.done", f"{name}.done:",
    ]  # fmt: skip
    return lines, f"{name}.done"


def _natural_names(body: Sequence[str]) -> list[Fma]:
    return [line for line in body if isinstance(line, Fma)]


def _may_be_natural(operand: str, defined: dict[str, str]) -> bool:
    """Neither a constant nor, as far as LLVM can see, a negated value: it looks through what changes no sign."""
    if not operand.startswith("%"):
        return False
    line = defined.get(operand, "")
    while m := _CAST.search(line):
        line = defined.get(m[1], "")
    return " = xor " not in line and " = fneg " not in line


def _reach(names: Sequence[str], defined: dict[str, str]) -> set[str]:
    """All that these are computed from."""
    found: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in found and name in defined:
            found.add(name)
            work += _LOCAL.findall(defined[name])
    return found


@dataclass(frozen=True)
class _Check:
    """Writes the check: sums, which are NaNs if a lane of what they are of is one. They are that also where infinities
    meet, which does no harm. Words of memory that stand side by side and go to all lanes are taken by vectors."""

    f: Function
    strip: int
    defined: dict[str, str]

    def cheapest(self, fmas: Sequence[Fma]) -> tuple[dict[str, list[str]], str]:
        """(name -> what to write behind it, the i1 that says in the end whether a lane is a NaN)."""
        uses = Counter(operand for fma in fmas for operand in fma.operands[:2])
        sides = [dict.fromkeys(pick(fma.operands[:2], key=uses.__getitem__) for fma in fmas) for pick in (min, max)]
        return self._write(*min(map(self._vectors, sides), key=lambda v: 2 * len(v[0]) + len(v[1])))

    def _vectors(self, operands: Iterable[str]) -> tuple[list[str], list[tuple[str, int, int]]]:
        """(operands to look at as they are, vectors of memory instead of the others: pointer, offset, words)."""
        values: list[str] = []
        places: dict[str, set[int]] = {}
        for operand in operands:
            place = self._word(operand)
            if place is None:
                values.append(operand)
            else:
                places.setdefault(place[0], set()).add(place[1])
        loads = []
        for pointer, offsets in places.items():
            rest = sorted(offsets)
            while rest:
                count = next(n for n in (16, 8, 4, 2, 1) if rest[:n] == list(range(rest[0], rest[0] + 4 * n, 4)))
                loads.append((pointer, rest[0], count))
                rest = rest[count:]
        return values, loads

    def _word(self, operand: str) -> tuple[str, int] | None:
        """(pointer, offset) of the dword that an operand holds in each lane."""
        line = self.defined.get(operand, "")
        for pattern in (_CAST, _SPLAT, _INSERT, _LOAD):
            if not (m := pattern.search(line)):
                return None
            name, line = m[1], self.defined.get(m[1], "")
        offset = 0
        while m := _MOVED.search(line):
            name, offset, line = m[1], offset + int(m[2]), self.defined.get(m[1], "")
        return name, offset

    def _write(self, values: list[str], loads: list[tuple[str, int, int]]) -> tuple[dict[str, list[str]], str]:
        found: dict[str, list[str]] = {name: [] for name in (*values, *(pointer for pointer, _, _ in loads))}
        last = next(reversed(found))
        sums: dict[int, list[str]] = {}

        def emit(at: str, expression: str) -> str:
            found[at].append(f"  %{(name := self.f.name())} = {expression}")
            return f"%{name}"

        def add(at: str, value: str, lanes: int) -> None:
            row = sums.setdefault(lanes, [])
            if len(row) == _SUMS:
                value = emit(at, f"fadd <{lanes} x float> {row.pop(0)}, {value}")
            row.append(value)

        for value in values:
            add(value, value, self.strip)
        for pointer, offset, count in loads:
            at = emit(pointer, f"getelementptr i8, ptr {pointer}, i64 {offset}")
            add(pointer, emit(pointer, f"load <{count} x float>, ptr {at}, align 1"), count)
        odd = ""
        for lanes, row in sums.items():
            while len(row) > 1:
                row[:2] = [emit(last, f"fadd <{lanes} x float> {row[0]}, {row[1]}")]
            nan = emit(last, f"fcmp uno <{lanes} x float> {row[0]}, {row[0]}")
            some = emit(last, f"icmp ne i{lanes} {emit(last, f'bitcast <{lanes} x i1> {nan} to i{lanes}')}, 0")
            odd = emit(last, f"or i1 {odd}, {some}") if odd else some
        return found, odd


def _renamed(lines: Sequence[str]) -> list[str]:
    """The same with other names for what they define."""
    own = {m[0] for line in lines if (m := _LOCAL.match(line, 2)) and " = " in line}
    return [_LOCAL.sub(lambda m: f"{m[0]}.full" if m[0] in own else m[0], line) for line in lines]
