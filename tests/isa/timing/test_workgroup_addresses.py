"""Workgroups whose addresses do not move evenly: what is told of them against each of them followed by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from texts import texts

from isa.analysis.cfg import Cfg
from isa.timing.machine.cards import card
from isa.timing.model.run import Resources, prepare, run
from isa.timing.trace.trace import Trace
from isa.timing.trace.tracer import TracedLaunch, follow, trace
from isa.timing.workgroups import addresses as workgroup_addresses
from isa.timing.workgroups.addresses import placed
from tests.isa.timing.test_tracer import cfg_of

TILES = """
s_and_b32 s4, s2, 3
s_lshr_b32 s5, s2, 2
s_lshl_b32 s4, s4, 7
s_lshl_b32 s5, s5, 12
"""
"""A row of workgroups that is four tiles wide: s4 bytes to the right, s5 down."""

(EACH_HALF,) = texts(__file__)

BORDER = """
v_lshl_add_u32 v1, v0, 2, s5
v_cmp_gt_u32 vcc_lo, s3, v0
s_and_b32 exec_lo, exec_lo, vcc_lo
global_load_b32 v2, v1, s[0:1]
s_endpgm
"""


def launched(text: str, grid: tuple[int, int, int] = (16, 1, 1), width: int = 64) -> tuple[Cfg, TracedLaunch, Trace]:
    launch = TracedLaunch(grid, (width, 1, 1), sgprs=((0, 0x8000),), workgroup_sgprs=(("x", 2), ("y", 3)))
    cfg = cfg_of(text)
    return cfg, launch, trace(cfg, launch)


def test_each_workgroup_lies_where_it_lies_when_it_is_followed_by_itself() -> None:
    cfg, launch, plain = launched(TILES + EACH_HALF)
    assert not plain.exact
    found = placed(cfg, launch, plain, 4, 2)
    assert found.exact
    numbers = np.arange(16)
    moved = found.moved(numbers)
    load, store = (k for k, i in enumerate(cfg.instructions) if i.mnemonic.startswith("global"))
    whole = follow(cfg, launch, numbers)
    for row in range(2 * 16):
        own = whole.sectors[whole.sector_at[whole.mem_at[row]] : whole.sector_at[whole.mem_at[row + 1]]]
        wave, r = row % 2, found.recorded
        told = r.sectors[r.sector_at[r.mem_at[wave]] : r.sector_at[r.mem_at[wave + 1]]]
        by_load, by_store = (int(moved.distances[row // 2, moved.column[wave, at]]) for at in (load, store))
        assert own.tolist() == [*(told[:-4] + by_load), *(told[-4:] + by_store)]
    assert len({tuple(d) for d in moved.distances.tolist()}) == 16


def test_another_order_of_the_same_tiles_finds_them_in_the_same_caches() -> None:
    """The row of tiles against a grid of 4 x 4 of the same numbers, which moves evenly."""
    ready = []
    grid = "s_nop 0\ns_nop 0\ns_lshl_b32 s4, s2, 7\ns_lshl_b32 s5, s3, 12\n"
    for text, size in ((TILES + EACH_HALF, (16, 1, 1)), (grid + EACH_HALF, (4, 4, 1))):
        cfg, launch, plain = launched(text, size)
        ready.append(prepare(cfg, placed(cfg, launch, plain, 4, 2), Resources(16, 0, True), card("780M")))
    row, even = ready
    assert np.array_equal(row.level, even.level)
    assert run(row, 2500).lines.tolist() == run(even, 2500).lines.tolist()
    alone = replace(row, trace=replace(row.trace, moves=None))
    assert run(alone, 2500).lines.tolist() != run(row, 2500).lines.tolist(), "as if all lay on one place"


def test_workgroups_with_other_lanes_are_said_to_differ() -> None:
    cfg, launch, plain = launched(TILES + BORDER, (4, 40, 1), 32)
    assert not placed(cfg, launch, plain, 4, 2).exact


def test_a_launch_that_moves_evenly_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    cfg, launch, plain = launched("v_lshl_add_u32 v1, s2, 9, v0\nglobal_load_b32 v2, v1, s[0:1]\ns_endpgm")
    cfg2, launch2, border = launched("s_lshl_b32 s5, s2, 12\n" + BORDER, (4, 40, 1), 32)
    assert not border.exact
    assert placed(cfg2, launch2, border, 4, 2) is border
    monkeypatch.setattr(workgroup_addresses, "First", None)
    assert plain.exact
    assert placed(cfg, launch, plain, 4, 2) is plain
