"""Fast path of FMAs: FMAs at the host's speed, with the card's NaNs computed only where one occurs.

In:  the body of a loop over strips that only computes, with FMAs as the rule of `isa.semantics.reference.nans` has
     them, each of which also knows the host's one instruction (`isa.sim.ir.ir.Fma`).
Out: a body whose FMAs are the host's, with one check of the strip's operands, and the body as it was, for strips that
     do not pass it:

        operands that the check is of
        if a lane of one of them is a NaN: all of the body in full
        else: the fast path, all of the body with the host's FMAs

An x86 FMA follows the rule but for one thing: LLVM may exchange its multiplicands, so where both are NaNs either may
win (and where LLVM finds a negation or a constant, it takes other instructions). So the fast path is right if one
multiplicand of each FMA is a number. The check takes one of each FMA's two, either those that more FMAs share or the
others, whichever is less work. It comes before anything is stored: the full body finds all as it was.

Hosts with other FMAs, or none, always run the full body.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from isa.sim.ir.ir import Fma, Function, Line, Operation, opcode
from isa.sim.translate.accumulator_order import Result, ordered
from isa.sim.translate.kept_operands import all_of, kept, strip_type

_SUMS = 4
"""Sums that the check takes side by side."""
_Defined: TypeAlias = Mapping[str | int, Operation]
_CASTS = frozenset({"bitcast", "fpext"})


def in_full(body: Sequence[Operation | Fma]) -> list[Operation]:
    """The body with all FMAs in full."""
    return [operation for line in body for operation in (line.full if isinstance(line, Fma) else (line,))]


def with_fast_path(
    f: Function,
    body: Sequence[Operation | Fma],
    results: Sequence[Result],
    others: Sequence[str],
    tile: tuple[int, int],
    strip: int,
    index: str,
    first: Mapping[str, Sequence[Operation]],
) -> tuple[list[Line], str] | None:
    """(lines of the new body with the stores of its results, the label that it ends in); None where it has no FMAs, or
    some that may not be the host's. others: names that are needed after it; first: as of `ordered`; index: the
    strip's number, "" where no operands are kept for the next one."""
    fmas = [line for line in body if isinstance(line, Fma)]
    if not fmas:
        return None
    defined: _Defined = {line.result if isinstance(line, Fma) else line[0]: _native(line) for line in body}
    if any(not _keeps_sign(operand, defined) for fma in fmas for operand in fma.operands):
        return None
    if all_of([*others, *first], defined) & {fma.result for fma in fmas}:
        return None
    name = f.name("natural")
    check, odd = _Check(f, strip, defined).cheapest(fmas)
    last = next(reversed(check))
    check[last] += [f"  br i1 {odd}, label %{name}.full, label %{name}", f"{name}:"]
    full = [line.call if isinstance(line, Fma) else line for line in body]
    full += [operation for result in results for operation in result.store]
    needed = [*others, *first, *check, *(name for r in results for name in (r.ref, *r.old))]
    needed += [o for lines in check.values() for line in lines if isinstance(line, tuple) for o in map(str, line[2])]
    once = kept(f, body, needed, strip, index) if index else None
    fast = [_native(line) for line in (once.body if once else body)]
    before, again = (once.before, once.again) if once else ([], {})
    # LLVM would compute what both have before they part, and keep it in memory: their strip's number is not one value.
    apart = [f'  {index}.full = call i64 asm "", "=r,0"(i64 {index})'] if index else []
    lines = [
        *before, *ordered(fast, results, others, tile, {**first, **check}, again),
        f"  br label %{name}.done", f"{name}.full:", *apart, *_renamed(full, index),
        f"  br label %{name}.done", f"{name}.done:",
    ]  # fmt: skip
    return lines, f"{name}.done"


def _native(line: Operation | Fma) -> Operation:
    return line.native if isinstance(line, Fma) else line


def _keeps_sign(operand: str | int, defined: _Defined) -> bool:
    """Neither a constant nor, as far as LLVM can see, a negated value: it looks through what changes no sign."""
    if not str(operand).startswith("%"):
        return False
    while (operation := defined.get(operand)) is not None and opcode(operation) in _CASTS:
        operand = operation[2][0]
    return operation is None or opcode(operation) not in ("xor", "fneg")


