"""The time of a launch from parts of it, against the same launch played whole."""

from __future__ import annotations

import numpy as np
import pytest
from texts import texts

from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.timing.machine import rdna3
from isa.timing.machine.cards import card
from isa.timing.model import ensemble, estimate, uncertainty
from isa.timing.model import run as model
from isa.timing.model.estimate import shortened
from isa.timing.native import engine_abi
from isa.timing.trace.tracer import TracedLaunch, trace

(LOOPS,) = texts(__file__)


def ready(outer: int, inner: int, workgroups: int = 96) -> model.Prepared:
    cfg = control_flow.of_text(parse(LOOPS.format(outer=outer, inner=inner)))
    launch = TracedLaunch((workgroups, 1, 1), (128, 1, 1), sgprs=((1, 0x7F00),))
    return model.prepare(cfg, trace(cfg, launch), model.Resources(192, 16384, True), card("7900 XTX"))


def counts(recorded: engine_abi.Recorded) -> list[list[int]]:
    """Of each wave: visits of blocks 0 to 4, LDS accesses, memory accesses."""
    visits = [
        np.bincount(recorded.blocks[a:b], minlength=5).tolist()
        for a, b in zip(recorded.block_at[:-1], recorded.block_at[1:], strict=True)
    ]
    return [
        [*v, int(x), int(y)] for v, x, y in zip(visits, np.diff(recorded.lds_at), np.diff(recorded.mem_at), strict=True)
    ]


@pytest.mark.parametrize(
    ("outer", "inner", "share", "left"),
    [
        (40, 3, 0.5, [1, 20, 60, 20, 1, 20 + 60, 21]),  # every second trip of the outer loop, with its inner ones
        (40, 30, 0.5, [1, 20, 600, 20, 1, 20 + 600, 21]),
        (4, 40, 0.5, [1, 4, 80, 4, 1, 4 + 80, 5]),  # too few trips: the inner loop is cut
        (40, 3, 0.01, [1, 8, 24, 8, 1, 8 + 24, 9]),
        (5, 7, 0.01, [1, 5, 35, 5, 1, 5 + 35, 6]),
        (40, 3, 1.0, [1, 40, 120, 40, 1, 40 + 120, 41]),
    ],
)
def test_loops_lose_trips_and_their_accesses(outer: int, inner: int, share: float, left: list[int]) -> None:
    r = ready(outer, inner)
    cut = shortened(r.cfg, r.code, r.trace.recorded, share)
    assert counts(cut) == [left] * 4
    whole = r.trace.recorded
    if share == 1:
        assert all((getattr(cut, name) == getattr(whole, name)).all() for name in whole._fields)
    assert cut.sector_at[-1] == len(cut.sectors)
    assert set(cut.lds) == set(whole.lds)


@pytest.mark.parametrize(
    ("outer", "inner", "workgroups"), [(300, 3, 96), (3, 300, 500), (10, 20, 96 * 300), (200, 20, 9000)]
)
def test_parts_tell_the_time_of_the_whole(outer: int, inner: int, workgroups: int) -> None:
    r = ready(outer, inner, workgroups)
    whole = model.run(r, 2500)
    parts = estimate.excerpts(r, 10_000)
    found = estimate.play(r, 2500, parts)
    assert found.played < 0.7
    assert found.cycles == pytest.approx(whole.cycles, rel=0.02)
    assert found.lines.sum() == pytest.approx(whole.lines.sum(), rel=0.001)
    assert found.valu_utilisation == pytest.approx(whole.valu_utilisation, abs=0.01)


def test_what_fits_is_played_whole() -> None:
    r = ready(20, 3)
    whole = model.run(r, 2500)
    found = estimate.play(r, 2500, estimate.excerpts(r, 10**9))
    assert (found.cycles, found.played, found.causes) == (whole.cycles, 1.0, whole.causes)
    assert model.run(r, 2500, stop_after=1000).played < 1


def test_machine_numbers_are_drawn_from_their_ranges() -> None:
    drawn = uncertainty.drawn_numbers(20)
    uncertain = {name: n for name, n in rdna3.NUMBERS.items() if n.low != n.high}
    assert {frozenset(d) for d in drawn} == {frozenset(uncertain)}
    for name, number in uncertain.items():
        values = np.array([d[name] for d in drawn])
        assert ((number.low <= values) & (values <= number.high)).all()
        assert (values <= number.value).sum() >= 10 <= (values >= number.value).sum()


def test_a_band_holds_policies_and_machine_numbers() -> None:
    r = ready(40, 20, 400)
    found = ensemble.predict(r)
    assert len(found.runs) == len(ensemble.MEMBERS)
    assert len(found.ratios) == uncertainty.DRAWS
    assert found.low_s <= min(found.times_s) <= found.time_s <= max(found.times_s) <= found.high_s
    assert found.low_s <= found.time_s * min(found.ratios)
    assert found.high_s >= found.time_s * max(found.ratios)
    assert min(found.ratios) < 1 < max(found.ratios)
    assert "machine numbers" in found.band
    assert all(text in repr(found) for row in found.rows() for text in row)
    assert ensemble.quick(r).low_s == ensemble.quick(r).high_s


def test_parts_move_like_the_whole_when_numbers_change() -> None:
    r = ready(200, 20, 1000)
    part = estimate.beginning(r, uncertainty.ROUNDS, uncertainty.TRIPS)
    assert part.instructions < r.instructions / 2
    for name in ("lds_latency", "valu_to_lds"):
        doubled = {name: 2 * rdna3.NUMBERS[name].value}
        whole, small = (
            model.run(uncertainty.changed(p, doubled), 2500).cycles / model.run(p, 2500).cycles for p in (r, part)
        )
        assert small - 1 == pytest.approx(whole - 1, rel=0.15, abs=0.01)
        assert whole > 1.03
