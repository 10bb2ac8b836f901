"""Slices and traces of small programs, and what addresses cost, against numbers worked out by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import texts

from isa.analysis.cfg import Cfg, of_text
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.timing.machine import coalescing
from isa.timing.trace import tracer
from isa.timing.trace.slicing import slice_of
from isa.timing.trace.tracer import TracedLaunch, trace


def cfg_of(text: str) -> Cfg:
    return of_text(parse(text))


LOOP, GUARD, WAITS = texts(__file__)


def test_data_stays_out_of_the_slice() -> None:
    cfg = cfg_of(LOOP)
    names = [cfg.instructions[i].mnemonic for i in sorted(slice_of(cfg).needed)]
    assert names == ["v_lshlrev_b32_e32", "s_mov_b32", "v_add_nc_u32_e32", "s_add_i32", "s_cmp_lg_u32"]


def test_a_loop_is_followed_with_its_addresses() -> None:
    found = trace(cfg_of(LOOP), TracedLaunch((1, 1, 1), (32, 1, 1), sgprs=((0, 0x1000),))).recorded
    assert found.blocks.tolist() == [0, 1, 1, 1, 2]
    assert found.lds.tolist() == [4, 4, 4]
    first = [found.sectors[found.sector_at[m]] * 32 for m in range(4)]
    assert first == [0x1000, 0x1200, 0x1400, 0x1600]
    assert np.diff(found.sector_at).tolist() == [16] * 4  # 32 lanes, 16 bytes apart


def test_a_loop_that_waits_is_left_wherever_it_begins() -> None:
    found = trace(cfg_of(WAITS), TracedLaunch((1, 1, 1), (32, 1, 1), sgprs=((0, 0x1000),))).recorded
    assert found.blocks.tolist() == [0, 2, 1, 3]


def test_a_bit_reversal_makes_addresses() -> None:
    text = "v_bfrev_b32_e32 v1, v0\nv_lshrrev_b32_e32 v1, 20, v1\nglobal_load_b32 v2, v1, s[0:1]\ns_endpgm"
    found = trace(cfg_of(text), TracedLaunch((1, 1, 1), (32, 1, 1))).recorded
    assert sorted(found.sectors * 32) == [
        int(f"{lane:05b}"[::-1], 2) * 128 for lane in sorted(range(32), key=lambda n: f"{n:05b}"[::-1])
    ]


DIVISION = """v_div_scale_f32 v3, null, v2, v2, v1
v_div_scale_f32 v4, vcc_lo, v1, v2, v1
v_rcp_f32_e32 v5, v3
v_mul_f32_e32 v6, v4, v5
v_fma_f32 v7, -v3, v6, v4
v_div_fmas_f32 v6, v7, v5, v6
v_div_fixup_f32 v1, v6, v2, v1"""


@pytest.mark.parametrize(
    ("text", "function"),
    [
        (DIVISION, lambda x: x / 7),
        ("v_sqrt_f32_e32 v1, v1", np.sqrt),
        ("v_rsq_f32_e32 v1, v1", lambda x: 1 / np.sqrt(x)),
        ("v_mul_f32_e32 v1, 0.5, v1\nv_exp_f32_e32 v1, v1", lambda x: np.exp2(x / 2)),
        ("v_log_f32_e32 v1, v1", np.log2),
        ("v_rcp_f32_e32 v1, v1\nv_sin_f32_e32 v1, v1\nv_add_f32_e32 v1, 1.0, v1", lambda x: np.sin(2 * np.pi / x) + 1),
        ("v_rcp_f32_e32 v1, v1\nv_cos_f32_e32 v1, v1\nv_add_f32_e32 v1, 1.0, v1", lambda x: np.cos(2 * np.pi / x) + 1),
    ],
)
def test_floats_make_addresses(text: str, function: Callable[[np.ndarray], np.ndarray]) -> None:
    """A lane whose x is 1 to 32 loads from byte 3200 f(x), by f64; no value is near a sector's end."""
    text = f"""v_add_nc_u32_e32 v1, 1, v0
        v_cvt_f32_u32_e32 v1, v1
        v_mov_b32_e32 v2, 0x40e00000
        {text}
        v_mul_f32_e32 v1, 0x42c80000, v1
        v_add_f32_e32 v1, 0x3d000000, v1
        v_cvt_u32_f32_e32 v1, v1
        v_lshlrev_b32_e32 v1, 5, v1
        global_load_b32 v2, v1, s[0:1]
        s_endpgm"""
    found = trace(cfg_of(text), TracedLaunch((1, 1, 1), (32, 1, 1))).recorded
    sectors = np.floor(100 * function(np.arange(1, 33, dtype=np.float64)) + 0.03125)
    assert sorted(found.sectors.tolist()) == sorted(set(sectors.tolist()))


