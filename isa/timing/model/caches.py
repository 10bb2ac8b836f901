"""Cache shares: the address streams of all resident workgroups -> shares of L1, L2, L3 and VRAM.

The engine plays one CU or WGP with its own L0; the caches after it are shared with CUs that it does not play. Here all
CUs of the chip run the memory accesses of a round of workgroups in lockstep, one access of each wave in turn, through
L0 (a CU), L1 (a shader array), L2 and L3, all with LRU. Each instruction's loads that miss L0 are counted by the level
that had the line, those of lines that this L0 was brought before in the round apart from others, and the engine draws
from these shares. Which lines are new to a CU does not depend on how waves drift, only which are wanted once more: so
as many come from far as here, whether the L0 that the engine plays keeps more of them or less. L2 and L3 are written
back: a store's sector costs the next level only where that cache does not hold it written already, so that
what many instructions write of a line goes out once, and of a line that is written in part only its sectors do.

Two rounds are played: the first from cold caches (or, of a launch that was made before, with what its last round left
in L3), the second, which may be less than whole, with what the first left in L3; it stands for all later ones.
Workgroup i of the grid starts on unit i mod units (CUs, or WGPs in WGP mode with waves on both CUs), unit u belongs to
shader array u mod arrays: the dispatcher deals workgroups out to the shader engines in turn (assumed).

Crowding: of CROWD_LINES lines in turn that come to L2, those on the commonest of the 16 places in 2 KB, over a
sixteenth of all: 1 where they are spread evenly, 16 where all lie a multiple of 2 KB apart. Rows at such a pitch
"collide on the L2/MALL hashes" of a gfx11 (AMD's engineers, vLLM's pull requests 55090 and 56301); the hash is not
public. The number `l2_crowding` says which part of what crowding would cost without any hash L2 and L3 pay.

The same is counted of the lines that come to L3, by the channels of memory, each of which has 4 MB of L3. Where a line
lies is public for Navi 31 and 32: Linux takes the address of a faulty cell back to the physical one (amdgpu's
umc_v8_10.c, "swizzle mode"). Of an address 256 bytes are a place, bits B and B + 1 lie within a channel's 1 KB, and
what is left, counted in places, goes over the channels in turn: modulo their number, without a hash. B is 12 for 10 to
16 channels and 13 for 20 and 24 (`Card.channel_bit`). So rows a multiple of 4 KB apart lie in one channel of sixteen,
and in three of 24 where the pitch is 16 KB. The number `channel_crowding` says which part of that L3 and memory pay, as
waves in lockstep crowd more than real ones. Physical addresses are taken to go on as virtual ones do, as they do in
pages of 64 KB and more.

The set of a line is a hash of its number in all caches: by the plain low bits all rows of a matrix whose stride is a
power of two would fall into one set (assumed; the hash is not published). With the number `l0_hashed` 0 it is those low
bits in L0, here and in the engine: of the same level of an MI300 plain bits 7 and 8 of an address are published (Wave's
documentation, "L1 Cache Swizzling on MI300").

Limits: of each round the first `LIMIT` line accesses; waves in lockstep (real ones drift, which costs hits where a
cache is nearly too small); what a longer round loads once more and later counts as new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from isa.timing import native
from isa.timing.machine.cards import Card
from isa.timing.native import engine_abi
from isa.timing.native.engine_abi import Cache, Code, Recorded, Round
from isa.timing.trace.trace import Trace

LIMIT = 3_000_000
_SAMPLE = 8
"""Of a large round one line in so many is counted."""
_BROUGHT = 2**19
"""Lines for which there is room, LIMIT / _SAMPLE and some more."""
_PLACES = 16
"""Lines of 2 KB: those of a multiple of that pitch have one place."""


class Served(NamedTuple):
    """found[2, n, 5]: how many line loads of each instruction L0, L1, L2, L3 and VRAM serve in a round of the chip,
    first of lines that an L0 is brought for the first time, then of others; of a store, sectors by the level that they
    reach, all with the first. remembered: how many lines an L0 may have been brought before the engine forgets them:
    as many as are new in what was played, or where that was all BROUGHT. crowding, channel_crowding: 1 to 16, and to
    the number of channels, see the module's docstring."""

    found: np.ndarray
    remembered: int
    crowding: float
    channel_crowding: float


