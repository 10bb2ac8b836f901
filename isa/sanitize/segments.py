"""Which registers must be ready where: blocks -> segments, each with its registers as one table.

A segment is a run of instructions of a block in which readiness changes in one way only: what its instructions write
becomes ready. So all its registers are looked at together, where it begins: a register that it reads before it writes
it must be ready there, and one that it writes must not be in flight. A new segment begins after a wait, and where an
instruction touches a register that a load of the same segment fills. EXEC changes only at the end of a block.

Not asked for are registers that an instruction only keeps a part of: a 16-bit result leaves the other half of its
register alone, DPP leaves lanes alone, and compilers let both hold anything.

Of a VGPR that is named as `v3.l` or `v3.h`, or that an access of 16 bits touches, the entry says which half: the other
one may be in flight (`isa.semantics.halves`). Whether anybody wrote it is known of whole registers only.

Nor is it a fault to move what was never written: a function saves registers of its caller that hold nothing, and a
select may leave its other source alone. So a store to scratch asks for nothing, and of these the result holds something
where the source does:

    s_mov, v_mov                       each register of the source
    s_cselect, v_cndmask               either source
    v_writelane, v_readlane            by constant lanes, in which the SGPRs of functions are kept: the lane
    v_mad_u64_u32, left shifts of 64   the high half of the source says nothing about the low half of the result; the
                                       high half of the result holds something if it does

An instruction of the last kind is a segment of its own. A mask of lanes may begin as anything, too: s_or_b32 and
s_and_not1_b32 with EXEC set the bits of the lanes that are on, and the others are never used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import regset
from isa.asm.program import Imm, Instruction, Operand
from isa.instructions import lookup
from isa.registers import EXEC, EXEC_LO, SGPR_LIMIT, Reg
from isa.sanitize.state import (
    ALSO,
    ANY_LANE,
    EVERY_LANE,
    HALVES_SHIFT,
    LANE_SHIFT,
    MAY_BE_EMPTY,
    SOURCE_SHIFT,
    UNIT_MASK,
    WRITES,
)
from isa.semantics import halves
from isa.semantics.describe import IMPLICIT, Description, Role, replaces
from isa.semantics.halves import LOW_FREE_OF_HIGH, unread_high
from isa.semantics.waits import parse_wait
from isa.sim.cfg import Block

_CHOICES = {
    **dict.fromkeys(("s_cselect_b32", "s_cselect_b64", "v_cndmask_b32", "v_cndmask_b16"), (1, 2)),
    **dict.fromkeys(("v_readlane_b32", "v_writelane_b32"), (1,)),
}
"""What chooses a value: the operands that the result may be. Operand 0 is the result."""
_SETS_LANES = {"s_or_b32": (1, 2), "s_and_not1_b32": (2,)}
"""What sets a mask's bits of lanes that are on, where one of these operands is EXEC."""
_LANE_OPERAND = 2  # of v_readlane_b32, v_writelane_b32
_EXEC = frozenset(regset.bit(reg) for reg in EXEC.units())


@dataclass(frozen=True)
class Segment:
    """`number`: of its first instruction; `entries`: reads and writes in their order, as `state` encodes them."""

    number: int
    entries: tuple[int, ...]

    @property
    def units(self) -> int:
        """All registers as the bits of `regset`."""
        bits = 0
        for entry in self.entries:
            bits |= 1 << (entry & UNIT_MASK)
        return bits


def first(
    instructions: Sequence[Instruction], number: int, unit: int, *, writes: bool, moves: bool = True, parts: int = 0
) -> Instruction:
    """The first instruction of a segment that reads (writes) a register. number: the segment's, in the code; moves:
    whether one counts that lets it be empty; parts: of which halves, 0 for any."""
    for inst in instructions[number:]:
        for entry in _entries(inst):
            these = entry >> HALVES_SHIFT & halves.BOTH
            same = entry & UNIT_MASK == unit and (not parts or not these or bool(these & parts))
            if same and bool(entry & WRITES) == writes and (moves or not entry & MAY_BE_EMPTY):
                return inst
    return instructions[number]


_LAST = {"v": 256, "s": 256 + SGPR_LIMIT}


def segments_of(blocks: Sequence[Block], numbers: Mapping[int, int]) -> dict[int, Segment]:
    """Address of a segment's first instruction -> segment. numbers: address of an instruction -> its place in the
    code."""
    found: dict[int, Segment] = {}
    for block in blocks:
        for run in _runs(block.instructions):
            entries: list[int] = []
            asked: dict[int, set[int]] = {}  # by register: how it was asked for since a move wrote it
            written: dict[int, int] = {}
            for inst in run:
                mine = list(_entries(inst))
                for entry in (e for e in mine if not e & WRITES):
                    unit = entry & UNIT_MASK
                    if written.get(unit, 0) >> SOURCE_SHIFT or unit not in written:
                        if entry not in asked.setdefault(unit, set()):
                            entries.append(entry)
                        asked[unit].add(entry)
                for entry in (e for e in mine if e & WRITES):
                    unit = entry & UNIT_MASK
                    if entry >> SOURCE_SHIFT or written.get(unit) != entry:
                        entries.append(entry)
                        asked.pop(unit, None)
                    if not entry >> HALVES_SHIFT & halves.BOTH:  # what is written in part is asked for
                        written[unit] = entry
            if entries:
                address = run[0].address
                assert address is not None
                found[address] = Segment(numbers[address], tuple(entries))
    return found


