"""Sightings, and what stops a launch -> findings: in words, with the line of the source where it is at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.analysis import regset
from isa.display import number_of
from isa.errors import Finding
from isa.lint.names import Rule
from isa.lint.registry import RULES as REGISTERED
from isa.object.lines import Lines
from isa.sanitize.launch import Sighting
from isa.sanitize.state import LDS_RACES, NOT_AWAITED, NOT_COMPLETE, USES, Event
from isa.semantics import halves
from isa.semantics.instruction import Instruction
from isa.semantics.waits import wait_name, wait_text
from isa.sim.run.faults import BudgetSpent, KernelFault, MemoryFault, RegisterFault, StoppedFault
from isa.sim.run.memory import Allocation

RULES: dict[Event, Rule] = {
    event: REGISTERED[id]
    for event, id in {
        Event.UNINITIALISED: "VAL001",
        Event.READ_IN_FLIGHT: "WAIT006",
        Event.WRITE_IN_FLIGHT: "WAIT007",
        Event.LDS_UNWRITTEN: "LDS003",
        Event.LDS_READ_AFTER_WRITE: "LDS002",
        Event.LDS_WRITE_AFTER_READ: "LDS002",
        Event.LDS_WRITE_AFTER_WRITE: "LDS002",
        Event.LDS_LACKED: "LDS003",
        Event.GLOBAL_LACKED: "MEM002",
        Event.GLOBAL_READ_AFTER_WRITE: "MEM001",
        Event.GLOBAL_WRITE_AFTER_READ: "MEM001",
        Event.GLOBAL_WRITE_AFTER_WRITE: "MEM001",
        Event.LDS_MISALIGNED: "LDS004",
        Event.GLOBAL_MISALIGNED: "MEM003",
        Event.LDS_UNALIGNED: "LDS005",
        Event.GLOBAL_UNALIGNED: "MEM005",
        Event.BARRIER_STORE: "WAIT008",
        Event.BARRIER_EXEC: "BAR001",
        Event.BARRIER_ENDED: "BAR002",
        Event.BARRIER_APART: "BAR003",
        Event.LDS_SAME_VALUE: "RACE001",
        Event.GLOBAL_SAME_VALUE: "RACE001",
        Event.LDS_LANES: "RACE002",
        Event.GLOBAL_LANES: "RACE002",
        Event.LANE_BEYOND: "LANE001",
        Event.LANES_BEYOND: "LANE002",
        Event.GLOBAL_UNWRITTEN: "MEM002",
        Event.LANE_LACKED: "LANE003",
        Event.FACTORS_TWICE: "LANE004",
    }.items()
}
"""The rule that each kind of sighting breaks."""
_ENDLESS, _OUTSIDE = REGISTERED["RUN001"], REGISTERED["MEM004"]
_STOPS: dict[type[KernelFault], Rule] = {RegisterFault: REGISTERED["RUN005"], StoppedFault: REGISTERED["RUN006"]}
"""The rules that stop a launch; `_OUTSIDE` for any other fault."""
_PUBLISH = (
    "to publish: {stored} after the stores of each wave, then a flag; to read: a load of the flag "
    "with {coherent}, {loaded}, {acquire}"
)
_MODES = "in WGP mode a workgroup has two L0 caches; one keeps what was there before the other's waves stored"
_RACES = {
    Event.LDS_READ_AFTER_WRITE: ("reads", "wrote"), Event.GLOBAL_READ_AFTER_WRITE: ("reads", "wrote"),
    Event.LDS_WRITE_AFTER_READ: ("writes", "read"), Event.GLOBAL_WRITE_AFTER_READ: ("writes", "read"),
    Event.LDS_WRITE_AFTER_WRITE: ("writes", "wrote"), Event.GLOBAL_WRITE_AFTER_WRITE: ("writes", "wrote"),
    Event.LDS_SAME_VALUE: ("writes", "wrote"), Event.GLOBAL_SAME_VALUE: ("writes", "wrote"),
}  # fmt: skip


def finding(
    s: Sighting, kernel: str, lines: Lines, allocation: Callable[[int], str], shape: Mapping[str, int]
) -> Finding:
    """One sighting in words. allocation: an address -> the allocation that it lies in, named; shape: waves of a
    workgroup, and how many workgroups are in a row and in a plane of the grid."""
    message, expected, hint = _say(s, lines, allocation, shape)
    where = f"workgroup {s.workgroup}, wave {s.wave}{lanes_text(s.lanes)}"
    return RULES[s.event].found(
        f"{where}: {message}",
        lines.of(s.instruction),
        hint=hint,
        expected=expected,
        where=_where(kernel, s.instruction),
    )


def _where(kernel: str, inst: Instruction) -> str:
    """An instruction's place in code without a text."""
    return f"{kernel}:{inst.address or 0:#x}: {inst}"


