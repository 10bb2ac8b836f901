"""The end of a workgroup: the waves' sums are added up, in the order of the waves, and go to C.

Each wave leaves its sums in its part of LDS, rows of `pitch` words. Then each thread takes two neighbouring columns of
a row at a time: it adds, `isa.gemm.matrix.element` does the rest, and stores what is inside of C element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.gemm.gemv import lds
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import SCALARS, GemvRegisters
from isa.gemm.matrix import element
from isa.gemm.matrix.element import Spare
from isa.gemm.matrix.sides import FRAGMENT
from isa.gemm.text import add64, log2
from isa.registers import Reg


@dataclass(frozen=True)
class _Places:
    """Of a thread's pair: its row and first column in the tile, byte offset in C; t: free; offset: of vectors.
    target: what is stored; words: what is read of LDS, two VGPRs a wave; scale: of a row, and of the weights' rows."""

    row: Reg
    column: Reg
    offset: Reg
    t: Reg
    target: Reg
    row_scale: Reg
    weight_scales: Reg
    words: tuple[Reg, ...]
    spare: Spare

    @staticmethod
    def of(p: GemvParameters, begin: int) -> _Places:
        """In VGPRs from `begin` on, which is even."""

        def at(first: int, n: int = 1) -> Reg:
            return Reg("v", begin + first, n)

        spare = Spare(
            at(11), (at(12), at(13)), (at(14), at(15)) if p.bias else (), (at(16), at(17)) if p.scales else (), (), ()
        )
        words = tuple(at(20 + 2 * w, 2) for w in range(p.waves))
        return _Places(at(1), at(2), at(3), at(4), at(6, 2), at(10), at(18, 2), words, spare)


def vgprs(p: GemvParameters) -> int:
    """That the end takes."""
    return 20 + 2 * p.waves


def combine(p: GemvParameters, r: GemvRegisters, label: str) -> Iterator[str]:
    """All of it, to the end of the kernel. label: how labels begin."""
    s, own = SCALARS, r.free.sub(0)
    # Lanes 16 and up hold other rows.
    between, next_row = (8, 1) if p.split else (1, 2)
    yield f"v_bfe_u32 {own}, v0, 4, 1"
    yield f"v_lshlrev_b32_e32 {own}, {log2(4 * between * p.pitch)}, {own}"
    yield f"s_mul_i32 {s.t.sub(0)}, {s.wave}, {p.wave_bytes}"
    yield f"v_and_b32_e32 {r.free.sub(1)}, {FRAGMENT - 1}, v0"
    yield f"v_lshl_add_u32 {own}, {r.free.sub(1)}, 2, {own}"
    yield f"v_add_nc_u32_e32 {own}, {s.t.sub(0)}, {own}"
    for f, sums in enumerate(r.sums):
        for v in range(p.sum_words):
            yield f"ds_store_b32 {own}, {sums.sub(v)}{lds.at(4 * (next_row * v * p.pitch + FRAGMENT * f))}"
    # What is left of C from the tile on, and its address.
    yield f"s_sub_i32 {s.other}, {s.m}, {s.top}"
    yield f"s_min_i32 {s.other}, {s.other}, {p.rows}"
    yield f"s_sub_i32 {s.inside}, {s.n}, {s.left}"
    yield f"s_min_i32 {s.inside}, {s.inside}, {p.columns}"
    yield f"s_mul_i32 {s.t.sub(0)}, {s.top}, {s.n}"
    yield f"s_mul_hi_u32 {s.t.sub(1)}, {s.top}, {s.n}"
    yield f"s_add_u32 {s.t.sub(0)}, {s.t.sub(0)}, {s.left}"
    yield f"s_addc_u32 {s.t.sub(1)}, {s.t.sub(1)}, 0"
    yield f"s_lshl_b64 {s.t}, {s.t}, {log2(p.result_bytes)}"
    yield f"s_add_u32 {s.c.sub(0)}, {s.c.sub(0)}, {s.t.sub(0)}"
    yield f"s_addc_u32 {s.c.sub(1)}, {s.c.sub(1)}, {s.t.sub(1)}"
    yield f"s_lshl_b32 {s.line_c}, {s.n}, {log2(p.result_bytes)}"
    yield from element.constants(p)
    if p.result == "bf16":
        yield f"s_mov_b32 {s.high}, 0x7060302"
    yield from _pairs(p, _Places.of(p, r.end), label)
    yield "s_endpgm"


