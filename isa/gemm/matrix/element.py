"""Epilogue of an element: a lane's sums of one row of C -> what is stored.

    x = alpha * sum  [* row scale * column scale]  [+ beta * C]  [+ bias]  [activation]  [* C]  -> rounded to C's type

in f32, each step rounded; with a gate, which is what C held, there is no beta. Without scales, bias and activation f16
and i32 take fewer. Steps of neighbours stand side by side, so that one wait does for the results of all their
transcendentals.

**Activations.** relu: x where it is not below 0, so that a NaN stays. silu: x / (1 + e^-x). gelu: the tanh form,
x / (1 + e^-2u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import SCALARS, MatrixRegisters
from isa.gemm.vector.parameters import ParameterError
from isa.registers import Reg

_GELU = -2 * math.sqrt(2 / math.pi) * math.log2(math.e)
_GELU_CUBE = 0.044715 * _GELU


@dataclass(frozen=True)
class Spare:
    """VGPRs of the epilogue. low: a bf16 that waits for its neighbour; other: one for each column of a lane, for the
    moment; bias, column_scale: of these columns; row_scale: of a fragment row's rows, two sets in turn; wide: sums that
    lay in lower halves, as f32."""

    low: Reg
    other: tuple[Reg, ...]
    bias: tuple[Reg, ...]
    column_scale: tuple[Reg, ...]
    row_scale: tuple[tuple[Reg, ...], ...]
    wide: tuple[Reg, ...]

    @staticmethod
    def of(p: MatrixParameters, r: MatrixRegisters) -> Spare:
        """Of what held B. ParameterError where that does not do."""
        free = [unit for group in (*r.b.fragments, *r.b.fetched, *r.a.fetched) for unit in group.units()]

        def take(n: int) -> tuple[Reg, ...]:
            nonlocal free
            taken, free = tuple(free[:n]), free[n:]
            if len(taken) < n:
                raise ParameterError(
                    "no GEMM kernel has such an epilogue with this wave tile: there are too few VGPRs",
                    expected="a larger fragment of B, or fewer of bias, scales and activation", got=p.epilogue_text,
                )  # fmt: skip
            return taken

        near = p.b.near
        return Spare(
            take(1)[0], take(near), take(near if p.bias else 0), take(near if p.scales else 0),
            tuple(take(p.a.near) for _ in range(2)) if p.scales else (),
            take(near if p.sum_words < 8 else p.sums_across if p.sums_across < near else 0),
        )  # fmt: skip


def constants(p: MatrixParameters | GemvParameters) -> Iterator[str]:
    """What `row` wants in SGPRs."""
    if p.activation == "gelu":
        yield f"s_mov_b32 {SCALARS.gelu}, {_bits(_GELU_CUBE):#x}"


def widened(p: MatrixParameters, spare: Spare, sums: list[Reg], row: int) -> Generator[str, None, list[Reg]]:
    """16-bit sums of a row of fragments become f32: those in lower halves in `spare.wide` where others lie above them,
    the next row's where the halves of a wave are split. Returns where they are."""
    if not p.half_sums:
        return sums
    found = []
    for j, total in enumerate(sums):
        upper = bool(row % 2) if p.split else j >= p.sums_across
        into = total if upper or not spare.wide else spare.wide[j]
        found.append(into)
        if p.factor == "bf16":
            yield f"v_and_b32_e32 {into}, 0xffff0000, {total}" if upper else f"v_lshlrev_b32_e32 {into}, 16, {total}"
        else:
            if upper:
                yield f"v_lshrrev_b32_e32 {into}, 16, {total}"
            yield f"v_cvt_f32_f16_e32 {into}, {into if upper else total}"
    return found


