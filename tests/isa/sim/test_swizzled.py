"""Lanes that read LDS in an order that an XOR gives: by wide moves, checked like all others."""

import numpy as np
import pytest
from test_shared import translator
from test_tiers import run
from texts import texts

from isa.errors import IsaError
from isa.sim.run.card import Card

(TEXT,) = texts(__file__)


@pytest.mark.parametrize("turn", [6, 19])
@pytest.mark.parametrize("load", ["b128 v[7:10], v6", "b64 v[7:8], v6 offset:8", "b32 v7, v6 offset:4"])
def test_lanes_get_their_words(turn, load):
    clear = "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0"
    text = TEXT.format(turn=turn, move=clear, load=load)
    count, first = {"b128": (4, 0), "b64 ": (2, 2), "b32 ": (1, 1)}[load[:4]]
    lane = np.arange(32) ^ turn
    expected = sum((4 * lane + first + j) << 8 * j for j in range(count))
    assert (run(text, Card(baseline=False, capacity=1 << 24)).reshape(4, 32) == expected).all()


def test_they_are_wide_moves():
    wide = translator(TEXT.format(turn=2, move="", load="b128 v[7:10], v6"), False)
    text = wide.text()
    assert "call ptr @resolve_lds" not in text
    assert len(wide.bails) == 2, "both accesses to LDS can be left to the plain version"


@pytest.mark.parametrize("baseline", [True, False])
def test_a_lane_before_the_first_one_is_outside(baseline):
    """Lanes 2 and 3 read before LDS, lane 0 does not."""
    text = TEXT.format(turn=2, move="v_subrev_nc_u32 v6, 16, v6", load="b128 v[7:10], v6")
    with pytest.raises(IsaError, match="lane 2"):
        run(text, Card(baseline=baseline, capacity=1 << 24))
