"""A wave's block of k: from what was loaded to sums, while the next block is loaded.

    each fragment:  wait, unpack, to LDS, with the first one also A; load the next block's
                    32 steps of k at a time: the next ones from LDS, v_wmma

So as many loads are in flight at any time, and a wait tells those of one stage from the others by their number.
Each turn from VALU to memory instructions makes a wave wait until its VALU pipeline is empty: hence groups of them.
A wave that comes to loads goes before those that multiply: memory has to do all the time, and no wave falls
behind the others, who would wait for it in the end.

**Scales.** Sums of a group begin at 0, and go to the wave's sums times the group's scale, while the next group's are
taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.gemv import lds, weights
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, TOGETHER, GemvRegisters
from isa.registers import Reg

_STEP = 16
_UNITS = {"f16": "f32_16x16x16_f16", "bf16": "f32_16x16x16_bf16", "i8": "i32_16x16x16_iu8"}


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
        yield f"s_waitcnt vmcnt({p.loads - p.loads_fragment - (0 if f else p.loads_a)})"
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
    steps, slots = p.depth // _STEP, p.factor_bytes
    signs = " neg_lo:[1,1,0]" if p.factor == "i8" else ""
    scaled: list[str] = []

    def registers(steps: tuple[Reg, ...], step: int) -> Reg:
        return steps[step % len(steps)]

    def reads(first: int) -> Iterator[str]:
        for step in range(first, first + TOGETHER):
            for half in range(slots):
                slot = slots * step + half
                yield lds.read(r.a_reads, p.twist, slot, registers(r.a_steps, step).sub(4 * half, 4))
                yield lds.read(r.b_reads, p.twist, slot, registers(r.b_steps, step).sub(4 * half, 4))

    yield from reads(0)
    for first in range(0, steps, TOGETHER):
        more = first + TOGETHER < steps
        if more:
            yield from reads(first + TOGETHER)
        yield f"s_waitcnt lgkmcnt({2 * slots * TOGETHER if more else 0})"
        for step in range(first, first + TOGETHER):
            target, before = r.sums[f], str(r.sums[f])
            group, inside = divmod(step * _STEP, p.group or p.depth)
            if p.group:
                target = r.part[group % 2]
                before = str(target) if inside else "0"
            a, b = registers(r.a_steps, step), registers(r.b_steps, step)
            yield f"v_wmma_{_UNITS[p.factor]} {target}, {a}, {b}, {before}{signs}"
            if p.group and inside + _STEP == p.group:
                yield from scaled
                scaled = [
                    f"v_fmac_f32_e32 {r.sums[f].sub(v)}, {r.group_scales[group]}, {target.sub(v)}"
                    for v in range(p.pairs_of_rows)
                ]
    yield from scaled