@dataclass(frozen=True)
class _Check:
    """Writes the check: sums, which are NaNs if a lane of what they are of is one. They are that also where infinities
    meet, which does no harm. Words of memory that stand side by side and go to all lanes are taken by vectors, and a
    vector instead of what is shuffled from it, where that is all of it."""

    f: Function
    strip: int
    defined: _Defined

    def cheapest(self, fmas: Sequence[Fma]) -> tuple[dict[str, list[Line]], str]:
        """(name -> what to write after it, the i1 that says in the end whether a lane is a NaN)."""
        uses = Counter(operand for fma in fmas for operand in fma.operands[:2])
        sides = [dict.fromkeys(pick(fma.operands[:2], key=uses.__getitem__) for fma in fmas) for pick in (min, max)]
        return self._write(*min(map(self._vectors, sides), key=lambda v: 2 * len(v[0]) + len(v[1])))

    def _vectors(self, operands: Iterable[str]) -> tuple[list[str], list[tuple[str, int, int]]]:
        """(operands to look at as they are, vectors of memory instead of the others: pointer, offset, words)."""
        values: list[str] = []
        places: dict[str, set[int]] = {}
        shuffled: dict[str, tuple[set[int], list[str]]] = {}
        for operand in operands:
            if place := self._word(operand):
                places.setdefault(place[0], set()).add(place[1])
            elif picked := self._picked(operand):
                picks, of_it = shuffled.setdefault(picked[0], (set(), []))
                picks.update(picked[1])
                of_it.append(operand)
            else:
                values.append(operand)
        for vector, (picks, of_it) in shuffled.items():
            values += [vector] if len(picks) == self.strip else of_it
        loads = []
        for pointer, offsets in places.items():
            rest = sorted(offsets)
            while rest:
                count = next(n for n in (16, 8, 4, 2, 1) if rest[:n] == list(range(rest[0], rest[0] + 4 * n, 4)))
                loads.append((pointer, rest[0], count))
                rest = rest[count:]
        return values, loads

    def _picked(self, operand: str) -> tuple[str, Sequence[int]] | None:
        """(a strip's words, which of them an operand has in its lanes) of one that is shuffled from them alone."""
        of_floats, words = f"bitcast <{self.strip} x i32> %s to <{self.strip} x float>", f"<{self.strip} x i32>"
        cast = self.defined.get(operand)
        shuffle = self.defined.get(cast[2][0]) if cast is not None and cast[1] == of_floats else None
        if shuffle is None or not shuffle[1].startswith(f"shufflevector {words} %s, {words} %s, {words} <"):
            return None
        vector, other = map(str, shuffle[2])
        picks = [int(lane) for lane in re.findall(r"i32 (\d+)", shuffle[1])]
        return (vector, picks) if other == "poison" and vector in self.defined else None

    def _word(self, operand: str | int) -> tuple[str, int] | None:
        """(pointer, offset) of the dword that an operand holds in each lane."""
        steps: tuple[Callable[[str], bool], ...] = (
            lambda form: form.startswith(("bitcast ", "fpext ")),
            lambda form: form.startswith("shufflevector ") and form.endswith("zeroinitializer"),
            lambda form: form.startswith("insertelement ") and form.endswith(" x i32> poison, i32 %s, i32 0"),
            lambda form: form == "load i32, ptr %s, align 1",
        )
        for is_next in steps:
            operation = self.defined.get(operand)
            if operation is None or not is_next(operation[1]):
                return None
            operand = operation[2][0]
        offset = 0
        while (operation := self.defined.get(operand)) and operation[1] == "getelementptr i8, ptr %s, i64 %s":
            pointer, by = operation[2]
            if not isinstance(by, int):
                break
            operand, offset = pointer, offset + by
        return str(operand), offset

    def _write(self, values: list[str], loads: list[tuple[str, int, int]]) -> tuple[dict[str, list[Line]], str]:
        found: dict[str, list[Line]] = {name: [] for name in (*values, *(pointer for pointer, _, _ in loads))}
        last = next(reversed(found))
        sums: dict[int, list[str]] = {}

        def emit(at: str, form: str, *operands: str | int) -> str:
            found[at].append((name := f"%{self.f.name()}", form, operands))
            return name

        def add(at: str, value: str, lanes: int) -> None:
            row = sums.setdefault(lanes, [])
            if len(row) == _SUMS:
                value = emit(at, f"fadd <{lanes} x float> %s, %s", row.pop(0), value)
            row.append(value)

        for value in values:
            words = f"<{self.strip} x i32>"
            is_words = value in self.defined and strip_type(self.defined[value][1], self.strip) == words
            cast = f"bitcast {words} %s to <{self.strip} x float>"
            add(value, emit(value, cast, value) if is_words else value, self.strip)
        for pointer, offset, count in loads:
            at = emit(pointer, "getelementptr i8, ptr %s, i64 %s", pointer, offset)
            add(pointer, emit(pointer, f"load <{count} x float>, ptr %s, align 1", at), count)
        odd = ""
        for lanes, row in sums.items():
            while len(row) > 1:
                row[:2] = [emit(last, f"fadd <{lanes} x float> %s, %s", row[0], row[1])]
            nan = emit(last, f"fcmp uno <{lanes} x float> %s, %s", row[0], row[0])
            some = emit(last, f"icmp ne i{lanes} %s, 0", emit(last, f"bitcast <{lanes} x i1> %s to i{lanes}", nan))
            odd = emit(last, "or i1 %s, %s", odd, some) if odd else some
        return found, odd


def _renamed(operations: Sequence[Operation], index: str) -> list[Operation]:
    """The same with other names for what they define, and for the strip's number."""
    names = [index, *(result for result, _, _ in operations)]
    new: dict[str | int, str] = {name: f"{name}.full" for name in names if name}
    return [
        (new.get(result, ""), form, tuple([new.get(o, o) for o in operands])) for result, form, operands in operations
    ]
