"""What events show of a prediction: clock under load and launch overhead."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from isa.errors import IsaError
from isa.timing.machine.cards import CARDS, card
from isa.timing.machine.rdna3 import values
from isa.timing.model.as_measured import LOADS, as_measured, clock_share


def timing(on: str, work: float, matrix: bool = False) -> Any:
    """Of a launch of 1 ms at the card's boost clock."""
    return SimpleNamespace(
        card=card(on), clock_mhz=card(on).clock_mhz, valu_work=work, time_s=1e-3, low_s=0.97e-3,
        high_s=1.02e-3, matrix=matrix,
    )  # fmt: skip


def test_a_light_kernel_keeps_the_boost_clock_and_a_busy_one_does_not() -> None:
    for on in CARDS.values():
        shares = [clock_share(on, u / 10, LOADS["heavy"].w0) for u in range(1, 11)]
        assert shares[0] == 1
        assert shares == sorted(shares, reverse=True)
        assert 0.5 < shares[-1] < 1


def test_what_is_not_asked_for_changes_nothing() -> None:
    found = as_measured(timing("7900 XTX", 0.9))
    assert (found.time_s, found.low_s, found.high_s) == pytest.approx((1e-3, 0.97e-3, 1.02e-3))
    assert found.clock_mhz == 2500


def test_overhead_is_added_and_has_no_part_in_the_clock() -> None:
    bare, with_it = (as_measured(timing("7900 GRE", 0.8), "heavy", us) for us in (0, 50))
    assert with_it.time_s - bare.time_s == pytest.approx(50e-6)
    assert with_it.clock_mhz == bare.clock_mhz
    assert "50 us of launch" in with_it.rows()[0][1]


def test_the_heavy_load_is_slower_and_the_band_holds_the_clocks() -> None:
    light, heavy = (as_measured(timing("7900 GRE", 0.85), name) for name in ("light", "heavy"))
    assert heavy.clock_mhz < light.clock_mhz < card("7900 GRE").clock_mhz
    for found in (light, heavy):
        assert found.clock_low_mhz < found.clock_mhz < found.clock_high_mhz
        assert found.low_s < found.time_s < found.high_s


def test_an_8060s_under_gemm_load_runs_as_it_was_seen_to() -> None:
    """1.9 to 2.1 of 2.9 GHz (kroqueta-s/gfx1151-gemm), which nothing here was fitted to."""
    found = as_measured(timing("8060S", 0.85), "heavy")
    assert found.clock_low_mhz < 2100
    assert found.clock_high_mhz > 1900


def test_a_newer_process_does_more_at_one_power() -> None:
    on = card("9070 XT")
    new, old = (clock_share(replace(on, arch=arch), 1.5, LOADS["heavy"].w0) for arch in ("gfx1201", "gfx1100"))
    assert (old / new) ** 3 == pytest.approx(0.78), "TSMC's N4P over N5"


@pytest.mark.parametrize(
    ("work", "above", "seen"), [(0.93 * values()["wmma_work"], False, (2100, 2100)), (0.3, True, (2800, 2900))]
)
def test_a_7900_xtx_under_products_of_f16_runs_as_it_was_seen_to(work: float, above: bool, seen: Any) -> None:
    """By ROCm issue 5725, under rocBLAS's fast products (96 TFLOP/s at 8192, which is 93 % of the matrix units at that
    clock) and under slow ones, of which no time was told; nothing here was fitted to them."""
    found = as_measured(timing("7900 XTX", work), "heavy", above_boost=above)
    assert found.clock_low_mhz < seen[0]
    assert found.clock_high_mhz > seen[1]


def test_above_boost_a_light_load_is_faster_up_to_what_was_seen() -> None:
    """And a busy kernel is told as without; the band's slow end is that of the boost clock."""
    for on in (known for known in CARDS.values() if known.above_mhz):
        without, above = (as_measured(timing(on.name, 0.1), "light", above_boost=way) for way in (False, True))
        assert (without.clock_mhz, above.clock_low_mhz) == (on.clock_mhz, on.clock_mhz)
        assert (above.clock_mhz, above.clock_high_mhz) == pytest.approx(on.above_mhz)
        assert above.low_s < above.time_s < without.time_s < above.high_s
    busy = (as_measured(timing("7900 XTX", 0.95), "heavy", above_boost=way) for way in (False, True))
    assert len(set(busy)) == 1


def test_a_card_whose_clock_above_boost_nobody_told_is_refused() -> None:
    with pytest.raises(IsaError, match="no clock of a 7900 GRE above its boost clock"):
        as_measured(timing("7900 GRE", 0.1), "light", above_boost=True)


def test_a_load_that_is_none_is_refused() -> None:
    with pytest.raises(IsaError, match="no load 'heavie'"):
        as_measured(timing("7900 XTX", 0.5), "heavie")
