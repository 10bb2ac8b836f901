"""The limit of a launch: what each unit of the card is asked for, over what it can do -> what holds the launch.

A unit's share is the cycles that the launch keeps it busy, of those that it takes: of what a CU has (vector ALU and its
register banks, transcendental unit, scalar unit, LDS and its buses, request path, address unit, L0) on the busiest one,
of what CUs share (L1, L2, L3, memory) on the card. The unit with the highest share holds the launch where that is
NEAR_PEAK at least, and `of` says what most of its work is: the kind of arithmetic (`operations.kind_of`), bank
conflicts, spills, lines that crowd, access that is not coalesced. Where no unit comes near its peak, it is, the first
that applies,

    launch            all is over before a launch of its own would be (LAUNCH_US)
    few workgroups    there are fewer than the card has units
    tail              in the last round most units have nothing to do
    few waves         most cycles are lost to a latency, or on SIMDs that get no wave, and less than a quarter of the
                      wave slots have one
    and else          what most cycles are lost to: latency of memory or LDS, dependent instructions, barriers, ...

Limits: bytes that lanes ask for are counted for all lanes of a wave, however few are on, and as useful as often as they
are read, up to what is moved of their array.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipgemm.judge.operations import kind_of
from isa.semantics.instruction import bit_width, width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from isa.semantics.instruction import Instruction
    from isa.timing.model.ensemble import Timing
    from isa.timing.model.run import Prepared
    from isa.timing.native.engine_abi import Code, Recorded

SIMDS = 2  # of a CU
NEAR_PEAK = 0.7
"""Of its peak: a unit that does more holds the launch."""
LAUNCH_US = 2.0
"""What a launch takes at least, whoever makes it: of the launches that were published none took less."""
FEW_WAVES = 4
"""A SIMD: a quarter of its slots."""
_DEPTH = {"address unit": 0, "L0": 0, "L0's fill": 1, "L1": 1, "L2": 2, "L3": 3, "memory": 4}
"""Levels in front of it."""
MOST = 0.5
"""Of a unit's work: what it is mostly."""
COALESCED = 1.5
"""Lines that an access touches, over those that it needs: more are not coalesced. So with the time of crowded lines."""
_EMPTY = "empty SIMDs"
_LATENCIES = {
    "GMEM wait": "latency of memory", "LDS wait": "latency of LDS", "VALU dependency": "dependent instructions",
    "drain": "dependent instructions", "scalar": "latency of scalar instructions", _EMPTY: _EMPTY,
}  # fmt: skip
_OTHERS = {
    "launch and tail": "launch", "bank stalls": "register banks", "LDS bandwidth": "bursts of LDS accesses",
    "barrier": "barriers", "branch": "branches", "issue and request path": "issue of instructions",
}  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """What holds a launch. name: in a few words; unit: the busiest, share: of what it can do; of: what most of its work
    is, "" where no kind is. cause: None where that unit is near its peak, else the cause of most lost cycles, with
    `lost`, its share of all cycles. waves: a SIMD, as far as the launch has them. workgroups: of the launch. idle:
    units of the card that have no workgroup, of `units`."""

    name: str
    unit: str
    share: float
    of: str
    cause: str | None
    lost: float
    waves: float
    workgroups: int
    idle: int
    units: int


@dataclass(frozen=True)
class Counts:
    """What the mean workgroup does, by instruction: issues, of all its waves; lds: accesses and their cycles; memory:
    accesses, lines of 128 bytes and sectors of 32 that they touch."""

    issues: np.ndarray
    lds: np.ndarray
    lds_cycles: np.ndarray
    accesses: np.ndarray
    lines: np.ndarray
    sectors: np.ndarray


