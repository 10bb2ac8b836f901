"""Lanes beyond the wave: findings at instructions of wave32 code that name a lane of a wave of 64.

A lane number of 32 or more wraps: v_readlane_b32, v_writelane_b32, ds_bpermute_b32 and ds_permute_b32 take its low five
bits. v_permlane64_b32, which swaps the halves of a wave of 64, does nothing. Code written for waves of 64 assumes
otherwise; most often it reduces with steps of 32, 16 and so on, and the first step gives each lane its own value.

Lane numbers that follow from the code and from the numbers of the work-items are known on each path of the first wave
(`isa.lint.lds`); no others are judged. Only the first wave is, where one of its lanes is on: a work-item's number is
right for a lane number there, and wraps to it in others. Findings:

    all lanes that are on name a lane beyond the wave               LANE001, a fault
    a sum of a value and what a shuffle gives of it, where each
    lane names itself (HIP's __shfl_xor(v, 32) of a width of 32)    LANE001, a fault: each value counts twice
    some lanes name a lane beyond, others one of the wave           LANE002, a note: a reduction that shifts down does,
                                                                    in lanes whose result it drops

Those that take their lane numbers from one place are one finding.

Limits: what is computed in other functions, and what data decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.errors import Finding
from isa.lint import causes
from isa.lint.functions import LintedFunction
from isa.lint.known import NOWHERE
from isa.lint.lds import needed
from isa.lint.lds.explore import Explorer, Question
from isa.lint.lds.machine import Start, WorkgroupMachine
from isa.lint.names import register
from isa.lint.registry import RULES
from isa.registers import EXEC_LO, LANES, Reg
from isa.semantics.instruction import Imm, Instruction, base_name

BEYOND = RULES["LANE001"]
SOME = RULES["LANE002"]

_BY_LANE = ("v_readlane_b32", "v_writelane_b32")
_BY_BYTE = ("ds_bpermute_b32", "ds_permute_b32")
_EXPECTED = "a lane from 0 to 31"
_HINT = "code for waves of 64 begins with steps of 32; in waves of 32 they are of 16"


def findings(f: LintedFunction) -> Iterator[Finding]:
    """Both rules, of waves of 32 lanes."""
    if f.start.wave64:
        return
    cfg, chains, asked = f.flow, f.values.chains, dict[int, int]()
    threads, dimensions, sizes = f.start.threads, f.start.dimensions, f.start.sizes
    for i in cfg.where(lambda desc: desc.name in ("v_permlane64_b32", *_BY_LANE, *_BY_BYTE)):
        inst, name = cfg.instructions[i], cfg.instructions[i].desc.name
        if name == "v_permlane64_b32":
            message = "v_permlane64_b32 does nothing in a wave of 32"
            yield BEYOND.broken(inst, message, expected="code for waves of 32, or wave64")
        lane = inst.operands[2] if name in _BY_LANE else None
        if isinstance(lane, Imm) and isinstance(lane.value, int) and not 0 <= lane.value < LANES:
            message = f"lane {lane.value} of a wave of 32: wraps to lane {lane.value % LANES}"
            yield BEYOND.broken(inst, message, operand=2, expected=_EXPECTED, got=str(lane.value))
        if (named := _named(inst)) is not None:
            asked[i] = regset.mask([named[0], EXEC_LO])
    if not asked:
        return
    wanted = needed.of(cfg, chains, f.values.lanes, asked, f.hopeful)
    unread = {i for i in asked if not any(chains.uses_of(i, reg) & wanted.run for reg in regset.members(cfg.defs[i]))}
    wanted = replace(wanted, run=wanted.run - unread)
    rows = threads // LANES if threads is not None and threads % LANES == 0 else 1
    shape = (LANES, rows, 1) if dimensions > 1 else (threads or 2 * LANES, 1, 1)
    start = Start(shape, dimensions > 1, sizes if threads is not None else NOWHERE)
    alike = _alike(cfg, chains, asked)
    question, positions = Question.of(cfg, chains, wanted, alike, (), start)
    found: dict[int, _Lanes] = {}
    Explorer(question, partial(_watch, cfg, chains, [alike.get(i, []) for i in positions], found, {})).run()
    by_cause: dict[object, list[Finding]] = {}
    for position, lanes in sorted(found.items()):
        named = _named(cfg.instructions[position])
        assert named is not None
        finding = _wrong(cfg.instructions[position], named[1], lanes)
        by_cause.setdefault((finding.id, finding.message, named, chains.defs_of(position, named[0])), []).append(
            finding
        )
    for together in by_cause.values():
        yield causes.one(together, f"{_EXPECTED} in what names it")


def _named(inst: Instruction) -> tuple[Reg, int] | None:
    """The register that names a lane, and in how many bytes of an address a lane is counted."""
    if inst.desc.name in _BY_LANE:
        reg, unit = register(inst.operands[2]), 1
    elif inst.desc.name in _BY_BYTE:
        reg, unit = register(inst.operands[1]), 4
    else:
        return None
    return (reg, unit) if reg is not None and not reg.is_null else None


def _alike(cfg: Cfg, chains: DefUse, asked: Iterable[int]) -> dict[int, list[int]]:
    """Positions of which each stands for itself and those after it in its block that name lanes by what the same
    registers hold, and add the same."""
    found: dict[int, list[int]] = {}
    firsts: dict[object, int] = {}
    for i in sorted(asked):
        inst, named = cfg.instructions[i], _named(cfg.instructions[i])
        assert named is not None
        none = frozenset((i,))  # one that does not read EXEC stands alone
        made = tuple(chains.reaching_at(i, regset.bit(unit)) or none for unit in (named[0], EXEC_LO))
        key = cfg.block_of(i).index, *named, inst.offset if named[1] == 4 else 0, made
        first = firsts.setdefault(key, i)
        if any(first <= site < i for sites in made for site in sites):
            first = firsts[key] = i
        found.setdefault(first, []).append(i)
    return found


@dataclass(frozen=True)
class _Lanes:
    """What the lanes that are on name. first: the first of them that names a lane beyond the wave, and the lane that it
    names, None where none does; own: whether each of several names itself."""

    count: int
    beyond: int
    first: tuple[int, int] | None
    own: bool


_Seen = dict[tuple[object, ...], tuple[object, _Lanes | None]]
"""What lanes saw, by the numbers' ids, so these are kept; and what they name, None where that is not known."""


