"""FMA order of an outer product: its FMAs -> an order in dual pairs, and the banks of what they read and write.

In: a thread tile, R elements of a column (of A) times C elements of a row (of B), both even. Out: R * C / 2
`v_dual_fmac_f32`, by element of column and row, and banks for all registers.

The column is held in pairs of registers on banks 2 and 3, the row in pairs on banks 0 and 1. A pair of the column times
a pair of the row is a block of 2 x 2 products, and a block is two `v_dual_fmac_f32`, each of which reads four registers
of four different banks:

    (c0, r0) and (c1, r1),    then    (c0, r1) and (c1, r0)

The blocks are visited on a closed walk over the grid of pairs (the published study's Figure 34): each step changes only
one of the two pairs, so that the other is read from the operand caches. The second instruction of a block keeps the
pair that the next block shares in its place, and exchanges the two registers of the other one between the halves X and
Y: so both halves read the same amount from the register file, and the four banks take turns.

What follows, for every even R and C:

- X and Y read each slot from registers of different banks and of different parity: the pair is legal (ISA guide 7.6),
  and GFX11 cannot lose its interlock (LLVM pull request 220348).
- Sources alone never stall: each bank has one of an instruction's four.
- Where X and Y share their caches, the first instruction of a block reads two registers from banks, the second none;
  where each half has its own, every instruction reads two.

**Destinations** are read as well as written. Two assignments of banks:

    turning    1 (X) and 2 (Y), then 3 and 0: as in the published study's kernels, measured there at one cycle an FMA
    opposite   the first instruction of a block on the two banks from which it reads no source, the second on the other
               two: no bank serves two reads even if a read of an accumulator takes a bank's turn. Each block writes all
               four banks, so any number of blocks needs as many accumulators of each

**Odd sides** need another order. Let all pairs of a tile read four banks. The two
column elements of a pair lie on two banks, its two row elements on the other two. A column element is multiplied with
every row element, so the banks of columns and of rows have none in common: each side has two. Then (c, r) on banks (2,
0) only goes with (3, 1), and (2, 1) with (3, 0): with p and p' column elements on banks 2 and 3, q and q' row elements
on 0 and 1, p q = p' q' and p q' = p' q, hence p = p' and q = q'. Both sides are even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isa.errors import IsaError
from isa.registers import Reg

BANKS = 4
COLUMN_BANK, ROW_BANK = 2, 0  # of the first register of each pair


@dataclass(frozen=True, slots=True)
class Slot:
    """One half of one `v_dual_fmac_f32`: element `column` of the column times element `row` of the row. The column's is
    SRC0; crossed: the row's."""

    column: int
    row: int
    crossed: bool = False


Pair = tuple[Slot, Slot]
"""What X and Y of a dual FMA multiply."""
Fma = tuple[Slot, ...]
"""The same, or what an FMA by itself multiplies."""
Banks = tuple[int, int]
"""The banks of X's and Y's destination."""


def walk(columns: int, rows: int) -> list[tuple[int, int]]:
    """All (column pair, row pair) of a grid, each step and the one from the last to the first along one axis only.

    Two rows of pairs at a time, from side to side; the last column of pairs leads to the next two. A last row or
    column of pairs that is over is put between two blocks which lie side by side.
    """
    if columns < 1 or rows < 1:
        raise IsaError(f"no walk over {columns} x {rows} pairs of registers", expected="1 pair or more on both sides")
    if columns == 1 or rows == 1:
        return [(c, r) for c in range(columns) for r in range(rows)]
    blocks = _even_walk(columns - columns % 2, rows - rows % 2)
    if columns % 2:
        at = next(i for i in range(len(blocks)) if blocks[i][0] == blocks[i - 1][0])
        (_, first), (_, last) = blocks[at - 1], blocks[at]
        between = [r for r in range(rows - rows % 2) if r not in (first, last)]
        blocks[at:at] = [(columns - 1, r) for r in (first, *between, last)]
    if rows % 2:
        at = next(i for i in range(len(blocks)) if blocks[i][1] == blocks[i - 1][1])
        (first, _), (last, _) = blocks[at - 1], blocks[at]
        between = [c for c in range(columns) if c not in (first, last)]
        blocks[at:at] = [(c, rows - 1) for c in (first, *between, last)]
    return blocks