def row(
    p: MatrixParameters | GemvParameters, spare: Spare, target: Reg, sums: list[Reg], row_scale: Reg | None, adds: bool
) -> Iterator[str]:
    """target: where the row is stored from, and what it was where it `adds`. sums: of each column; they are spent."""
    s = SCALARS
    if p.result == "i32":
        for j, total in enumerate(sums):
            into = target.sub(j)
            yield f"v_mul_lo_u32 {total if adds else into}, {s.alpha}, {total}"
            if adds:
                yield f"v_mul_lo_u32 {into}, {s.beta}, {into}"
                yield f"v_add_nc_u32_e32 {into}, {total}, {into}"
        return
    if p.integer:
        for total in sums:
            yield f"v_cvt_f32_i32_e32 {total}, {total}"
    if p.epilogue_text:
        yield from _extras(p, spare, target, sums, row_scale, adds)
    elif p.result == "f32":
        for j, total in enumerate(sums):
            into = target.sub(j)
            if adds:
                yield f"v_mul_f32_e32 {into}, {s.beta}, {into}"
                yield f"v_fmac_f32_e32 {into}, {s.alpha}, {total}"
            else:
                yield f"v_mul_f32_e32 {into}, {s.alpha}, {total}"
    elif p.result == "f16":
        for j, total in enumerate(sums):
            into = target.sub(j // 2)
            if adds:
                yield f"v_mul_f32_e32 {total}, {s.alpha}, {total}"
                yield f"{_mix(j)} {into}, {into}, {s.beta}, {total} op_sel:[{j % 2},0,0] op_sel_hi:[1,0,0]"
            else:
                yield f"{_mix(j)} {into}, {s.alpha}, {total}, 0"
    else:
        for j, total in enumerate(sums):
            yield f"v_mul_f32_e32 {total}, {s.alpha}, {total}"
            if adds:
                yield from _with_before(p, spare, target, j, total)
            yield from _brain(spare, target, j, total)


def _extras(
    p: MatrixParameters | GemvParameters, spare: Spare, target: Reg, sums: list[Reg], row_scale: Reg | None, adds: bool
) -> Iterator[str]:
    s = SCALARS
    for j, total in enumerate(sums):
        yield f"v_mul_f32_e32 {total}, {s.alpha}, {total}"
        if row_scale is not None:
            yield f"v_mul_f32_e32 {total}, {row_scale}, {total}"
            yield f"v_mul_f32_e32 {total}, {spare.column_scale[j]}, {total}"
        if adds and not p.gate:
            yield from _with_before(p, spare, target, j, total)
        if p.bias:
            yield f"v_add_f32_e32 {total}, {spare.bias[j]}, {total}"
    yield from _activation(p, spare, sums)
    for j, total in enumerate(sums if p.gate else ()):
        yield from _with_before(p, spare, target, j, total)
    for j, total in enumerate(sums):
        if p.result == "f32":
            yield f"v_mov_b32_e32 {target.sub(j)}, {total}"
        elif p.result == "f16":
            yield f"{_mix(j)} {target.sub(j // 2)}, 1.0, {total}, 0"
        else:
            yield from _brain(spare, target, j, total)


def _activation(p: MatrixParameters | GemvParameters, spare: Spare, sums: list[Reg]) -> Iterator[str]:
    if p.activation == "relu":
        for total in sums:
            yield f"v_cmp_gt_f32_e32 vcc_lo, 0, {total}"
            yield f"v_cndmask_b32_e64 {total}, {total}, 0, vcc_lo"
    if p.activation not in ("silu", "gelu"):
        return
    pairs = list(zip(sums, spare.other, strict=True))
    for x, e in pairs:
        if p.activation == "silu":
            yield f"v_mul_f32_e32 {e}, {_bits(-math.log2(math.e)):#x}, {x}"
        else:
            yield f"v_mul_f32_e32 {e}, {x}, {x}"
            yield f"v_fmaak_f32 {e}, {SCALARS.gelu}, {e}, {_bits(_GELU):#x}"
            yield f"v_mul_f32_e32 {e}, {x}, {e}"
    yield from (f"v_exp_f32_e32 {e}, {e}" for _, e in pairs)
    yield "trans_done"
    yield from (f"v_add_f32_e32 {e}, 1.0, {e}" for _, e in pairs)
    yield from (f"v_rcp_f32_e32 {e}, {e}" for _, e in pairs)
    yield "trans_done"
    yield from (f"v_mul_f32_e32 {x}, {x}, {e}" for x, e in pairs)


def _with_before(p: MatrixParameters | GemvParameters, spare: Spare, target: Reg, j: int, total: Reg) -> Iterator[str]:
    """total += beta * column j of what `target` holds; with a gate total *= that column."""
    into = target.sub(j * p.result_bytes // 4)
    if p.result == "f16":
        others = f"{total}, 0" if p.gate else f"{SCALARS.beta}, {total}"
        yield f"v_fma_mix_f32 {total}, {into}, {others} op_sel:[{j % 2},0,0] op_sel_hi:[1,0,0]"
        return
    if p.result == "bf16":
        other = spare.other[j]
        yield f"v_and_b32_e32 {other}, 0xffff0000, {into}" if j % 2 else f"v_lshlrev_b32_e32 {other}, 16, {into}"
        into = other
    yield f"v_mul_f32_e32 {total}, {into}, {total}" if p.gate else f"v_fmac_f32_e32 {total}, {SCALARS.beta}, {into}"


def _brain(spare: Spare, target: Reg, j: int, total: Reg) -> Iterator[str]:
    """A bf16 is the upper half of an f32: rounded to nearest even by an addition, which a NaN, made quiet, does
    without. The low element waits in `low` for the high one."""
    other, high = spare.other[j], j % 2
    yield f"v_cmp_u_f32_e32 vcc_lo, {total}, {total}"
    yield f"v_bfe_u32 {other}, {total}, 16, 1"
    yield f"v_add3_u32 {other}, {total}, {other}, 0x7fff"
    yield f"v_or_b32_e32 {total}, 0x400000, {total}"
    yield f"v_cndmask_b32_e32 {total if high else spare.low}, {other}, {total}, vcc_lo"
    if high:
        yield f"v_perm_b32 {target.sub(j // 2)}, {total}, {spare.low}, {SCALARS.high}"


def _mix(j: int) -> str:
    return f"v_fma_mix{'hi' if j % 2 else 'lo'}_f16"


def _bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])