def _pairs(p: GemvParameters, at: _Places, label: str) -> Iterator[str]:
    """Thread i does the pairs i, i + threads, ..."""
    s, first = SCALARS, SCALARS.fetching
    lanes, beside = s.blocks, s.block
    iterations = -(-p.rows * p.pitch // (2 * p.threads))
    # Where RDNA3 waits for the vectors' addresses it waits for LDS, too.
    waited = iterations == 1 and not p.split and p.end_vectors
    met = ("barrier",) if waited else ("wait lds_load 0", "barrier")
    if iterations > 1:
        yield from met
        yield f"s_mov_b32 {first}, 0"
        yield f"{label}_pairs:"
    yield f"v_add_nc_u32_e32 {at.t}, {first}, v0" if iterations > 1 else f"v_mov_b32_e32 {at.t}, v0"
    yield f"v_lshrrev_b32_e32 {at.row}, {log2(p.pitch // 2)}, {at.t}"
    yield f"v_and_b32_e32 {at.column}, {p.pitch // 2 - 1}, {at.t}"
    yield f"v_lshlrev_b32_e32 {at.column}, 1, {at.column}"
    yield f"v_cmp_gt_i32_e32 vcc_lo, {s.other}, {at.row}"
    yield f"v_cmp_gt_i32_e64 {lanes}, {s.inside}, {at.column}"
    yield f"s_and_b32 {lanes}, {lanes}, vcc_lo"
    yield f"v_add_nc_u32_e32 {at.offset}, 1, {at.column}"
    yield f"v_cmp_gt_i32_e64 {beside}, {s.inside}, {at.offset}"
    yield f"s_and_b32 {beside}, {beside}, {lanes}"
    yield f"v_lshlrev_b32_e32 {at.t}, 3, {at.t}"
    yield f"v_mul_lo_u32 {at.offset}, {at.row}, {s.line_c}"
    yield f"v_lshl_add_u32 {at.offset}, {at.column}, {log2(p.result_bytes)}, {at.offset}"
    if p.scales:
        yield f"v_lshlrev_b32_e32 {at.row}, 2, {at.row}"
    if p.scales or p.bias or (p.weights and not p.group):
        yield f"v_lshlrev_b32_e32 {at.column}, 2, {at.column}"
    yield f"s_mov_b32 exec_lo, {lanes}"
    yield from _vectors(p, at, (lanes, beside))
    yield from _reads(p, at, (lanes, beside), label)
    if iterations == 1:  # all else is done while others are waited for
        yield from met
    if p.waves * iterations > 1:  # later iterations go there likewise: a wave has whole rows, or part of one
        yield f"s_cbranch_execz {label}_stored"
    for w, words in enumerate(at.words):
        yield f"ds_load_b64 {words}, {at.t}{lds.at(w * p.wave_bytes)}"
    total = list(at.words[0].units())
    add = "v_add_nc_u32_e32" if p.integer else "v_add_f32_e32"
    for w, words in enumerate(at.words):
        if w or p.waves == 1:
            yield f"wait lds_load {p.waves - 1 - w}"
        for to, word in zip(total, words.units(), strict=True):
            if w:
                yield f"{add} {to}, {to}, {word}"
    yield "wait global_load 0"
    if p.weights and not p.group:
        for j, to in enumerate(total):
            yield f"v_mul_f32_e32 {to}, {at.weight_scales.sub(j)}, {to}"
    yield from element.row(p, at.spare, at.target, total, at.row_scale if p.scales else None, adds=True)
    for j, inside in enumerate((lanes, beside)):
        half = p.result_bytes == 2
        name = ("d16_hi_b16" if j else "b16") if half else "b32"
        yield f"s_mov_b32 exec_lo, {inside}"
        yield f"global_store_{name} {at.offset}, {at.target.sub(0 if half else j)}, {s.c}{lds.at(j * p.result_bytes)}"
    if iterations > 1:
        yield "s_mov_b32 exec_lo, -1"
        yield f"s_add_i32 {first}, {first}, {p.threads}"
        yield f"s_cmp_lt_u32 {first}, {iterations * p.threads}"
        yield f"s_cbranch_scc1 {label}_pairs"
    yield f"{label}_stored:"


def _vectors(p: GemvParameters, at: _Places, lanes: tuple[Reg, Reg]) -> Iterator[str]:
    """What the pair's columns, and its row, are scaled by, and the bias. `row` and `column` are in bytes by now."""
    s = SCALARS
    registers = {
        "bias": at.spare.bias,
        "row_scale": (at.row_scale,),
        "column_scale": at.spare.column_scale,
        "weight_scales": tuple(at.weight_scales.units()),
    }
    for name in p.end_vectors:
        offset, found = p.vectors[name], registers[name]
        first, place = (s.top, at.row) if name == "row_scale" else (s.left, at.column)
        yield f"s_load_b64 {s.base}, {s.kernarg}, {offset:#x}"
        yield f"s_lshl_b32 {s.t.sub(0)}, {first}, 2"
        yield f"s_lshr_b32 {s.t.sub(1)}, {first}, 30"
        yield "wait smem_load 0"
        yield from add64(s.base, s.t.sub(0), s.t.sub(1))
        for j, register in enumerate(found):
            if j:
                yield f"s_mov_b32 exec_lo, {lanes[1]}"
            yield f"global_load_b32 {register}, {place}, {s.base}{lds.at(4 * j)}"
        yield f"s_mov_b32 exec_lo, {lanes[0]}"


def _reads(p: GemvParameters, at: _Places, lanes: tuple[Reg, Reg], label: str) -> Iterator[str]:
    """What C was, where beta is not 0; else zeros."""
    s, half = SCALARS, p.result_bytes == 2
    for register in list(at.target.units())[: p.result_bytes // 2]:
        yield f"v_mov_b32_e32 {register}, 0"
    yield f"s_and_b32 {s.u}, {s.beta}, {'-1' if p.result == 'i32' else '0x7fffffff'}"
    yield f"s_cmp_eq_u32 {s.u}, 0"
    yield f"s_cbranch_scc1 {label}_read"
    for j, inside in enumerate(lanes):
        name = ("d16_hi_b16" if j else "d16_b16") if half else "b32"
        yield f"s_mov_b32 exec_lo, {inside}"
        yield f"global_load_{name} {at.target.sub(0 if half else j)}, {at.offset}, {s.c}{lds.at(j * p.result_bytes)}"
    yield f"s_mov_b32 exec_lo, {lanes[0]}"
    yield f"{label}_read:"
