"""Launches whose workgroups go different ways, each by itself: kernels whose workgroups stay for several tiles.

The usual trace follows one workgroup and moves its addresses for the others. Where probes show that the others go
another way, and all workgroups of the launch are on the card at once, `apart` follows each workgroup of one unit (a CU or
WGP) from its first instruction to its last: the one in the middle of those that have most workgroups, since the first
and the last may have less to do. Which level of the caches serves a load is found by the beginnings of all workgroups of
the chip, `BEGINNING` accesses of each wave, side by side.

Limits: the unit stands for all, so a launch is as fast as its typical unit; branches that ask how far other workgroups
are fall through (`isa.timing.slicing`); of the caches, later parts of a path are taken to be as its beginning.
"""

from __future__ import annotations

from dataclasses import replace

from isa.analysis.cfg import Cfg
from isa.timing import tracer
from isa.timing.trace import Apart, Trace
from isa.timing.tracer import Launch

BEGINNING = 256


def apart(cfg: Cfg, launch: Launch, found: Trace, units: int, slots: int) -> Trace:
    """`found`, or what follows each workgroup where that is not exact. units: of the card; slots: workgroups that one
    holds."""
    if found.exact or found.workgroups > units * slots:
        return found
    unit = (found.workgroups - 1) % units // 2
    recorded = tracer.follow(cfg, launch, range(unit, found.workgroups, units))
    beginnings = tracer.follow(cfg, launch, range(found.workgroups), BEGINNING)
    return replace(found, recorded=recorded, exact=True, apart=Apart(unit, beginnings))
