"""Launches whose workgroups go different ways: who is followed, and what a branch on others' flags does."""

from __future__ import annotations

import functools
import struct
from dataclasses import replace

import numpy as np
import pytest

from isa import toolchain
from isa.asm.emit import emit
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.work import Work
from isa.object.code_object import CodeObject, load
from isa.timing.machine.cards import card
from isa.timing.model import estimate, predict
from isa.timing.model.run import Prepared, run
from isa.timing.trace import slicing

CARD = card("7900 XTX")


@functools.cache
def code(stream_k: bool) -> CodeObject:
    program = generate(Parameters(stream_k=stream_k), "gemm")
    return load(toolchain.find().code_object(emit(program)))


def prepared(m: int, n: int, k: int, work: Work | None) -> Prepared:
    kernarg = struct.pack("<QQQiiiff", *(0x7F0000000000 + (i << 36) for i in range(3)), m, n, k, 1.0, 0.0)
    kernarg += work.arguments((m, n, k), 0x7F8000000000) if work else b""
    grid = work.grid if work else (-(-n // 128), -(-m // 128), 1)
    return predict.TimedLaunch(code(work is not None), "gemm", grid, (128, 1, 1), kernarg, CARD).prepared


def test_only_branches_on_what_others_publish_are_guessed() -> None:
    stays, plain = (predict.cfg_of(c, c.kernel("gemm")) for c in (code(True), code(False)))
    assert slicing.polling(plain) == frozenset()
    asking = sorted(slicing.polling(stays))
    assert [stays.instructions[i].mnemonic for i in asking] == ["s_cbranch_scc0", "s_cbranch_scc1"]
    assert slicing.slice_of(stays).polling == frozenset(asking)


def test_whole_tiles_follow_workgroup_0_and_ranges_are_followed_by_themselves() -> None:
    p = Parameters(stream_k=True)
    work = Work(p, 32, 512, 8, 128, 384, 288)
    ready = prepared(2048, 4096, 64, work)
    apart = ready.trace.apart
    assert apart is not None
    assert apart.beginnings is None
    mine = [int(n) for n in apart.numbers]
    assert mine == list(range(mine[0], ready.trace.workgroups, CARD.cus))
    assert [r == 0 for r in apart.record] == [n < work.dealt for n in mine]
    played = [sum(count for _, _, count in work.pieces(n)) for n in mine]
    lengths = np.diff(ready.trace.recorded.mem_at).reshape(-1, 4).sum(axis=1)[apart.record]
    longer = [i for i in range(len(mine)) if played[i] == max(played)]
    assert min(lengths[longer]) > max(lengths[[i for i in range(len(mine)) if i not in longer]])
    assert run(ready, 2500).played == 1, "all, though their mean length is no whole number"


def test_whole_tiles_move_and_find_in_caches_as_those_of_the_plain_kernel() -> None:
    p = Parameters(stream_k=True)
    mixed, plain = (prepared(2048, 4096, 256, work) for work in (Work(p, 32, 512, 32, 32, 480, 96), None))
    for axis in range(2):
        of_mixed, of_plain = (set(ready.trace.shift[:, axis].tolist()) for ready in (mixed, plain))
        assert {0} < of_plain <= of_mixed
    lines = [run(ready, 2500).lines for ready in (mixed, plain)]
    assert lines[0][2:] == pytest.approx(lines[1][2:], rel=0.2)


def test_ranges_alone_have_their_own_beginnings() -> None:
    p = Parameters(stream_k=True)
    ready = prepared(256, 256, 512, Work(p, 2, 4, 64, 4, 0, 64))
    apart = ready.trace.apart
    assert apart is not None
    assert apart.beginnings is not None
    assert len(apart.beginnings.mem_at) == 4 * ready.trace.workgroups + 1
    assert ready.trace.exact


def test_parts_of_a_launch_have_all_workgroups_that_differ() -> None:
    """Of a CU here 45 that are alike and 12 short ones: played by themselves these say nothing of the others."""
    p = Parameters(stream_k=True)
    ready = prepared(64 * 128, 72 * 128, 512, Work(p, 72, 4608, 64, 288, 4320, 1152))
    assert (len(ready.work().record), ready.differing, ready.occupancy.workgroups) == (57, 12, 3)
    parts = estimate.excerpts(ready, 100_000)
    assert parts.firsts == (24, 15)
    for first in parts.firsts:
        assert (replace(ready, first=first).work().record != 0).sum() == 12
    found = estimate.play(ready, 2500, parts)
    assert found.played < 1
    assert found.cycles == pytest.approx(run(ready, 2500).cycles, rel=0.02)


@pytest.mark.slow
def test_a_launch_of_whole_tiles_takes_as_long_as_the_plain_kernel() -> None:
    p = Parameters(stream_k=True)
    times = [run(prepared(2304, 2048, 1024, w), 2500).cycles for w in (Work(p, 16, 288, 128, 0, 288, 0), None)]
    assert times[0] == pytest.approx(times[1], rel=0.03)