def _even_walk(columns: int, rows: int) -> list[tuple[int, int]]:
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


def schedule(columns: int, rows: int) -> list[Pair]:
    """(X, Y) of each dual FMA of a column of `columns` elements times a row of `rows` elements.

    IsaError where one of them is odd: see the module's docstring.
    """
    if columns < 2 or rows < 2 or columns % 2 or rows % 2:
        raise IsaError(
            f"no order of dual FMAs for a thread tile of {columns} x {rows}",
            expected="an even number of elements, 2 or more, on both sides",
            hint="with an odd side some pairs cannot read from four banks",
        )
    blocks = walk(columns // 2, rows // 2)
    pairs = []
    for (c, r), (next_c, _) in zip(blocks, blocks[1:] + blocks[:1], strict=True):
        c0, c1, r0, r1 = 2 * c, 2 * c + 1, 2 * r, 2 * r + 1
        pairs.append((Slot(c0, r0), Slot(c1, r1)))
        keeps_column = next_c == c
        pairs.append((Slot(c0, r1), Slot(c1, r0)) if keeps_column else (Slot(c1, r0), Slot(c0, r1)))
    return pairs


def turning(pairs: Sequence[Pair]) -> list[Banks]:
    """The banks of destinations that take turns."""
    return [(1, 2) if i % 2 == 0 else (3, 0) for i in range(len(pairs))]


def opposite(pairs: Sequence[Pair]) -> list[Banks]:
    """The banks of destinations that lie opposite to what an instruction reads. pairs: of `schedule`."""
    sides: tuple[Banks, Banks] = ((0, 1), (2, 3))
    banks = []
    for block in range(0, len(pairs), 2):
        keeps_column = pairs[block][0].column == pairs[block - 2][0].column
        banks += [sides[keeps_column], sides[not keeps_column]]
    return banks


@dataclass(frozen=True)
class Placement:
    """Registers: of each element of the column, of each of the row, and of each (column, row) accumulator."""

    column: tuple[Reg, ...]
    row: tuple[Reg, ...]
    accumulators: dict[tuple[int, int], Reg]


def operands(count: int, bank: int, first: int = 0) -> tuple[Reg, ...]:
    """`count` elements in pairs that begin on `bank`, in the first pair of each quad of VGPRs from v`first` on."""
    return tuple(Reg("v", first + BANKS * (i // 2) + bank + i % 2) for i in range(count))


def accumulators(fmas: Sequence[Fma], banks: Sequence[tuple[int, ...]], first: int) -> dict[tuple[int, int], Reg]:
    """A VGPR from v`first` on, a multiple of 4, for each product; no gaps where the banks have equal shares."""
    following = dict(zip(range(BANKS), range(first, first + BANKS), strict=True))
    found = {}
    for fma, on in zip(fmas, banks, strict=True):
        for slot, bank in zip(fma, on, strict=True):
            found[slot.column, slot.row] = Reg("v", following[bank])
            following[bank] += BANKS
    return found


def place(pairs: Sequence[Pair], banks: Sequence[Banks]) -> Placement:
    """Registers from v0 on: quads with a pair of the row and one of the column each, then the accumulators."""
    columns = 1 + max(slot.column for pair in pairs for slot in pair)
    rows = 1 + max(slot.row for pair in pairs for slot in pair)
    first = BANKS * (max(columns, rows) // 2)
    return Placement(operands(columns, COLUMN_BANK), operands(rows, ROW_BANK), accumulators(pairs, banks, first))
