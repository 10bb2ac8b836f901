"""What a stream-K kernel of the matrix units does besides: `isa.gemm.stream_k` has the protocol, and this is the seam.

All that a tile's place decides is computed again for each piece, from the thread's number: the epilogue of the piece
before took the registers of lanes' addresses for its own. What a lane adds up lies in consecutive VGPRs, whatever
fragment it is of, and so in a slot; what held fragments of A and B takes the sums of other pieces.

A tile's number counts workgroups as a plain launch would have them, x first; `order` makes row and column of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

from isa.gemm import stream_k
from isa.gemm.matrix import frame, order
from isa.gemm.matrix.fetch import packs
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters
from isa.gemm.text import log2


def scalars(r: MatrixRegisters) -> SimpleNamespace:
    """SGPRs, see `stream_k.scalars`."""
    return stream_k.scalars(r.sgprs)


def begin(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    """From the arguments to a piece: `top`, `left`, `a` and `b` as a plain kernel has them, and the thread's number in
    v0."""
    s, w = SCALARS, scalars(r)
    yield f"s_mov_b32 {w.group}, {s.group_x}"
    yield f"s_mov_b32 {w.whole}, {s.group_y}"
    yield from frame.arguments(w.a.index)
    for first, offset in ((w.workspace, 0), (w.chunk, 16)):
        yield f"s_load_b128 s[{first.index}:{first.index + 3}], {s.kernarg}, {p.after_vectors + offset:#x}"
    yield f"v_mov_b32_e32 {r.thread}, v0"
    yield f"s_mov_b32 {s.all_lanes}, exec_lo"
    yield "s_waitcnt lgkmcnt(0)"
    yield from packs(p)
    yield from stream_k.first_piece(p, w, s, label, depth=p.units)
    yield from stream_k.next_piece(w, s, label)
    yield from order.tile_of(p, w.x, w.y)
    yield f"s_mov_b64 {s.a}, {w.a}"
    yield f"s_mov_b64 {s.b}, {w.b}"
    yield f"v_mov_b32_e32 v0, {r.thread}"


def start(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    """The bases of A and B are those of the tile: they go on to the piece. Only the first K block of a tile holds what
    is left over of K. SCC says whether there is no K at all."""
    s, w = SCALARS, scalars(r)
    yield f"s_cmp_eq_u32 {w.start}, 0"
    yield f"s_cbranch_scc1 {label}_head"
    yield f"s_mov_b32 {s.empty}, 0"
    yield f"s_lshl_b32 {w.x}, {w.start}, {log2(p.units)}"
    for side, own in zip(p.sides, (r.a, r.b), strict=True):
        yield from stream_k.begin_at(own.base, w.x, side.element if side.along_k else own.line, s.t)
    yield f"{label}_head:"
    yield f"s_mov_b32 {s.fetches}, {w.count}"
    yield f"s_cmp_eq_u32 {s.k}, 0"


def combine(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    """After the main loop."""
    assert r.thread is not None
    quads = [fragment.sub(i, 4) for fragment in (*r.a.fragments, *r.b.fragments) for i in range(0, fragment.count, 4)]
    sums = range(8 * len(r.sums))
    add = "v_add_nc_u32_e32" if p.integer else "v_add_f32_e32"
    found = stream_k.Combine.of(p, scalars(r), SCALARS, sums, quads, r.a.write, r.b.write, r.a.offsets[0], add)
    yield from found.lines(r.thread, label, drain=not p.vectors)  # an epilogue with vectors waits for these
