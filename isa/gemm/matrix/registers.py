"""Register plan of a matrix-unit GEMM kernel: parameters -> the register of each value.

Fragments of C begin on VGPR bank 0, of A on bank 1, of B on bank 2: a `v_wmma` whose operands all begin on one bank
takes 34 cycles for 32 (LLVM issue 204254). Where what is fetched is turned around, both VGPRs of a `v_perm_b32` lie on
banks of their own, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from types import SimpleNamespace

from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.sides import MatrixSide
from isa.gemm.vector.parameters import ParameterError
from isa.registers import VGPR_LIMIT, Reg

_BANKS = 4
SCALARS = SimpleNamespace(
    kernarg=Reg("s", 0, 2), group_x=Reg("s", 14), group_y=Reg("s", 15),
    a=Reg("s", 4, 2), b=Reg("s", 6, 2), c=Reg("s", 8, 2), m=Reg("s", 12), n=Reg("s", 13), k=Reg("s", 14),
    alpha=Reg("s", 15), beta=Reg("s", 16), top=Reg("s", 17), left=Reg("s", 18), fetches=Reg("s", 19),
    empty=Reg("s", 20), line_a=Reg("s", 21), line_b=Reg("s", 22), line_c=Reg("s", 23), step_a=Reg("s", 24, 2),
    step_b=Reg("s", 26, 2), t=Reg("s", 28, 2), u=Reg("s", 30), all_lanes=Reg("s", 31), ragged=Reg("s", 32),
    low=Reg("s", 33), high=Reg("s", 34), even=Reg("s", 35), odd=Reg("s", 36), gelu=Reg("s", 35),
    masks=37, strides=Reg("s", 52, 6), lines=Reg("s", 58, 3), group_z=Reg("s", 16), layer=Reg("s", 61),
)  # fmt: skip
"""SGPRs. a, b: what the next fetch reads, at the tile's first row or column. top, left: the first row and column of the
tile. fetches: K blocks still to be fetched. empty: steps of k that the first K block lacks. line_a, line_b, line_c:
bytes from a line of the matrix to the next. step_a, step_b: of a side that lies across, what its base goes on by after
the lines of a fetch. ragged: whether a fetch may reach over an edge. low, high, even, odd: selectors of
`v_perm_b32`. t, u: for the moment. masks: lanes that are inside of a matrix, from here on.
strides, lines, layer: of strided kernels, see `isa.gemm.matrix.generate`; group_z: where the layer comes."""


@dataclass(frozen=True)
class SideRegisters:
    """Of a side.

    base, start, size, line, step: SGPRs; see SCALARS. leading: elements of a line, an SGPR.
    fragments: `step` units of k each.
    read:    for each line of chunks that a load begins with, the lane's LDS address.
    write:   LDS address of the thread's first chunk.
    offsets: byte offsets of a thread's fetches; one where the side lies across.
    fetched: what a thread fetches into: along k four VGPRs a chunk; across, those of one step of k after the other; of
             bytes a run for two steps, which have half a VGPR each for two rows.
    pieces:  what is stored, one run each: along k `fetched`; across what it is turned around into, the fragments as far
             as they do.
    odd:     of bytes, as many: a fetch element by element brings odd bytes here.
    inside:  across, the SGPR that says which lanes have element j, from 1 on, of a patch inside of the matrix.
    """

    base: Reg
    start: Reg
    size: Reg
    line: Reg
    leading: Reg
    step: Reg
    fragments: tuple[Reg, ...]
    read: tuple[Reg, ...]
    write: Reg
    offsets: tuple[Reg, ...]
    fetched: tuple[Reg, ...]
    pieces: tuple[Reg, ...]
    odd: tuple[Reg, ...]
    inside: tuple[Reg, ...]


@dataclass(frozen=True)
class MatrixRegisters:
    """sums: (fragment in rows, in columns) -> its VGPRs, which two share where sums have 16 bits
    (`MatrixParameters.sums_across`). free: VGPRs that hold nothing outside of a K block: those of the fragments of A
    and B, in order. count, sgprs: of the kernel. leading_c: elements of a line of C, an SGPR. thread: of a stream-K
    kernel, the thread's number."""

    sums: dict[tuple[int, int], Reg]
    a: SideRegisters
    b: SideRegisters
    free: tuple[Reg, ...]
    count: int
    sgprs: int
    leading_c: Reg
    thread: Reg | None = None

    @staticmethod
    def of(p: MatrixParameters) -> MatrixRegisters:
        """ParameterError where they do not do."""
        rows, columns = p.fragments
        across = p.sums_across
        each, words = p.sum_words, p.fragment_words
        sums = {(i, j): Reg("v", each * (i * across + j % across), each) for i in range(rows) for j in range(columns)}
        end = each * rows * across
        fragments_a = tuple(Reg("v", end + 1 + words * i, words) for i in range(rows))
        fragments_b = tuple(Reg("v", end + 2 + words * (rows + i), words) for i in range(columns))
        singles = iter((end, end + 1 + words * rows, *range(end + 2 + words * (rows + columns), 1 << 16)))
        masks = count(SCALARS.masks)
        a, b = (
            _side(side, fragments, singles, masks, SCALARS.lines.sub(i) if p.strided else None)
            for i, (side, fragments) in enumerate(zip(p.sides, (fragments_a, fragments_b), strict=True))
        )
        thread = Reg("v", next(singles)) if p.stream_k else None
        used = next(singles)
        if used > VGPR_LIMIT:
            raise ParameterError(
                "no GEMM kernel has this wave tile and this depth: there are too few VGPRs",
                expected=f"at most {VGPR_LIMIT}", got=str(used),
            )  # fmt: skip
        free = tuple(unit for fragment in (*fragments_a, *fragments_b) for unit in fragment.units())
        # The epilogue needs masks of the columns of a lane.
        sgprs = max(next(masks), SCALARS.masks + columns + 1)
        if p.strided:
            assert sgprs <= SCALARS.strides.index
            return MatrixRegisters(sums, a, b, free, used, SCALARS.layer.index + 1, SCALARS.lines.sub(2))
        return MatrixRegisters(sums, a, b, free, used, sgprs, SCALARS.n, thread)


