"""Addresses of memory accesses -> what they cost: LDS cycles, 32-byte sectors. Native code, many accesses at a time.

LDS: the lanes of an access are served in phases (`PHASES`). In a phase, lanes that want the same dword share it, lanes
that want different dwords of one of the 32 banks take turns; a phase with all lanes off costs nothing, the whole access
at least one cycle. In WGP mode the bank of a dword is the same: the 64 banks are two sets of 32 and a wave's access
goes to one of them at a time.
"""

from __future__ import annotations

import numba as nb
import numpy as np

SECTOR = 32
BANKS = 32
_B128 = [*range(0, 4), *range(20, 24), *range(4, 8), *range(16, 20), *range(8, 12), *range(28, 32), *range(12, 16),
         *range(24, 28)]  # fmt: skip
PHASES: dict[int, tuple[int, tuple[int, ...]]] = {
    1: (32, tuple(range(32))),
    2: (16, tuple(range(32))),
    3: (8, tuple(_B128)),
    4: (8, tuple(_B128)),
}
"""Dwords a lane -> (lanes a phase, the lanes in the order of phases). Source: bank experiments on a gfx1100 card; b96
is taken as b128."""


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _lds(addresses, masks, dwords, group, lanes, out):
    words = np.zeros(128, np.int64)
    load = np.zeros(BANKS, np.int64)
    for n in range(addresses.shape[0]):
        total = 0
        for begin in range(0, 32, group):
            count = 0
            for k in range(begin, begin + group):
                lane = lanes[k]
                if not (masks[n] >> lane) & 1:
                    continue
                for d in range(dwords):
                    word = addresses[n, lane] // 4 + d
                    known = False
                    for j in range(count):
                        if words[j] == word:
                            known = True
                            break
                    if not known:
                        words[count] = word
                        count += 1
            most = 0
            for j in range(BANKS):
                load[j] = 0
            for j in range(count):
                bank = words[j] % BANKS
                load[bank] += 1
                if load[bank] > most:
                    most = load[bank]
            total += most
        out[n] = total if total > 1 else 1


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _sectors(addresses, masks, nbytes, counts, out):
    total = 0
    for n in range(addresses.shape[0]):
        first = total
        for lane in range(32):
            if not (masks[n] >> lane) & 1:
                continue
            low = addresses[n, lane] // SECTOR
            high = (addresses[n, lane] + nbytes - 1) // SECTOR
            for sector in range(low, high + 1):
                at = total  # insert in order, once
                while at > first and out[at - 1] > sector:
                    at -= 1
                if at > first and out[at - 1] == sector:
                    continue
                for j in range(total, at, -1):
                    out[j] = out[j - 1]
                out[at] = sector
                total += 1
        counts[n] = total - first
    return total


def lds_cycles(addresses: np.ndarray, masks: np.ndarray, dwords: int) -> np.ndarray:
    """int32[n] cycles of n accesses: byte addresses int64[n, 32], active lanes int64[n], `dwords` a lane."""
    group, lanes = PHASES[dwords]
    out = np.zeros(len(addresses), np.int32)
    _lds(addresses, masks, dwords, group, np.array(lanes, np.int64), out)
    return out


def sectors(addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(counts int64[n], sectors int64[sum of counts]): the distinct sectors of n accesses of `nbytes` a lane, each
    access's in ascending order."""
    counts = np.zeros(len(addresses), np.int64)
    out = np.zeros(len(addresses) * 32 * (2 + (nbytes - 1) // SECTOR), np.int64)
    return counts, out[: _sectors(addresses, masks, nbytes, counts, out)].copy()
