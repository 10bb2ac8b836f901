"""Baseline code first, good code where it pays: the same bits, whenever waves change over."""

import struct

import numpy as np
import programs
import pytest
from texts import texts

from isa.sim.ir import jit
from isa.sim.ir.jit import HostTarget
from isa.sim.run import selfcheck, tiers
from isa.sim.run.card import Card

BASELINE, GOOD = HostTarget(baseline=True), HostTarget()
(LOOP,) = texts(__file__)
SHORT = LOOP.format(count=3, lane="")
PLAIN = "s_mov_b32 exec_lo, 0x7fffffff\nv_add_nc_u32 v4, v4, v0\ns_mov_b32 exec_lo, -1"  # which the fast version leaves


@pytest.fixture
def compiles(tmp_path, monkeypatch):
    """Whether each object that was compiled is baseline, in order, from empty caches on."""
    for target in (BASELINE, GOOD):
        selfcheck.settled(target)
    selfcheck.better(BASELINE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tiers._recent.clear()
    log = []
    real = jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text, target: log.append(target.baseline) or real(text, target))
    return log


def run(text, card=None, grid=4, launches=1):
    """What the kernel leaves, after so many launches on a card of its own."""
    card = card or Card(capacity=1 << 24)
    kernel = card.load(programs.assembled(text)).kernels["test"]
    out = np.empty(32 * grid, np.uint32)
    (buffer,) = programs.put(card, out)
    for _ in range(launches):
        card.launch(kernel, (grid, 1, 1), (32, 1, 1), struct.pack("<Q", buffer))
    return programs.held(buffer, out)


@pytest.mark.parametrize("lane", ["", PLAIN], ids=["fast", "plain"])
def test_waves_go_on_in_good_code_in_the_middle_of_a_launch(compiles, monkeypatch, lane):
    text = LOOP.format(count=3_000_000, lane=lane)
    expected = run(text, Card(baseline=False, capacity=1 << 24))
    tiers._recent.clear()
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(tiers, "PER_LINE", 1e-8)
    del compiles[:]
    assert (run(text) == expected).all()
    assert compiles[0] is True
    assert compiles[-1] is False, "the launch was to be long enough for good code"


def test_a_short_launch_is_never_compiled_well(compiles):
    run(SHORT)
    assert compiles == [True]


def test_many_short_launches_are(compiles, monkeypatch):
    monkeypatch.setattr(tiers, "PER_LINE", 1e-9)
    run(SHORT, launches=50)
    assert compiles == [True, False]


def test_good_code_that_is_kept_is_taken_at_once(compiles):
    run(SHORT, Card(baseline=False, capacity=1 << 24))
    tiers._recent.clear()
    run(SHORT)
    assert compiles == [False]


def test_baseline_code_is_not_taken_for_good_code(compiles):
    run(SHORT)
    run(SHORT, Card(baseline=False, capacity=1 << 24))
    assert compiles == [True, False]


def test_a_launch_of_many_workitems_begins_with_baseline_code(compiles):
    run(SHORT, grid=1 << 13)
    assert compiles[0] is True


def test_where_good_code_is_wrong_there_is_only_baseline_code(compiles, monkeypatch, capfd):
    monkeypatch.setattr(tiers, "PER_LINE", 1e-8)
    monkeypatch.setattr(selfcheck, "verdict", lambda target: () if target.baseline else ("f32",))
    selfcheck.better.cache_clear()
    text = LOOP.format(count=300_000, lane="")
    found = run(text, launches=3)
    assert compiles == [True]
    assert capfd.readouterr().err.count("optimised code") == 1
    monkeypatch.undo()
    selfcheck.better.cache_clear()
    assert (found == run(text, Card(baseline=False, capacity=1 << 24))).all()


def test_good_code_that_is_kept_and_wrong_is_not_taken(compiles, monkeypatch):
    run(SHORT, Card(baseline=False, capacity=1 << 24))
    tiers._recent.clear()
    monkeypatch.setattr(selfcheck, "verdict", lambda target: () if target.baseline else ("f32",))
    selfcheck.better.cache_clear()
    run(SHORT)
    selfcheck.better.cache_clear()
    assert compiles == [False, True]


def test_where_baseline_code_is_wrong_there_is_only_good_code(compiles, monkeypatch):
    monkeypatch.setattr(tiers, "settled", lambda target: GOOD)
    run(SHORT)
    assert compiles == [False]


def test_where_much_of_a_launch_is_left_good_code_is_made_at_once(monkeypatch):
    baseline, good = (tiers.Version(None, 0, 0, 0, frozenset(), better_s=cost) for cost in (1.0, 0.0))
    both = tiers.Tiers(HostTarget(baseline=None), None, _now={True: baseline})
    monkeypatch.setattr(both, "_choose", lambda fast, good_is_asked: good)
    assert both.spend(True, 0.1, left=tiers.LONG - 0.5) is None
    assert both.spend(True, 0.1, left=tiers.LONG + 0.5) is good
