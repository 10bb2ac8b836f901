"""How long a kernel takes at the least, from its parameters, before anything is generated.

Of W workgroups on U CUs one CU gets n = ceil(W / U). Over a K of K' steps, whole K blocks, its SIMDs issue

    FMAs      ceil(n waves / 2) waves after each other, each K' thread_rows thread_columns / 2 dual FMAs, one a cycle
    LDS       as many waves, each K' (thread_rows + thread_columns) dwords a lane over the SIMD's return bus
    latency   ceil(n / resident) workgroups after each other, whose waves each wait in every K block for the first
              operands from LDS and then issue the K block's FMAs
    memory    A, B and C once over the memory bus

with the numbers of `isa.timing.rdna3`, so no prediction of the cycle model is below the largest of the four. What makes
the difference between kernels of one bound, drains and conflicts, only the model says.
"""

from __future__ import annotations

from dataclasses import dataclass

from hipgemm.tuning.shapes import Shape
from isa.analysis.resources import occupancy
from isa.errors import IsaError
from isa.gemm.parameters import Parameters
from isa.timing import rdna3
from isa.timing.cards import Card

SIMDS = 2


@dataclass(frozen=True)
class Bound:
    """seconds: at the least; by: which of the four. guess: what to try first among equal bounds, in seconds."""

    seconds: float
    by: str
    guess: float


def bound(p: Parameters, vgprs: int, shape: Shape, on: Card, clock_mhz: float) -> Bound | None:
    """None where not even one workgroup fits a CU."""
    try:
        resident = occupancy(vgprs, p.lds_bytes, p.threads, cu_mode=True).workgroups
    except IsaError:
        return None
    numbers = {name: n.value for name, n in rdna3.NUMBERS.items()}
    workgroups = -(-shape.m // p.rows) * -(-shape.n // p.columns)
    mine = -(-workgroups // on.cus)
    blocks = -(-shape.k // p.depth)
    steps = blocks * p.depth
    waves = -(-mine * p.waves // SIMDS)
    fmas = p.thread_rows * p.thread_columns / 2
    dwords = p.thread_rows + p.thread_columns
    bus = 4 * 32 / numbers["lds_return_bytes"]
    cycles = {
        "FMAs": waves * steps * fmas,
        "LDS": waves * steps * dwords * bus,
        "latency": -(-mine // resident) * blocks * (numbers["lds_latency"] + p.depth * fmas),
    }
    hertz = clock_mhz * 1e6
    seconds = {name: count / hertz for name, count in cycles.items()}
    elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n
    seconds["memory"] = 4 * elements / on.vram_bandwidth
    by = max(seconds, key=seconds.__getitem__)
    most = seconds[by]
    # Waves hide latency from each other, the better the more there are; and each part costs the others a little.
    return Bound(most, by, most + 0.1 * (sum(seconds.values()) - most))
