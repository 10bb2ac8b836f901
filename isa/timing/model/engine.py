"""The cycle engine: one unit of the chip (CU or WGP), cycle by cycle, in native code.

It plays what waves executed (`layout.Recorded`) against the machine (`layout.Machine`). In each cycle each SIMD walks
over its waves in the order of the arbitration policy; each wave may issue one instruction, and each kind of unit takes
one. Cycles in which no wave can issue are skipped. Everything after issue (VALU, request path, LDS, L0, return buses,
shares of L1, L2, L3 and VRAM) is a queue served in order, so that the completion of an access is known when it issues:

    VALU    in order; executes `issue_to_execute` after issue at the earliest, not before its operands are ready (which
            holds up whatever was issued after it), for `passes` plus the cycles its operand reads take
    LDS     request path of the CU -> 32 banks, phases and conflicts from the addresses -> return bus of the SIMD; where
            more than `lds_queue` cycles of work wait in front of LDS, the path stands, for memory too
    memory  request path -> address unit -> L0 (real addresses, LRU) -> L1, L2, L3 or VRAM by the shares of lines that
            `isa.timing.model.caches` found for this instruction, each with this CU's share of the bandwidth

Accounting: whenever the VALU stands still between two instructions, the gap belongs to what held up the wave that
ended it (its longest stall since its last VALU instruction). The causes of one SIMD sum to the whole time.

The files of `isa/timing/native`: `run.c` the clock and the walk over waves, `issue.c` what holds a wave back, `valu.c`,
`lds.c` and `memory.c` what an issued instruction does, `waves.c` workgroups, barriers and blocks, `engine.h`
and `state.c` the state.

Where one wave of a SIMD alone may issue VALU instructions for some cycles, they are played one after the other without
walking over the others (`run.c`, burst); the outcome is the same, and recorded runs do without.

Limits: scalar cache and instruction cache hits cost the same for all; the chip around the unit is bandwidth shares
and hit rates, not events; a wave with EXEC = 0 still issues.
"""

from __future__ import annotations

import numpy as np

from isa.timing import native
from isa.timing.native import engine_abi as L


def run(
    code: L.Code,
    rec: L.Recorded,
    work: L.Work,
    m: L.Machine,
    budget: int,
    events: np.ndarray,
    waits: np.ndarray | None = None,
) -> tuple[int, int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Play `work` on machine `m`.

    budget: stop after this many issued instructions.
    events: int64[e, 5], filled with (cycle, SIMD, wave slot, instruction, cycle of execution) of the first e issues.
    waits: int64[w, 6], filled with (SIMD, wave slot, cycle, cycles, instruction, cause) of the first w waits, in the
    order of their ends; kept only where there are events, and what they leave is 0.

    Returns (cycles, issued, workgroups finished, causes[SIMD, 13], hits[n], lines[5] served by L0, L1, L2 and beyond,
    L3 and beyond, VRAM, stalls[n, 13], cycles of all resident waves, number of events). Hits and stalls are kept
    only where there are events: how often each instruction was issued; cycles that waves could not issue, by the
    instruction that they stood at (a barrier's wait is the barrier's, a branch's cost the branch's) and the cause;
    "VALU busy" is a VALU taken by another wave, or full.
    """
    n, causes = len(code.kind), len(L.CAUSES)
    out = L.Played(
        totals=np.zeros(4, np.int64),
        causes=np.zeros((m.simds, causes), np.int64),
        hits=np.zeros(n, np.int64),
        lines=np.zeros(5, np.int64),
        stalls=np.zeros((n, causes), np.int64),
        events=events,
        waits=np.zeros((0, 6), np.int64) if waits is None else waits,
    )
    memory = np.zeros(native.call("engine_bytes", code, m), np.uint8)
    n_events = native.call("engine_run", code, rec, work, m, budget, out, memory)
    cycles, issued, finished, resident = (int(x) for x in out.totals)
    return cycles, issued, finished, out.causes, out.hits, out.lines, out.stalls, resident, n_events
