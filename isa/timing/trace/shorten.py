"""A trace with fewer iterations: loops cut to a share of their trips, for runs that need not play the whole.

Of each wave's path the outermost loops with at least `LEAST` trips keep the first of them and the last one; loops with
fewer are left whole and their inner loops looked at instead. Prologue, epilogue and everything between loops stay. So
the work that is left out is that of steady loops (`isa.timing.model.estimate`).

Limits: what differs from trip to trip (addresses, a prefetch that only some trips make) is taken from the trips that
stay. Waves of a workgroup that make different numbers of trips are cut each by the same share, so that a loop with a
barrier must be left by all its waves in the same trip, as the hardware asks too.
"""

from __future__ import annotations

import math

import numpy as np

from isa.analysis.cfg import Cfg
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Code, Recorded

LEAST = 8
"""Trips below which a loop is left whole."""


def shortened(cfg: Cfg, code: Code, recorded: Recorded, share: float, least: int = LEAST) -> Recorded:
    """`recorded` with about `share` of the trips of its loops, but at least `least` of each. code: as it is played."""
    stays = np.concatenate(
        [
            _kept(cfg, recorded.blocks[first:last], share, least)
            for first, last in zip(recorded.block_at[:-1], recorded.block_at[1:], strict=True)
        ]
    )
    lds, lds_at = _accesses(code, recorded, stays, (engine_abi.LDS_LOAD, engine_abi.LDS_STORE), recorded.lds_at)
    memory, mem_at = _accesses(code, recorded, stays, (engine_abi.LOAD, engine_abi.STORE), recorded.mem_at)
    counts = np.diff(recorded.sector_at)
    return Recorded(
        block_at=_sums(stays, recorded.block_at),
        blocks=recorded.blocks[stays],
        lds_at=lds_at,
        lds=recorded.lds[lds],
        mem_at=mem_at,
        sector_at=np.concatenate([[0], np.cumsum(counts[memory])]),
        sectors=recorded.sectors[np.repeat(memory, counts)],
    )


def _kept(cfg: Cfg, path: np.ndarray, share: float, least: int) -> np.ndarray:
    """bool[visits]: which of a wave's visits of blocks stay."""
    stays = np.ones(len(path), bool)
    open_ = np.ones(len(path), bool)  # not within a loop that was cut
    for loop in cfg.loops:  # outer before inner
        inside = np.isin(path, list(loop.blocks)) & open_
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.view(np.int8), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            trips = first + np.flatnonzero(path[first:last] == loop.header)
            wanted = max(least, math.ceil(share * len(trips)))
            if len(trips) < LEAST:
                continue
            open_[first:last] = False
            if wanted < len(trips):
                stays[trips[wanted - 1] : trips[-1]] = False
    return stays


def _accesses(
    code: Code, recorded: Recorded, stays: np.ndarray, kinds: tuple[int, int], at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(bool[accesses] those of the visits that stay, where each wave's begin)."""
    each = np.add.reduceat(np.isin(code.kind, kinds), code.block_first[:-1])
    kept = np.repeat(stays, each[recorded.blocks])
    return kept, _sums(kept, at)


def _sums(stays: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Where each wave's begin among those that stay."""
    return np.concatenate([[0], np.cumsum(stays)])[at].astype(np.int64)
