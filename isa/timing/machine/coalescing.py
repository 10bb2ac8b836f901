"""Addresses of memory accesses -> what they cost: LDS cycles, 32-byte sectors. Native code, many accesses at a time.

LDS: the lanes of an access are served in phases (`PHASES`). In a phase, lanes that want the same dword share it, lanes
that want different dwords of one of the 32 banks take turns; a phase with all lanes off costs nothing, the whole access
at least one cycle. In WGP mode the bank of a dword is the same: the 64 banks are two sets of 32 and a wave's access
goes to one of them at a time.
"""

from __future__ import annotations

import numpy as np

from isa.registers import LANES
from isa.timing import native
from isa.timing.native.engine_abi import SECTOR

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


def lds_cycles(addresses: np.ndarray, masks: np.ndarray, dwords: int, period: int = 0) -> np.ndarray:
    """int64[n] cycles of n accesses: byte addresses int64[n, 32], active lanes int64[n], `dwords` a lane. period: how
    many accesses before it one often has the same pattern, which is then not looked at again; 0: do not try."""
    group, lanes = PHASES[dwords]
    out = np.zeros(len(addresses), np.int64)
    native.call("collapse_lds", addresses, masks, len(out), dwords, group, np.array(lanes, np.int64), period, out)
    return out


def sectors(addresses: np.ndarray, masks: np.ndarray, nbytes: int, period: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(counts int64[n], sectors int64[sum of counts]): the distinct sectors of n accesses of `nbytes` a lane, each
    access's in ascending order. period: as for `lds_cycles`."""
    counts = np.zeros(len(addresses), np.int64)
    out = np.empty(len(addresses) * LANES * (2 + (nbytes - 1) // SECTOR), np.int64)
    total = native.call("collapse_sectors", addresses, masks, len(counts), nbytes, period, counts, out)
    return counts, out[:total].copy()


def scratch_sectors(
    addresses: np.ndarray, masks: np.ndarray, dwords: int, halves: int = 1, half: np.ndarray | int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """As `sectors`, for scratch: int64[n, 32] are offsets in each lane's own frame, `dwords` a lane. half: whose lanes
    these are, of the halves of a wave; of each access, or of all.

    The same dword of all lanes of a wave lies together (LLVM AMDGPUUsage, "Address Spaces": private memory is
    interleaved by dword), so that a dword of 32 lanes is a line of 128 bytes and a wide access as many lines. Sectors
    ascend within each dword."""
    first = (addresses >> 2)[:, None, :] + np.arange(dwords)[None, :, None]
    swizzled = ((first * halves + np.reshape(half, (-1, 1, 1))) * 32 + np.arange(32)) * 4
    counts, flat = sectors(swizzled.reshape(-1, 32), np.repeat(masks, dwords), 4)
    return counts.reshape(-1, dwords).sum(axis=1), flat
