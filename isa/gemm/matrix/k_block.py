"""Main loop of a matrix-unit kernel: the instructions for one K block.

    beside the first step's LDS loads: the global loads of the next K block
    per fragment of k:  the LDS loads of its fragments, then each `v_wmma` as soon as its operands are there
    after each of the first `v_wmma`: a few of those global loads, of bytes that lie across, on RDNA3; LDS loads, of all
          waves, would wait for all of them at once
    end:  out of the loop after the last K block; what was fetched is stored: in one buffer between two barriers, in
          two before one

After the last K block nothing is fetched or stored: a branch leads around it.

**Priority.** Waves that store are few instructions away from a barrier at which all others of their workgroup wait.
Where they take turns with waves that have `v_wmma`s to issue, each of those instructions waits for some of these, and
workgroups fall into step: all store, then all multiply. With `prio` waves go before others from the end of a K block to
the first products of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.gemm.matrix import fetch
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters, SideRegisters
from isa.gemm.matrix.sides import CHUNK_BYTES, FRAGMENT, MatrixSide
from isa.registers import Reg

_FRAGMENT_BYTES = FRAGMENT * CHUNK_BYTES
"""Of a line."""
_MATRIX_UNITS = "v_wmma"
_TOGETHER = 2
"""Steps of k whose loads follow one `v_wmma` where there are many."""
_MOST_URGENT = 3
_TYPES = {"f16": "f16", "bf16": "bf16", "i8": "iu8", "i4": "iu4", "fp8": "fp8_fp8", "bf8": "bf8_bf8"}
_SIGNED = " neg_lo:[1,1,0]"
"""A and B are."""
_UPPER = " op_sel:[0,0,1]"
"""The upper halves of the sums."""


def k_block(p: MatrixParameters, r: MatrixRegisters, buffer: int, label: str) -> Iterator[str]:
    """buffer: where the K block lies; label: how labels begin, `<label>_store` stands after the main loop."""
    after = (buffer + 1) % p.stages
    at_once = [part for part in parts(p, r) if not part.many]
    waiting = [part for part in parts(p, r) if part.many]
    each = -(-len(waiting) * p.step // (p.units * len(r.sums)))
    if not all(side.along_k for side in p.sides):
        yield f"s_cmp_eq_u32 {SCALARS.fetches}, 0"
        yield f"s_cselect_b32 {SCALARS.u}, -1, {SCALARS.ragged}"
    for step in range(0, p.units, p.step):
        reads = list(_reads(p, r, buffer, step // p.a.chunk))
        for read in reads:
            yield from read
        if not step:
            for part in at_once:
                yield from fetches(part, f"{label}_{buffer}", first=False)
        if p.prio and not step:
            yield "s_setprio 0"
        for line in _products(p, r, len(reads)):
            yield line
            if line.startswith(_MATRIX_UNITS):
                for part in waiting[:each]:
                    yield from fetches(part, f"{label}_{buffer}", first=False)
                del waiting[:each]
    yield f"s_sub_u32 {SCALARS.fetches}, {SCALARS.fetches}, 1"
    yield f"s_cbranch_scc1 {label}_store"
    yield from stores(p, r, after, read=p.stages == 1)


@dataclass(frozen=True)
class Part:
    """Some of a side's global loads of a K block."""

    side: MatrixSide
    r: SideRegisters
    loads: range

    @property
    def across(self) -> bool:
        return not self.side.along_k

    @property
    def many(self) -> bool:
        """Whether others of the side follow, which are too many to be issued at once."""
        return len(self.loads) < self.side.loads

    def label(self, label: str) -> str:
        """Of its own."""
        return f"{label}_{self.side.name}{self.loads.start}"


def parts(p: MatrixParameters, r: MatrixRegisters) -> Iterator[Part]:
    """All global loads of a K block."""
    for side, own in zip(p.sides, (r.a, r.b), strict=True):
        step = side.loads if side.along_k or side.element > 1 or side.split else _TOGETHER
        for start in range(0, side.loads, step):
            yield Part(side, own, range(start, start + step))


