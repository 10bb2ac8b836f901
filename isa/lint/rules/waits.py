"""Waits: loads that are used before they have landed, barriers that LDS writes can overtake, waits that do nothing.

Faults come from `isa.analysis.waits`, on the paths that `isa.lint.paths` leaves open. A barrier does not wait for
memory (RDNA3 ISA guide 5.5, S_BARRIER; LLVM AMDGPUUsage, memory model gfx11: a workgroup release waits for lgkmcnt(0)),
so an LDS store that may be in flight at a barrier is not sure to be seen after it.

Notes ask of each wait what it is needed for: the loads it covers are followed as if it were not there, and those that
something uses before another wait covers them say the largest number that would do. A wait before a barrier, a cache
invalidation or the end of the program orders memory and is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from isa.analysis import waits
from isa.analysis.cfg import Cfg
from isa.analysis.waits import Hazard, InFlight
from isa.errors import Finding
from isa.lint import causes, paths
from isa.lint.functions import LintedFunction
from isa.lint.names import called, place
from isa.lint.paths import Paths
from isa.lint.registry import RULES
from isa.semantics.waits import wait_text

COVER = RULES["WAIT001"]
BARRIER = RULES["WAIT002"]
USELESS = RULES["WAIT004"]
STRICT = RULES["WAIT005"]


def findings(f: LintedFunction) -> Iterator[Finding]:
    """The faults."""
    yield from faults(f.flight, f.left_open)


def notes(f: LintedFunction) -> Iterator[Finding]:
    """Waits that cover nothing, and waits that a larger number would serve. called: the code is a function's, whose
    first waits are for what its caller has in flight."""
    yield from _notes(f.flight, f.called)


def faults(flight: InFlight, followed: Callable[[], Paths] | None) -> Iterator[Finding]:
    """Registers used before their load has landed, and LDS stores in flight at a barrier: one finding for all that one
    wait would settle. followed: as of `isa.lint.paths.in_flight`."""
    cfg, may_be = flight.cfg, paths.in_flight(flight, followed)
    uses: dict[str, dict[causes.Pair, Finding]] = {}
    seen: set[causes.Pair] = set()
    for h in flight.hazards():
        if (h.load, h.position) not in seen and h.position in may_be(h.load, h.counter):
            seen.add((h.load, h.position))
            uses.setdefault(h.counter, {})[h.load, h.position] = _use(flight, h)
    for counter, found in uses.items():
        yield from causes.joined(cfg, found, partial(_in_flight, flight, counter), partial(_wait, flight, counter))
    for i, stores in _stores_at_barriers(cfg, flight, may_be).items():
        wait = f"{_lds_wait(cfg)} before the barrier ({place(cfg.instructions[i], i)}) fixes all"
        yield causes.one([_at_barrier(cfg, i, store) for store in stores], wait)


def _use(flight: InFlight, h: Hazard) -> Finding:
    cfg = flight.cfg
    inst, load = cfg.instructions[h.position], cfg.instructions[h.load]
    return COVER.broken(
        inst,
        f"{called(inst)} {h.access}s {h.reg} while {load} may still be in flight",
        expected=f"{wait_text(cfg.family, {h.counter: h.needed})} or less on every path from the load "
        f"({place(load, h.load)})",
        got=_waits_between(cfg, flight, h.load, h.position, h.counter),
        hint="put the wait before this instruction, or this instruction after the wait",
    )


def _in_flight(flight: InFlight, counter: str, load: int, position: int) -> bool:
    return (load, counter) in flight.before[position]


def _wait(flight: InFlight, counter: str, pairs: list[causes.Pair]) -> str:
    """What settles a group: it stands before the first use."""
    _, first = pairs[0]
    number = min(flight.before[first][load, counter] for load, _ in pairs)
    where = place(flight.cfg.instructions[first], first)
    return f"{wait_text(flight.cfg.family, {counter: number})} before {where} fixes all"


def _lds_wait(cfg: Cfg) -> str:
    """The wait for what a wave stored to LDS."""
    return wait_text(cfg.family, dict.fromkeys(cfg.family.raised["lds_store"], 0))


def _at_barrier(cfg: Cfg, position: int, store: int) -> Finding:
    return BARRIER.broken(
        cfg.instructions[position],
        f"{cfg.instructions[store]} ({place(cfg.instructions[store], store)}) may still be in flight when the wave "
        "arrives",
        expected=f"{_lds_wait(cfg)} between the store and the barrier",
        hint="a barrier does not wait for memory: another wave may read the old value after it",
    )


def _notes(flight: InFlight, called: bool = False) -> Iterator[Finding]:
    cfg = flight.cfg
    first = next((i for i in cfg.blocks[0].range if cfg.instructions[i].counters), cfg.blocks[0].end)
    for i, numbers in enumerate(flight.waits):
        if not numbers or i not in cfg.reached or (called and i < first):
            continue
        inst, covered = cfg.instructions[i], flight.covered_by(i)
        if not any(covered.values()):
            yield USELESS.broken(inst, "nothing that it could wait for is in flight", hint="leave it out")
            continue
        if _orders_memory(cfg, i):
            continue
        for counter, number in numbers.items():
            if not covered[counter] or counter in cfg.family.raised["global_store"]:
                continue
            needed = _needed(cfg, flight, i, counter)
            if needed is None:
                yield USELESS.broken(
                    inst, f"no instruction needs what {counter}({number}) waits for", hint="leave it out"
                )
            elif needed > number:
                yield STRICT.broken(
                    inst,
                    f"{counter}({needed}) is sufficient",
                    expected=f"{counter}({needed})",
                    got=f"{counter}({number})",
                    hint="a larger number lets later loads stay in flight",
                )


def _needed(cfg: Cfg, flight: InFlight, position: int, counter: str) -> int | None:
    """The largest number with which a wait still covers what depends on it; None where nothing does."""
    used, at_barrier = waits.relying_on(flight, position, counter)
    needed = used | {at for at in at_barrier if _is_lds_write(cfg, at)}
    return min((n for (at, c), n in flight.before[position].items() if c == counter and at in needed), default=None)


def _stores_at_barriers(cfg: Cfg, flight: InFlight, may_be: paths.Positions) -> dict[int, list[int]]:
    """Position of a barrier -> the LDS stores that may be in flight there."""
    barriers = cfg.where(lambda desc: desc.arrives)
    found = {i: [at for at, c in flight.before[i] if _is_lds_write(cfg, at) and i in may_be(at, c)] for i in barriers}
    return {i: stores for i, stores in found.items() if stores}


def _is_lds_write(cfg: Cfg, position: int) -> bool:
    access = cfg.instructions[position].desc.access
    return access is not None and access.space == "lds" and access.kind != "load"


def _orders_memory(cfg: Cfg, position: int) -> bool:
    """Whether a wait stands before a barrier, a cache invalidation, a message or the end, other waits apart."""
    block = cfg.block_of(position)
    for i in range(position + 1, block.end):
        desc = cfg.instructions[i].desc
        if desc.is_wait:
            continue
        invalidates = desc.sched == "cache_control"
        return desc.arrives or desc.effect in ("barrier", "end") or invalidates or desc.sched == "message"
    return False


def _waits_between(cfg: Cfg, flight: InFlight, load: int, use: int, counter: str) -> str:
    """What waits for the counter stand between a load and its use, where both stand in one block."""
    if cfg.block_of(load).index != cfg.block_of(use).index or load > use:
        return "a path without one"
    found = [f"{counter}({n[counter]})" for n in flight.waits[load:use] if counter in n]
    return ", ".join(found) or "no wait between them"