def _watch(
    cfg: Cfg, chains: DefUse, alike: list[list[int]], found: dict[int, _Lanes], known: _Seen, number: int,
    machine: WorkgroupMachine,
) -> None:  # fmt: skip
    """What the lanes of the first wave name there, where that is wrong. alike: by number, the positions that it is
    asked for."""
    inst = cfg.instructions[alike[number][0]]
    named = _named(inst)
    assert named is not None
    (reg, unit), offset = named, inst.offset if named[1] == 4 else 0
    who, blind, *seen = machine.sight(reg)
    key = (reg.file, reg.index, unit, offset, who, blind, *map(id, seen))
    if key not in known:
        known[key] = seen, _lanes(machine, reg, unit, offset)
    lanes = known[key][1]
    if lanes is None or not (lanes.beyond or lanes.own):
        return
    for position in alike[number]:
        if not (position in found and _beyond(found[position])) and (lanes.beyond or _added(cfg, chains, position)):
            found[position] = lanes


def _lanes(machine: WorkgroupMachine, reg: Reg, unit: int, offset: int) -> _Lanes | None:
    lanes_on = machine.first_wave()
    on = lanes_on if unit == 4 else np.arange(LANES) == 0
    held, known = machine.operand(reg)
    if not lanes_on.any() or not known[on].all():
        return None
    who, lanes = np.nonzero(on)[0], (held[on].astype(np.uint32).view(np.int32) + offset) // unit
    beyond = (lanes < 0) | (lanes >= LANES)
    at = int(np.argmax(beyond))
    first = (int(who[at]), int(lanes[at])) if beyond[at] else None
    return _Lanes(len(lanes), int(beyond.sum()), first, unit == 4 and len(lanes) > 1 and bool((lanes == who).all()))


def _beyond(lanes: _Lanes) -> bool:
    """Whether that is a fault."""
    return lanes.own or lanes.beyond == lanes.count


def _wrong(inst: Instruction, unit: int, lanes: _Lanes) -> Finding:
    if lanes.first is None:
        return BEYOND.broken(
            inst, "each lane names itself, and the sum counts its value twice: a step beyond the wave",
            operand=1, expected="another lane of the wave", got="the lane's own number",
            hint=_HINT,
        )  # fmt: skip
    who, lane = lanes.first
    rule, how_many = (BEYOND, "all lanes") if _beyond(lanes) else (SOME, f"{lanes.beyond} of {lanes.count} lanes")
    return rule.broken(
        inst, f"lane {lane} of a wave of 32: wraps to lane {lane % LANES}",
        operand=2 if unit == 1 else 1, expected=_EXPECTED,
        got=f"{how_many} that are on name such a one; lane {who} names {lane}" if unit == 4 else str(lane),
        hint=_HINT,
    )  # fmt: skip


def _added(cfg: Cfg, chains: DefUse, position: int) -> bool:
    """Whether a shuffle's result is added to what it is of."""
    inst = cfg.instructions[position]
    result, data = register(inst.operands[0]), register(inst.operands[2])
    if result is None or data is None:
        return False
    return any(
        any(
            "add" in base_name(half.mnemonic) and {result, data} <= half.reads()
            for half in cfg.instructions[use].halves
        )
        and (data == result or chains.defs_of(use, data) == chains.defs_of(position, data))
        for use in chains.uses_of(position, result)
    )
