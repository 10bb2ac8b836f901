"""Workgroups that go round their loops unequally often: which do how often, by what the simulator executes of each."""

from __future__ import annotations

import functools
import struct

import numpy as np
import pytest
from texts import texts

from hipgemm.judge.predict import timed
from hipgemm.launch.launch import Array, Launch
from isa import toolchain
from isa.analysis.cfg import Cfg
from isa.analysis.resources import occupancy
from isa.object.code_object import CodeObject
from isa.sim.run.card import Card
from isa.timing.machine.cards import card
from isa.timing.model import ensemble, estimate, predict
from isa.timing.model.run import Resources, prepare, run
from isa.timing.trace import iterations, recording
from isa.timing.trace.tracer import TracedLaunch, follow, trace
from isa.timing.workgroups.unequal import busiest, dealt_out, unequal
from tests.isa.timing.test_tracer import cfg_of

ON = card("7900 XTX")

TRIANGLE, EDGE, HIP = texts(__file__)

BY_DIVISION = TRIANGLE.replace("s_lshl_b32 s5, s3, 12", "s_lshr_b32 s3, s2, 2\ns_mov_b32 s2, 0\ns_lshl_b32 s5, s3, 12")


RESOURCES = Resources(8, 0, False)
PLACES = occupancy(8, 0, 64, cu_mode=False).workgroups


def launched(text: str, grid: tuple[int, int, int]) -> tuple[Cfg, TracedLaunch]:
    launch = TracedLaunch(grid, (64, 1, 1), sgprs=((0, 0x8000),), workgroup_sgprs=(("x", 2), ("y", 3)))
    return cfg_of(text), launch