def counts(ready: Prepared) -> Counts:
    """Of a launch that was made ready."""
    import numpy as np

    from isa.timing.model import caches

    recorded, code, size = ready.trace.recorded, ready.code, len(ready.code.kind)
    visits = np.bincount(recorded.blocks, _weights(ready, recorded.block_at), minlength=len(ready.cfg.blocks))
    op = caches.positions(recorded, code)
    weights = _weights(ready, recorded.mem_at)
    each = np.diff(recorded.sector_at)
    new = np.diff(recorded.sectors >> 2, prepend=-1) != 0  # lines, as the engine counts them
    new[recorded.sector_at[:-1][each > 0]] = True
    lines = np.diff(np.concatenate([[0], np.cumsum(new)])[recorded.sector_at])
    at, lds = lds_positions(recorded, code), _weights(ready, recorded.lds_at)

    def summed(places: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount(places, values, minlength=size)

    return Counts(
        np.repeat(visits, np.diff(code.block_first)), summed(at, lds), summed(at, recorded.lds * lds),
        summed(op, weights), summed(op, lines * weights), summed(op, each * weights),
    )  # fmt: skip


def lds_positions(recorded: Recorded, code: Code) -> np.ndarray:
    """The instruction of each LDS access of the recording, in its order."""
    import numpy as np

    from isa.timing.native import engine_abi

    kinds = engine_abi.LDS_LOAD, engine_abi.LDS_STORE
    blocks = itertools.pairwise(code.block_first)
    by_block = [np.flatnonzero(np.isin(code.kind[a:b], kinds)) + a for a, b in blocks]
    return np.concatenate([np.zeros(0, np.int64), *(by_block[b] for b in recorded.blocks)])


def _weights(ready: Prepared, begins: np.ndarray) -> np.ndarray:
    """Of each entry that was recorded, how many of the mean workgroup's it stands for. begins: where each wave's do."""
    import numpy as np

    trace = ready.trace
    each = np.bincount(trace.following(np.arange(trace.workgroups)), minlength=(len(begins) - 1) // trace.waves)
    return np.repeat(np.repeat(each / trace.workgroups, trace.waves), np.diff(begins))


def dwords(inst: Instruction) -> int:
    """Of a lane's access to memory or LDS at one address."""
    return width(inst.desc.access.element) if inst.desc.access else 0


def free_cycles(inst: Instruction, lanes: int) -> int:
    """Cycles of an LDS access of all lanes without conflicts; 0 where it is none."""
    from isa.timing.machine.coalescing import PHASES

    access = inst.desc.access
    if access is None or access.space != "lds":
        return 0
    return lanes // PHASES[dwords(inst)][0] * (2 if access.pair else 1)


def limit(ready: Prepared, timing: Timing, n: Counts, found: Sequence[float]) -> Limit:
    """What holds the launch of `timing`. found: bytes of loads by level."""
    shares = _shares(ready, timing, n, found)
    unit = max(shares, key=lambda name: shares[name])
    causes, waves = causes_of(ready, timing), _waves(ready, timing)
    lost = {name: share for name, share in causes.items() if name != "VALU busy"}
    cause = max(lost, key=lambda name: lost[name])
    near = shares[unit] >= NEAR_PEAK
    full = timing.launch_over_unit / timing.units
    far = unit in ("L1", "L2", "L3", "memory")
    if near and (far or full >= NEAR_PEAK):
        name = unit
    elif timing.time_s < LAUNCH_US / 1e6:
        name = "launch"
    elif full < NEAR_PEAK:
        name = "few workgroups" if timing.workgroups < timing.units else "tail"
    elif cause in _LATENCIES:
        name = "few waves" if waves < FEW_WAVES else _LATENCIES[cause]
    else:
        name = _OTHERS.get(cause, cause)
    held = None if name == unit else cause
    idle = max(0, timing.units - timing.workgroups)
    of = _of(ready, n, unit, causes)
    return Limit(name, unit, shares[unit], of, held, lost[cause], waves, timing.workgroups, idle, timing.units)


def _waves(ready: Prepared, timing: Timing) -> float:
    """A SIMD, as far as the launch has them."""
    simds = SIMDS if ready.resources.cu_mode else 2 * SIMDS
    return min(timing.occupancy.waves, timing.unit_workgroups * ready.trace.waves / simds)


def causes_of(ready: Prepared, timing: Timing) -> dict[str, float]:
    """Share of the cycles of SIMDs by cause; where there are fewer waves than SIMDs, those that get none are empty."""
    empty = _waves(ready, timing) < 1
    return {_EMPTY if empty and name == "launch and tail" else name: part for name, part in timing.causes.items()}


def _shares(ready: Prepared, timing: Timing, n: Counts, found: Sequence[float]) -> dict[str, float]:
    """Unit -> share of what it can do: see the module's docstring."""
    import numpy as np

    from isa.timing.native import engine_abi

    on, code, numbers, causes = timing.card, ready.code, ready.numbers, timing.causes
    cycles = timing.time_s * timing.clock_mhz * 1e6
    a_cu = timing.unit_workgroups / (1 if ready.resources.cu_mode else 2) / cycles
    if timing.iterations:
        a_cu = timing.workgroups / timing.launch_over_unit / (1 if ready.resources.cu_mode else 2) / cycles
    trans = np.array([inst.desc.is_trans for inst in ready.cfg.instructions], bool)
    loads, accesses = code.kind == engine_abi.LOAD, n.accesses > 0
    ta = 32 * ready.trace.wave.halves / numbers["ta_lanes"]
    per_line = np.divide(n.lines, n.accesses, out=np.zeros(n.lines.shape), where=accesses)
    stores = n.sectors * (code.kind == engine_abi.STORE) * (engine_abi.SECTOR * timing.workgroups)
    past_l2, past_l3 = (float((stores * (1 - ready.level[:, 0, k])).sum()) for k in (1, 2))
    lds = 1.0 if ready.resources.cu_mode else 2 / numbers["lds_wgp_share"]
    exchanged = n.issues * code.dwords * (code.kind == engine_abi.LDS_EXCHANGE)
    returned = _sum(n.lds * code.dwords, code.kind == engine_abi.LDS_LOAD) + float(exchanged.sum())
    put = _sum(n.lds * code.dwords, code.kind == engine_abi.LDS_STORE)
    longer = _crowded(ready)
    shares = {
        "VALU": causes["VALU busy"],
        "transcendental unit": _sum(n.issues, trans) * numbers["trans_unit_cycles"] * ready.trace.wave.halves
        * a_cu / SIMDS,
        "scalar unit": _sum(n.issues, code.kind == engine_abi.SALU) * a_cu / SIMDS,
        "LDS": float((n.lds_cycles + exchanged).sum()) * lds * a_cu,
        "return bus of LDS": returned * 128 / numbers["lds_return_bytes"] * a_cu / SIMDS,
        "store bus of LDS": put * numbers["lds_store_cycles"] * a_cu / SIMDS,
        "request path": float((n.issues * code.path).sum()) * a_cu,
        "address unit": float((n.accesses * np.maximum(per_line / numbers["l0_tags"], ta * accesses)).sum()) * a_cu,
        "L0": _sum(n.accesses * code.dwords, loads) * a_cu,
        "L0's fill": (found[1] + found[2]) / (numbers["l0_fill_bytes"] * on.cus * cycles),
        "L1": found[1] / (numbers["l1_bytes_per_cycle"] * on.shader_arrays * cycles),
        "L2": (found[2] * longer["L2"] + float(stores.sum())) / (on.l2_bandwidth * timing.time_s),
        "L3": (found[3] * longer["L3"] + past_l2) / (on.l3_bandwidth * timing.time_s) if on.l3_bandwidth else 0.0,
        "memory": (found[4] * longer["memory"] + past_l3) / (on.vram_bandwidth * timing.time_s),
    }  # fmt: skip
    if causes["bank stalls"] > causes["VALU busy"] / 4:
        shares["register banks"] = causes["VALU busy"] + causes["bank stalls"]
    return shares


def _crowded(ready: Prepared) -> dict[str, float]:
    """How many times as long what crowding slows takes for loaded lines as for others."""
    from isa.timing.model.run import crowded

    slices, channels = crowded(ready.numbers, ready.crowding, ready.channel_crowding)
    return {"L2": slices, "L3": slices * channels, "memory": channels}


def _sum(values: np.ndarray, which: np.ndarray) -> float:
    return float(values[which].sum())


def _of(ready: Prepared, n: Counts, unit: str, causes: Mapping[str, float]) -> str:
    """What most of a unit's work is, with its share; "" where no kind is most of it."""
    if unit in ("VALU", "register banks"):
        if unit == "register banks":
            return f"{_percent(causes['bank stalls'] / (causes['bank stalls'] + causes['VALU busy']))} waits for banks"
        kinds = work(ready, n)
        total = sum(kinds.values()) or 1.0
        kind = max(kinds, key=lambda name: kinds[name], default="")
        return f"{_percent(kinds[kind] / total)} of it {kind}" if kind else ""
    if unit == "LDS":
        taken = float(conflict_cycles(ready, n).sum()) / max(1.0, float(n.lds_cycles.sum()))
        return f"{_percent(taken)} of its cycles for bank conflicts" if taken > MOST else ""
    if unit not in _DEPTH:
        return ""
    asked, moved = _through(ready, n, _DEPTH[unit])
    private = _sum(moved, ready.code.private == 1) / max(1.0, float(moved.sum()))
    if private > MOST:
        return f"{_percent(private)} of its bytes are of scratch: spills, or arrays that a variable indexes"
    if (longer := _crowded(ready).get(unit, 1.0)) > COALESCED:
        return f"{_percent(1 - 1 / longer)} of a load's time, since rows meet in few of its slices or channels"
    useful = _useful(ready, asked, moved)
    return f"lanes ask for {_percent(useful)} of the bytes that are moved: not coalesced" if useful < MOST else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def work(ready: Prepared, n: Counts) -> dict[str, float]:
    """Kind of arithmetic -> cycles of a SIMD that the mean workgroup's vector instructions take."""
    from isa.timing.native import engine_abi

    found: dict[str, float] = {}
    for i, inst in enumerate(ready.cfg.instructions):
        if ready.code.kind[i] == engine_abi.VALU and n.issues[i]:
            kind = kind_of(inst)
            found[kind] = found.get(kind, 0.0) + float(n.issues[i] * ready.code.passes[i])
    return found


def conflict_cycles(ready: Prepared, n: Counts) -> np.ndarray:
    """Cycles of the LDS by instruction that bank conflicts take in the mean workgroup."""
    import numpy as np

    free = np.array([free_cycles(inst, ready.trace.wave.lanes) for inst in ready.cfg.instructions])
    found: np.ndarray = np.maximum(n.lds_cycles - free * n.lds, 0)
    return found


def scattered_lines(ready: Prepared, n: Counts) -> np.ndarray:
    """Lines that each instruction touches in memory beyond those it needs, of those that are not coalesced."""
    import numpy as np

    from isa.timing.native import engine_abi

    code, wanted = ready.code, n.accesses * ready.code.dwords
    usual = (code.private == 0) & (code.value != engine_abi.ATOMIC) & (n.lines > COALESCED * wanted)
    return np.where(usual, n.lines - wanted, 0)


def _through(ready: Prepared, n: Counts, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each instruction's accesses to memory the bytes that lanes ask for, and those that are moved (lines of loads,
    sectors of stores) by what lies that many levels beyond L0."""
    import numpy as np

    from isa.timing.native import engine_abi

    size = [bit_width(inst.desc.access.element) / 8 if inst.desc.access else 0 for inst in ready.cfg.instructions]
    asked = n.accesses * ready.trace.wave.lanes * np.array(size)
    moved = np.where(ready.code.kind == engine_abi.LOAD, 128 * n.lines, engine_abi.SECTOR * n.sectors)
    found = ready.found.sum(axis=0)
    return asked, moved * found[:, depth:].sum(axis=1) / np.maximum(1.0, found.sum(axis=1))


def _useful(ready: Prepared, asked: np.ndarray, moved: np.ndarray) -> float:
    """Of the bytes that are moved, the part that lanes ask for: of each array, since what one instruction brings
    another may find."""
    import numpy as np

    from isa.timing.model import caches
    from isa.timing.native import engine_abi

    stored = ready.code.kind == engine_abi.STORE
    groups = (caches.arrays(ready.trace.recorded, ready.code, kind) for kind in (engine_abi.LOAD, engine_abi.STORE))
    group = np.where(stored, *reversed(tuple(groups)))
    asked, moved = (np.bincount(group, values, len(group)) for values in (asked, moved))
    return float(np.minimum(asked, moved).sum()) / max(1.0, float(moved.sum()))
