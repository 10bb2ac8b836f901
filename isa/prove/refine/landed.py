"""Landed values: two programs -> whether each value is there when it is read, and memory where it was at each fence,
which terms do not show.

Terms take a load to be done when it issues. So of the rewritten kernel, over all paths:

- no register is read or overwritten while a load may be filling it (`isa.analysis.waits`);
- at each fence (barrier, atomic, coherent access, cache control, message) no more accesses of a kind may be in flight
  than at the fence of the original that it was matched with: kinds are counter, space, and whether memory is written.
  More plain loads of global memory may be in flight at a barrier (and cache control right after it) if no path from
  the barrier before it, or to the one after it, writes global memory: while such a load is in flight, no other wave
  writes what it reads, if all waves of a workgroup meet at the same barriers (`MEETING`, which the proof then says);
- each access finds complete what the original had completed on purpose before it (`isa.analysis.memory_order`);
- it has no finding of a rule (hazards that the hardware leaves to the code, clauses, operands, VOPD, register counts)
  more often than the original has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from isa.analysis import dataflow, dependences, waits
from isa.analysis.cfg import Block, Cfg
from isa.analysis.memory_order import Access, Order, Orders
from isa.analysis.waits import InFlight
from isa.asm.program import Kernel
from isa.errors import Finding, Span
from isa.lint import verify
from isa.lint.paths import Paths
from isa.lint.rules import barriers as barrier_rules
from isa.lint.rules import counts
from isa.lint.rules import hazards as hazard_rules
from isa.lint.rules import hints as hint_rules
from isa.lint.rules import waits as wait_rules

Kind = tuple[str, str, bool]
MEETING = "all waves of a workgroup meet at the same barriers"
_LOADED = ("global", "scratch")


def missing(
    kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg], fences: Iterable[tuple[int, int]],
    traces: Iterable[tuple[Sequence[Access], Sequence[Access]]], assumed: set[str],
) -> tuple[str, Span | None, str] | None:  # fmt: skip
    """The first thing that is missing in the second of two kernels: in words, where, and the text there. fences:
    positions that were matched; traces: what accesses both make, stretch by stretch; assumed: gets what had to be
    assumed, in words."""
    flights = tuple(waits.analyse(flow) for flow in flows)
    unwritten: frozenset[int] | None = None

    def quiet(fence: int) -> bool:
        nonlocal unwritten
        unwritten = _unwritten(flows) if unwritten is None else unwritten
        if fence in unwritten:
            assumed.add(MEETING)
        return fence in unwritten

    for a, b in sorted(fences):
        before = [_in_flight(flight, at) for flight, at in zip(flights, (a, b), strict=True)]
        for kind, number in before[1].items():
            if number > before[0][kind]:
                counter, space, stores = kind
                loads = flows[1].family.counters_of("global_load", False)
                if not stores and space in _LOADED and counter in loads and quiet(b):
                    continue
                what = f"{counter} may count {number} {space} {'stores' if stores else 'loads'} there"
                inst = flows[1].instructions[b]
                return f"a wait is missing or too weak: {what}, {before[0][kind]} in the original", inst.span, str(inst)
    orders = Orders(Order(flights[0]), Order(flights[1]))
    if (broken := orders.broken(traces, quiet)) is not None:
        return broken
    return more_findings(kernels, flows, flights)


def more_findings(
    kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg], flights: Sequence[InFlight]
) -> tuple[str, Span | None, str] | None:
    """The first finding of a rule that the second of two kernels has more often: in words, where, and the text there.
    flights: what each has in flight."""
    known: list[Counter[str]] = []
    for kernel, flow, flight in zip(kernels, flows, flights, strict=True):
        found = list(_findings(kernel, flow, flight))
        if known:
            for finding in found:
                if known[0][finding.id] <= 0:
                    span = finding.span
                    return f"{finding.message} [{finding.id} {finding.rule}]", span, span.text.strip() if span else ""
                known[0][finding.id] -= 1
        known.append(Counter(f.id for f in found))
    return None


def _in_flight(flight: InFlight, position: int) -> Counter[Kind]:
    """How many accesses may be in flight before a position, by kind."""
    found: Counter[Kind] = Counter()
    for at, counter in flight.before[position]:
        access = flight.cfg.instructions[at].desc.access
        if access is None:
            found[counter, "message", False] += 1
        else:
            found[counter, access.space, access.kind != "load"] += 1
    return found


def _unwritten(flows: tuple[Cfg, Cfg]) -> frozenset[int]:
    """Barriers of the second program, and the cache controls right after them, around which no path writes global
    memory until it comes to another barrier; none where waves may speak to each other otherwise."""
    if any(dependences.by_memory(flow) for flow in flows):
        return frozenset()
    flow = flows[1]

    def step(i: int, written: bool) -> bool:
        desc = flow.instructions[i].desc
        writes = desc.access is not None and desc.access.kind != "load" and desc.space in ("global", "flat")
        return not desc.is_barrier and (written or writes)

    def through(block: Block, written: bool) -> bool:
        for i in block.range:
            since[i] = written
            written = step(i, written)
        return written

    since = [False] * len(flow)
    dataflow.forward(flow, False, through, bool.__or__)
    ahead = [False] * len(flow.blocks)
    changed = True
    while changed:
        changed = False
        for block in reversed(flow.blocks):
            written = any(ahead[s] for s in block.successors)
            for i in reversed(block.range):
                written = step(i, written)
            changed |= written != ahead[block.index]
            ahead[block.index] = written
    found: set[int] = set()
    for block in flow.blocks:
        at_one = False
        for i in block.range:
            desc = flow.instructions[i].desc
            at_one = at_one and desc.access is None
            if desc.is_barrier:
                written = any(ahead[s] for s in block.successors)
                for j in reversed(range(i + 1, block.end)):
                    written = step(j, written)
                at_one = not (since[i] or written)
            if at_one and (desc.is_barrier or desc.sched == "cache_control"):
                found.add(i)
    return frozenset(found)


def _findings(kernel: Kernel, flow: Cfg, flight: InFlight) -> Iterator[Finding]:
    target = kernel.program.target
    yield from wait_rules.faults(flight, lambda: Paths(flight.cfg))
    yield from hazard_rules.faults(flight, target, False)
    yield from hazard_rules.parity(flow, target)
    yield from barrier_rules.faults(flow)
    yield from hint_rules.faults(flow)
    yield from (f for f in counts.check(kernel, flow) if f.severity == "fault")
    yield from verify.instructions(flow.instructions)