@pytest.mark.parametrize(
    ("text", "grid", "made"),
    [
        (TRIANGLE, (12, 12, 1), lambda n: max(0, n // 12 - n % 12 + 1)),
        (TRIANGLE, (5, 9, 2), lambda n: max(0, n // 5 % 9 - n % 5 + 1)),
        (BY_DIVISION, (30, 1, 1), lambda n: n // 4 + 1),
    ],
)
def test_each_workgroup_makes_its_own_rounds(text, grid, made) -> None:  # type: ignore[no-untyped-def]
    cfg, launch = launched(text, grid)
    paths = iterations.paths_of(cfg, launch)
    assert paths is not None
    assert paths.all_
    assert paths.followed == grid[0] * grid[1]
    header = cfg.loops[0].header
    assert paths.visits[paths.kind][:, :, header].tolist() == [[made(n)] * 2 for n in range(len(paths.kind))]


def test_a_sample_of_many_is_near_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    cfg, launch = launched(TRIANGLE, (60, 60, 1))
    monkeypatch.setattr(iterations, "WORK", (60_000, 60_000))
    paths = iterations.paths_of(cfg, launch)
    assert paths is not None
    assert not paths.all_
    assert paths.followed < 1800
    told = paths.visits[paths.kind][:, 0, cfg.loops[0].header].sum()
    whole = sum(max(0, y - x + 1) for x in range(60) for y in range(60))
    assert told == pytest.approx(whole, rel=0.05)


def test_where_no_number_of_rounds_differs_nothing_changes() -> None:
    for text, grid in ((EDGE, (4, 1, 1)), (EDGE, (1, 1, 1)), (TRIANGLE, (1, 1, 4))):
        cfg, launch = launched(text, grid)
        found = trace(cfg, launch)
        assert unequal(cfg, launch, found, 4, 2) is found


def test_equal_workgroups_are_dealt_out_in_turn() -> None:
    assert dealt_out(np.full(50, 7), 6, 2).tolist() == [n % 6 for n in range(50)]
    mine, share = busiest(np.array([1, 1, 9, 1, 1, 1]), 3, 1)
    assert (mine.tolist(), round(share, 3)) == ([2], round(14 / 3 / 9, 3))
    assert dealt_out(np.array([1, 1, 9, 1, 1, 1]), 3, 1).tolist() == [0, 1, 2, 0, 1, 0]


def test_the_unit_plays_its_own_workgroups_at_their_own_addresses() -> None:
    cfg, launch = launched(TRIANGLE, (12, 12, 1))
    found = unequal(cfg, launch, trace(cfg, launch), ON.wgps, PLACES)
    apart = found.apart
    assert apart is not None
    assert apart.every is not None
    assert found.exact
    load, store = (k for k, i in enumerate(cfg.instructions) if i.mnemonic.startswith("global"))
    moved = found.distances(apart.numbers, apart.record)
    own, r = follow(cfg, launch, apart.numbers), found.recorded
    for g in range(len(apart.numbers)):
        for wave in range(2):
            sectors = []
            for rec, row in ((own, 2 * g + wave), (r, 2 * int(apart.record[g]) + wave)):
                sectors.append(rec.sectors[rec.sector_at[rec.mem_at[row]] : rec.sector_at[rec.mem_at[row + 1]]])
            theirs, told = sectors
            by_load, by_store = (moved.distances[g, moved.column[wave, at]] for at in (load, store))
            assert theirs.tolist() == [*(told[:-4] + by_load), *(told[-4:] + by_store)]
    ready = prepare(cfg, found, RESOURCES, ON)
    heads = cfg.blocks[cfg.loops[0].header].start
    events = np.zeros((100_000, 5), np.int64)
    played = run(ready, 2500, events=events)
    assert played.hits[heads] == sum(2 * max(0, n // 12 - n % 12 + 1) for n in apart.numbers)


def test_parts_of_a_long_launch_are_a_mix_of_its_workgroups() -> None:
    cfg, launch = launched(TRIANGLE, (64, 64, 1))
    big = Resources(256, 0, False)
    places = occupancy(256, 0, 64, cu_mode=False).workgroups
    ready = prepare(cfg, unequal(cfg, launch, trace(cfg, launch), ON.wgps, places), big, ON)
    whole = run(ready, 2500).cycles
    parts = estimate.excerpts(ready, 8_000)
    assert parts.firsts[0] < len(ready.work().record)
    assert estimate.play(ready, 2500, parts).cycles == pytest.approx(whole, rel=0.1)


needs_compiler = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")


@functools.cache
def code() -> CodeObject:
    from hipgemm.kernels.build import linked
    from hipgemm.kernels.files import read_kernel

    return linked(read_kernel(HIP, "product"), arch="gfx1100").code_object


@needs_compiler
def test_the_simulator_executes_as_much_of_every_workgroup() -> None:
    """And the sum is not what workgroup 0 would say of all."""
    n, grid = 128, (8, 8, 1)
    kernel = code().kernel("product")
    cfg = predict.cfg_of(code(), kernel)
    on = Card()
    compiled = on.load(code()).kernels["product"]
    at = [on.memory.allocate(4 * n * n) for _ in range(3)]
    kernarg = struct.pack("<QQQi", *at, n)
    ran = recording.Running(cfg, compiled, on.memory, on.target, grid, (16, 16, 1), kernarg, 0, lambda: None).paths()
    told = iterations.paths_of(cfg, predict.launch_of(kernel, grid, (16, 16, 1), kernarg))
    assert told is not None
    assert (told.visits[told.kind] == ran.visits[ran.kind]).all()
    issued = told.instructions(cfg)[told.kind]
    assert issued.sum() == ran.instructions(cfg)[ran.kind].sum() != 64 * issued[0]


@needs_compiler
def test_a_run_sees_rounds_that_depend_on_data() -> None:
    """Of a sparse product: a wave makes as many iterations as its longest row asks for."""
    rows = 32 * 200
    lengths = np.random.default_rng(3).integers(0, 20, rows)
    lengths[: 32 * 20] *= 4
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    entries = int(starts[-1])
    held = (np.zeros(rows, np.float32), starts, np.zeros(entries, np.int32), np.ones(entries, np.float32),
            np.ones(8, np.float32))  # fmt: skip
    arrays = tuple(Array(str(a.dtype), a.shape, lambda a=a: a) for a in held)
    ready = timed(code(), "sparse", Launch((200, 1, 1), (32, 1, 1), arrays), ON, run=True).prepared
    apart = ready.trace.apart
    assert apart is not None
    assert apart.iterations is not None
    longest = lengths.reshape(-1, 32).max(axis=1)
    assert apart.iterations.mean == pytest.approx(longest.mean())
    assert apart.iterations.most == longest.max()
    timing = ensemble.quick(ready)
    assert timing.unit_workgroups == len(apart.numbers)
    assert "iterations of the loop" in repr(timing)
