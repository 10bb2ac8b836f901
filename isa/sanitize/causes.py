"""One finding per cause: merges observations with one root cause, as `isa.lint.causes` does for findings in code.

    registers in flight     those that one wait would settle: each path from their loads passes the first of them
    races with a barrier    those that one barrier would settle, in LDS and between waves of one workgroup
    unpublished data        those to which the same flag is not yet a sign, for want of the same step
    unwritten registers     all reads of one register
    unwritten bytes         all uses of what one instruction loads
    stores at a barrier     all that may be in flight at one
    factors held twice      all matrix products of the kernel

What else is seen has no cause that one change would settle, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from isa.analysis import cfg as control_flow
from isa.analysis import regset, waits
from isa.analysis.cfg import Cfg
from isa.errors import Finding, IsaError
from isa.lint.causes import Pair, groups, one, reached_from
from isa.object.lines import Lines
from isa.sanitize.launch import Sighting
from isa.sanitize.report import needs_barrier, steps, waited
from isa.sanitize.state import NOT_AWAITED, NOT_COMPLETE, USES, Event
from isa.semantics.instruction import Instruction
from isa.semantics.waits import wait_text

_EARLY = (Event.READ_IN_FLIGHT, Event.WRITE_IN_FLIGHT)
_STEPS = {
    NOT_COMPLETE: "{stored} between the stores and {flag}, in the waves that store, fixes all",
    NOT_AWAITED: "{loaded} after the load of what {flag} sets fixes all",
}
_CACHES = "{emptied}, after the wait for what {flag} sets fixes all"


def joined(
    seen: Sequence[tuple[Sighting, Finding]],
    instructions: Sequence[Instruction],
    lines: Lines,
    shape: Mapping[str, int],
) -> list[Finding]:
    """The findings of all sightings in their order, those of one cause as the first of them. instructions: the kernel's
    in the order of their addresses; shape: as `report.finding` takes it."""
    if len(seen) < 2:
        return [finding for _, finding in seen]
    found: dict[int, Finding] = {}
    by_cause: dict[Hashable, list[int]] = {}
    paths: dict[str, list[int]] = {}
    for k, (s, finding) in enumerate(seen):
        found[k] = finding
        if (kind := _kind(s, shape)) and s.other is not None:
            paths.setdefault(kind, []).append(k)
        elif cause := _cause(s):
            by_cause.setdefault(cause, []).append(k)
    for group in by_cause.values():
        same = {seen[k][1].expected for k in group}
        alike = same.pop() if len(same) == 1 else None
        _join(found, group, alike or _settled(seen[group[0]][0], lines))
    if any(len(group) > 1 for group in paths.values()):
        try:
            flow = control_flow.of_instructions(instructions, "")
        except IsaError:  # code that cannot be analysed can still be run
            paths = {}
        for kind, group in paths.items():
            _by_path(flow, kind, [(k, seen[k][0]) for k in group], found, lines)
    return [found[k] for k in sorted(found)]


def _kind(s: Sighting, shape: Mapping[str, int]) -> str:
    """What would have to stand between the two instructions of a sighting: a wait for a counter, a barrier, nothing."""
    if s.event in _EARLY and s.other is not None:
        return s.other.counters[0]
    return "barrier" if needs_barrier(s, shape) else ""


def _cause(s: Sighting) -> Hashable:
    """What sightings of one cause share; None where nothing is."""
    if s.event in USES:
        return s.event, s.register if s.other is None else s.other.address, s.other is None
    if s.event is Event.BARRIER_STORE:
        return s.event, s.instruction.address
    if s.event is Event.FACTORS_TWICE:
        return s.event
    return (Event.GLOBAL_READ_AFTER_WRITE, s.lacks, s.flag.address) if s.lacks and s.flag is not None else None


def _settled(s: Sighting, lines: Lines) -> str:
    if s.event is Event.LANE_LACKED and s.other is not None:
        return f"all lanes that are read on at {lines.place(s.other)} fixes all"
    if s.event in USES and s.other is not None:
        return f"what {lines.place(s.other)} loads written before it fixes all"
    if s.event is Event.UNINITIALISED:
        return f"{regset.names(1 << s.register)} written before {lines.place(s.instruction)} fixes all"
    if s.event is Event.BARRIER_STORE:
        return f"{waited(s, 'lds_store')} before {lines.place(s.instruction)} fixes all"
    assert s.flag is not None
    return _STEPS.get(s.lacks, _CACHES).format(flag=lines.place(s.flag), **steps(s))


def _by_path(
    flow: Cfg, kind: str, group: Sequence[tuple[int, Sighting]], found: dict[int, Finding], lines: Lines
) -> None:
    """Those whose two instructions one wait or barrier would part."""
    at = {inst.address: i for i, inst in enumerate(flow.instructions)}
    alive, number = _barriers(flow) if kind == "barrier" else _in_flight(flow, kind)
    reached: dict[int, set[int]] = {}
    pairs: dict[Pair, list[int]] = {}
    for k, s in group:
        begin, end = at.get(s.other.address if s.other else None), at.get(s.instruction.address)
        if begin is None or end is None:
            continue
        if kind == "barrier":  # what another wave did first may come second in the code
            if begin not in reached:
                reached[begin] = reached_from(flow, begin, None, alive)
            if end not in reached[begin]:
                begin, end = end, begin
        pairs.setdefault((begin, end), []).append(k)
    for together in groups(flow, list(pairs), alive):
        first = flow.instructions[together[0][1]]
        what = "a barrier" if kind == "barrier" else wait_text(flow.family, {kind: number(together)})
        _join(found, [k for pair in together for k in pairs[pair]], f"{what} before {lines.place(first)} fixes all")


_Rules = tuple[Callable[[int, int], bool], Callable[[list[Pair]], int]]


def _barriers(flow: Cfg) -> _Rules:
    return (lambda _, i: flow.instructions[i].desc.effect != "barrier"), lambda _: 0


def _in_flight(flow: Cfg, counter: str) -> _Rules:
    before = waits.analyse(flow).before

    def least(pairs: list[Pair]) -> int:
        return min(before[pairs[0][1]].get((load, counter), 0) for load, _ in pairs)

    return (lambda load, i: (load, counter) in before[i]), least


def _join(found: dict[int, Finding], group: Sequence[int], settled: str) -> None:
    """Several findings as the first of them."""
    head, *others = sorted(group)
    if others:
        found[head] = one([found.pop(k) for k in (head, *others)], settled)