def test_a_path_without_an_end_is_refused() -> None:
    whole = TracedLaunch((1, 1, 1), (32, 1, 1))
    trace(cfg_of(LOOP), whole)
    trace(cfg_of(LOOP), replace(whole, budget=whole.effort.instructions, effort=tracer.Effort()))
    short = replace(whole, budget=whole.effort.instructions - 1, effort=tracer.Effort())
    with pytest.raises(IsaError, match=r"workgroup \(0, 0, 0\) has not ended after \d+ instructions of its launch"):
        trace(cfg_of(LOOP), short)


def test_a_launch_of_too_many_workgroups_is_refused() -> None:
    TracedLaunch((1 << 12, 1 << 12, 1), (32, 1, 1))
    with pytest.raises(IsaError, match="a launch of so many workgroups is not followed"):
        TracedLaunch((1 << 12, 1 << 12, 2), (32, 1, 1))


def test_waves_part_and_each_goes_its_way() -> None:
    text = """
    v_readfirstlane_b32 s3, v0
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Lother
    ds_load_b32 v2, v0
    .Lother:
    s_endpgm
    """
    found = trace(cfg_of(text), TracedLaunch((1, 1, 1), (64, 1, 1))).recorded
    assert found.blocks[found.block_at[0] : found.block_at[1]].tolist() == [0, 1, 2]
    assert found.blocks[found.block_at[1] : found.block_at[2]].tolist() == [0, 2]
    assert found.lds_at.tolist() == [0, 1, 1]