def stopping(error: KernelFault | BudgetSpent, kernel: str, lines: Lines, names: Mapping[int, str]) -> Finding:
    """What ended a launch, in words. names: address of an allocation -> what to call it."""
    if isinstance(error, BudgetSpent):
        look = error.look
        reads = look.text(named(look.near, names, look.address)) if look else None
        return _ENDLESS.found(error.message, lines.of(error.loop), hint=error.hint, got=reads)
    place, inst = error.place, error.place.instruction
    who = f"workgroup {place.workgroup}, wave {place.wave}" + (f", lane {place.lane}" if place.lane >= 0 else "")
    message = error.message.removeprefix(f"{place}: ")
    got = named(error.near, names, error.address) if isinstance(error, MemoryFault) else error.got
    return _STOPS.get(type(error), _OUTSIDE).found(
        f"{who}: {message}",
        lines.of(inst),
        hint=error.hint,
        expected=error.expected,
        got=got,
        where=_where(kernel, inst),
    )


def named(near: Allocation | None, names: Mapping[int, str], address: int) -> str:
    """An address as an offset in the allocation that it lies in, or lies next to."""
    if near is None:
        return f"{address:#x}"
    name = names.get(near.base, f"the allocation at {near.base:#x}")
    if near.base <= address < near.end:
        return f"byte {address - near.base:#x} of {name} ({number_of(near.size, 'byte')})"
    if address < near.base:
        return f"{number_of(near.base - address, 'byte')} before {name} ({number_of(near.size, 'byte')})"
    return f"{number_of(address - near.end, 'byte')} after the end of {name} ({number_of(near.size, 'byte')})"