def positions(recorded: Recorded, code: Code) -> np.ndarray:
    """The instruction of each global or scratch access of the recording, in its order."""
    first = code.block_first
    by_block = [
        np.array(
            [i for i in range(first[b], first[b + 1]) if code.kind[i] in (engine_abi.LOAD, engine_abi.STORE)], np.int64
        )
        for b in range(len(first) - 1)
    ]
    parts = [by_block[b] for b in recorded.blocks]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def served(
    trace: Trace, code: Code, card: Card, numbers: Mapping[str, float], *, cu_mode: bool, slots: int,
    scratch: int = 0, warm: bool = False,
) -> Served:  # fmt: skip
    """scratch: sectors of a wave's; warm: the launch has been made before, and L3 holds what it left."""
    line = numbers["line_bytes"]
    cus_a_unit = 1 if cu_mode else 2
    units = card.cus // cus_a_unit

    def cache(count: int, size: float, ways: float, keeps: bool = False, hashed: float = 1) -> Cache:
        sets = max(1 if size else 0, int(size / line / ways))
        shape = (count, sets, int(ways))
        dirty = np.zeros(shape if keeps else 0, np.int64)
        return Cache(sets, int(ways), int(hashed), np.full(shape, -1, np.int64), np.zeros(shape, np.int64), dirty)

    beginnings = trace.apart.beginnings if trace.apart else None
    r = beginnings or trace.recorded
    op = positions(r, code)
    resident = min(trace.workgroups, units * slots)
    rounds = -(-trace.workgroups // resident)
    accesses = len(r.sectors) / (len(r.mem_at) - 1) * trace.waves * resident
    one_of = 1 if accesses < LIMIT / _SAMPLE else _SAMPLE
    l3 = cache(1, card.l3_bytes, 16, keeps=True)
    crowded = np.zeros(4, np.int64)

    def play(first: int) -> tuple[np.ndarray, float]:
        """One round from workgroup `first`, all caches but L3 empty; (loads by level, part of a wave that it saw)."""
        found = np.zeros((2, len(code.kind), 5), np.int64)
        those = np.arange(first, min(first + resident, trace.workgroups))
        if beginnings is None:
            record = trace.following(those)
            moved = trace.distances(those, record)
            distances = moved.distances
        else:
            record, moved = those, trace.moved(those)
            distances = np.zeros_like(moved.distances)
        this = Round(
            first, resident, trace.workgroups, trace.waves, units, cus_a_unit, card.shader_arrays, LIMIT, one_of,
            card.channels if card.channel_bit else 0, card.channel_bit,
            record, distances.shape[1], distances, moved.column, scratch,
        )  # fmt: skip
        seen = native.call(
            "caches_play", code, r, op, this,
            cache(card.cus, numbers["l0_bytes"], numbers["l0_ways"], hashed=numbers["l0_hashed"]),
            cache(card.shader_arrays, numbers["l1_bytes"], numbers["l1_ways"]),
            cache(1, card.l2_bytes, numbers["l2_ways"], keeps=True),
            l3,
            np.zeros(_BROUGHT // 2, np.int64), _BROUGHT // 2, found, crowded,
        )  # fmt: skip
        return found, min(1.0, seen / max(1, int(np.diff(r.mem_at).max())))

    def leaves(found: np.ndarray, part: float) -> None:
        """What a round left in L3 is there for the next one, if the whole of it, not only what was played, fits."""
        lines = found[:, :, 4] / np.where(code.kind == engine_abi.STORE, line // engine_abi.SECTOR, 1)
        if lines.sum() / part * line > card.l3_bytes:
            l3.tags[:] = -1
            l3.dirty[:] = 0
        l3.used[:] -= l3.used.max(initial=0)  # older than all that follows

    if warm and beginnings is None:
        leaves(*play(trace.workgroups - resident))
    first, part = play(0)
    found = first.astype(float)
    if rounds > 1 and beginnings is None:
        leaves(first, part)
        later, _ = play(resident)
        found = (first + (rounds - 1) * later) / rounds
    places, channels = (
        float(of * most / all_) if all_ else 1.0
        for of, most, all_ in ((_PLACES, *crowded[:2].tolist()), (card.channels, *crowded[2:].tolist()))
    )
    new = found[0, code.kind == engine_abi.LOAD].sum() / min(units, resident)
    return Served(found, int(new) if part < 1 else engine_abi.BROUGHT, places, channels)


def channel_of(line: int, card: Card) -> int:
    """The channel of memory of a cache line."""
    return native.call("caches_channel", line, card.channels, card.channel_bit)


def set_of(line: int, sets: int, hashed: bool = True) -> int:
    """The set of a cache line."""
    return native.call("caches_set", line, sets, int(hashed))


def arrays(recorded: Recorded, code: Code, kind: int = engine_abi.LOAD) -> np.ndarray:
    """int[n]: for each instruction the first one that loads from (or stores to) the same array: whose lines lie between
    its own, or between those of another such one. An atomic, or what loads nothing, is alone."""
    n = len(code.kind)
    op, counts = positions(recorded, code), np.diff(recorded.sector_at)
    op, starts = op[counts > 0], recorded.sector_at[:-1][counts > 0]
    first, last = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, np.int64)
    if len(op):
        np.minimum.at(first, op, recorded.sectors[starts])
        np.maximum.at(last, op, recorded.sectors[starts + counts[counts > 0] - 1])
    group, end, leader = np.arange(n), -1, 0
    for i in np.argsort(first, kind="stable"):
        if last[i] < 0 or code.kind[i] != kind or code.value[i] == engine_abi.ATOMIC:
            continue
        if first[i] >> 2 > end >> 2:
            leader, end = i, -1
        group[i], end = leader, max(end, last[i])
    return group


def levels(found: np.ndarray, group: np.ndarray) -> np.ndarray:
    """float64[n, 2, 3]: of the L0 misses of each instruction, as `Served.found` tells them apart, the shares in L1, in
    L1 or L2, in L1, L2 or L3. group: instructions that load from one array, which count together: which of them brings
    a line is chance. What was not played is in L2; a line that was never missed again, then in L1."""
    together = np.zeros_like(found)
    for each, of in zip(together, found, strict=True):
        np.add.at(each, group, of)
    missed = together[:, group, 1:]
    total = missed.sum(axis=2, keepdims=True)
    shares = np.cumsum(missed[..., :3], axis=2) / np.maximum(total, 1)
    shares[total[..., 0] == 0] = (0.0, 1.0, 1.0)
    shares[1, (total[0, :, 0] > 0) & (total[1, :, 0] == 0)] = 1.0
    return np.ascontiguousarray(shares.swapaxes(0, 1))