def _side(
    side: MatrixSide, fragments: tuple[Reg, ...], singles: Iterator[int], masks: Iterator[int], leading: Reg | None
) -> SideRegisters:
    """leading: None where lines stand one after the other."""

    def single() -> Reg:
        return Reg("v", next(singles))

    s = SCALARS
    base, start, size, line, step = (
        (s.a, s.top, s.m, s.line_a, s.step_a) if side.name == "A" else (s.b, s.left, s.n, s.line_b, s.step_b)
    )
    leading = leading or (s.k if side.along_k else size)
    read = tuple(single() for _ in range(side.lines // side.lines_at_once))
    write = single()
    offsets = tuple(single() for _ in range(side.fetches))
    width = 4 if side.along_k else side.patch // 2
    fetched = tuple(_fetched(side, singles, width))
    odd = tuple(_run(singles, width) for _ in fetched) if side.element == 1 else ()
    pieces = fetched if side.along_k else tuple(_pieces(side, fragments, singles))
    inside = () if side.along_k else tuple(Reg("s", next(masks)) for _ in range(side.patch - 1))
    return SideRegisters(
        base, start, size, line, leading, step, fragments, read, write, offsets, fetched, pieces, odd, inside
    )


def _fetched(side: MatrixSide, singles: Iterator[int], width: int) -> list[Reg]:
    """A step of k and the next one are turned around together, so they begin on two banks."""
    count = side.registers // width
    if side.along_k or width % _BANKS:
        return [_run(singles, width) for _ in range(count)]
    found = [_run(singles, width) for _ in range(0, count, 2)]
    next(singles)
    odd = [_run(singles, width) for _ in range(1, count, 2)]
    return [*chain(*zip(found, odd, strict=True))]


def _pieces(side: MatrixSide, fragments: tuple[Reg, ...], singles: Iterator[int]) -> Iterator[Reg]:
    words = side.steps * side.element // 4
    free = sum(fragment.count for fragment in fragments)
    for first in range(0, side.registers, words):
        fits = first + words <= free
        yield fragments[0].sub(first, words) if fits else _run(singles, words)


def _run(singles: Iterator[int], width: int) -> Reg:
    found = [next(singles)]
    while len(found) < width:
        number = next(singles)
        found = [*found, number] if number == found[-1] + 1 else [number]
    return Reg("v", found[0], width)