def _say(
    s: Sighting, lines: Lines, allocation: Callable[[int], str], shape: Mapping[str, int]
) -> tuple[str, str | None, str | None]:
    """(message, expected, what to do)."""
    name = lines.written(s.instruction).mnemonic
    register = regset.names(1 << s.register) if s.register >= 0 else ""
    other = lines.place(s.other) if s.other is not None else ""
    if s.event in USES:
        hint = "all lanes that are read take part" if s.event is Event.LANE_LACKED else "set it first"
        return f"{name} {_uses(s, register, other, allocation)}{_decides(s, lines)}", None, hint
    if s.event in (Event.READ_IN_FLIGHT, Event.WRITE_IN_FLIGHT):
        verb = "reads" if s.event is Event.READ_IN_FLIGHT else "writes"
        counter = s.other.counters[0] if s.other is not None else next(iter(s.instruction.family.counters))
        expected = f"an {wait_name(s.instruction.family, counter)} between them"
        return f"{name} {verb} {register} while {other} may still fill it", expected, None
    if s.event in (Event.LDS_UNWRITTEN, Event.GLOBAL_UNWRITTEN):
        return f"{name} reads {_place(s, allocation)}, which nothing has written", None, None
    if s.event in (Event.LDS_LANES, Event.GLOBAL_LANES):
        return f"{name} stores different values to {_place(s, allocation)}", "one lane that stores, or an atomic", None
    if s.event in (Event.LANE_BEYOND, Event.LANES_BEYOND):
        if s.instruction.desc.name == "v_permlane64_b32":
            return f"{name} does nothing in a wave of 32", "code for waves of 32, or wave64", None
        lane = s.address - (1 << 32) if s.address >> 31 else s.address
        hint = "code for waves of 64 begins with steps of 32; in waves of 32 they are of 16"
        return f"{name} names lane {lane} of a wave of 32: wraps to lane {lane % 32}", "a lane from 0 to 31", hint
    if s.event is Event.FACTORS_TWICE:
        message = f"{name} finds {' and '.join(x for i, x in enumerate('AB') if s.address >> i & 1)} of lanes 0-15"
        expected = "each half of the wave loads its own steps of k: docs/targets.md, From RDNA3 to RDNA4"
        return f"{message} in lanes 16-31 again, as RDNA3 has it", expected, None
    if s.event in _RACES:
        verb, did = _RACES[s.event]
        by, others_group = _by(s, shape)
        message = f"{name} {verb} {_place(s, allocation)}, which {by} {did} with {other}"
        if s.event in (Event.LDS_SAME_VALUE, Event.GLOBAL_SAME_VALUE):
            return f"{message}, and does not change the value", None, None
        if others_group and s.lacks:
            return _unpublished(s, message, other, lines)
        access = s.instruction.desc.access
        if others_group and access is not None and access.kind == "atomic" and s.instruction.narrow:
            return message, f"{steps(s)['coherent']}: its scope leaves other workgroups out", None
        if others_group:
            expected = "no other workgroup accesses what this one writes, or it is published to them"
            return message, expected, _PUBLISH.format(**steps(s))
        if s.lacks and access is not None and access.space == "scalar":
            expected = "s_dcache_inv between them, once the store is complete"
            return message, expected, "the scalar cache, which stores pass by, may hold the old value"
        if s.lacks:
            return f"{message} before a barrier", f"{emptying(s)} between the barrier and this", _MODES
        return message, "a barrier between them", None
    if s.event in (Event.LDS_UNALIGNED, Event.GLOBAL_UNALIGNED):
        hint = "right for a packed type or a memcpy; a pointer of a wider type is wrong here"
        return f"{name} at {_place(s, allocation)}", None, hint
    if s.event in (Event.LDS_MISALIGNED, Event.GLOBAL_MISALIGNED):
        return f"{name} at {_place(s, allocation)}", "an address that is a multiple of the element, at most of 4", None
    if s.event is Event.BARRIER_STORE:
        return f"{other} may still be in flight", f"{waited(s, 'lds_store')} between the store and the barrier", None
    if s.event is Event.BARRIER_EXEC:
        return "the wave arrives with some lanes off", None, "is it in a branch that not all threads take?"
    if s.event is Event.BARRIER_ENDED:
        gone = ", ".join(str(i) for i in range(32) if s.address >> i & 1)
        return f"waits here for wave {gone}, which has ended", "all waves at each barrier", None
    assert s.event is Event.BARRIER_APART
    assert s.others is not None
    return f"waits here, while wave {s.others[1]} waits at {other}", "all waves at one barrier", None


def _place(s: Sighting, allocation: Callable[[int], str]) -> str:
    """The byte of LDS or memory that an access is told of by."""
    return f"LDS byte {s.address:#x}" if s.event.name.startswith("LDS_") else allocation(s.address)


_HALVES = {halves.LOW: ".l", halves.HIGH: ".h"}


