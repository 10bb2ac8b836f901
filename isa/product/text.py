"""The instructions of one step of k, as lines without indentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from isa.product.order import Pair, Slot
from isa.registers import Reg


def dual_fmas(
    pairs: Iterable[Pair], column: Sequence[Reg], row: Sequence[Reg], accumulators: Mapping[tuple[int, int], Reg]
) -> Iterator[str]:
    """One `v_dual_fmac_f32` a pair; SRC0 is the column's element, SRC1 the row's."""

    def half(slot: Slot) -> str:
        return f"v_dual_fmac_f32 {accumulators[slot.column, slot.row]}, {column[slot.column]}, {row[slot.row]}"

    for x, y in pairs:
        yield f"{half(x)} :: {half(y)}"
