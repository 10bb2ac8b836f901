"""Vector instructions that move values between lanes and between VGPRs and SGPRs: RDNA3 ISA guide 7.7, 16.7, 16.12."""

from __future__ import annotations

from collections.abc import Sequence

from isa.instructions.valu_cvt import toward_zero
from isa.instructions.words import below
from isa.semantics.instruction import inst
from isa.semantics.values import Value, fma, select


def _first_lane(a: Value, exec_: Value) -> Value:
    """The lowest lane that is on; lane 0 where all are off."""
    return a.lane(select(exec_ == 0, 0, exec_.ctz()))


inst(
    "v_readlane_b32 =s.b32, v.b32, s.u32",
    lambda a, n: a.lane(n & 31),
    sched="valu_lane",
    ignores_exec=True,
    crosses_lanes=True,
)
inst(
    "v_readfirstlane_b32 =s.b32, v.b32",
    _first_lane,
    sched="valu_lane",
    reads="exec",
    ignores_exec=True,
    crosses_lanes=True,
    copy=True,
)
inst(
    "v_writelane_b32 +v.b32, s.b32, s.u32",
    lambda d, a, n: d.with_lane(n & 31, a),
    sched="valu_lane",
    ignores_exec=True,
)


inst("v_mbcnt_lo_u32_b32 =v.u32, a.u32, a.u32", lambda m, a, lane: below(m, lane) + a, sched="valu", fields="lane")
inst("v_mbcnt_hi_u32_b32 =v.u32, a.u32, a.u32", lambda m, a: m * 0 + a, sched="valu")


def _permlane(other_row: int, d: Value, a: Value, low: Value, high: Value, exec_: Value, *rest: object) -> Value:
    """Within its row of 16 (or the other row) a lane takes the lane that its four bits of high:low name.

    op_sel[0] is "fetch inactive", op_sel[1] "bound control": a source lane that is off gives its value with the first,
    0 with the second, and else leaves the destination.
    """
    lane = rest[1]
    assert isinstance(lane, Value)
    return _chosen(other_row, d, a, select((lane & 8) == 0, low, high) >> ((lane & 7) << 2), exec_, *rest)


def _chosen(other_row: int, d: Value, a: Value, choice: Value, exec_: Value, *rest: object) -> Value:
    op_sel, lane = rest
    assert isinstance(op_sel, Sequence)
    assert isinstance(lane, Value)
    source = ((lane & 16) ^ other_row) | (choice & 15)
    moved = a.shuffle(source)
    if op_sel and op_sel[0]:
        return moved
    on = exec_.lanes().to("u32").shuffle(source) == 1
    return select(on, moved, d & 0 if len(op_sel) > 1 and op_sel[1] else d)


for name, other in (("permlane16", 0), ("permlanex16", 16)):
    inst(
        f"v_{name}_b32 +v.b32, v.b32, s.u32, s.u32",
        lambda *values, other=other: _permlane(other, *values),
        sched="permlane",
        reads="exec",
        fields="op_sel lane",
        crosses_lanes=True,
    )
# RDNA4: each lane's choice in a VGPR of its own
for name, other in (("permlane16", 0), ("permlanex16", 16)):
    inst(
        f"v_{name}_var_b32 +v.b32, v.b32, v.u32",
        lambda d, a, choice, *rest, other=other: _chosen(other, d, a, choice, *rest),
        sched="permlane",
        reads="exec",
        fields="op_sel lane",
        crosses_lanes=True,
        since="gfx1200",
    )
# --- interpolation: in each four lanes, the values at three corners that a graphics driver put there (lds_param_load),
# and a lane's own place between them. Sources of other lanes count whether they are on or not (RDNA3 ISA guide 16.13).


def _corner(a: Value, lane: Value, which: int) -> Value:
    return a.shuffle((lane & ~3) + which)


def _p10(a: Value, place: Value, c: Value, lane: Value) -> Value:
    return fma(_corner(a, lane, 1).to("f32"), place, _corner(c, lane, 0).to("f32"))


def _p2(a: Value, place: Value, c: Value, lane: Value) -> Value:
    return fma(_corner(a, lane, 2).to("f32"), place, c)


for pattern, body in (
    ("p10_f32 =v.f32, a.f32, a.f32, a.f32", _p10),
    ("p2_f32 =v.f32, a.f32, a.f32, a.f32", _p2),
    ("p10_f16_f32 =v.f32, a.f16, a.f32, a.f16", _p10),
    ("p2_f16_f32 =v.f16, a.f16, a.f32, a.f32", lambda *values: _p2(*values).to("f16")),
    ("p10_rtz_f16_f32 =v.f32, a.f16, a.f32, a.f16", _p10),
    ("p2_rtz_f16_f32 =v.f16, a.f16, a.f32, a.f32", lambda *values: toward_zero(_p2(*values))),
):
    inst(f"v_interp_{pattern}", body, sched="interpolate", crosses_lanes=True, fields="lane")
# It swaps the halves of a wave of 64 lanes; a wave of 32 keeps its destination (16.8, V_PERMLANE64_B32: a scalar NOP).
inst("v_permlane64_b32 +v.b32, v.b32", lambda old, a: old, sched="permlane")
