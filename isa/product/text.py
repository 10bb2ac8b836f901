"""The instructions of steps of k, as lines without indentation.

A *group* of steps is

    the LDS loads of all its steps
    what stands beside them: global loads, addresses that go on, the loop's control
    for each step: wait for its operands, its dual FMAs

Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: so loads stand together.
LDS instructions return in order, so `lgkmcnt(n)` waits for all but the last n; global loads count in vmcnt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.product.order import Pair, Slot
from isa.registers import Reg

_LGKMCNT_LIMIT = 63


@dataclass(frozen=True)
class Words:
    """What one step reads of one side, the column of A or the row of B. pairs: two VGPRs each. offsets: for each pair,
    where it lies in LDS, in bytes behind what the VGPR `address` holds."""

    pairs: Sequence[Reg]
    address: Reg
    offsets: Sequence[int]

    @property
    def elements(self) -> list[Reg]:
        """A register for each element."""
        return [unit for pair in self.pairs for unit in pair.units()]

    def loads(self) -> Iterator[str]:
        for pair, offset in zip(self.pairs, self.offsets, strict=True):
            yield f"ds_load_b64 {pair}, {self.address}" + (f" offset:{offset}" if offset else "")


@dataclass(frozen=True)
class Step:
    """The operands of one step of k."""

    column: Words
    row: Words


def group(
    steps: Sequence[Step],
    pairs: Sequence[Pair],
    accumulators: Mapping[tuple[int, int], Reg],
    beside: Iterable[str] = (),
) -> Iterator[str]:
    """A group of steps: see the module's docstring. pairs: the order of the dual FMAs of each step."""
    loads = [[*step.column.loads(), *step.row.loads()] for step in steps]
    for of_step in loads:
        yield from of_step
    yield from beside
    waiting = sum(map(len, loads))
    for step, of_step in zip(steps, loads, strict=True):
        waiting -= len(of_step)
        yield f"s_waitcnt lgkmcnt({min(waiting, _LGKMCNT_LIMIT)})"
        yield from dual_fmas(pairs, step.column.elements, step.row.elements, accumulators)


def dual_fmas(
    pairs: Iterable[Pair], column: Sequence[Reg], row: Sequence[Reg], accumulators: Mapping[tuple[int, int], Reg]
) -> Iterator[str]:
    """One `v_dual_fmac_f32` a pair; SRC0 is the column's element, SRC1 the row's."""

    def half(slot: Slot) -> str:
        return f"v_dual_fmac_f32 {accumulators[slot.column, slot.row]}, {column[slot.column]}, {row[slot.row]}"

    for x, y in pairs:
        yield f"{half(x)} :: {half(y)}"
