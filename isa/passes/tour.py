"""The order in which an outer product's FMAs run, and the registers of its accumulators.

The column (of A) is held in pairs of registers on banks 2 and 3, the row (of B) in pairs on banks 0 and 1. A pair of
the column times a pair of the row is a block of 2 x 2 products, and a block is two `v_dual_fmac_f32`, each of which
reads four registers of four different banks:

    (c0, r0) and (c1, r1),    then    (c0, r1) and (c1, r0)

The blocks are visited on a closed walk over the grid of pairs (the published study's Figure 34): each step changes only
one of the two pairs, so that the other is read from the operand caches. The second instruction of a block keeps the
pair that the next block shares in its place, and exchanges the two registers of the other one between the halves X and
Y: so both halves read the same amount from the register file, and the four banks take turns.

Destinations take turns over the banks too: 1 (X) and 2 (Y), then 3 (X) and 0 (Y).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from isa.errors import IsaError
from isa.registers import Reg

BANKS = 4
COLUMN_BANK, ROW_BANK = 2, 0  # of the first register of each pair


@dataclass(frozen=True, slots=True)
class Slot:
    """One half of one `v_dual_fmac_f32`: element `column` of the column times element `row` of the row."""

    column: int
    row: int


def walk(columns: int, rows: int) -> list[tuple[int, int]]:
    """All (column pair, row pair) of a grid, each step and the one from the last to the first along one axis only.

    Two rows of pairs at a time, from side to side; the last column of pairs is the way to the next two. Both counts
    must be even.
    """
    if columns < 2 or rows < 2 or columns % 2 or rows % 2:
        raise IsaError(
            f"no closed walk over {columns} x {rows} pairs of registers",
            expected="an even number of pairs, 2 or more, on both sides",
        )
    blocks: list[tuple[int, int]] = []
    for strip in range(0, rows, 2):
        if strip:
            blocks.append((columns - 1, strip))
        for c in range(columns - 1):
            ends = (strip, strip + 1)
            blocks += [(c, r) for r in (ends if c % 2 == 0 else reversed(ends))]
        blocks.append((columns - 1, strip + 1))
    blocks.append((columns - 1, 0))
    return blocks


def schedule(columns: int, rows: int) -> list[tuple[Slot, Slot]]:
    """(X, Y) of each dual FMA of a column of `columns` elements times a row of `rows` elements."""
    blocks = walk(columns // 2, rows // 2)
    pairs = []
    for (c, r), (next_c, _) in zip(blocks, blocks[1:] + blocks[:1], strict=True):
        c0, c1, r0, r1 = 2 * c, 2 * c + 1, 2 * r, 2 * r + 1
        pairs.append((Slot(c0, r0), Slot(c1, r1)))
        keeps_column = next_c == c
        pairs.append((Slot(c0, r1), Slot(c1, r0)) if keeps_column else (Slot(c1, r0), Slot(c0, r1)))
    return pairs


def destination_banks(count: int) -> list[tuple[int, int]]:
    """The banks of (X, Y)'s destination for each of `count` dual FMAs."""
    return [(1, 2) if i % 2 == 0 else (3, 0) for i in range(count)]


def settle(old: Sequence[Reg], banks: Sequence[int], spare: Iterable[Reg]) -> list[Reg]:
    """A register on banks[i] for each value i that lies in old[i], so that as few values as possible must move.

    A value whose bank is right stays. The others change places in cycles as short as can be, since n values in a cycle
    are n - 1 exchanges; what is left takes a register that others leave, or one of `spare`. IsaError where the spare
    registers do not do.
    """
    result: dict[int, Reg] = {i: reg for i, reg in enumerate(old) if reg.bank == banks[i]}
    waiting: dict[tuple[int, int], list[int]] = {}
    for i, reg in enumerate(old):
        if i not in result:
            waiting.setdefault((reg.bank, banks[i]), []).append(i)
    for length in range(2, BANKS + 1):
        for ring in permutations(range(BANKS), length):
            edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
            while all(waiting.get(edge) for edge in edges):
                members = [waiting[edge].pop(0) for edge in edges]
                # Each takes the place of the one that leaves the bank it must go to.
                for i, j in zip(members, members[1:] + members[:1], strict=True):
                    result[i] = old[j]
    rest = sorted(i for group in waiting.values() for i in group)
    left = [old[i] for i in rest] + list(spare)
    for i in rest:
        fitting = next((reg for reg in left if reg.bank == banks[i]), None)
        if fitting is None:
            raise IsaError(f"no free register on bank {banks[i]} for an accumulator")
        left.remove(fitting)
        result[i] = fitting
    return [result[i] for i in range(len(old))]


@dataclass(frozen=True, slots=True)
class Move:
    """`v_swap_b32 a, b` where `swap`, else `v_mov_b32 a, b`."""

    a: Reg
    b: Reg
    swap: bool = False


def parallel_moves(pairs: Iterable[tuple[Reg, Reg]]) -> list[Move]:
    """Instructions that put what is in `source` into `target` for each (target, source), as if all at once.

    Chains become moves from their free end; a cycle of n registers n - 1 exchanges. No register is needed in between.
    """
    source = {t: s for t, s in pairs if t != s}
    moves: list[Move] = []
    read = list(source.values())
    free = [t for t in source if t not in read]
    while free:
        t = free.pop(0)
        s = source.pop(t)
        moves.append(Move(t, s))
        if s in source and s not in source.values():
            free.append(s)
    while source:
        first = min(source)
        t = first
        while (s := source.pop(t)) != first:
            moves.append(Move(t, s, swap=True))
            t = s
    return moves