def fetches(part: Part, label: str, *, first: bool) -> Iterator[str]:
    """The loads of a part, of the first K block or of another, which may be one too many: `fetches` is 0. Across,
    `unusual` follows where `u` is not 0."""
    mine = part.label(label)
    if part.across:
        yield f"s_cmp_lg_u32 {SCALARS.u}, 0"
        yield f"s_cbranch_scc1 {mine}_unusual"
    elif not first:
        yield f"s_cmp_eq_u32 {SCALARS.fetches}, 0"
        yield f"s_cbranch_scc1 {mine}_behind"
    yield from fetch.loads(part.side, part.r, part.loads, False)
    if part.across or not first:
        yield f"{mine}_behind:"


def unusual(part: Part, label: str, *, first: bool) -> Iterator[str]:
    """What ragged workgroups do instead, and others where nothing is left to fetch; it may stand anywhere, and comes
    back."""
    if part.across:
        mine = part.label(label)
        yield f"{mine}_unusual:"
        if not first:
            yield f"s_cmp_eq_u32 {SCALARS.fetches}, 0"
            yield f"s_cbranch_scc1 {mine}_behind"
        elif part.side.element > 1:
            yield from fetch.zeros(part.r.fetched)
        yield from fetch.loads(part.side, part.r, part.loads, True)
        if part.side.element == 1:
            yield "wait global_load 0"
        yield from fetch.joined(part.side, part.r, part.loads)
        yield f"s_branch {mine}_behind"


def stores(p: MatrixParameters, r: MatrixRegisters, buffer: int, *, read: bool) -> Iterator[str]:
    """What was fetched goes to a buffer, for all waves to see. read: other waves may still read what the buffer holds.
    Waves wait for what they fetched before they meet."""
    start = buffer * p.stage_bytes
    sides = (p.a, r.a, start), (p.b, r.b, start + p.a.bytes)
    if p.prio:
        yield f"s_setprio {_MOST_URGENT}"
    yield "wait global_load 0"
    for side, own, _ in sides:
        yield from fetch.turned(side, own)
    if read:
        yield "barrier"
    for side, own, at in sides:
        yield from fetch.stores(side, own, at)
    yield "wait lds_load 0"
    yield "barrier"


def _reads(p: MatrixParameters, r: MatrixRegisters, buffer: int, line: int) -> Iterator[tuple[str, ...]]:
    """LDS loads of each fragment of the k that begin at a line of chunks: B's first, all of A's, the others."""
    start = buffer * p.stage_bytes
    a = [_read(p.a, r.a, start, line, i) for i in range(p.fragments[0])]
    b = [_read(p.b, r.b, start + p.a.bytes, line, i) for i in range(p.fragments[1])]
    yield from [b[0], *a, *b[1:]]


def _read(side: MatrixSide, r: SideRegisters, start: int, line: int, fragment: int) -> tuple[str, ...]:
    def part(i: int) -> str:
        target = Reg("v", r.fragments[fragment].index + 4 * i, 4)
        at = start + (line + i) * side.pitch + fragment * _FRAGMENT_BYTES
        return f"ds_load_b128 {target}, {r.read[line // side.lines_at_once + i]}{f' offset:{at}' if at else ''}"

    return tuple(map(part, range(side.fragment_loads)))


def _products(p: MatrixParameters, r: MatrixRegisters, reads: int) -> Iterator[str]:
    """Each product as soon as its fragments are there: they arrive in the order of `_reads`."""
    there = 0
    sums = "i32" if p.integer else p.factor if p.half_sums else "f32"
    depth = 2 * FRAGMENT if p.split and p.pack > 1 else FRAGMENT
    product = f"v_wmma_{sums}_16x16x{depth}_{_TYPES[p.factor]}"
    for j, b in enumerate(r.b.fragments):
        for i, a in enumerate(r.a.fragments):
            needed = i + 2 if j == 0 else p.fragments[0] + j + 1
            if needed > there:
                there = needed
                yield f"wait lds_load {p.a.fragment_loads * (reads - there)}"
            total, each = r.sums[i, j], a.count // p.products
            modifiers = _SIGNED if p.integer else _UPPER if j >= p.sums_across else ""
            for part in range(0, a.count, each):
                yield f"{product} {total}, {a.sub(part, each)}, {b.sub(part, each)}, {total}{modifiers}"
