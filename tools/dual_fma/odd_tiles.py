"""The order of an outer product's FMAs where a side of the thread tile is odd.

Four banks for every pair are out of reach then (see `isa.outer_product.fma_order`). But a pair may share an element,
and the factors of a product may change places: with the column on banks 0 and 2, all even, and the row on 1 and 3, all
odd,

    X: c * r,    Y: r' * c

is legal for all of them, since each slot is read once from an even and once from an odd register. It reads three
registers, from three banks if r and r' lie on different ones: no stall, whatever is in the caches. So

    rows by twos     each column element with each pair of row elements, from end to end and back again
    a last row       its products with columns by twos: X: c * r, Y: r * c'
    a last product   of two odd sides: one v_fmac_f32 by itself

From one pair to the next only the column's element changes, but at the ends only the pair of rows. Accumulators lie on
the even bank from which the column's element does not come, and on the odd ones by turns: the read of an accumulator
collides with a source's only where the rows change.

A row's elements are no neighbours in registers, nor a column's, so that LDS loads of more than one dword cannot fill
them: the generated kernels, whose tiles are even, do without this.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.errors import IsaError
from isa.outer_product.fma_order import BANKS, Fma, Placement, Slot, accumulators
from isa.registers import Reg

_ODD = (1, 3)


def schedule(columns: int, rows: int) -> list[Fma]:
    """(X, Y) of each dual FMA, and at last, of two odd sides, one FMA by itself.

    IsaError where a side has no element, or the tile has only one product.
    """
    if columns < 1 or rows < 1 or columns * rows < 2:
        raise IsaError(
            f"no order of dual FMAs for a thread tile of {columns} x {rows}", expected="two products or more"
        )
    order = list(range(columns))
    found: list[Fma] = []
    for row in range(0, rows - 1, 2):
        found += [(Slot(c, row), Slot(c, row + 1, crossed=True)) for c in order]
        order.reverse()
    if rows % 2:
        last = rows - 1
        found += [(Slot(c, last), Slot(c + 1, last, crossed=True)) for c in range(0, columns - 1, 2)]
        if columns % 2:
            found.append((Slot(columns - 1, last),))
    return found


def place(fmas: Sequence[Fma]) -> Placement:
    """Registers from v0 on: quads with two elements of each side, then the accumulators, with gaps."""
    columns, rows = (1 + max(getattr(slot, side) for fma in fmas for slot in fma) for side in ("column", "row"))
    banks = []
    for i, fma in enumerate(fmas):
        even = 2 - 2 * (fma[0].column % 2)
        banks.append((even, _ODD[i % 2])[: len(fma)])
    return Placement(
        tuple(Reg("v", BANKS * (i // 2) + 2 * (i % 2)) for i in range(columns)),
        tuple(Reg("v", BANKS * (i // 2) + 2 * (i % 2) + 1) for i in range(rows)),
        accumulators(fmas, banks, BANKS * ((max(columns, rows) + 1) // 2)),
    )
