"""Operands kept in memory: what the strips of a wave load alike is loaded, and put in order, once.

In:  the body of a loop over strips that only computes.
Out: lines that stand before it, a body without what they compute, and for each value that the body needs of that, the
     instruction that loads it.

Lanes of a wave that compute a tile stand in a grid, so that strips often read the same words of LDS: rows of B, for
kernels 3 to 8. A body stores nothing to LDS, so what one strip has loaded from an address is right for the next, if
that one's first lanes have the same addresses:

        if this is the first strip, or its address is not the last one's: load, transpose, store to the panel
        the body, which loads from the panel where it needs a value

Taken are loads from an address, or from those that a strip's parts have, that need LEAST shuffles or more, and OFTEN or
more for each value that they make: no words that only go to all lanes. What would be a spilled register otherwise is
then a word of the panel, so that little is lost where the addresses differ.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from isa.sim.ir.ir import Fma, Function, Line, Operation, opcode
from isa.sim.ir.state import middle_of

LEAST, OFTEN = 16, 2
"""Shuffles in all, and for each value that they make."""
ROOM = 512
"""Values that the panel holds."""
_MOVES = ("getelementptr", "load", "shufflevector", "bitcast", "insertelement")
_PLACE = "getelementptr i8, ptr %s, i64 %s"


@dataclass(frozen=True)
class Kept:
    """before: lines that end in block `block`. again: value -> the instruction that loads it."""

    before: list[Line]
    block: str
    body: list[Operation | Fma]
    again: dict[str | int, Operation]


def kept(f: Function, body: Sequence[Operation | Fma], needed: Collection[str], strip: int, index: str) -> Kept | None:
    """None where there is nothing to keep. needed: names that are needed after the body; index: the strip's number."""
    plain = [line for line in body if not isinstance(line, Fma)]
    defined: dict[str | int, Operation] = {operation[0]: operation for operation in plain}
    pointers = {r: str(o[1]) for r, form, o in plain if form == _PLACE and o[0] == "%lds" and isinstance(o[1], str)}
    source: dict[str | int, str] = {}  # value -> the pointer into LDS that it comes from, the first of several
    several: dict[str, str] = {}

    def first(place: str) -> str:
        while place in several:
            place = several[place]
        return place

    for operation in plain:
        result, _, operands = operation
        values = [o for o in operands if isinstance(o, str) and o.startswith("%")]
        places = sorted({o if o in pointers else source.get(o, "") for o in values})
        if result not in pointers and places and places[0] and opcode(operation) in _MOVES:
            source[result] = first(places[0])
            several.update({first(p): source[result] for p in places[1:] if first(p) != source[result]})
    source = {result: first(place) for result, place in source.items()}
    shuffles = Counter(
        source[result] for result in source if re.match("shufflevector (?!.*zeroinitializer)", defined[result][1])
    )

    def used_beside(gone: Collection[str | int]) -> set[str | int]:
        """What the rest needs."""
        lines = (line.operands if isinstance(line, Fma) else line[2] for line in body if _result(line) not in gone)
        return {*needed, *(operand for operands in lines for operand in operands)}

    made = {_bare(o, defined) for o in used_beside(source.keys()) if o in source}
    loaded = Counter(source[o] for o in made)
    groups = [p for p in dict.fromkeys(source.values()) if shuffles[p] >= max(LEAST, OFTEN * loaded[p])]
    groups = [place for place in groups if loaded[place]]
    gone = {result for result, place in source.items() if place in groups}
    used = used_beside(gone)
    outputs = [result for result in source if result in gone and result in used]
    bare = {result: str(_bare(result, defined)) for result in outputs}
    types = {result: strip_type(defined[result][1], strip) for result in (*outputs, *bare.values())}
    if not outputs or not all(types.values()) or len(outputs) > ROOM:
        return None
    whole = f.place("panel", f"[{ROOM} x <{strip} x i32>]")
    of_group = {group: [p for p in pointers if first(p) == group] for group in groups}
    ahead = all_of([p for places in of_group.values() for p in places], defined)
    if ahead & gone:  # addresses that are loaded themselves
        return None
    before: list[Line] = [operation for operation in plain if operation[0] in ahead]

    def emit(form: str, *operands: str | int) -> str:
        before.append((name := f"%{f.name()}", form, operands))
        return name

    block, count = "", itertools.count()
    again: dict[str | int, Operation] = {}
    slots = {result: slot for slot, result in enumerate(dict.fromkeys(bare.values()))}
    middle = middle_of(4 * strip * len(slots))
    panel = emit('call ptr asm "", "=r,0"(ptr %s)', emit("getelementptr inbounds i8, ptr %s, i64 %s", whole, middle))
    for group, places in of_group.items():
        mine = [str(result) for result in outputs if source[result] == group]
        name, same = f.name("kept"), emit("icmp ne i64 %s, 0", index)
        lasts = [(pointers[place], f.place(f"address {next(count)}", "i64")) for place in places]
        for address, last in lasts:
            same = emit("and i1 %s, %s", same, emit("icmp eq i64 %s, %s", address, emit("load i64, ptr %s", last)))
        before += [f"  br i1 {same}, label %{name}, label %{name}.fill", f"{name}.fill:"]
        stored = {bare[result] for result in mine}
        for result, form, operands in plain:
            if source.get(result) == group:
                new = (f"{o}.kept" if source.get(o) == group else o for o in operands)
                before.append((f"{result}.kept", form, tuple(new)))
            if result in stored:  # at once, while the host has it in a register
                at = emit("getelementptr inbounds i8, ptr %s, i64 %s", panel, 4 * strip * slots[result] - middle)
                before.append(("", f"store {types[result]} %s, ptr %s, align {4 * strip}", (f"{result}.kept", at)))
        before += [("", "store i64 %s, ptr %s", pair) for pair in lasts]
        before += [f"  br label %{name}", f"{name}:"]
        block = name
        for r in mine:
            here = emit("getelementptr inbounds i8, ptr %s, i64 %s", panel, 4 * strip * slots[bare[r]] - middle)
            again[r] = (str(r), f"load {types[r]}, ptr %s, align {4 * strip}", (here,))
    rest = [line for line in body if isinstance(line, Fma) or (line[0] not in gone and line[0] not in ahead)]
    return Kept(before, block, rest, again)


def _result(line: Operation | Fma) -> str:
    return line.result if isinstance(line, Fma) else line[0]


def _bare(value: str | int, defined: Mapping[str | int, Operation]) -> str | int:
    """What a value is the same bits as."""
    while opcode(defined[value]) == "bitcast" and defined[value][2][0] in defined:
        value = defined[value][2][0]
    return value


def all_of(names: Sequence[str], defined: Mapping[str | int, Operation]) -> set[str | int]:
    """The names and all that these are computed from."""
    found: set[str | int] = set()
    work: list[str | int] = list(names)
    while work:
        name = work.pop()
        if name not in found and name in defined:
            found.add(name)
            work += defined[name][2]
    return found


def strip_type(form: str, strip: int) -> str:
    """The type of a value, if that is a strip's."""
    if form.startswith("bitcast"):
        found = form.rpartition(" to ")[2]
    elif form.startswith("shufflevector"):
        mask = re.search(r", <(\d+) x i32> (<i32|zeroinitializer|poison)", form)
        found = f"<{mask[1]} x {form.partition(' x ')[2].partition('>')[0]}>" if mask else ""
    else:
        found = form.removeprefix("load ").partition(",")[0]
    return found if found in (f"<{strip} x i32>", f"<{strip} x float>") else ""
