"""Accesses of loops whose addresses follow no pattern (`isa.sim.translate.lane_access`): the same bits by both tiers of
native code and by the reference, and faults that name their lane."""

import struct

import numpy as np
import programs
import pytest
from test_versions import outputs, reference
from texts import texts

from isa.sim.run import tiers
from isa.sim.run.card import Card
from isa.sim.run.faults import KernelFault
from isa.sim.translate import lane_access

SHUFFLED, APART, BUFFER = texts(__file__)
SIZE = 2048 + 512 + 2 * 16


@pytest.fixture
def inline(tmp_path, monkeypatch):
    """The accesses that were written for all lanes at once, from an empty cache on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []
    for name in ("load", "store"):
        real = getattr(lane_access, name)
        monkeypatch.setattr(lane_access, name, lambda *a, real=real: calls.append(a) or real(*a))
    tiers._recent.clear()
    return calls


def image(factor=7, step=16):
    return programs.assembled(SHUFFLED.format(factor=factor, step=step), lds=4096, vgprs=24)


@pytest.mark.parametrize("factor", [5, 7, 11])
def test_all_engines_agree(factor, inline):
    code = image(factor)
    good, _ = outputs(Card(baseline=False, capacity=1 << 24), code, SIZE)
    baseline, _ = outputs(Card(baseline=True, capacity=1 << 24), code, SIZE)
    assert good == baseline == reference(code, SIZE)
    assert np.count_nonzero(np.frombuffer(good, np.uint32)) > SIZE // 8
    assert len(inline) == 12, "all of the loop's, in good code alone"


@pytest.mark.parametrize("step", [0, 4, 0x80000000])
def test_lanes_out_of_a_buffer_are_off(step, inline):
    """The last dwords of a lane, whole lanes, or none of a strip."""
    code = programs.assembled(BUFFER.format(factor=7, step=step), vgprs=24)
    good, _ = outputs(Card(baseline=False, capacity=1 << 24), code, SIZE)
    baseline, _ = outputs(Card(baseline=True, capacity=1 << 24), code, SIZE)
    assert good == baseline == reference(code, SIZE)
    assert len(inline) == 3, "what is left of an access is done lane by lane"


def test_a_lane_outside_is_found():
    """In the last round, one lane of one store alone."""
    card = Card(baseline=False, capacity=1 << 24)
    with pytest.raises(KernelFault) as caught:
        outputs(card, image(), SIZE - 4)
    assert caught.value.place.lane == 9  # 9 * 7 % 32 = 31
    assert "b128" in str(caught.value)


def test_allocations_change():
    """The site finds another allocation than the one that it was in last."""
    card = Card(baseline=False, capacity=1 << 24)
    first, _ = outputs(card, image(), SIZE)
    second, _ = outputs(card, image(), SIZE)
    assert first == second


@pytest.mark.parametrize("waves", [1, 3, 8])
def test_what_is_fetched_ahead_is_never_read(waves):
    """Waves whose loads are far apart, and end with the allocation."""
    card = Card(baseline=False, capacity=1 << 24)
    size = 4096 * waves
    buffer = card.memory.allocate(size)
    kernel = card.load(programs.assembled(APART)).kernels["test"]
    card.launch(kernel, (1, 1, 1), (32 * waves, 1, 1), struct.pack("<Q", buffer))
