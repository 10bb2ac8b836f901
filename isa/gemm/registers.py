"""Which register of a generated GEMM kernel holds what.

Operands and accumulators lie on the banks that `isa.passes.tour` asks for: pairs of the row (of B) on banks 0 and 1,
pairs of the column (of A) on banks 2 and 3, accumulators by turns. Each quad of registers from v0 up takes a pair of
each; there are as many sets of pairs as steps of k in a group. Behind them lie the accumulators; what is fetched,
offsets and LDS addresses take the pairs that are left, and what comes behind the accumulators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace

from isa.gemm.parameters import ParameterError, Parameters
from isa.passes.tour import BANKS, COLUMN_BANK, ROW_BANK, Slot, destination_banks, schedule
from isa.registers import VGPR_LIMIT, Reg

SCALARS = SimpleNamespace(
    kernarg=Reg("s", 0, 2), group_x=Reg("s", 2), group_y=Reg("s", 3),
    a=Reg("s", 4, 2), b=Reg("s", 6, 2), c=Reg("s", 8, 2), m=Reg("s", 12), n=Reg("s", 13), k=Reg("s", 14),
    alpha=Reg("s", 15), beta=Reg("s", 16), top=Reg("s", 17), left=Reg("s", 18), fetches=Reg("s", 19),
    first=Reg("s", 20), step_b=Reg("s", 22, 2), row_a=Reg("s", 24), row_b=Reg("s", 25),
    t=Reg("s", 26, 2), u=Reg("s", 28), row_mask=Reg("s", 29), all_lanes=Reg("s", 30), masks=32,
)  # fmt: skip
"""SGPRs. a, b: what the next fetch reads, at the tile's first row or column; from the end of the main loop on, a is C.
top, left: the first row and column of the tile. fetches: K blocks still to be fetched. first: steps of k in the first K
block. step_b: bytes from a K block of B to the next. row_a, row_b: bytes of a row of A and B. t, u: for the moment.
masks: the first of thread_columns SGPRs, lanes inside C by column."""


@dataclass(frozen=True)
class Registers:
    """VGPRs.

    column, row:  [step of a group][pair] -> two registers.
    accumulators: (element of the column, element of the row) -> register.
    fetched_a, fetched_b, offset_a, offset_b: for each dword that a thread fetches, where it goes and its byte offset.
    read_a, read_b, write_a, write_b: LDS addresses in buffer 0. read_a and read_b are 4 times the row and the column of
                  the lane's first element of C.
    quads:        the operands' registers by fours: free in the epilogue.
    count:        VGPRs of the kernel.
    """

    fmas: tuple[tuple[Slot, Slot], ...]
    column: tuple[tuple[Reg, ...], ...]
    row: tuple[tuple[Reg, ...], ...]
    accumulators: dict[tuple[int, int], Reg]
    fetched_a: tuple[Reg, ...]
    fetched_b: tuple[Reg, ...]
    offset_a: tuple[Reg, ...]
    offset_b: tuple[Reg, ...]
    read_a: Reg
    read_b: Reg
    write_a: Reg
    write_b: Reg
    quads: tuple[Reg, ...]
    count: int

    @staticmethod
    def of(p: Parameters) -> Registers:
        """ParameterError where they do not do."""
        fmas = tuple(schedule(p.thread_rows, p.thread_columns))
        column = _pairs(p.group, p.thread_rows // 2, COLUMN_BANK)
        row = _pairs(p.group, p.thread_columns // 2, ROW_BANK)
        quads = max(p.group * p.thread_rows, p.group * p.thread_columns) // 2
        first = BANKS * quads
        end = first + p.thread_rows * p.thread_columns
        banks = {b: iter(range(first + b, end, BANKS)) for b in range(BANKS)}
        accumulators = {}
        for pair, on in zip(fmas, destination_banks(len(fmas)), strict=True):
            for slot, bank in zip(pair, on, strict=True):
                accumulators[slot.column, slot.row] = Reg("v", next(banks[bank]))
        used = {u.index for pairs in (column, row) for step in pairs for pair in step for u in pair.units()}
        # Dead when the main loop ends: so the epilogue finds whole quads.
        left = iter([*(i for i in range(first) if i not in used), *range(end, VGPR_LIMIT)])
        fetched_a, fetched_b = _take(left, p.fetches_a), _take(left, len(p.fetches_b))
        behind = iter(i for i in range(end, VGPR_LIMIT) if Reg("v", i) not in (*fetched_a, *fetched_b))
        offset_a, offset_b = _take(behind, p.fetches_a), _take(behind, len(p.fetches_b))
        read_a, read_b, write_a, write_b = _take(behind, 4)
        return Registers(
            fmas, column, row, accumulators, fetched_a, fetched_b, offset_a, offset_b, read_a, read_b, write_a, write_b,
            tuple(Reg("v", BANKS * q, BANKS) for q in range(quads)), write_b.index + 1,
        )  # fmt: skip


def _pairs(steps: int, pairs: int, bank: int) -> tuple[tuple[Reg, ...], ...]:
    return tuple(tuple(Reg("v", BANKS * (step * pairs + i) + bank, 2) for i in range(pairs)) for step in range(steps))


def _take(free: Iterator[int], n: int) -> tuple[Reg, ...]:
    taken = tuple(Reg("v", i) for i in islice(free, n))
    if len(taken) < n:
        raise ParameterError(
            "no GEMM kernel has this thread tile and this group: the VGPRs do not do",
            expected=f"at most {VGPR_LIMIT} for accumulators, operands and what a thread fetches",
        )
    return taken
