"""GemvParameters -> a kernel as a Program.

    kernel(const T *A, const W *B, R *C, int M, int N, int K, float alpha, float beta, ...)

A is M x K, B is N x K in one of `formats`, C is M x N: C = alpha * A * B^T + beta * C, and C is not read when beta is
0. M and N may be any numbers from 1 up, K any multiple of the block's depth; no lane reads or writes outside of the
matrices. Sums are f32, or i32 of bytes, taken as `v_wmma` takes them in ascending order of a wave's k, and then in the
order of the waves.

What the epilogue and the weights' format take more stands after beta as addresses: `GemvParameters.vectors`.

**Why `v_wmma` for one row.** B comes from memory at 833 GB/s at most (7900 XTX), and is multiplied as it comes: at
M = 16 the units are busy for a tenth to a half of that time. One row costs them as much as 16 and takes as long, so one
kernel does for all.

Launch: p.threads threads, ceil(N / p.columns) x ceil(M / p.rows) workgroups.

A wave's block of k: from what was loaded to sums, while the next block is loaded.

    each fragment:  wait, unpack, to LDS, with the first one also A; load the next block's
                    two fragments of k at a time: the next ones from LDS, v_wmma

So as many loads are in flight at any time, and a wait tells those of one stage from the others by their number.
Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: hence groups of them.
A wave that comes to loads goes before those that multiply: memory has to do all the time, and no wave falls
behind the others, who would wait for it in the end.

**Scales.** Sums of a group begin at 0, and go to the wave's sums times the group's scale, while the next group's are
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from isa.asm.program import Program
from isa.gemm.gemv import lds, weights
from isa.gemm.gemv.combine import combine, vgprs
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, TOGETHER, GemvRegisters
from isa.gemm.matrix import frame
from isa.gemm.matrix.sides import FRAGMENT
from isa.gemm.text import add64, log2
from isa.registers import Reg


def generate(p: GemvParameters, name: str, *, arch: str = "gfx1100", file: str | None = None) -> Program:
    """The kernel. Raises ParameterError where registers do not do."""
    p = replace(p, split=p.splits(arch))
    r = GemvRegisters.of(p, vgprs(p))
    return frame.program(p, r, _lines(p, r, f".L{name}"), name, arch, file, SCALARS.count)


def _lines(p: GemvParameters, r: GemvRegisters, label: str) -> Iterator[str]:
    s = SCALARS
    lane = r.free.sub(0)
    yield from frame.place(p)
    yield from frame.arguments()
    for name, base in (("weight_scales", s.scales), ("weight_zeros", s.zeros)):
        if p.group and name in p.vectors:
            yield f"s_load_b64 {base}, {s.kernarg}, {p.vectors[name]:#x}"
    yield f"v_lshrrev_b32_e32 {lane}, 5, v0"
    yield f"v_readfirstlane_b32 {s.wave}, {lane}"
    yield "wait smem_load 0"
    yield f"s_lshr_b32 {s.blocks}, {s.k}, {log2(p.depth)}"
    yield f"s_sub_i32 {s.blocks}, {s.blocks}, {s.wave}"
    yield f"s_add_i32 {s.blocks}, {s.blocks}, {p.waves - 1}"
    yield f"s_lshr_b32 {s.blocks}, {s.blocks}, {log2(p.waves)}"
    yield f"s_cmp_eq_u32 {s.blocks}, 0"
    yield f"s_cbranch_scc1 {label}_idle"
    for f in range(p.fragments):
        yield from _first_b(p, r, f)
        yield from weights.load_b(p, r, f)
        if p.group:
            yield from _first_scales(p, r, f)
            yield from weights.load_scales(p, r, f)
        if not f:
            yield from _first_a(p, r)
            yield from weights.load_a(r)
    yield from weights.constants(p)
    yield from weights.go_on(p, 2)
    yield from lds.places(p, r)
    for total in r.sums:
        yield from (f"v_mov_b32_e32 {x}, 0" for x in total.units())
    yield f"{label}_loop:"
    yield from block(p, r)
    yield f"s_sub_i32 {s.blocks}, {s.blocks}, 1"
    yield f"s_cmp_lg_u32 {s.blocks}, 0"
    yield f"s_cbranch_scc1 {label}_loop"
    yield f"{label}_done:"
    yield from combine(p, r, label)
    yield f"{label}_idle:"
    for total in r.sums:
        yield from (f"v_mov_b32_e32 {x}, 0" for x in list(total.units())[: p.sum_words])
    yield f"s_branch {label}_done"


def _first_b(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Of the lane's part of each load of a fragment of B: bytes from the tile's first row on. Before the first: where
    the wave's first block begins."""
    s, (row, part, _, _) = SCALARS, r.free.units()
    rows = 32 // p.lanes
    if not f:
        yield _scaled(s.line_b, s.k, p.bits)
        yield from _begin(s.b, s.left, s.line_b, p.depth * p.bits // 8)
        yield from _last(s.inside, s.n, s.left)
        yield f"s_min_u32 {s.inside}, {s.inside}, {p.columns - 1}"
        yield f"v_bfe_u32 {row}, v0, {log2(p.lanes)}, {log2(rows)}"
        yield f"v_and_b32_e32 {part}, {p.lanes - 1}, v0"
        yield f"v_lshlrev_b32_e32 {part}, 4, {part}"
    for number, offset in enumerate(r.b_offsets[f]):
        own = r.zero_offsets[f][number] if p.zeros else offset
        yield from _row(own, row, FRAGMENT * f + rows * number, s.inside)
        yield f"v_mad_u32_u24 {offset}, {own}, {s.line_b}, {part}"


def _first_scales(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Likewise, of its scales and zero points."""
    s, own = SCALARS, r.scale_offsets[f]
    if not f:
        yield f"s_lshr_b32 {s.line_scales}, {s.k}, {log2(p.group) - 1}"
        yield from _begin(s.scales, s.left, s.line_scales, p.depth // p.group * 2)
    if p.zeros and not f:
        words = log2(p.group) + 3
        yield f"s_mov_b32 {s.block}, {s.wave}"
        yield f"s_add_i32 {s.line_zeros}, {s.k}, {2**words - 1}"
        yield f"s_lshr_b32 {s.line_zeros}, {s.line_zeros}, {words}"
        yield f"s_lshl_b32 {s.line_zeros}, {s.line_zeros}, 2"
        yield from _begin(s.zeros, s.left, s.line_zeros, 0)
    yield f"v_and_b32_e32 {own}, {FRAGMENT - 1}, v0"
    yield from _row(own, own, FRAGMENT * f, s.inside)
    yield f"v_mul_u32_u24_e32 {own}, {s.line_scales}, {own}"
    for zero in r.zero_offsets[f]:
        yield f"v_mul_u32_u24_e32 {zero}, {s.line_zeros}, {zero}"


def _first_a(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """Likewise, of A."""
    s, (_, _, row, part) = SCALARS, r.free.units()
    yield f"s_lshl_b32 {s.line_a}, {s.k}, {log2(p.factor_bytes)}"
    yield from _begin(s.a, s.top, s.line_a, p.depth * p.factor_bytes)
    yield from _last(s.other, s.m, s.top)
    yield f"v_bfe_u32 {row}, v0, 4, 1"
    yield f"v_and_b32_e32 {part}, 15, v0"
    yield f"v_lshlrev_b32_e32 {part}, 4, {part}"
    for number, own in enumerate(r.a_offsets):
        yield from _row(own, row, 2 * number, s.other)
        yield f"v_mad_u32_u24 {own}, {own}, {s.line_a}, {part}"


def _last(target: Reg, lines: Reg, first: Reg) -> Iterator[str]:
    """The tile's last row, counted from its first: after it lanes take that one."""
    yield f"s_sub_i32 {target}, {lines}, {first}"
    yield f"s_sub_i32 {target}, {target}, 1"


def _row(own: Reg, row: Reg, first: int, last: Reg) -> Iterator[str]:
    """Row first + row of the tile, or the last one."""
    if first:
        yield f"v_add_nc_u32_e32 {own}, {first}, {row}"
    yield f"v_min_u32_e32 {own}, {last}, {own if first else row}"


def _scaled(target: Reg, k: Reg, bits: int) -> str:
    """Bytes of k elements."""
    return f"s_lshr_b32 {target}, {k}, 1" if bits == 4 else f"s_lshl_b32 {target}, {k}, {log2(bits // 8)}"


def _begin(base: Reg, first: Reg, line: Reg, block: int) -> Iterator[str]:
    """The base goes on to the tile's first row, and the wave's first block of so many bytes."""
    t = SCALARS.t
    yield f"s_mul_i32 {t.sub(0)}, {first}, {line}"
    yield f"s_mul_hi_u32 {t.sub(1)}, {first}, {line}"
    yield from add64(base, t.sub(0), t.sub(1))
    if block:
        yield f"s_mul_i32 {t.sub(0)}, {SCALARS.wave}, {block}"
        yield from add64(base, t.sub(0))


_UNITS = {
    "f16": "f32_16x16x16_f16",
    "bf16": "f32_16x16x16_bf16",
    "i8": "i32_16x16x16_iu8",
    "fp8": "f32_16x16x16_fp8_fp8",
    "bf8": "f32_16x16x16_bf8_bf8",
}


def block(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """EXEC is all lanes before and after."""
    s = SCALARS
    if p.zeros:  # `block` is the next to be loaded, if one is
        yield f"s_sub_i32 {s.shift}, {s.block}, {s.step}"
        yield f"s_lshl_b32 {s.shift}, {s.shift}, 2"
        yield f"s_and_b32 {s.shift}, {s.shift}, 28"
    yield f"s_cmp_lg_u32 {s.blocks}, 1"
    yield f"s_cselect_b32 {s.fetching}, -1, 1"
    for f in range(p.fragments):
        yield f"wait global_load {p.loads - p.loads_fragment - (0 if f else p.loads_a)}"
        yield "s_setprio 1"
        yield from weights.store_b(p, r, f)
        if not f:
            yield from weights.store_a(p, r)
        # Where there is no next block, one lane loads of the last one again, so that waits need not know.
        yield f"s_mov_b32 exec_lo, {s.fetching}"
        yield from weights.load_b(p, r, f)
        yield from weights.load_scales(p, r, f)
        if not f:
            yield from weights.load_a(r)
        yield "s_mov_b32 exec_lo, -1"
        yield "s_setprio 0"
        if f == p.fragments - 1:
            yield from weights.go_on(p, 3)
        yield from _products(p, r, f)


def _products(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Of a fragment, whose weights are in LDS."""
    steps = p.depth // p.step
    slots = lds.ROW // lds.SLOT // steps
    signs = " neg_lo:[1,1,0]" if p.integer else ""
    scaled: list[str] = []

    def registers(steps: tuple[Reg, ...], step: int) -> Reg:
        return steps[step % len(steps)]

    def reads(first: int) -> Iterator[str]:
        for step in range(first, first + TOGETHER):
            for part in range(p.fragment_loads):
                slot = slots * step + part
                yield lds.read(r.a_reads, p.twist, slot, registers(r.a_steps, step).sub(4 * part, 4))
                yield lds.read(r.b_reads, p.twist, slot, registers(r.b_steps, step).sub(4 * part, 4))

    yield from reads(0)
    for first in range(0, steps, TOGETHER):
        more = first + TOGETHER < steps
        if more:
            yield from reads(first + TOGETHER)
        yield f"wait lds_load {2 * p.fragment_loads * TOGETHER if more else 0}"
        for step in range(first, first + TOGETHER):
            target, before = r.sums[f], str(r.sums[f])
            group, inside = divmod(step * p.step, p.group or p.depth)
            if p.group:
                target = r.part[group % 2]
                before = str(target) if inside else "0"
            a, b = registers(r.a_steps, step), registers(r.b_steps, step)
            words = a.count // p.products
            for part in range(0, a.count, words):
                yield f"v_wmma_{_UNITS[p.factor]} {target}, {a.sub(part, words)}, {b.sub(part, words)}, {before}{signs}"
            if p.group and inside + p.step == p.group:
                yield from scaled
                scaled = [
                    f"v_fmac_f32_e32 {r.sums[f].sub(v)}, {r.group_scales[group]}, {target.sub(v)}"
                    for v in range(p.sum_words)
                ]
    yield from scaled
