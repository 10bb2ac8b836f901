"""MatrixParameters -> a GEMM kernel as a Program.

    kernel(const T *A, const T *B, R *C, int M, int N, int K, float alpha, float beta)

row-major, A is M x K (K x M with trans_a), B is K x N (N x K with trans_b), C is M x N: C = alpha * A * B + beta * C,
and C is not read when beta is 0. T is f16 or bf16, R f32 or one of these; sums are f32, or T with `half_sums`, taken as
`v_wmma` takes them, 16 steps of k at a time in ascending order. Or T is RDNA4's fp8 or bf8, a float of 8 bits; sums are
f32, of each 32 steps of k half of each 16 and then the others. Or T is i8; sums are i32 and wrap around, and R is i32,
with int alpha and beta, or a float that the sum is converted to before. Or T is a byte with two i4 along k, the lower k
in the lower bits, and K is even; from then on all goes as for i8, a pair for a step of k, but for `v_wmma`. M, N and K
may be any numbers from 1 up (and K may be 0): no lane reads or writes outside of the matrices.

Epilogues (`isa.gemm.matrix.element`) take addresses of vectors of float after beta: the bias, of N; the row scales, of
M, and the column scales, of N.

Strided kernels take after those how far lines, and the matrices of a batch, are apart.

A stream-K kernel takes after those a workspace and what work.Work packs, and any number of
workgroups, in x.

Launch of all others: p.threads threads, ceil(N / p.columns) x ceil(M / p.rows) x batch workgroups;
`isa.gemm.matrix.order` says which has which tile.

Where the matrices of a strided kernel lie: arguments after all others,

    uint64_t stride_a, stride_b, stride_c      elements from a matrix of a batch to the next; 0 where all have one
    uint32_t lda, ldb, ldc                     elements from a line of a matrix to the next

counted as they lie in memory: of i4 in pairs. z of the grid says which of the batch a workgroup computes. What else
the arguments say is of one matrix. Where a line is longer than what the matrix has of it, the rest is not touched.

What a stream-K kernel of the matrix units does besides: `isa.gemm.stream_k` has the protocol, and this is the seam.

All that a tile's place decides is computed again for each piece, from the thread's number: the epilogue of the piece
before took the registers of lanes' addresses for its own. What a lane adds up lies in consecutive VGPRs, whatever
fragment it is of, and so in a slot; what held fragments of A and B takes the sums of other pieces.

A tile's number counts workgroups as a plain launch would have them, x first; `order` makes row and column of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

from isa.asm.program import Program
from isa.gemm import stream_k
from isa.gemm.matrix import fetch, frame, order
from isa.gemm.matrix.epilogue import epilogue
from isa.gemm.matrix.fetch import packs
from isa.gemm.matrix.k_block import fetches, k_block, parts, stores, unusual
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters
from isa.gemm.text import add64, log2, wide


def generate(p: MatrixParameters, name: str, *, arch: str = "gfx1100", file: str | None = None) -> Program:
    """The kernel. Raises ParameterError where registers do not do."""
    p = p.on(arch)
    r = MatrixRegisters.of(p)
    sgprs = scalars(r).end_of_registers if p.stream_k else r.sgprs
    return frame.program(p, r, _lines(p, r, f".L{name}"), name, arch, file, sgprs)


def _lines(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    s = SCALARS
    sides = list(zip(p.sides, (r.a, r.b), strict=True))
    t = iter(r.free)
    u = next(t)
    if p.stream_k:
        yield from begin(p, r, label)
    else:
        yield from order.workgroup(p)
        yield from layer(p)
        yield from frame.arguments()
        yield from arguments(p)
        yield f"s_mov_b32 {s.all_lanes}, exec_lo"
    across = not all(side.along_k for side in p.sides)
    if across:
        yield f"s_mov_b32 {s.ragged}, 0"
    places = [(next(t), next(t)) for _ in sides]
    for (side, own), (line, row) in zip(sides, places, strict=True):
        yield from fetch.place(side, own, line, row, u)
    if not p.stream_k:
        yield "wait smem_load 0"
        yield from order.tile(p)
        yield from bases(p)
        yield from packs(p)
    for side, own in sides:
        yield f"s_lshl_b32 {own.line}, {own.leading}, {log2(side.element)}"
    yield f"s_lshl_b32 {s.line_c}, {r.leading_c}, {log2(p.result_bytes)}"
    # K blocks: the first holds what is left over, if anything is, so that all others are whole.
    if p.stream_k:
        yield f"s_mov_b32 {s.empty}, {scalars(r).empty}"
    else:
        yield f"s_sub_i32 {s.empty}, 0, {s.k}"
        yield f"s_and_b32 {s.empty}, {s.empty}, {p.units - 1}"
    for side, own in sides:
        yield from fetch.base(side, own)
    for (side, own), (line, row) in zip(sides, places, strict=True):
        yield from fetch.offsets(side, own, line, row, u)
    if p.stream_k:
        yield from start(p, r, label)
    else:
        yield f"s_add_i32 {s.fetches}, {s.k}, {p.units - 1}"
        yield f"s_lshr_b32 {s.fetches}, {s.fetches}, {log2(p.units)}"
        yield f"s_cmp_eq_u32 {s.fetches}, 0"
    yield f"s_cbranch_scc1 {label}_nothing"
    yield f"s_cmp_lg_u32 {s.empty}, 0"
    yield f"s_cbranch_scc1 {label}_part"
    for side, own in sides:
        if not side.along_k and side.element == 1:  # loads leave half of a register as it is
            yield from fetch.zeros(own.fetched)
    if across:
        yield f"s_mov_b32 {s.u}, {s.ragged}"
    fetching = list(parts(p, r))
    for group in fetching:
        yield from fetches(group, f"{label}_first", first=True)
    # The rest while these are in flight: code comes in slowly, too, where a kernel is new to a CU.
    yield f"{label}_begun:"
    yield from _begin(p, r, products=True)
    yield f"s_sub_i32 {s.fetches}, {s.fetches}, 1"
    # Of a piece before this one other waves may still read what it left in LDS.
    yield from stores(p, r, 0, read=p.stream_k)
    yield f"{label}_loop:"
    for buffer in range(p.stages):
        yield from k_block(p, r, buffer, label)
    yield f"s_branch {label}_loop"
    yield f"{label}_nothing:"  # K is 0
    yield from _begin(p, r, products=False)
    yield f"s_branch {label}_store"
    # A first K block that is not whole.
    yield f"{label}_part:"
    yield from fetch.zeros((*r.a.fetched, *r.a.odd, *r.b.fetched, *r.b.odd))
    for (side, own), (line, _) in zip(sides, places, strict=True):
        yield from fetch.first_loads(side, own, line, u)
    if p.factor_bytes == 1:
        yield "wait global_load 0"
    for side, own in sides:
        yield from fetch.joined(side, own, range(side.loads))
    yield f"s_branch {label}_begun"
    for group in fetching:
        yield from unusual(group, f"{label}_first", first=True)
        for buffer in range(p.stages):
            yield from unusual(group, f"{label}_{buffer}", first=False)
    yield f"{label}_store:"
    if p.stream_k:
        yield from combine(p, r, label)
    yield from epilogue(p, r, label)


def _begin(p: MatrixParameters, r: MatrixRegisters, *, products: bool) -> Iterator[str]:
    """What stores and products want besides what is fetched, and what C does without `products`. v0 is the thread's
    number before it."""
    s = SCALARS
    turns = products and not all(side.along_k for side in p.sides)
    if turns and p.factor_bytes == 1:
        yield f"s_mov_b32 {s.even}, {fetch.EVEN:#x}"
        yield f"s_mov_b32 {s.odd}, {fetch.ODD:#x}"
    elif turns:
        yield f"s_mov_b32 {s.low}, {fetch.LOW:#x}"
    if p.result == "bf16" or (turns and p.factor_bytes == 2):
        yield f"s_mov_b32 {s.high}, {fetch.HIGH:#x}"
    # The wave's part of the tile, and the lane's number in a fragment.
    lane, part, half = r.free[:3]
    a, b = (own.read if products else own.read[:1] for own in (r.a, r.b))
    yield f"v_and_b32_e32 {lane}, 15, v0"
    if p.split:
        yield f"v_bfe_u32 {half}, v0, 4, 1"
        yield from fetch.swizzled(p.a, lane, half, part)
    yield f"v_lshrrev_b32_e32 {part}, {5 + log2(p.waves_across)}, v0"
    yield f"v_lshlrev_b32_e32 {part}, {log2(p.wave_rows)}, {part}"
    yield from fetch.read_addresses(p.a, a, part, lane, half)
    yield f"v_bfe_u32 {part}, v0, 5, {log2(p.waves_across)}"
    yield f"v_lshlrev_b32_e32 {part}, {log2(p.wave_columns)}, {part}"
    yield from fetch.read_addresses(p.b, b, part, lane, half)
    for total in dict.fromkeys(r.sums.values()):
        x = list(total.units())
        for i in range(0, total.count, 2):
            yield f"v_dual_mov_b32 {x[i]}, 0 :: v_dual_mov_b32 {x[i + 1]}, 0"


def layer(p: MatrixParameters) -> Iterator[str]:
    """Which of the batch, before the arguments take its place."""
    if p.strided:
        yield f"s_mov_b32 {SCALARS.layer}, {SCALARS.group_z}"


def arguments(p: MatrixParameters) -> Iterator[str]:
    """Their loads."""
    if p.strided:
        s, at = SCALARS, p.after_vectors
        yield f"s_load_b128 {s.strides.sub(0, 4)}, {s.kernarg}, {at:#x}"
        yield f"s_load_b64 {s.strides.sub(4, 2)}, {s.kernarg}, {at + 16:#x}"
        yield f"s_load_b64 {s.lines.sub(0, 2)}, {s.kernarg}, {at + 24:#x}"
        yield f"s_load_b32 {s.lines.sub(2)}, {s.kernarg}, {at + 32:#x}"


def bases(p: MatrixParameters) -> Iterator[str]:
    """A, B and C become those of the layer."""
    if p.strided:
        s, t = SCALARS, SCALARS.t
        for i, (base, size) in enumerate(((s.a, p.factor_bytes), (s.b, p.factor_bytes), (s.c, p.result_bytes))):
            low, high = s.strides.sub(2 * i), s.strides.sub(2 * i + 1)
            yield from wide(t, s.layer, low)
            yield f"s_mul_i32 {s.u}, {s.layer}, {high}"
            yield f"s_add_i32 {t.sub(1)}, {t.sub(1)}, {s.u}"
            if size > 1:
                yield f"s_lshl_b64 {t}, {t}, {log2(size)}"
            yield from add64(base, *t.units())


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
    yield "wait smem_load 0"
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
    sums = range(p.sum_words * len(r.sums))
    add = "v_add_nc_u32_e32" if p.integer else "v_add_f32_e32"
    found = stream_k.Combine.of(p, scalars(r), SCALARS, sums, quads, r.a.write, r.b.write, r.a.offsets[0], add)
    yield from found.lines(r.thread, label, drain=not p.vectors)  # an epilogue with vectors waits for these