def _runs(instructions: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    run: list[Instruction] = []
    loading: set[int] = set()
    waited = False
    alone = False
    for inst in instructions:
        touched = {entry & UNIT_MASK for entry in _entries(inst)}
        before, alone = alone, inst.desc.name in LOW_FREE_OF_HIGH
        if run and (alone or before or (waited and touched) or touched & loading):
            yield run
            run, loading, waited = [], set(), False
        run.append(inst)
        waited = waited or bool(parse_wait(inst))
        if (reg := fills(inst)) is not None:
            loading |= {regset.bit(u) for u in reg.units()}
    if run:
        yield run


def fills(inst: Instruction) -> Reg | None:
    """The registers that a memory instruction fills when it completes."""
    if not inst.counters:
        return None
    for role, operand in inst.desc.roles_of(inst):
        if role.written and isinstance(operand, Reg) and not operand.is_null:
            return operand
    return None


_LANES = frozenset({"v_readlane_b32", "v_writelane_b32"})


def _sources(desc: Description) -> tuple[int, ...]:
    """Of an instruction that only moves values, its operands that the result may be one of."""
    return (1,) if desc.copies else _CHOICES.get(desc.name, ())


def _moved(desc: Description, rows: Sequence[tuple[Role, Operand]]) -> list[list[int]] | None:
    """Of an instruction that only moves values, the numbers of each source's registers: of none, where one of them is
    a constant, which always holds something. None for any other instruction."""
    numbers = _sources(desc)
    if not numbers or (desc.name in _LANES and not _lane(rows[_LANE_OPERAND][1])):
        return None
    sources = [rows[number][1] for number in numbers]
    if any(not isinstance(o, Reg) or o.is_null or regset.bit(o.sub(0)) in _EXEC for o in sources):
        return []
    return [[regset.bit(unit) for unit in o.units()] for o in sources if isinstance(o, Reg)]


def _lane(operand: Operand) -> int:
    """A lane that is a constant, as an entry has it; 0 for any other."""
    number = operand.value if isinstance(operand, Imm) else None
    return ((number & 31) + 1) << LANE_SHIFT if isinstance(number, int) else 0


def _moves(write: int, sources: Sequence[int]) -> Iterator[int]:
    """A write of one of these. The register itself comes first: it is looked at before it changes."""
    unit = write & UNIT_MASK
    for i, source in enumerate(sorted(sources, key=lambda source: source != unit)):
        yield write | (source + 1) << SOURCE_SHIFT | (ALSO if i else 0)


def _entries(inst: Instruction) -> Iterator[int]:
    """How one instruction touches registers; what a load fills is not among them."""
    desc = inst.desc
    across = ANY_LANE if inst.dpp or regset.across_lanes(inst) else 0
    saves = MAY_BE_EMPTY if desc.access is not None and desc.access.space == "scratch" else 0
    for half in inst.halves:
        entry = lookup(half)
        rows = entry.roles_of(half)
        free = unread_high(half)
        source = -1 if free is None else regset.bit(free)
        moved = None if inst.dpp else _moved(entry, rows)
        masks = any(rows[n][1] == EXEC_LO for n in _SETS_LANES.get(entry.name, ()))
        lane = _lane(rows[_LANE_OPERAND][1]) if moved is not None and entry.name in _LANES else 0
        for number, (role, operand) in enumerate(rows):
            reg = getattr(operand, "operand", operand)
            if not isinstance(reg, Reg) or reg.is_null:
                continue
            if number in entry.relative:  # any register from there on
                last = _LAST[reg.file] if role.written else 0
                yield from (bit | WRITES for bit in range(regset.bit(reg), last))
                continue
            may_be_empty = MAY_BE_EMPTY if masks or (moved is not None and number in _sources(entry)) else 0
            one_lane = lane if reg.is_vgpr else 0
            narrow = reg.is_vgpr and (reg.half or half.desc.access is not None)
            for place, unit in enumerate(reg.units()):
                bit = regset.bit(unit)
                if bit in _EXEC:
                    continue
                touched = halves.touched(half, unit) if narrow else (0, 0)
                parts = [part % halves.BOTH << HALVES_SHIFT for part in touched]
                if role.read and not (role.written and (entry.keeps_rest or replaces(half))):
                    empty = MAY_BE_EMPTY if bit == source else may_be_empty
                    empty |= saves if role.kind == "v" else 0
                    yield bit | (0 if lane else across) | empty | one_lane | parts[0]
                if role.written and not inst.counters:
                    write = bit | WRITES | (EVERY_LANE if entry.ignores_exec else 0) | lane | parts[1]
                    if moved:
                        yield from _moves(write, [s[place] for s in moved])
                    else:
                        yield write | ((source + 1) << SOURCE_SHIFT if role.type[1:] == "64" and place == 1 else 0)
    for names, flag in ((desc.implicit_reads, 0), (desc.implicit_writes, WRITES)):
        for name in names:
            for reg in IMPLICIT[name].units() if name in IMPLICIT else ():
                if regset.bit(reg) not in _EXEC:
                    yield regset.bit(reg) | flag
