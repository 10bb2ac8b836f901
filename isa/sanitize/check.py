"""`observe`: a launch in several schedules under the sanitizer -> findings.

Each schedule starts from the same memory. What the hooks see depends little on the order, since they ask what is
ordered and not what came first; results that differ show what they do not follow, such as atomics whose order counts.

Loads are done when they are issued, which nothing can tell from a load that is done when it is awaited, as long as no
register is touched in between. Where one is, the schedule is run again, and those after it too, with results that
appear no earlier than their waits: so memory holds afterwards what it may hold on a card. Where a launch loads or
stores bytes that nothing has written, such a schedule tells what becomes of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.errors import Finding, IsaError
from isa.lint.registry import RULES
from isa.object.lines import NO_LINES, Lines
from isa.sanitize import causes
from isa.sanitize.launch import SanitizedLaunch, Schedule, Sighting
from isa.sanitize.report import finding, named, stopping
from isa.sanitize.state import SILENT, UNCLEAR, Event
from isa.semantics.instruction import Instruction
from isa.sim.run.compiled import CompiledKernel
from isa.sim.run.faults import BudgetSpent, KernelFault
from isa.sim.run.launch import LaunchReport
from isa.sim.run.memory import Allocation, DeviceMemory

if TYPE_CHECKING:
    from isa.sim.run.card import Card

ORDER = RULES["RUN002"]
FREE = RULES["RUN004"]


@dataclass(frozen=True)
class Observation:
    """findings: faults first as they stand in the code, then what stopped the launch or differs between schedules.
    stopped: the fault or the spent budget that ended it early, which is among the findings too. report: of the first
    schedule, None where that was stopped."""

    findings: tuple[Finding, ...]
    stopped: KernelFault | BudgetSpent | None
    report: LaunchReport | None


def observe(
    card: Card,
    kernel: CompiledKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    kernarg: bytes,
    dynamic_lds: int = 0,
    *,
    schedules: int = 3,
    seed: int = 0,
    threads: int | None = None,
    budget: int | None = None,
    cooperative: bool = False,
    last: tuple[int, int, int] | None = None,
    lines: Lines = NO_LINES,
    names: Mapping[int, str] | None = None,
    unwritten: Sequence[tuple[int, int]] = (),
    elements: Mapping[int, int] | None = None,
    briefly: bool = False,
    scratch: Sequence[int] = (),
    settled: bool = False,
) -> Observation:
    """Launch under the sanitizer; see `Card.launch` for what a launch takes.

    schedules: how many orders of waves and workgroups; seed: which ones. lines: of the assembly that the code object
    was made from, so that findings point at them. names: address of an allocation -> what to call it. unwritten:
    (address, bytes) of memory that was not written before the launch. elements: address of an allocation -> bytes of an
    element, at multiples of which its accesses must be; 4 where nothing is said. briefly: no more schedules once there
    is a finding. scratch: allocations that are no result, so that what they hold afterwards may depend on the order.
    settled: the result is one, in whatever order atomics come.

    Memory holds afterwards what the first schedule left. LaunchError where the launch cannot begin; IsaError where an
    instruction is not described. A fault and a spent budget are findings.
    """
    if schedules < 1:
        raise IsaError("a check needs at least one schedule", got=str(schedules))
    memory = card.memory
    code = kernel.instructions
    seen: dict[tuple[Event, int | None, int], Sighting] = {}
    found: list[Finding] = []
    stopped: KernelFault | BudgetSpent | None = None
    first: LaunchReport | None = None
    before = _contents(memory, memory.allocations)
    after: dict[int, bytes] = {}
    differs: tuple[int, dict[int, bytes]] | None = None
    number, late = 0, False
    while number < schedules:
        if number or late:
            _restore(before)
        launch = SanitizedLaunch(
            kernel, memory, card.target, grid, block, kernarg, dynamic_lds, budget, Schedule(number, seed), unwritten,
            elements, late, cooperative, last,
        )  # fmt: skip
        fault: KernelFault | BudgetSpent | None = None
        try:
            report = launch.run(threads)
            first = first or report
        except (KernelFault, BudgetSpent) as error:
            fault = error
        for key, sighting in launch.sightings.items():
            if key[0] not in SILENT:
                seen.setdefault((key[0], sighting.instruction.address, sighting.register), sighting)
        met = {key[0] for key in (*seen, *launch.sightings)}
        if not late and met & ({Event.LACKS} if briefly else UNCLEAR):
            late = True
            continue
        if fault is not None:
            stopped = fault
            found.append(stopping(fault, kernel.name, lines, names or {}))
        if stopped is not None or (briefly and seen):
            break  # what memory holds after a fault is no result
        now = _contents(memory, [a for a in memory.allocations if a.base not in scratch])
        if number == 0:
            after = now
        elif now != after and differs is None:
            differs = number, now
        number += 1
    if after and stopped is None:
        _restore(after)
    shape = {"x": grid[0], "y": grid[1]}
    told = [
        (s, finding(s, kernel.name, lines, lambda address: named(memory.nearest(address), names or {}, address), shape))
        for s in sorted(seen.values(), key=lambda s: (s.instruction.address or 0, s.event, s.register))
    ]
    observed = causes.joined(told, code, lines, shape)
    if differs is not None:
        free = None if settled or any(f.severity == "fault" for f in observed) else _order_counts(kernel)
        found.insert(0, _differs(kernel.name, differs[0], after, differs[1], memory, names or {}, lines, free))
    return Observation((*observed, *found), stopped, first)


def _contents(memory: DeviceMemory, allocations: Sequence[Allocation]) -> dict[int, bytes]:
    return {a.base: ctypes.string_at(a.base, a.size) for a in allocations}


def _restore(contents: Mapping[int, bytes]) -> None:
    for base, data in contents.items():
        ctypes.memmove(base, data, len(data))


def _order_counts(kernel: CompiledKernel) -> Instruction | None:
    """The first instruction whose result, or whose effect with others of its kind, depends on which comes first: an
    atomic that returns, exchanges or adds floats, and a look at a flag."""
    return next(filter(_counts, kernel.instructions), None)


def _counts(inst: Instruction) -> bool:
    access, name = inst.desc.access, inst.desc.name
    if access is None or access.kind != "atomic":
        return inst.sees_flags
    return access.returns or any(part in name for part in ("swap", "cmpst", "storexchg", "add_f", "add_bf", "csub"))


def _differs(
    kernel: str, number: int, first: Mapping[int, bytes], now: Mapping[int, bytes], memory: DeviceMemory,
    names: Mapping[int, str], lines: Lines, free: Instruction | None,
) -> Finding:  # fmt: skip
    """free: an instruction whose order may be free by design, where nothing else can have made the difference."""
    base, offset = next(
        (base, next(i for i, (a, b) in enumerate(zip(data, now[base], strict=True)) if a != b))
        for base, data in first.items()
        if data != now[base]
    )
    word = offset - offset % 4
    was, is_ = (int.from_bytes(side[base][word : word + 4], "little") for side in (first, now))
    place = named(memory.nearest(base + word), names, base + word)
    message = f"schedule {number} gives different results from schedule 0, first at {place}"
    if free is not None:
        does = "leaves" if free.desc.access and not free.desc.access.returns else "returns"
        message += f"; what {lines.place(free)} {does} depends on which one is first"
    hint = "something is not ordered" if free is None else "is every order correct, as for appends and sums of floats?"
    return (ORDER if free is None else FREE).found(
        message,
        None if free is None else lines.of(free),
        hint=hint,
        expected=f"{was:#010x}, as in schedule 0",
        got=f"{is_:#010x}",
        where=kernel,
    )
