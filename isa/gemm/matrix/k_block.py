"""The main loop's instructions for one K block.

    beside the first step's LDS loads: the global loads of the next K block
    per 16 steps of k:  the LDS loads of its fragments, then each `v_wmma` as soon as its operands are there
    end:  out of the loop after the last K block; what was fetched is stored: in one buffer between two barriers, in
          two before one

After the last K block nothing is fetched or stored: a branch leads around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.gemm.matrix import fetch
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters, SideRegisters
from isa.gemm.matrix.sides import CHUNK_BYTES, FRAGMENT, MatrixSide
from isa.registers import Reg

_FRAGMENT_BYTES = FRAGMENT * CHUNK_BYTES
"""Of a line."""
_PRODUCT = {
    "f16": ("v_wmma_f32_16x16x16_f16", ""),
    "bf16": ("v_wmma_f32_16x16x16_bf16", ""),
    "i8": ("v_wmma_i32_16x16x16_iu8", " neg_lo:[1,1,0]"),  # A and B are signed
}


def k_block(p: MatrixParameters, r: MatrixRegisters, buffer: int, label: str) -> Iterator[str]:
    """buffer: where the K block lies; label: how labels begin, `<label>_store` stands after the main loop."""
    after = (buffer + 1) % p.stages
    for step in range(0, p.depth, FRAGMENT):
        reads = list(_reads(p, r, buffer, step // p.a.chunk))
        for read in reads:
            yield from read
        if not step:
            yield f"s_cmp_eq_u32 {SCALARS.fetches}, 0"
            yield f"s_cbranch_scc1 {label}_fetched_{buffer}"
            yield from fetches(p, r, f"{label}_{buffer}")
            yield f"{label}_fetched_{buffer}:"
        yield from _products(p, r, len(reads))
    yield f"s_sub_u32 {SCALARS.fetches}, {SCALARS.fetches}, 1"
    yield f"s_cbranch_scc1 {label}_store"
    yield from stores(p, r, after, read=p.stages == 1)


def fetches(p: MatrixParameters, r: MatrixRegisters, label: str) -> Iterator[str]:
    """The global loads of a K block."""
    ragged = not all(side.along_k for side in p.sides)
    if ragged:
        yield f"s_cmp_lg_u32 {SCALARS.ragged}, 0"
        yield f"s_cbranch_scc1 {label}_ragged"
    for side, own in zip(p.sides, (r.a, r.b), strict=True):
        yield from fetch.loads(side, own, False)
    if ragged:
        yield f"{label}_loaded:"


def ragged_fetches(p: MatrixParameters, r: MatrixRegisters, label: str, before: Iterable[str] = ()) -> Iterator[str]:
    """What ragged workgroups do instead; it may stand anywhere, and comes back."""
    if not all(side.along_k for side in p.sides):
        yield f"{label}_ragged:"
        yield from before
        # Those first that need no wait.
        sides = sorted(zip(p.sides, (r.a, r.b), strict=True), key=lambda pair: not pair[0].along_k)
        for side, own in sides:
            yield from fetch.loads(side, own, True)
        yield from fetch.joined(*(own for side, own in sides if not side.along_k))
        yield f"s_branch {label}_loaded"


def stores(p: MatrixParameters, r: MatrixRegisters, buffer: int, *, read: bool) -> Iterator[str]:
    """What was fetched goes to a buffer, for all waves to see. read: other waves may still read what the buffer holds.
    Waves wait for what they fetched before they meet."""
    start = buffer * p.stage_bytes
    sides = (p.a, r.a, start), (p.b, r.b, start + p.a.bytes)
    yield "s_waitcnt vmcnt(0)"
    for side, own, _ in sides:
        yield from fetch.turned(side, own)
    if read:
        yield "s_barrier"
    for side, own, at in sides:
        yield from fetch.stores(side, own, at)
    yield "s_waitcnt lgkmcnt(0)"
    yield "s_barrier"


def _reads(p: MatrixParameters, r: MatrixRegisters, buffer: int, line: int) -> Iterator[tuple[str, ...]]:
    """LDS loads of each fragment of 16 steps of k that begin at a line of chunks: B's first, all of A's, the others."""
    start = buffer * p.stage_bytes
    a = [_read(p.a, r.a, start, line, i) for i in range(p.fragments[0])]
    b = [_read(p.b, r.b, start + p.a.bytes, line, i) for i in range(p.fragments[1])]
    yield from [b[0], *a, *b[1:]]


def _read(side: MatrixSide, r: SideRegisters, start: int, line: int, fragment: int) -> tuple[str, ...]:
    def part(i: int) -> str:
        target = Reg("v", r.fragments[fragment].index + 4 * i, 4)
        at = start + (line + i) * side.pitch + fragment * _FRAGMENT_BYTES
        return f"ds_load_b128 {target}, {r.read[line + i]}{f' offset:{at}' if at else ''}"

    return tuple(map(part, range(side.fragment_lines)))


def _products(p: MatrixParameters, r: MatrixRegisters, reads: int) -> Iterator[str]:
    """Each product as soon as its fragments are there: they arrive in the order of `_reads`."""
    there = 0
    product, modifiers = _PRODUCT[p.factor]
    for j, b in enumerate(r.b.fragments):
        for i, a in enumerate(r.a.fragments):
            needed = i + 2 if j == 0 else p.fragments[0] + j + 1
            if needed > there:
                there = needed
                yield f"s_waitcnt lgkmcnt({p.a.fragment_lines * (reads - there)})"
            total = r.sums[i, j]
            yield f"{product} {total}, {a}, {b}, {total}{modifiers}"
