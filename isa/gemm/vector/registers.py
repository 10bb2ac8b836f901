"""Register plan of a fp32 GEMM kernel: parameters -> the register of each value.

Operands and accumulators lie on the banks that `isa.outer_product.fma_order` asks for: pairs of the row (of B) on banks
0 and 1, pairs of the column (of A) on banks 2 and 3, accumulators opposite to the sources read with them. Each quad of
registers from v0 up takes a pair of each; there are as many sets of pairs as steps of k in a group. After them lie the
accumulators; what is fetched, offsets and LDS addresses take the pairs that are left, and what comes after the
accumulators.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice
from types import SimpleNamespace

from isa.gemm.vector.parameters import ParameterError, Parameters
from isa.gemm.vector.sides import Side
from isa.outer_product import fma_order
from isa.outer_product.fma_order import BANKS, COLUMN_BANK, ROW_BANK, Pair
from isa.registers import VGPR_LIMIT, Reg

SCALARS = SimpleNamespace(
    kernarg=Reg("s", 0, 2), group_x=Reg("s", 14), group_y=Reg("s", 15),
    a=Reg("s", 4, 2), b=Reg("s", 6, 2), c=Reg("s", 8, 2), m=Reg("s", 12), n=Reg("s", 13), k=Reg("s", 14),
    alpha=Reg("s", 15), beta=Reg("s", 16), top=Reg("s", 17), left=Reg("s", 18), fetches=Reg("s", 19),
    empty=Reg("s", 20), step_a=Reg("s", 10, 2), step_b=Reg("s", 22, 2),
    line_m=Reg("s", 21), ragged=Reg("s", 31), line_n=Reg("s", 25), line_k=Reg("s", 24),
    t=Reg("s", 26, 2), u=Reg("s", 28), row_mask=Reg("s", 29), all_lanes=Reg("s", 30), masks=32,
)  # fmt: skip
"""SGPRs. group_x, group_y: of the workgroup, after 14 user SGPRs: `isa.targets.Target.least_sgprs` of them and these
must be enabled, and it does no harm elsewhere. a, b: what the next fetch reads, at the tile's first row or column; from
the end of the main loop on, a is C. top, left: the first row and column of the tile. fetches: K blocks still to be
fetched. empty: steps of k that the first K block lacks. step_a, step_b: bytes from a K block to the next of a side that
lies across. line_m, line_n, line_k: bytes of so many elements, from a line of a matrix to the next; line_n is C's.
ragged: whether a fetch of several elements may reach over an edge. t, u: for the moment. masks: the first of
thread_columns SGPRs, lanes inside C by column; before that, of those that hold Operand.inside."""


@dataclass(frozen=True)
class OperandScalars:
    """A side's SGPRs. start: the tile's first row or column; size: how many the matrix has; line: bytes from a line of
    the matrix to the next."""

    base: Reg
    start: Reg
    size: Reg
    line: Reg
    step: Reg

    @staticmethod
    def of(side: Side) -> OperandScalars:
        s = SCALARS
        if side.name == "A":
            return OperandScalars(s.a, s.top, s.m, s.line_k if side.along_k else s.line_m, s.step_a)
        return OperandScalars(s.b, s.left, s.n, s.line_k if side.along_k else s.line_n, s.step_b)


@dataclass(frozen=True)
class Operand:
    """A side's registers.

    pairs:   [step of a group][pair] -> two VGPRs.
    fetched, offset: for each fetch of a thread, where it goes and its byte offset.
    inside:  of a side that may be ragged, row or column of a fetch -> for each of its elements but the first, the SGPR
             that says which lanes have it inside the matrix.
    read, write: LDS addresses in buffer 0, of the lane's first element and of the thread's first fetch. `read` is 4
             times the row, or the column, of the lane's first element of C.
    """

    scalars: OperandScalars
    pairs: tuple[tuple[Reg, ...], ...]
    fetched: tuple[Reg, ...]
    offset: tuple[Reg, ...]
    inside: dict[int, tuple[Reg, ...]]
    read: Reg
    write: Reg


@dataclass(frozen=True)
class Registers:
    """VGPRs.

    fmas:         (X, Y) of each dual FMA of a step.
    a, b:         of the sides.
    accumulators: (element of the column, element of the row) -> register.
    quads:        the operands' registers by fours: free in the epilogue.
    stays:        of a stream-K kernel, what lasts from tile to tile: the thread's number, and two for the epilogue.
    count, sgprs: VGPRs and SGPRs of the kernel; a stream-K one needs more SGPRs after these.
    """

    fmas: tuple[Pair, ...]
    a: Operand
    b: Operand
    accumulators: dict[tuple[int, int], Reg]
    quads: tuple[Reg, ...]
    stays: tuple[Reg, ...]
    count: int
    sgprs: int

    @staticmethod
    def of(p: Parameters) -> Registers:
        """ParameterError where they do not do."""
        fmas = tuple(fma_order.schedule(p.thread_rows, p.thread_columns))
        column = _pairs(p.group, p.thread_rows // 2, COLUMN_BANK)
        row = _pairs(p.group, p.thread_columns // 2, ROW_BANK)
        quads = max(p.group * p.thread_rows, p.group * p.thread_columns) // 2
        first = BANKS * quads
        end = first + p.thread_rows * p.thread_columns
        accumulators = fma_order.accumulators(fmas, fma_order.opposite(fmas), first)
        used = {u.index for pairs in (column, row) for step in pairs for pair in step for u in pair.units()}
        free = _Free({*range(first), *range(end, VGPR_LIMIT)} - used)
        # Not the epilogue's quads: that nothing is in flight there by then, only those know who count fetches.
        fetched = [[free.take(side.width, p.thread_columns) for _ in side.fetches] for side in p.sides]
        offset = [[free.take(1, end) for _ in side.fetches] for side in p.sides]
        read_a, read_b, write_a, write_b = (free.take(1, end) for _ in range(4))
        stays = tuple(free.take(1, end) for _ in range(3)) if p.stream_k else ()
        masks = (Reg("s", i) for i in count(SCALARS.masks))
        inside = [
            {x: tuple(islice(masks, side.width - 1)) for x in side.parts} if side.ragged else {} for side in p.sides
        ]
        scalars = [OperandScalars.of(side) for side in p.sides]
        a = Operand(scalars[0], column, tuple(fetched[0]), tuple(offset[0]), inside[0], read_a, write_a)
        b = Operand(scalars[1], row, tuple(fetched[1]), tuple(offset[1]), inside[1], read_b, write_b)
        whole = tuple(Reg("v", BANKS * q, BANKS) for q in range(quads))
        sgprs = max(SCALARS.masks + p.thread_columns, next(masks).index)
        return Registers(fmas, a, b, accumulators, whole, stays, free.highest + 1, sgprs)


class _Free:
    """Numbers of VGPRs that nothing holds."""

    def __init__(self, numbers: set[int]) -> None:
        self._numbers = numbers
        self.highest = 0

    def take(self, count: int, start: int = 0) -> Reg:
        """The first run of so many from `start` on; ParameterError where there is none."""
        for i in sorted(self._numbers):
            run = range(i, i + count)
            if i >= start and self._numbers.issuperset(run):
                self._numbers.difference_update(run)
                self.highest = max(self.highest, run[-1])
                return Reg("v", i, count)
        raise ParameterError(
            "no GEMM kernel has this thread tile and this group: there are too few VGPRs",
            expected=f"at most {VGPR_LIMIT} for accumulators, operands and what a thread fetches",
        )


def _pairs(steps: int, pairs: int, bank: int) -> tuple[tuple[Reg, ...], ...]:
    return tuple(tuple(Reg("v", BANKS * (step * pairs + i) + bank, 2) for i in range(pairs)) for step in range(steps))
