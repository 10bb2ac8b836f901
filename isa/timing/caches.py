"""Where L0 misses are served: the address streams of all resident workgroups -> shares of L1, L2, L3 and VRAM.

The engine plays one CU or WGP with its own L0; the caches behind it are shared with CUs that it does not play. Here all
CUs of the chip run the memory accesses of the first round of workgroups in lockstep, one access of each wave in turn,
through L0 (a CU), L1 (a shader array), L2 and L3, all with LRU. Each instruction's loads that miss L0 are counted by
the level that had the line; the engine then draws from these shares.

Workgroup i of the grid starts on CU i mod CUs (WGP i mod WGPs in WGP mode, its waves on both CUs), CU c belongs to
shader array c mod arrays: the dispatcher deals workgroups out to the shader engines in turn (assumed).

Limits: only the first round, and of it the first `LIMIT` line accesses; waves in lockstep (real ones drift, which costs
hits where a cache is nearly too small); other rounds are taken to be like the first.
"""

from __future__ import annotations

from collections.abc import Mapping

import numba as nb
import numpy as np

from isa.timing import layout
from isa.timing.cards import Card
from isa.timing.layout import Code
from isa.timing.trace import Trace

LIMIT = 3_000_000


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _touch(tags, used, cache, line, now):
    """Look a line up in one of several equal caches and put it there. True where it was there."""
    sets = tags.shape[1]
    s = line % sets
    if s < 0:
        s += sets
    victim = 0
    for way in range(tags.shape[2]):
        if tags[cache, s, way] == line:
            used[cache, s, way] = now
            return True
        if used[cache, s, way] < used[cache, s, victim]:
            victim = way
    tags[cache, s, victim] = line
    used[cache, s, victim] = now
    return False


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _play(
    mem_at, sector_at, sectors, op, is_load, shift_x, shift_y, private, grid_x, total, waves, resident, cus_a_unit,
    units, arrays, limit, t0, u0, t1, u1, t2, u2, t3, u3, found,
):  # fmt: skip
    """Fills found[n, 5]: loads of each instruction served by L0, L1, L2, L3, VRAM."""
    now = 0
    index = 0
    going = True
    while going and now < limit:
        going = False
        for g in range(resident):
            unit = g % units
            x = g % grid_x
            y = g // grid_x
            for w in range(waves):
                m = mem_at[w] + index
                if m >= mem_at[w + 1]:
                    continue
                going = True
                cu = unit * cus_a_unit + w % cus_a_unit
                i = op[m]
                shift = x * shift_x[i] + y * shift_y[i]
                if private[i]:
                    shift = (g * waves + w + 1) << 24
                previous = -1
                for k in range(sector_at[m], sector_at[m + 1]):
                    line = (sectors[k] + shift) >> 2
                    if line == previous:
                        continue
                    previous = line
                    now += 1
                    if not is_load[i]:
                        _touch(t2, u2, 0, line, now)
                        continue
                    if _touch(t0, u0, cu, line, now):
                        found[i, 0] += 1
                    elif _touch(t1, u1, cu % arrays, line, now):
                        found[i, 1] += 1
                    elif _touch(t2, u2, 0, line, now):
                        found[i, 2] += 1
                    elif _touch(t3, u3, 0, line, now):
                        found[i, 3] += 1
                    else:
                        found[i, 4] += 1
        index += 1


def positions(trace: Trace, code: Code) -> np.ndarray:
    """The instruction of each global or scratch access of the recording, in its order."""
    first = code.block_first
    by_block = [
        np.array([i for i in range(first[b], first[b + 1]) if code.kind[i] in (layout.LOAD, layout.STORE)], np.int64)
        for b in range(len(first) - 1)
    ]
    parts = [by_block[b] for b in trace.recorded.blocks]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def served(
    trace: Trace, code: Code, card: Card, numbers: Mapping[str, float], *, cu_mode: bool, slots: int
) -> np.ndarray:
    """int64[n, 5]: how many line loads of each instruction L0, L1, L2, L3 and VRAM served, chip-wide."""
    line = numbers["line_bytes"]
    cus_a_unit = 1 if cu_mode else 2
    units = card.cus // cus_a_unit

    def cache(count: int, size: float, ways: float) -> tuple[np.ndarray, np.ndarray]:
        shape = (count, max(1, int(size / line / ways)), int(ways))
        return np.full(shape, -1, np.int64), np.zeros(shape, np.int64)

    found = np.zeros((len(code.kind), 5), np.int64)
    r = trace.recorded
    _play(
        r.mem_at, r.sector_at, r.sectors, positions(trace, code), code.kind == layout.LOAD, trace.shift_x,
        trace.shift_y, code.private, trace.grid[0], trace.workgroups, trace.waves,
        min(trace.workgroups, units * slots), cus_a_unit, units, card.shader_arrays, LIMIT,
        *cache(card.cus, numbers["l0_bytes"], numbers["l0_ways"]),
        *cache(card.shader_arrays, numbers["l1_bytes"], numbers["l1_ways"]),
        *cache(1, card.l2_bytes, numbers["l2_ways"]),
        *cache(1, card.l3_bytes, 16),
        found,
    )  # fmt: skip
    return found


def levels(found: np.ndarray) -> np.ndarray:
    """float64[n, 3]: of the L0 misses of each instruction, the shares in L1, in L1 or L2, in L1, L2 or L3."""
    missed = found[:, 1:]
    total = missed.sum(axis=1, keepdims=True)
    shares = np.cumsum(missed[:, :3], axis=1) / np.maximum(total, 1)
    shares[total[:, 0] == 0] = (0.0, 1.0, 1.0)
    return shares