def test_workgroups_move_their_addresses() -> None:
    text = """
    s_lshl_b32 s4, s2, 9
    s_lshl_b32 s5, s3, 12
    s_add_i32 s4, s4, s5
    v_lshl_add_u32 v1, v0, 2, s4
    global_load_b32 v2, v1, s[0:1]
    s_endpgm
    """
    launch = TracedLaunch((4, 4, 1), (32, 1, 1), sgprs=((0, 0x8000),), workgroup_sgprs=(("x", 2), ("y", 3)))
    found = trace(cfg_of(text), launch)
    assert found.exact
    assert found.shift[4].tolist() == [512 // 32, 4096 // 32, 0]


def test_one_half_of_a_pair_and_the_low_half_of_a_product_are_enough() -> None:
    text = """
    ds_load_b32 v9, v0
    v_mad_u64_u32 v[2:3], null, v0, 4, v[8:9]
    v_dual_mul_f32 v5, v9, v9 :: v_dual_add_nc_u32 v4, v2, v2
    global_load_b32 v6, v4, s[0:1]
    s_endpgm
    """
    cfg = cfg_of(text)
    needed = slice_of(cfg).needed
    assert sorted(needed) == [1, 2]
    assert needed[2].mnemonic == "v_dual_add_nc_u32"


def test_spilled_addresses_come_back_and_spilled_data_stays_out() -> None:
    text = """
    v_lshlrev_b32_e32 v1, 2, v0
    scratch_store_b32 off, v1, off
    ds_load_b32 v2, v1
    scratch_store_b32 off, v2, off offset:4
    v_mov_b32_e32 v1, 0
    scratch_load_b64 v[4:5], off, off
    global_load_b32 v6, v4, s[0:1]
    s_endpgm
    """
    found = trace(cfg_of(text), TracedLaunch((1, 1, 1), (32, 1, 1), sgprs=((0, 0x2000),))).recorded
    assert found.sectors[found.sector_at[-2] : found.sector_at[-1]].tolist() == [0x2000 // 32 + k for k in range(4)]


INSIDE = "v_cmp_gt_u32_e32 vcc_lo, 40, v0\ns_and_saveexec_b32 s8, vcc_lo\n"


@pytest.mark.parametrize(("before", "items", "lanes"), [("", 32, 32), ("", 48, 16), (INSIDE, 32, 32), (INSIDE, 64, 8)])
def test_a_guard_on_data_is_taken_by_the_lanes_that_come_to_it(before: str, items: int, lanes: int) -> None:
    """Also in another one, which is known. lanes: of the last wave."""
    cfg = cfg_of(before + GUARD)
    guard = next(i for i, inst in enumerate(cfg.instructions) if inst.mnemonic.startswith("v_cmpx"))
    assert slice_of(cfg).guards == {guard}
    traced = trace(cfg, TracedLaunch((1, 1, 1), (items, 1, 1)))
    found = traced.recorded
    assert traced.guards == (guard,)
    last = slice(found.mem_at[-2], found.mem_at[-1])
    assert len(range(*last.indices(len(found.sector_at) - 1))) == 4  # a load and a store in each iteration
    sectors = np.diff(found.sector_at)[last]
    assert sectors.tolist() == [-(-lanes * 4 // 32)] * 4
    assert found.blocks[found.block_at[-2] : found.block_at[-1]].tolist() == [0, 1, 2, 3, 1, 2, 3, 4]


def test_a_guard_on_data_in_a_wave_of_64() -> None:
    text = GUARD.replace("s_mov_b32 s3, exec_lo", "s_mov_b64 s[4:5], exec")
    text = text.replace("s_or_b32 exec_lo, exec_lo, s3", "s_or_b64 exec, exec, s[4:5]")
    inside = "v_cmp_gt_u32_e32 vcc, 40, v0\ns_and_saveexec_b64 s[8:9], vcc\n"
    cfg = cfg_of(inside + text)
    assert len(slice_of(cfg, 64).guards) == 1
    found = trace(cfg, TracedLaunch((1, 1, 1), (64, 1, 1), lanes=64)).recorded
    assert found.blocks.tolist() == [0, 1, 2, 3, 1, 2, 3, 4]
    assert np.diff(found.sector_at).sum() == 4 * (32 + 8) * 4 // 32


def test_only_the_condition_on_data_is_taken_to_hold() -> None:
    """Not one on what the lanes that are on hold, where the others hold data: it is known."""
    before = """
    global_load_b32 v5, v0, s[0:1]
    v_cmp_gt_u32_e32 vcc_lo, 20, v0
    s_and_saveexec_b32 s8, vcc_lo
    v_mov_b32_e32 v5, v0
    v_cmpx_lt_u32_e32 4, v5
    global_store_b32 v0, v5, s[0:1]
    s_or_b32 exec_lo, exec_lo, s8
    """
    cfg = cfg_of(before + GUARD)
    assert [cfg.instructions[i].mnemonic for i in slice_of(cfg).guards] == ["v_cmpx_gt_f32_e32"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s_cmp_lg_u32 s2, 0\ns_cbranch_scc1", "v_cmp_gt_f32_e32 vcc_lo, 0, v2\ns_cbranch_vccnz"),  # ends a loop
        (
            "s_mov_b32 s3, exec_lo",
            "v_cmp_gt_f32_e32 vcc_lo, 0, v2\ns_cbranch_vccz .Lone\ns_mov_b32 s2, 1\n.Lone:\ns_mov_b32 s3, exec_lo",
        ),  # a number of the wave
        ("v_mul_f32_e32 v3, v2, v2", "v_mov_b32_e32 v1, 0"),  # an address that only some lanes change
        ("s_add_i32", "v_cmp_gt_f32_e32 vcc_lo, 0, v2\nv_cndmask_b32_e32 v1, v1, v0, vcc_lo\ns_add_i32"),
        ("s_add_i32", "v_cmp_gt_f32_e32 vcc_lo, 0, v2\ns_bcnt1_i32_b32 s4, vcc_lo\nv_add_nc_u32 v1, s4, v1\ns_add_i32"),
        ("v_mul_f32_e32 v3, v2, v2", "v_readfirstlane_b32 s2, v1"),  # of the lanes that a guard leaves
        ("v_mul_f32_e32 v3, v2, v2", "v_lshlrev_b32_e32 v1, 2, v2"),
    ],
)
def test_what_a_guard_on_data_decides_beside_lanes_is_refused(old: str, new: str) -> None:
    assert old in GUARD
    with pytest.raises(IsaError, match="depends on data from global memory"):
        slice_of(cfg_of(GUARD.replace(old, new, 1)))


def test_an_address_from_memory_is_refused_with_its_place() -> None:
    with pytest.raises(IsaError, match="depends on data from global memory") as refused:
        slice_of(cfg_of("global_load_b32 v1, v0, s[0:1]\nglobal_load_b32 v2, v1, s[0:1]\ns_endpgm\n"))
    assert refused.value.span is not None
    assert refused.value.span.line == 1


def cycles(addresses: np.ndarray, dwords: int, mask: int = 0xFFFFFFFF) -> int:
    return int(coalescing.lds_cycles(addresses.astype(np.int64)[None, :], np.array([mask], np.int64), dwords)[0])


@pytest.mark.parametrize(("stride", "expected"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32)])
def test_lds_strides(stride: int, expected: int) -> None:
    assert cycles(np.arange(32) * 4 * stride, 1) == expected


@given(st.lists(st.integers(0, 1023), min_size=32, max_size=32), st.integers(0, 2**32 - 1))
def test_lds_cycles_are_the_fullest_bank(words: list[int], mask: int) -> None:
    on = [w for lane, w in enumerate(words) if mask >> lane & 1]
    fullest = max((len({w for w in on if w % 32 == bank}) for bank in range(32)), default=0)
    assert cycles(np.array(words) * 4, 1, mask) == max(1, fullest)


@given(st.lists(st.integers(0, 1 << 20), min_size=32, max_size=32), st.integers(0, 2**32 - 1), st.sampled_from([4, 16]))
def test_sectors_are_those_touched(places: list[int], mask: int, size: int) -> None:
    counts, found = coalescing.sectors(np.array([places], np.int64), np.array([mask], np.int64), size)
    bytes_ = {p + k for lane, p in enumerate(places) if mask >> lane & 1 for k in range(size)}
    assert found.tolist() == sorted({b // 32 for b in bytes_})
    assert counts.tolist() == [len(found)]


def test_a_dword_of_scratch_is_a_line_of_its_own() -> None:
    """Private memory is interleaved by dword: 32 lanes' dwords at one offset fill 128 bytes, a b64 access two lines."""
    text = "scratch_store_b64 off, v[2:3], off offset:8\nscratch_load_b32 v4, off, off offset:12\ns_endpgm\n"
    found = trace(cfg_of(text), TracedLaunch((1, 1, 1), (32, 1, 1))).recorded
    assert found.sector_at.tolist() == [0, 8, 12]
    assert found.sectors.tolist() == [*range(8, 16), *range(12, 16)]


@given(
    st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), st.integers(-64, 64)), min_size=1, max_size=30), st.data()
)
def test_what_is_alike_a_period_before_costs_the_same(
    period: int, picks: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Rows of patterns that come again, moved by some bytes: looking back for them changes nothing."""
    lane = st.lists(st.integers(0, 40).map(lambda x: 4 * x), min_size=32, max_size=32)
    patterns = np.array([data.draw(lane) for _ in range(4)], np.int64)
    masks = np.array(data.draw(st.lists(st.sampled_from([0xFFFFFFFF, 0xFFFF, 1]), min_size=4, max_size=4)), np.int64)
    which = np.array([p for p, _ in picks])
    addresses = patterns[which] + 4096 + np.array([4 * step for _, step in picks])[:, None]
    for dwords in (1, 2, 4):
        plain, looked = (coalescing.lds_cycles(addresses, masks[which], dwords, p) for p in (0, period))
        assert (plain == looked).all()
        both = [coalescing.sectors(addresses, masks[which], 4 * dwords, p) for p in (0, period)]
        assert all((a == b).all() for a, b in zip(*both, strict=True))
