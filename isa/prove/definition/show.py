"""Two terms as text for people, from what one lane did: only where a proof failed, for one element of C.

A term is a leaf (text), ("mul", x, y), ("add", x, y), or ("sum", start, products): a chain of fused multiply-adds, in
the order in which they were added to `start`. Of two long sums only the products around the first difference are shown.
"""

from __future__ import annotations

import struct
from typing import Any

from isa.prove.definition.launch import ALPHA, BETA, BETA_SIZE, ELSEWHERE, UNWRITTEN, SymbolicLaunch
from isa.prove.definition.names import Names
from isa.prove.definition.waves import Trace

Tree = Any
_AROUND = 2
_KNOWN = (
    (ALPHA, "alpha"),
    (BETA, "beta"),
    (BETA_SIZE, "|beta|"),
    (UNWRITTEN, "(never written)"),
    (ELSEWHERE, "(an element of another tile)"),
)


def expected(launch: SymbolicLaunch, row: int, column: int) -> Tree:
    """What the definition says of an element, counted among those that are held."""
    row, column = launch.rows[row], launch.columns[column]
    pieces = [(0, launch.k)]
    if launch.split:
        tile = row // launch.split.rows, column // launch.split.columns
        pieces = launch.split.pieces(*tile, launch.m, launch.n, launch.k)
    total: Tree = None
    for first, end in pieces:
        part = _sum("0", [(f"A[{row},{k}]", f"B[{k},{column}]") for k in range(first, end)])
        total = part if total is None else ("add", total, part)
    if launch.beta != "any":
        return ("mul", "alpha", total)
    return _sum(("mul", "beta", f"C[{row},{column}]"), [("alpha", total)])


def traced(trace: Trace, launch: SymbolicLaunch, name: Names) -> Tree:
    """The term of a name, from the float operations of the lane that made it."""
    made = {}
    for operation, result, operands in trace:
        if result[1]:  # else it is a number
            made[_key(result)] = (operation, operands)
    known = {_key(value): text for value, text in _KNOWN}
    top, left = launch.rows.start, launch.columns.start
    above = {"A": (top, 0), "B": (0, left), "C": (top, left)}
    for matrix, names in launch.elements().items():
        columns, (top, left) = names.shape[2], above[matrix]
        for at, key in enumerate(map(tuple, names.reshape(2, -1).T.tolist())):
            known[key] = f"{matrix}[{top + at // columns},{left + at % columns}]"
    return _tree(_key(name), made, known)


def _key(name: Names) -> tuple[int, int]:
    return int(name[0]), int(name[1])


def _tree(key: tuple[int, int], made: dict[Any, Any], known: dict[Any, str]) -> Tree:
    products = []
    while key in made and made[key][0] == "fma":
        x, y, start = (_key(operand) for operand in made[key][1])
        products.append((_tree(x, made, known), _tree(y, made, known)))
        key = start
    if products:
        return _sum(_tree(key, made, known), products[::-1])
    if key in made:
        operation, operands = made[key]
        return (operation, *(_tree(_key(operand), made, known) for operand in operands))
    if key in known:
        return known[key]
    if key[1] == 0:
        return f"{struct.unpack('<f', struct.pack('<I', key[0]))[0]:g}"
    return "(a value that another lane made)"


def _sum(start: Tree, products: list[tuple[Tree, Tree]]) -> Tree:
    return ("sum", start, products) if products else start


def both(a: Tree, b: Tree) -> tuple[str, str]:
    """The two as text. Long sums are cut to what lies around their first difference."""
    at = _first_difference(a, b)
    return _text(a, at), _text(b, at)


def _first_difference(a: Tree, b: Tree) -> int:
    """In the first sums that differ: the first product that does."""
    if a == b or isinstance(a, str) or isinstance(b, str) or a[0] != b[0]:
        return 0
    if a[0] != "sum":
        return max(_first_difference(x, y) for x, y in zip(a[1:], b[1:], strict=True))
    differ = [i for i, (x, y) in enumerate(zip(a[2], b[2], strict=False)) if x != y]
    at = differ[0] if differ else min(len(a[2]), len(b[2]))
    if at < min(len(a[2]), len(b[2])):
        (x0, y0), (x1, y1) = a[2][at], b[2][at]
        at = max(at, _first_difference(x0, x1), _first_difference(y0, y1))
    return max(at, _first_difference(a[1], b[1]))


def _text(tree: Tree, at: int, inside: bool = False) -> str:
    if isinstance(tree, str):
        return tree
    if tree[0] == "mul":
        return " * ".join(_text(x, at, True) for x in tree[1:])
    if tree[0] == "add":
        text = " + ".join(_text(x, at, True) for x in tree[1:])
        return f"({text})" if inside else text
    _, start, products = tree
    first, last = max(0, at - _AROUND), at + _AROUND + 1
    words = [f"{_text(x, at, True)} * {_text(y, at, True)}" for x, y in products[first:last]]
    if start != "0" and not (first and isinstance(start, str)):
        words.insert(0, _text(start, at, True))
    if first:
        words.insert(0, f"({first} products)")
    if len(products) > last:
        words.append(f"({len(products) - last} more)")
    text = " + ".join(words)
    return f"({text})" if inside and len(words) > 1 else text
