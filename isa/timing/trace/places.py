"""Places of workgroups: a launch -> where each workgroup lies on up to three axes, and how far addresses move along
each.

A workgroup has a place, AXES whole numbers. An instruction's addresses move by `shift` sectors with each of them:

    address of workgroup g  =  address of workgroup 0  +  place[g] . shift[instruction]

Mostly the place is x, y and z in the grid; `probes` are the workgroups that show the shifts, `fitted` reads them off.
Where tiles are dealt out in another order, places are read off the addresses themselves (`axes_of`,
`isa.timing.workgroups.unequal`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

AXES = 3
_SECTOR = 32
Triple = tuple[int, int, int]


def in_grid(grid: Triple, numbers: np.ndarray | Sequence[int]) -> np.ndarray:
    """int64[n, AXES]: x, y and z of workgroups by their numbers."""
    n, (gx, gy, _) = np.asarray(numbers, np.int64), grid
    return np.stack([n % gx, n // gx % gy, n // (gx * gy)], axis=1)


def parts(count: int, chosen: int) -> np.ndarray:
    """So many of `count` numbers, ascending: of equal parts one each, where the golden ratio has it, so that no period
    hides."""
    begins = np.arange(chosen + 1) * count // chosen
    inside = np.arange(chosen) * ((math.sqrt(5) - 1) / 2) % 1 * np.diff(begins)
    return begins[:-1] + inside.astype(np.int64)


def probes(grid: Triple) -> list[int]:
    """Workgroup 0, its neighbours along x, y and z, and the far corner."""
    gx, gy, gz = grid
    neighbours = [step for step, count in ((1, gx), (gx, gy), (gx * gy, gz)) if count > 1]
    return list(dict.fromkeys((0, *neighbours, gx * gy * gz - 1)))


def fitted(places: np.ndarray, moved: Mapping[int, np.ndarray], count: int) -> tuple[np.ndarray, bool, bool]:
    """Sectors by which the addresses of `count` instructions move with each axis; whether all probes agree in that, and
    whether it is whole sectors. places: of the probes; moved: position of an instruction -> bytes by which its
    addresses moved, at each probe. Those probes tell that lie on one axis or, where none does, on axes that are known
    by then; other axes count 0."""
    shift, straight, whole = np.zeros((count, AXES), np.int64), True, True
    telling = _telling(places)
    for position, steps in moved.items():
        along = np.zeros(AXES, np.int64)
        for probe, axis in telling:
            rest = int(steps[probe]) - int(places[probe] @ along)
            along[axis] = rest // int(places[probe, axis])
        straight &= bool((places @ along == steps).all())
        whole &= not (along % _SECTOR).any()
        shift[position] = along // _SECTOR
    return shift, straight, whole


def _telling(places: np.ndarray) -> list[tuple[int, int]]:
    """(probe, axis that it tells of), each axis once."""
    known: dict[int, int] = {}
    while True:
        unknown = [set(np.flatnonzero(place)) - set(known) for place in places]
        found = next(((probe, axes.pop()) for probe, axes in enumerate(unknown) if len(axes) == 1), None)
        if found is None:
            return [(probe, axis) for axis, probe in known.items()]
        known[int(found[1])] = found[0]


def axes_of(moves: Iterable[np.ndarray]) -> np.ndarray | None:
    """int64[workgroups, AXES]: places with which all of these go in straight lines, of which each is how far an
    address moved, workgroup by workgroup. None where AXES do not do."""
    axes: list[np.ndarray] = []
    distinct = {move.tobytes(): move for move in moves if move.any()}
    # What goes along one axis has fewer values than what goes along two.
    for move in sorted(distinct.values(), key=lambda move: len(np.unique(move))):
        if axes:
            basis = np.stack(axes, axis=1)
            along = np.rint(np.linalg.lstsq(basis.astype(float), move.astype(float), rcond=None)[0]).astype(np.int64)
            if (basis @ along == move).all():
                continue
        if len(axes) == AXES:
            return None
        axes.append(move // np.gcd.reduce(move))
    if not axes:
        return None
    none = np.zeros(len(axes[0]), np.int64)
    return np.stack([*axes, *[none] * (AXES - len(axes))], axis=1)
