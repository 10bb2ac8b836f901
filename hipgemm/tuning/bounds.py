"""Lower bounds: a kernel's parameters and a shape -> the least time that it can take, before anything is generated.

Of W workgroups on U CUs one CU gets n = ceil(W / U); where workgroups stay and tiles are cut to pieces, W / U. Over a K
of K' steps, whole K blocks, its SIMDs issue

    FMAs      ceil(n waves / 2) waves after each other, each K' thread_rows thread_columns / 2 dual FMAs, one a cycle
    LDS       as many waves, each K' (thread_rows + thread_columns) dwords a lane over the SIMD's return bus
    latency   ceil(n / resident) workgroups after each other, whose waves each wait in every K block for the first
              operands from LDS and then issue the K block's FMAs
    memory    A and B once over the memory bus; what is stored may stay in the last cache

with the numbers of the card's machine (`isa.timing.machine.families`), so no prediction of the cycle model is below the
largest of the four. What makes the difference between kernels of one bound, drains and conflicts, only the model says;
`guess` is what to try first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hipgemm.kernels.ladder import rung
from hipgemm.tuning.shapes import Shape
from isa.analysis.resources import occupancy
from isa.errors import IsaError
from isa.gemm.vector.parameters import Parameters
from isa.targets import target
from isa.timing.machine import families
from isa.timing.machine.cards import Card

SIMDS = 2
_SHORTEST = 8
"""K blocks of a piece, at least (`isa.gemm.vector.work`)."""
_SKEW = 0.002
"""Of two kernels that are the same otherwise, the one with the squarer wave tile comes first."""


@dataclass(frozen=True)
class Bound:
    """seconds: at the least; by: which of the four. guess: about how long, in seconds, only good for an order."""

    seconds: float
    by: str
    guess: float


@dataclass(frozen=True)
class Candidate:
    """A kernel by name."""

    kernel: str
    bound: Bound


def candidates(names: Sequence[str], bound_of: Callable[[Any], Bound | None]) -> list[Candidate]:
    """Kernels by their names, without those that have no bound. bound_of: of parameters, of whichever kind."""
    found = ((name, bound_of(rung(name).parameters)) for name in dict.fromkeys(names))
    return [Candidate(name, b) for name, b in found if b is not None]


def bound(p: Parameters, vgprs: int, shape: Shape, on: Card, clock_mhz: float) -> Bound | None:
    """None where not even one workgroup fits a CU."""
    fits = resident(vgprs, p.lds_bytes, p.threads, on.arch)
    if not fits:
        return None
    numbers = numbers_of(on.arch)
    workgroups = -(-shape.m // p.rows) * -(-shape.n // p.columns)
    mine = workgroups / on.cus if p.stream_k else -(-workgroups // on.cus)
    blocks = -(-shape.k // p.depth)
    steps = blocks * p.depth
    waves = mine * p.waves / SIMDS if p.stream_k else -(-mine * p.waves // SIMDS)
    turns = mine / fits if p.stream_k else -(-mine // fits)
    fmas = p.thread_rows * p.thread_columns / 2
    bus = 4 * 32 / numbers["lds_return_bytes"]
    latency = numbers["lds_latency"] + p.depth * fmas
    hertz = clock_mhz * 1e6
    seconds = {
        "FMAs": waves * steps * fmas / hertz,
        "LDS": waves * steps * (p.thread_rows + p.thread_columns) * bus / hertz,
        "latency": turns * blocks * latency / hertz,
        "memory": 4 * (shape.m * shape.k + shape.k * shape.n) / on.vram_bandwidth,
    }
    by = max(seconds, key=seconds.__getitem__)
    # What a wave waits for in a K block beside that: drains before each group of loads, LDS again, barriers.
    waits = p.depth / p.group * (numbers["valu_to_lds"] + numbers["lds_latency"]) + 2 * numbers["barrier"] / p.stages
    at_once = max(1.0, min(fits, mine) * p.waves / SIMDS)
    waiting = waves * blocks * waits / at_once / hertz
    traffic = 4 * workgroups * steps * (p.rows + p.columns) / on.l2_bandwidth
    parts = [*seconds.values(), traffic]
    guess = max(parts) + waiting + 0.1 * (sum(parts) - max(parts))
    if p.stream_k:
        # Sums of pieces go to memory, and the last workgroup of a tile adds them up.
        pieces = min(fits * on.cus / workgroups, blocks / _SHORTEST)
        adding = max(1.0, pieces) * 4 * p.rows * p.columns / numbers["l0_fill_bytes"] / hertz
        guess += adding + 1e-9 * (numbers["store_ack_ns"] + 2 * numbers["l2_latency_ns"])
    skew = abs(math.log2(p.wave_tile[0] / p.wave_tile[1]))
    return Bound(seconds[by], by, guess * (1 + _SKEW * skew))


numbers_of = functools.cache(families.values)


@functools.cache
def resident(vgprs: int, lds: int, threads: int, arch: str) -> int:
    """Workgroups that a CU holds at a time."""
    try:
        return occupancy(vgprs, lds, threads, cu_mode=True, target=target(arch)).workgroups
    except IsaError:
        return 0