def _uses(s: Sighting, register: str, other: str, allocation: Callable[[int], str]) -> str:
    """Which bytes of a register nothing has written, and what loaded them."""
    if s.other is None:
        return f"reads {register}{_HALVES.get(s.address, '')}, which nothing has written"
    if s.event is Event.LANE_LACKED:
        return f"uses {register}, for which {other} asks lane {s.address}, which is off: it gives 0"
    where, mask = s.address & (1 << 48) - 1, s.address >> 48
    run = [i for i in range(4) if mask >> i & 1] or [0]
    first, last = where + run[0], where + run[-1]
    if s.event is Event.UNINITIALISED:
        return f"reads {register}, which {other} has loaded from scratch where nothing was written"
    more = f"-{last:#x}" if last > first else ""
    if s.event is Event.LDS_LACKED:
        what = f"LDS byte{'s' * bool(more)} {first:#x}{more}"
    else:
        what = allocation(first)
        if more and what.startswith("byte "):
            offset = int(what.split()[1], 16)
            what = what.replace(f"byte {offset:#x}", f"bytes {offset:#x}-{offset + last - first:#x}", 1)
    return f"uses {what}, which nothing has written; {other} has loaded it to {register}"


def _decides(s: Sighting, lines: Lines) -> str:
    """What an uninitialized value decides at last."""
    if s.sink is None or s.sink is s.instruction:
        return ""
    access = s.sink.desc.access
    does = "goes by" if access is None else "stores" if access.kind == "store" else "takes"
    return f"; {lines.place(s.sink)} {does} the result"


def needs_barrier(s: Sighting, shape: Mapping[str, int]) -> bool:
    """Whether a sighting is a race that a barrier would settle, and a fault."""
    return s.event in _RACES and RULES[s.event].severity == "fault" and not (s.lacks or _by(s, shape)[1])


def _unpublished(s: Sighting, message: str, other: str, lines: Lines) -> tuple[str, str | None, str | None]:
    """The same where one step of publishing is missing."""
    flag = lines.place(s.flag) if s.flag is not None else "the flag"
    if s.lacks == NOT_COMPLETE:
        message += f"; that store may still be in flight when {flag} reports it"
        return message, f"{waited(s, 'global_store')} between {other} and the flag, in the wave that stores", None
    if s.lacks == NOT_AWAITED:
        return message, f"{waited(s, 'global_load')} after the load of what {flag} sets", None
    return message, f"{steps(s)['emptied']}, after the wait for the flag and before the load", None


def waited(s: Sighting, sched: str) -> str:
    """The wait for all accesses of a class."""
    family = s.instruction.family
    return wait_text(family, dict.fromkeys(family.raised[sched], 0))


def emptying(s: Sighting) -> str:
    """The instruction that empties the L0 alone."""
    return next(text for text, levels in s.instruction.family.empties.items() if levels == (0,))


def steps(s: Sighting) -> dict[str, str]:
    """How data is published, step by step, on the target of the code."""
    family = s.instruction.family
    coherent = sorted(name if value is None else f"{name}:{value}" for name, value in family.wide)
    return {
        "stored": waited(s, "global_store"), "loaded": waited(s, "global_load"), "acquire": ", ".join(family.acquire),
        "emptied": ", then ".join(family.acquire), "coherent": coherent[0] if coherent else family.cache_bits[0],
    }  # fmt: skip


def _by(s: Sighting, shape: Mapping[str, int]) -> tuple[str, bool]:
    """(who the earlier access was made by, whether that is another workgroup)."""
    assert s.others is not None
    group, wave = s.others
    if group < 0:
        lds = s.event in LDS_RACES
        return ("several waves" if wave < 0 else f"wave {wave}") if lds else "several workgroups", not lds
    at = (group % shape["x"], group // shape["x"] % shape["y"], group // shape["x"] // shape["y"])
    if at == s.workgroup:
        return f"wave {wave}", False
    return f"workgroup {at}, wave {wave}", True


def lanes_text(lanes: int) -> str:
    """`, lanes 0-3 8`; nothing for none, and for all."""
    if lanes in (0, 0xFFFFFFFF):
        return ", all lanes" if lanes else ""
    runs: list[list[int]] = []
    for lane in (i for i in range(32) if lanes >> i & 1):
        if runs and runs[-1][1] == lane - 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    text = " ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f", lane {text}" if runs[0][0] == runs[0][1] and len(runs) == 1 else f", lanes {text}"
