"""Kernels that deal tiles out to their workgroups in an order of their own: rows of tiles in groups, for one, so that
workgroups that run at a time share what L2 holds (Triton's GROUP_M, `isa.gemm.matrix.order`).

Their addresses do not go in straight lines with x, y and z. `dealt` follows the first wave of each workgroup through
its first BEGINNING accesses and takes places from where these lie (`isa.timing.trace.places.axes_of`): of a matrix
product these are the rows and the columns of tiles, however they are numbered. Workgroups with small places then show,
followed whole, how all other instructions move, and the far corner and the one in the middle whether that is so.

Limits: launches of more than MOST workgroups keep the grid's axes, and so do kernels whose first addresses need more
than three axes, or whose probes then disagree: where the last workgroup's first lane reads the last row in place of one
after it; `Trace.exact` is then false, as it is where workgroups at an edge take another path. Those that ask how
far others are have `isa.timing.workgroups.divergent`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isa.analysis.cfg import Cfg
from isa.timing.trace import slicing, tracer
from isa.timing.trace.places import axes_of
from isa.timing.trace.trace import Trace
from isa.timing.trace.tracer import TracedLaunch

BEGINNING = 64
MOST = 1 << 17


def dealt(cfg: Cfg, launch: TracedLaunch, found: Trace) -> Trace:
    """`found`, or the same with places that are not those of the grid."""
    if found.straight or found.workgroups > MOST or slicing.polling(cfg):
        return found
    first = tracer.first_addresses(cfg, launch, range(found.workgroups), BEGINNING)
    places = axes_of(addresses - addresses[0] for addresses in first.values())
    if places is None:
        return found
    probes = [0, *_near(places), len(places) - 1, len(places) // 2]
    shift, straight, exact = tracer.shifts(cfg, launch, list(dict.fromkeys(probes)), places)
    return replace(found, shift=shift, places=places, straight=True, exact=exact) if straight else found


def _near(places: np.ndarray) -> list[int]:
    """For each axis the workgroup nearest to 0 on it, or beside an axis that has one."""
    chosen: list[int] = []
    order = np.argsort(np.abs(places).sum(axis=1), kind="stable")
    for axis in np.flatnonzero(places.any(axis=0)):
        others = np.delete(places, axis, axis=1)[order]
        apart = np.where(places[order, axis] != 0, np.abs(others).sum(axis=1), np.iinfo(np.int64).max)
        chosen.append(int(order[apart.argmin()]))
    return chosen
