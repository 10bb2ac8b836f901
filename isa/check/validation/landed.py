"""What terms do not show: that each value is there when it is read, and that memory is where it was at each fence.

Terms take a load to be done when it issues. So of the rewritten kernel, over all paths:

- no register is read or overwritten while a load may be filling it (`isa.analysis.waits`);
- at each fence (barrier, atomic, coherent access, cache control, message) no more accesses of a kind may be under way
  than at the fence of the original that it was matched with: kinds are counter, space, and whether memory is written;
- it has no finding of a rule (hazards that the hardware leaves to the code, clauses, operands, VOPD, register counts)
  more often than the original has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from isa.analysis import valu_writes, waits
from isa.analysis.cfg import Cfg
from isa.analysis.waits import InFlight
from isa.asm.program import Kernel
from isa.check import counts, hazard_rules, hint_rules, verify, vopd, wait_rules
from isa.errors import Finding, Span
from isa.targets import GFX1100

Kind = tuple[str, str, bool]


def missing(
    kernels: tuple[Kernel, Kernel], flows: tuple[Cfg, Cfg], fences: Iterable[tuple[int, int]]
) -> tuple[str, Span | None, str] | None:
    """The first thing that is missing in the second of two kernels: in words, where, and the text there. fences:
    positions that were matched."""
    flights = tuple(waits.analyse(flow) for flow in flows)
    for a, b in sorted(fences):
        before = [_under_way(flight, at) for flight, at in zip(flights, (a, b), strict=True)]
        for kind, number in before[1].items():
            if number > before[0][kind]:
                counter, space, stores = kind
                what = f"{counter} may count {number} {space} {'stores' if stores else 'loads'} there"
                inst = flows[1].instructions[b]
                return f"a wait is missing or too weak: {what}, {before[0][kind]} in the original", inst.span, str(inst)
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


def _under_way(flight: InFlight, position: int) -> Counter[Kind]:
    """How many accesses may be under way before a position, by kind."""
    found: Counter[Kind] = Counter()
    for at, counter in flight.before[position]:
        access = flight.cfg.instructions[at].desc.access
        if access is None:
            found[counter, "message", False] += 1
        else:
            found[counter, access.space, access.kind != "load"] += 1
    return found


def _findings(kernel: Kernel, flow: Cfg, flight: InFlight) -> Iterator[Finding]:
    target = counts.target_of(kernel.program)
    yield from wait_rules.faults(flight)
    yield from hazard_rules.faults(flow, target, False)
    if "vopd interlock" in (target or GFX1100).hazards:
        yield from vopd.parity(valu_writes.analyse(flow))
    yield from hint_rules.faults(flow)
    yield from counts.check(kernel, flow)
    for inst in flow.instructions:
        yield from verify.instruction(inst)
