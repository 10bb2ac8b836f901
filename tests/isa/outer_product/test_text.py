"""The instructions of steps of k: what stands where, and what stores in pairs store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.asm.parse import parse_instruction
from isa.outer_product.fma_order import place, schedule, turning
from isa.outer_product.text import KStep, Store, Words, group, stores, turn
from isa.registers import Reg, v


def words(first: int, address: int, *offsets: int) -> Words:
    return Words([Reg("v", first + 4 * i, 2) for i in range(len(offsets))], v(address), offsets)


def test_a_group_loads_all_its_steps_and_waits_for_each() -> None:
    pairs = schedule(2, 2)
    sums = place(pairs, turning(pairs)).accumulators
    steps = [KStep(words(2, 90, 0), words(0, 91, 512)), KStep(words(10, 90, 528), words(8, 91, 1024))]
    assert list(group(steps, pairs, sums, ["s_nop 0"])) == [
        "ds_load_b64 v[2:3], v90",
        "ds_load_b64 v[0:1], v91 offset:512",
        "ds_load_b64 v[10:11], v90 offset:528",
        "ds_load_b64 v[8:9], v91 offset:1024",
        "s_nop 0",
        "wait lds_load 2",
        "v_dual_fmac_f32 v5, v2, v0 :: v_dual_fmac_f32 v6, v3, v1",
        "v_dual_fmac_f32 v7, v2, v1 :: v_dual_fmac_f32 v4, v3, v0",
        "wait lds_load 0",
        "v_dual_fmac_f32 v5, v10, v8 :: v_dual_fmac_f32 v6, v11, v9",
        "v_dual_fmac_f32 v7, v10, v9 :: v_dual_fmac_f32 v4, v11, v8",
    ]


def test_more_loads_than_the_counter_holds_are_waited_for_early() -> None:
    pairs = schedule(2, 2)
    sums = place(pairs, turning(pairs)).accumulators
    steps = [KStep(words(2, 90, 0), words(0, 91, 0)) for _ in range(40)]
    waits = [line for line in group(steps, pairs, sums) if line.startswith("wait")]
    assert waits[:8] == ["wait lds_load 63"] * 8
    assert waits[8] == "wait lds_load 62"


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((0, 512), ["ds_store_2addr_stride64_b32 v9, v0, v1 offset1:2"]),
        ((64, 128), ["ds_store_2addr_b32 v9, v0, v1 offset0:16 offset1:32"]),
        ((1020, 0), ["ds_store_2addr_b32 v9, v0, v1 offset0:255"]),
        ((0, 1028), ["ds_store_b32 v9, v0", "ds_store_b32 v9, v1 offset:1028"]),
        ((0, 65532), ["ds_store_b32 v9, v0", "ds_store_b32 v9, v1 offset:65532"]),
        ((0, 4, 8), ["ds_store_2addr_b32 v9, v0, v1 offset1:1", "ds_store_b32 v9, v2 offset:8"]),
    ],
    ids=str,
)
def test_stores_in_pairs(offsets: tuple[int, ...], expected: list[str]) -> None:
    assert list(stores([Store(v(9), v(i), at) for i, at in enumerate(offsets)], paired=True)) == expected


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([1, 1, 1, 2, 4]), st.integers(0, 0x3FF0)), max_size=8))
def test_pairs_store_what_single_stores_do(drawn: list[tuple[int, int, int]]) -> None:
    """The same registers to the same places, in the same order."""
    row = [Store(v(90 + a), Reg("v", 4 * i, n), 4 * at) for i, (a, n, at) in enumerate(drawn)]

    def stored(paired: bool) -> list[tuple[Reg, Reg, int]]:
        found = []
        for line in stores(row, paired=paired):
            inst = parse_instruction(line)
            address, *values = inst.operands
            unit = 4 * (inst.desc.access.pair if inst.desc.access else 0)
            for i, value in enumerate(values):
                found.append((address, value, unit * inst.modifier(f"offset{i}", 0) if unit else inst.offset))
        return found

    assert stored(True) == stored(False) == [(s.address, s.value, s.offset) for s in row]


@pytest.mark.parametrize("wait_first", [False, True])
def test_the_turn_of_a_buffer(wait_first: bool) -> None:
    first = ["wait global_load 0", "barrier"]
    expected = [*(first if wait_first else reversed(first)), "ds_store_b32 v1, v2", "wait lds_load 0", "barrier"]
    assert list(turn(["ds_store_b32 v1, v2"], wait_first=wait_first)) == expected
