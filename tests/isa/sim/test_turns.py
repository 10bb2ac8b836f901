"""Workgroups that wait for one another: all that a card holds make progress, on however many threads; and a launch in
which all wait ends, and says where and for what."""

import ctypes
import re
import struct

import numpy as np
import programs
import pytest
from texts import texts

from isa.sanitize import observe
from isa.sim.run.card import Card
from isa.sim.run.faults import BudgetSpent
from isa.sim.run.turns import resident
from isa.sim.translate.cfg import loops_that_wait

MEET, SPIN, VOTE, CALLED, FUNCTION, BACKOFF, LATE, TAKES, BOUNDED, IN_REGISTER, IN_MEMORY = texts(__file__)
WAYS = {"spin": SPIN, "backoff": BACKOFF, "vote": VOTE, "called": CALLED}


def loaded(body, groups):
    """(card, kernel, a buffer of 4096 zeros)."""
    card = Card(capacity=1 << 26)
    buffer = card.memory.allocate(4096)
    ctypes.memset(buffer, 0, 4096)
    code = programs.assembled(body.replace("GROUPS", str(groups)), FUNCTION if "look@" in body else "", lds=64)
    return card, card.load(code).kernels["test"], buffer


def launched(body, groups, **options):
    card, kernel, buffer = loaded(body, options.pop("counted", groups))
    card.launch(kernel, (groups, 1, 1), (64, 1, 1), struct.pack("<Q", buffer), **options)
    return np.frombuffer(ctypes.string_at(buffer, 4096), np.uint32)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_workgroups_meet_on_fewer_threads(way, fast, threads):
    words = launched(MEET.replace("LOOK", WAYS[way]), 9, threads=threads, fast=fast)
    np.testing.assert_array_equal(words[512:521], (np.arange(9) + 1) % 9 + 100)


@pytest.mark.parametrize("way", WAYS)
def test_they_meet_under_the_sanitizer_too(way):
    card, kernel, buffer = loaded(MEET.replace("LOOK", WAYS[way]), 5)
    seen = observe(card, kernel, (5, 1, 1), (64, 1, 1), struct.pack("<Q", buffer), threads=1)
    assert seen.stopped is None
    assert "memory race" not in {f.rule for f in seen.findings}
    assert list(np.frombuffer(ctypes.string_at(buffer + 2048, 20), np.uint32)) == [101, 102, 103, 104, 100]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_all_that_wait_in_vain_end(way, threads):
    """A counter that never comes to so many: who waits, by which instruction, for what at which address."""
    with pytest.raises(BudgetSpent, match="all workgroups that run wait, and none makes progress: workgroup") as spent:
        launched(MEET.replace("LOOK", WAYS[way]), 3, counted=4, threads=threads, budget=10_000_000)
    look = spent.value.look
    assert str(look.instruction).startswith("global_load_b32 v6")
    assert look.address == look.near.base
    assert look.what == "0x3"


@pytest.mark.parametrize("threads", [1, 2])
def test_who_can_only_wait_ends_at_once_under_the_sanitizer(threads):
    """Of a budget of minutes: all that the waves hold is as it was, and they store nothing."""
    card, kernel, buffer = loaded(MEET.replace("LOOK", SPIN), 4)
    kernarg = struct.pack("<Q", buffer)
    seen = observe(card, kernel, (3, 1, 1), (64, 1, 1), kernarg, threads=threads, budget=1 << 38, schedules=1)
    assert "instruction budget exhausted" in {f.rule for f in seen.findings}


@pytest.mark.parametrize("count", [IN_REGISTER, IN_MEMORY])
def test_who_counts_its_looks_does_not_only_wait(count):
    """In a register, and in memory where the registers are the same at each look: both give up by themselves."""
    card, kernel, buffer = loaded(BOUNDED.replace("COUNT", count), 1)
    seen = observe(card, kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer), threads=1, schedules=1)
    assert seen.stopped is None
    assert np.frombuffer(ctypes.string_at(buffer + 8, 4), np.uint32)[0] == 7


def test_more_workgroups_than_the_card_holds_cannot_meet():
    """One that waits for another that has not begun waits for ever on a card, too."""
    body = re.sub(r".*offset:.*", "", MEET.replace("LOOK", SPIN))
    _, kernel, _ = loaded(body, 1)
    room = resident(kernel.facts, kernel.vgprs, 1, 64, 2)
    assert room == 48 * 32
    with pytest.raises(BudgetSpent, match="wait") as spent:
        launched(body, room + 1, budget=50_000_000)
    assert f"1 of {room + 1} workgroups have not begun: the card holds {room} of these at once" in spent.value.hint


@pytest.mark.parametrize("threads", [1, 2])
def test_who_computes_is_waited_for(threads):
    """Of a budget that allows five thousand looks, and far fewer than those who wait have time for."""
    assert launched(LATE, 2, threads=threads, budget=5000 << 12)[0] == 1


def test_who_finds_something_new_each_time_does_not_wait():
    assert launched(TAKES, 4, threads=1, budget=100 << 12)[0] == 0x2000 + 8


@pytest.mark.parametrize("barrier", ["", "s_barrier"])
def test_who_meets_others_at_a_barrier_does_not_look_for_them(barrier):
    """Emptied caches after it are no look at memory again: such loops run on as others do."""
    loop = f"s_sub_i32 s6, s6, 1\n{barrier}\nbuffer_gl0_inv\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 .La\ns_endpgm"
    _, kernel, _ = loaded(f"s_movk_i32 s6, 100\n.La:\n{loop}", 1)
    assert bool(loops_that_wait(kernel.blocks)) == (not barrier)


def test_the_budget_is_a_workgroup_s():
    """What one may run says nothing of how many there are."""
    body = "s_movk_i32 s6, 100\n.La:\ns_sub_i32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 .La\ns_endpgm"
    launched(body, 1000, threads=1, budget=1000)
    with pytest.raises(
        BudgetSpent, match=r"ran 90 instructions and has not ended; wave 0 is in the loop at 0x\w+ `s_sub"
    ):
        launched(body, 1, threads=1, budget=90)
