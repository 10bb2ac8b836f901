"""Which workgroups the busiest unit gets, where some take longer than others.

A workgroup waits until a unit (a CU or WGP) has room; it starts there, and the next one waits, in the order of their
numbers. At first each unit gets one in turn, then each a second one, until all are full; from then on whoever ends
makes room for the next. The load of a workgroup is what it issues, and a place in a unit works at one pace. Equal
workgroups so come to unit `number mod units`, as elsewhere in the model.

Limits: the pace of a place is the same whatever runs beside it, so that the order in which places become free is
only as right as that.
"""

from __future__ import annotations

import heapq

import numpy as np


def dealt_out(load: np.ndarray, units: int, slots: int) -> np.ndarray:
    """int64[workgroups]: the unit of each. load[workgroups]; slots: places of a unit."""
    free = [(0.0, slot, unit) for slot in range(slots) for unit in range(units)]
    where = np.zeros(len(load), np.int64)
    for number, amount in enumerate(load.tolist()):
        at, slot, unit = free[0]
        where[number] = unit
        heapq.heapreplace(free, (at + amount, slot, unit))
    return where


def busiest(load: np.ndarray, units: int, slots: int) -> tuple[np.ndarray, float]:
    """(the workgroups of the unit with the most to do, in order; what units have to do on average over that)."""
    where = dealt_out(load, units, slots)
    sums = np.bincount(where, load, minlength=units)
    unit = int(sums.argmax())
    return np.flatnonzero(where == unit), float(sums.mean() / max(sums[unit], 1))
