"""A wave's block of k: from what was loaded to sums, while the next block is loaded.

    A:              wait, to LDS, load the next block's
    each fragment:  wait, unpack, to LDS, load the next block's
                    16 steps of k at a time: fragments from LDS two steps ahead, v_wmma

So as many loads are on their way at any time, and a wait tells those of one stage from the others by their number.

**Scales.** Sums of a group begin at 0, and go to the wave's sums times the group's scale.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.gemm.gemv import lds, weights
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, GemvRegisters

_STEP = 16
_UNITS = {"f16": "f32_16x16x16_f16", "bf16": "f32_16x16x16_bf16", "i8": "i32_16x16x16_iu8"}


def loads(p: GemvParameters, r: GemvRegisters) -> Iterator[str]:
    """Of the first block."""
    yield from weights.load_a(p, r)
    for f in range(p.fragments):
        yield from weights.load_b(p, r, f)


def block(p: GemvParameters, r: GemvRegisters, *, last: bool) -> Iterator[str]:
    """last: there is no next one."""
    flying = p.loads
    if p.zeros:  # `block` is the next to be loaded
        yield f"s_sub_i32 {SCALARS.shift}, {SCALARS.block}, {p.waves}"
        yield f"s_lshl_b32 {SCALARS.shift}, {SCALARS.shift}, 2"
        yield f"s_and_b32 {SCALARS.shift}, {SCALARS.shift}, 28"
    flying -= p.loads_a
    yield f"s_waitcnt vmcnt({flying})"
    yield from weights.store_a(p, r)
    if not last:
        yield from weights.load_a(p, r)
        flying += p.loads_a
    for f in range(p.fragments):
        flying -= p.loads_fragment
        yield f"s_waitcnt vmcnt({flying})"
        yield from weights.store_b(p, r, f)
        if not last:
            yield from weights.load_b(p, r, f)
            flying += p.loads_fragment
        yield from _products(p, r, f)


def _products(p: GemvParameters, r: GemvRegisters, f: int) -> Iterator[str]:
    """Of a fragment, whose weights are in LDS."""
    steps, slots = p.depth // _STEP, p.factor_bytes
    ahead = len(r.a_steps)
    signs = " neg_lo:[1,1,0]" if p.factor == "i8" else ""

    def reads(step: int) -> Iterator[str]:
        for half in range(slots):
            slot = slots * step + half
            yield lds.read(r.a_reads, p.twist, slot, r.a_steps[step % ahead].sub(4 * half, 4))
            yield lds.read(r.b_reads, p.twist, slot, r.b_steps[step % ahead].sub(4 * half, 4))

    for step in range(ahead - 1):
        yield from reads(step)
    for step in range(steps):
        if step + ahead - 1 < steps:
            yield from reads(step + ahead - 1)
        yield f"s_waitcnt lgkmcnt({2 * slots * min(ahead - 1, steps - 1 - step)})"
        target, before = r.sums[f], str(r.sums[f])
        group, inside = divmod(step * _STEP, p.group or p.depth)
        if p.group:
            target = r.part[group % 2]
            before = str(target) if inside else "0"
        a, b = r.a_steps[step % ahead], r.b_steps[step % ahead]
        yield f"v_wmma_{_UNITS[p.factor]} {target}, {a}, {b}, {before}{signs}"
        if p.group and inside + _STEP == p.group:
            for v in range(p.pairs_of_rows):
                yield f"v_fmac_f32_e32 {r.sums[f].sub(v)}, {r.group_scales[group]}, {target.sub(v)}"
