"""Conditions on one number: scalar comparisons of a function that ask the same unknown number, so that a path answers
them alike.

In: a function. Out: for each such comparison with a constant what it says of the number, at the points between which no
comparison of the function with a constant changes: `k < 16`, then `k < 32`, cannot be true and then false. The number
is what one instruction gave, or the function's entry, each time anew that the instruction runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.registers import Reg
from isa.semantics.instruction import Imm

_COMPARE = re.compile(r"s_cmp(?P<short>k?)_(?P<op>eq|lg|gt|ge|lt|le)_(?P<type>[ui]32)")
_OPS = {"eq": np.equal, "lg": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less,
        "le": np.less_equal}  # fmt: skip
_ENDS = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@dataclass(frozen=True)
class Comparison:
    """number: which of the numbers that are compared, counted from 0; source: the position that gives it, or ENTRY;
    truth: the answer at each of its points."""

    number: int
    source: int
    truth: tuple[bool, ...]


def of(cfg: Cfg, chains: DefUse) -> dict[int, Comparison]:
    """Position -> the comparison there, of numbers that are compared more than once."""
    rows = defaultdict(list)
    for i, inst in enumerate(cfg.instructions):
        match = _COMPARE.fullmatch(inst.mnemonic)
        first, second = inst.operands if match is not None else (None, None)
        turned = isinstance(second, Reg)
        reg, constant = (second, first) if turned else (first, second)
        if match is None or not isinstance(reg, Reg) or not isinstance(constant, Imm):
            continue
        sources = chains.reaching.get((i, regset.bit(reg)), frozenset())
        if reg.file == "s" and isinstance(constant.value, int) and len(sources) == 1:
            (source,) = sources
            if source not in cfg.calls:
                number = constant.value & 0xFFFFFFFF
                if match["short"]:  # a field of 16 bits, extended as the type asks
                    number &= 0xFFFF
                    if match["type"] == "i32":
                        number = (number ^ 0x8000) - 0x8000 & 0xFFFFFFFF
                rows[source, reg].append((i, match["op"], match["type"], number, turned))
    found = {}
    for name, ((source, _), asked) in enumerate(rows.items()):
        points = {p & 0xFFFFFFFF for *_, n, _ in asked for p in (n - 1, n, n + 1)}.union(_ENDS)
        array = np.array(sorted(points), np.uint32)
        for i, op, type_, number, turned in asked if len(asked) > 1 else ():
            a, b = (x.astype(np.uint32).view(np.int32 if type_ == "i32" else np.uint32) for x in
                    (array, np.full_like(array, number)))  # fmt: skip
            truth: Any = _OPS[op](b, a) if turned else _OPS[op](a, b)
            found[i] = Comparison(name, source, tuple(bool(t) for t in truth))
    return found


def ahead(cfg: Cfg, comparisons: Mapping[int, Comparison]) -> list[frozenset[int]]:
    """Block -> the numbers that are compared in it or after it."""
    found = [frozenset(comparisons[i].number for i in b.range if i in comparisons) for b in cfg.blocks]
    changed = True
    while changed:
        changed = False
        for block in reversed(cfg.blocks):
            new = found[block.index].union(*(found[s] for s in block.successors))
            changed |= new != found[block.index]
            found[block.index] = new
    return found
