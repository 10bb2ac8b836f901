"""The definition: what each element of C must hold, by name.

    sum     = fma(A[i, K-1], B[K-1, j], ... fma(A[i, 1], B[1, j], fma(A[i, 0], B[0, j], 0)))
    C[i, j] = alpha * sum                           where beta is 0
            = fma(alpha, sum, beta * C[i, j])       elsewhere

Where the elements are narrow, products are added a word at a time (`narrow.dot`; `halves.dot` where sums have 16 bits),
and what is stored is defined in `epilogue`. Where the launch splits K, each piece is such a sum from 0, and the sum is
((first + second) + third) and so on. Where waves share k out (`launch.Shares`), so are the waves' sums, in their order;
what weights of a format are is defined in `weights`.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import product

import numpy as np

from isa.prove.definition import halves, narrow
from isa.prove.definition.launch import ALPHA, BETA, Shares, SymbolicLaunch
from isa.prove.definition.names import ZERO, Names, add, fma, mul, term
from isa.prove.definition.narrow import BYTES, INTEGERS, QUADS, SIGNLESS, added
from isa.prove.definition.weights import FORMATS, as_float


def matrix(launch: SymbolicLaunch) -> Names:
    """The names of C's elements after the launch, (2, rows, columns); of those that are held."""
    if launch.shares:
        return stored(launch, _shared(launch, launch.shares))
    a, b, c = launch.elements().values()
    total = np.zeros_like(c)
    tile = (launch.split.rows, launch.split.columns) if launch.split else (launch.m, launch.n)
    tiles = [
        [(i, range(max(held.start, i * step), min(held.stop, (i + 1) * step))) for i in _over(held, step)]
        for held, step in zip((launch.rows, launch.columns), tile, strict=True)
    ]
    for (i, rows), (j, columns) in product(*tiles):
        here = _slice(rows, launch.rows), _slice(columns, launch.columns)
        pieces = launch.split.pieces(i, j, launch.m, launch.n, launch.k) if launch.split else [(0, launch.k)]
        words = [slice(launch.name_of(first), launch.name_of(end)) for first, end in pieces]
        sums = [products(launch, a[:, here[0], steps], b[:, steps, here[1]]) for steps in words]
        total[:, here[0], here[1]] = reduce(added if launch.factor in INTEGERS else add, sums)
    return stored(launch, total)


def _shared(launch: SymbolicLaunch, by: Shares) -> Names:
    """The sums of waves that share k out."""
    elements, each = launch.elements(), launch.elements_of_name
    a, b, c = elements["A"], elements["B"], elements["C"]
    group = FORMATS[by.weights].group if launch.grouped else 0
    scales = launch.scales().get("weight_scales", ZERO)
    scales = as_float(scales) if group else scales
    sums = []
    for wave in range(by.waves):
        own = np.zeros_like(c)
        for begin in range(wave * by.depth, launch.k, by.waves * by.depth):
            for first in range(begin, begin + by.depth, group or by.depth):
                words = slice(first // each, (first + (group or by.depth)) // each)
                part = products(launch, a[:, :, words], b[:, words], None if group else own)
                own = SIGNLESS["fma"](scales[:, None, :, first // group], part, own) if group else part
        sums.append(own)
    total = reduce(added if launch.factor in INTEGERS else add, sums)
    return SIGNLESS["mul"](total, scales.swapaxes(1, 2)) if launch.weights and not group else total


def _over(held: range, step: int) -> range:
    """The tiles of so many rows, or columns, that these lie in."""
    return range(held.start // step, -(-held.stop // step))


def _slice(part: range, held: range) -> slice:
    return slice(part.start - held.start, part.stop - held.start)


def stored(launch: SymbolicLaunch, total: Names) -> Names:
    """The names of what is stored to C, of those of the sums, (2, m, n)."""
    alpha, beta = ALPHA[:, None, None], BETA[:, None, None]
    if launch.half_sums:
        total = halves.widened(launch.factor, total[0])
    if launch.narrow:
        total = term("float", total) if launch.factor in INTEGERS and launch.epilogue.result != "i32" else total
        c = launch.elements()["C"]
        return launch.epilogue.stored(total, alpha, beta if launch.beta == "any" else None, c, launch.vectors())
    return fma(alpha, total, mul(beta, launch.elements()["C"])) if launch.beta == "any" else mul(alpha, total)


def products(launch: SymbolicLaunch, a: Names, b: Names, start: Names | None = None) -> Names:
    """The names of the products' sums, (2, rows, columns), from 0 or what `start` names; of narrow elements (`narrow`)
    as matrix units add them, with zeros before where RDNA4's have less than 16 steps; halves alone where sums are."""
    total = np.zeros((2, a.shape[1], b.shape[2]), np.uint64) if start is None else start
    dot = halves.dot if launch.half_sums else narrow.dot
    add_product = partial(dot, launch.factor)
    if launch.narrow and launch.quads:
        order = QUADS[BYTES[launch.factor]]
        lacking = -a.shape[2] % len(order)
        for first in range(-lacking, a.shape[2], len(order)):
            for word, half in order:
                at = first + word
                x, y = (a[:, :, at, None], b[:, at, None, :]) if at >= 0 else (ZERO, ZERO)
                total = add_product(x, y, total, half)
        return total
    for step in range(a.shape[2]):
        total = (add_product if launch.narrow else fma)(a[:, :, step, None], b[:, step, None, :], total)
    return total
