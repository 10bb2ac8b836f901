"""Readiness checks: blocks -> segments, each with the registers that its instructions read or overwrite.

A segment is a run of instructions of a block in which readiness changes in one way only: what its instructions write
becomes ready. So all its registers are looked at together, where it begins: a register that it reads before it writes
it must be ready there, and one that it writes must not be in flight. A new segment begins after a wait, and where an
instruction touches a register that a load of the same segment fills. EXEC changes only at the end of a block.

Not asked for are registers that an instruction only keeps a part of: a 16-bit result leaves the other half of its
register alone, DPP leaves lanes alone, and compilers let both hold anything.

Of a VGPR of which an instruction touches one half the entry says which: the other one may be in flight, and stays as it
is (`isa.semantics.halves`).

Nor is it a fault to put elsewhere what was never written, or to compute with it what then is not used: structures have
padding and members that nobody set, a function saves registers of its caller, and compilers move comparisons up. So
what the result holds follows, byte by byte, from what the sources hold:

    s_mov, v_mov                       each byte of the source
    s_cselect, v_cndmask               the source that the mask chooses
    v_writelane, v_readlane            by constant lanes, in which the SGPRs of functions are kept: the lane; of
                                       a mask of lanes all, where some bit is known
    lanes of others (permlane, DPP moves, ds_bpermute): what any lane holds
    masks, shifts, permutations, sums  as `isa.semantics.byte_flow` has it; such a mask computes only with a register in
                                       which no byte holds anything
    v_mad_u64_u32, left shifts of 64   the high half of the source says nothing about the low half of the result; the
                                       high half of the result holds something if it does
    AND, OR ... of SGPRs               bit by bit, by their values (`hooks/registers.c`)
    comparisons                        in a mask the bits of lanes whose sources hold something
    others                             nothing in lanes in which a source lacks a byte that its type names

Branches, addresses, EXEC and what atomics take are uses. A store gives to memory what its data hold; whether it is a
use is decided where it is known which memory that is (`hooks/bytes.c`).

All of this is followed where each instruction is a segment; otherwise such a read only says that it must be. There an
instruction with a free half is a segment of its own, and a mask of lanes may begin as anything: s_or_b32 and
s_and_not1_b32 with EXEC set the bits of the lanes that are on, and the others are never used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import regset
from isa.registers import EXEC, EXEC_LO, SCC, SGPR_LIMIT, Reg
from isa.sanitize.state import (
    ALSO,
    AND,
    ANY_LANE,
    BY_LANE,
    CARRIES,
    CHOSEN,
    DECIDES,
    EVERY_LANE,
    FLOWS,
    GIVES,
    HALVES_SHIFT,
    INVERTED,
    LANE_SHIFT,
    LOGIC_SHIFT,
    MAY_BE_EMPTY,
    NAND,
    NEEDS_SHIFT,
    NOR,
    ONLY_SINGLE,
    OR,
    PLACE_SHIFT,
    PLAIN,
    ROWS_SHIFT,
    SECOND,
    SHUFFLED,
    SOURCE_SHIFT,
    UNCHOSEN,
    UNIT_MASK,
    WITH,
    WRITES,
    XOR,
)
from isa.semantics import byte_flow, halves
from isa.semantics.halves import LOW_FREE_OF_HIGH, unread_high
from isa.semantics.instruction import (
    IMPLICIT,
    Description,
    Imm,
    Instruction,
    Operand,
    Role,
    bare,
    bit_width,
    lookup,
    replaces,
)
from isa.semantics.waits import parse_wait
from isa.sim.translate.cfg import Block

BY_LANE_NUMBER = ("v_readlane_b32", "v_writelane_b32")
"""Instructions that name a lane by its number, which is operand LANE_OPERAND."""
LANE_OPERAND = 2
_CHOICES = {
    **dict.fromkeys(("s_cselect_b32", "s_cselect_b64", "v_cndmask_b32", "v_cndmask_b16"), (1, 2)),
    **dict.fromkeys(BY_LANE_NUMBER, (1,)),
}
"""What chooses a value: the operands that the result may be. Operand 0 is the result."""
_SETS_LANES = {"s_or_b32": (1, 2), "s_and_not1_b32": (2,)}
"""What sets a mask's bits of lanes that are on, where one of these operands is EXEC."""
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


def first(instructions: Sequence[Instruction], number: int, unit: int, *, writes: bool, parts: int = 0) -> Instruction:
    """The first instruction of a segment that reads (writes) a register. number: the segment's, in the code; parts: of
    which halves, 0 for any."""
    for inst in instructions[number:]:
        for entry in _entries(inst, {}):
            these = entry >> HALVES_SHIFT & halves.BOTH
            same = entry & UNIT_MASK == unit and (not parts or not these or bool(these & parts))
            if same and bool(entry & WRITES) == writes:
                return inst
    return instructions[number]


_LAST = {"v": 256, "s": 256 + SGPR_LIMIT}


def segments_of(blocks: Sequence[Block], numbers: Mapping[int, int], *, single: bool = False) -> dict[int, Segment]:
    """Address of a segment's first instruction -> segment. numbers: address of an instruction -> its place in the
    code; single: each instruction is one."""
    found: dict[int, Segment] = {}
    entries_of = _entries if single else _plain_entries
    everywhere = _constants([i for b in blocks for i in b.instructions])
    for block in blocks:
        known = dict(everywhere)
        touched = {}
        for inst in block.instructions:
            touched[inst.address] = list(entries_of(inst, known))
            _follow(inst, known)
        for run in _runs(block.instructions, touched, single):
            entries: list[int] = []
            asked: dict[int, set[int]] = {}  # by register: how it was asked for since a move wrote it
            written: dict[int, int] = {}
            for inst in run:
                mine = touched[inst.address]
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


def _constants(instructions: Sequence[Instruction]) -> dict[Reg, int]:
    """SGPRs that hold one constant wherever they were written."""
    found: dict[Reg, int | None] = {}
    for inst in instructions:
        set_ = _set(inst)
        for reg in inst.writes():
            if reg.file == "s":
                found[reg] = set_.get(reg) if reg not in found or found[reg] == set_.get(reg) else None
    return {reg: value for reg, value in found.items() if value is not None}


def _follow(inst: Instruction, known: dict[Reg, int]) -> None:
    for reg in inst.writes():
        known.pop(reg, None)
    known.update(_set(inst))


def _set(inst: Instruction) -> dict[Reg, int]:
    """The constants that an instruction moves to registers."""
    found = {}
    for half in inst.halves:
        desc = lookup(half)
        if not half.dpp and (desc.copies >= 32 or desc.name == "s_movk_i32"):
            target, value = half.operands[0], half.operands[1]
            if isinstance(target, Reg) and isinstance(value, Imm) and isinstance(value.value, int):
                found.update({unit: value.value >> 32 * i & 0xFFFFFFFF for i, unit in enumerate(target.units())})
    return found


def _runs(
    instructions: Sequence[Instruction], entries: Mapping[int | None, Sequence[int]], single: bool
) -> Iterator[list[Instruction]]:
    run: list[Instruction] = []
    loading: set[int] = set()
    waited = False
    alone = False
    for inst in instructions:
        touched = {entry & UNIT_MASK for entry in entries[inst.address]}
        before, alone = alone, single or inst.desc.name in LOW_FREE_OF_HIGH
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


_OF_OTHERS = frozenset(
    {"v_readlane_b32", "v_readfirstlane_b32", "v_permlane16_b32", "v_permlanex16_b32", "v_permlane64_b32"}
)
"""Moves of what another lane holds; a move with DPP is one, too."""
_SHUFFLES = frozenset({"ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"})
_SAME = (1, 2, 4, 8)
_FOLLOWED = {"puts": MAY_BE_EMPTY, "masks": CARRIES, "computes": FLOWS}
"""How an instruction reads what `byte_flow` follows."""


def _sources(desc: Description) -> tuple[int, ...]:
    """Of an instruction that only moves values, its operands that the result may be one of."""
    return (1,) if desc.copies or desc.name in _OF_OTHERS else _CHOICES.get(desc.name, ())


def _moved(half: Instruction, desc: Description, rows: Sequence[tuple[Role, Operand]]) -> list[Reg | None] | None:
    """Of an instruction that only moves values, its sources: None for a constant, which always holds something. None
    for any other instruction."""
    numbers = _sources(desc)
    if not numbers or (half.dpp and not desc.copies) or (desc.name == "v_writelane_b32" and not _lane(rows)):
        return None
    sources = [bare(rows[number][1]) for number in numbers]
    return [o if isinstance(o, Reg) and not o.is_null and regset.bit(o.sub(0)) not in _EXEC else None for o in sources]


def _chosen(
    half: Instruction, entry: Description, rows: Sequence[tuple[Role, Operand]], write: int, unit: Reg, place: int,
    sources: Sequence[Reg | None],
) -> Iterator[int]:  # fmt: skip
    """The writes of what is one of these values. A mask's ones choose the second; of scalars SCC the first."""
    joins = ALSO if write & ANY_LANE and unit.is_vgpr else 0
    which = [(UNCHOSEN, CHOSEN), (CHOSEN, UNCHOSEN)][not unit.is_vgpr] if len(sources) == 2 else (0,)
    parts = [(part, by) for part, by in zip(_same(half, unit, place, sources), which, strict=True) if part is not None]
    constant = next((by for source, by in zip(sources, which, strict=True) if source is None), None) if parts else 0
    for i, (part, by) in enumerate(sorted(parts, key=lambda row: row[0].source != unit)):
        rows_ = sum(row << 4 * n for n, row in enumerate(part.rows))
        also = ALSO if i else joins
        yield write | (regset.bit(part.source) + 1) << SOURCE_SHIFT | rows_ << ROWS_SHIFT | also | by
    if constant is not None:
        yield write & ~ANY_LANE | constant


def _lane(rows: Sequence[tuple[Role, Operand]]) -> int:
    """A lane that is a constant, as an entry has it; 0 for any other."""
    operand = rows[LANE_OPERAND][1]
    number = operand.value if isinstance(operand, Imm) else None
    return ((number & 31) + 1) << LANE_SHIFT if isinstance(number, int) else 0


def _made(write: int, unit: Reg, parts: Sequence[byte_flow.Part], joins: int) -> Iterator[int]:
    """A write of what these are. The register itself comes first: it is looked at before it changes. joins: what
    holds for all after the first."""
    for i, part in enumerate(sorted(parts, key=lambda part: part.source != unit)):
        rows = sum(row << 4 * n for n, row in enumerate(part.rows))
        yield write | (regset.bit(part.source) + 1) << SOURCE_SHIFT | rows << ROWS_SHIFT | (joins if i else 0)


def _in_order(writes: Mapping[Reg, list[int]]) -> Iterator[int]:
    """Each register is written when it is no source of another one any more, if that can be."""
    left = dict(writes)
    while left:
        needs = {
            unit: {(e >> SOURCE_SHIFT & UNIT_MASK) - 1 for other, es in left.items() if other != unit for e in es}
            for unit in left
        }
        unit = next((u for u in left if regset.bit(u) not in needs[u]), next(iter(left)))
        yield from left.pop(unit)


def _plain_entries(inst: Instruction, constants: Mapping[Reg, int]) -> Iterator[int]:
    """The same without what is only asked for where each instruction is a segment."""
    for entry in _entries(inst, constants):
        if entry & UNIT_MASK not in _EXEC:
            yield entry & ~ONLY_SINGLE


def _entries(inst: Instruction, constants: Mapping[Reg, int]) -> Iterator[int]:
    """How one instruction touches registers; what a load fills is not among them."""
    desc = inst.desc
    across = ANY_LANE if inst.dpp or regset.across_lanes(inst) else 0
    decides = DECIDES if inst.counters or desc.access or desc.is_branch or desc.effect or desc.relative else 0
    reads: list[int] = []
    writes: dict[Reg, list[int]] = {}
    for half, second in zip(inst.halves, (0, SECOND), strict=False):
        entry = lookup(half)
        rows = entry.roles_of(half)
        free = unread_high(half)
        source = -1 if free is None else regset.bit(free)
        moved = _moved(half, entry, rows)
        masks = any(rows[n][1] == EXEC_LO for n in _SETS_LANES.get(entry.name, ()))
        logic = _logic(entry.name, [bare(operand) for _, operand in rows])
        flow = byte_flow.flow(half, constants) if moved is None and not masks and logic is None else None
        taken = {p.source for parts in flow.parts.values() for p in parts} if flow is not None else set()
        lane = _lane(rows) if moved is not None and entry.name in BY_LANE_NUMBER else 0
        others = ANY_LANE if moved and (half.dpp or (entry.name in _OF_OTHERS and not lane)) else 0
        given = _given(half)
        all_lanes = ANY_LANE if across or desc.crosses_lanes else 0
        if logic is not None:
            reads += (bit | how << LOGIC_SHIFT | MAY_BE_EMPTY * masks | second for bit, how in logic.operands)
        for number, (role, operand) in enumerate(rows):
            reg = bare(operand)
            if not isinstance(reg, Reg) or reg.is_null:
                continue
            if number in entry.relative:  # any register from there on
                last = _LAST[reg.file] if role.written else 0
                reads += (bit | WRITES for bit in range(regset.bit(reg), last))
                continue
            may_be_empty = MAY_BE_EMPTY if masks or (moved is not None and number in _sources(entry)) else 0
            one_lane = lane if reg.is_vgpr else 0
            needs = byte_flow.needed(half, number, role, operand)
            mask = second | (BY_LANE if role.kind == "m" else 0)
            for place, unit in enumerate(reg.units()):
                bit = regset.bit(unit)
                if bit in _EXEC and not (bit == regset.bit(EXEC_LO) and role.written):
                    continue
                touched = halves.touched(half, unit) if reg.is_vgpr else (0, 0)
                parts = [part % halves.BOTH << HALVES_SHIFT for part in touched]
                kept = role.written and (entry.keeps_rest or replaces(half))
                asked = logic is None and (flow is None or unit in taken or role.written)
                if role.read and not kept and asked and bit not in _EXEC:
                    how = MAY_BE_EMPTY if bit == source else may_be_empty
                    if number in given:
                        how |= GIVES | given[number] + place << PLACE_SHIFT
                    elif flow is not None and unit in taken:
                        how |= _FOLLOWED[flow.kind]
                    elif entry.name in _SHUFFLES and number == len(rows) - 1:
                        how |= SHUFFLED
                    elif not how:
                        how |= decides
                    reads.append(
                        bit | (0 if lane else across) | how | one_lane | parts[0] | needs << NEEDS_SHIFT | mask
                    )
                if role.written and not inst.counters:
                    write = bit | WRITES | (EVERY_LANE if entry.ignores_exec else 0) | lane | parts[1] | mask
                    if moved is not None:
                        writes[unit] = list(_chosen(half, entry, rows, write | others, unit, place, moved))
                    elif flow is not None and unit in flow.parts:
                        writes[unit] = list(_made(write, unit, flow.parts[unit], WITH)) or [write]
                    elif role.type[1:] == "64" and place == 1 and free is not None:
                        writes[unit] = list(_made(write, unit, [byte_flow.Part(unit, free, _SAME)], 0))
                    elif logic is not None and not logic.saves:
                        writes[unit] = [write | logic.result << LOGIC_SHIFT]
                    else:
                        writes[unit] = [write | all_lanes]
        if flow is not None and "scc" in entry.implicit_writes:
            every = [p for parts in flow.parts.values() for p in parts]
            whole = [byte_flow.Part(SCC, p.source, (_any(p.rows),) * 4) for p in every]
            writes[SCC] = list(_made(regset.bit(SCC) | WRITES, SCC, whole, WITH))
    yield from reads
    by_lane = BY_LANE if desc.is_valu or desc.is_branch or "s_cselect" in desc.name else 0
    for name in desc.implicit_reads:
        for reg in IMPLICIT[name].units() if name in IMPLICIT else ():
            if regset.bit(reg) not in _EXEC:
                yield regset.bit(reg) | by_lane | decides
    yield from _in_order(writes)
    result = logic.result << LOGIC_SHIFT if logic is not None else 0
    for name in desc.implicit_writes:
        for reg in IMPLICIT[name].units() if name in IMPLICIT else ():
            bit = regset.bit(reg)
            if reg not in writes and (bit not in _EXEC or reg == EXEC_LO):
                yield bit | WRITES | result | (BY_LANE if desc.is_valu else 0)


@dataclass(frozen=True)
class _Logic:
    """A bitwise instruction of masks: (register's number, PLAIN or INVERTED) of its operands, what it does with them,
    and whether its explicit result is EXEC as it was."""

    operands: tuple[tuple[int, int], ...]
    result: int
    saves: bool


_BITWISE = re.compile(r"s_(not|and|or|xor|nand|nor|xnor|(?:and|or)_not[01])(_saveexec|_wrexec)?_b32")
_RESULTS = {"and": AND, "or": OR, "nand": NAND, "nor": NOR}


def _logic(name: str, operands: Sequence[Operand]) -> _Logic | None:
    """None for others, and where an operand of AND or OR is a constant: there `byte_flow` knows as much."""
    m = _BITWISE.fullmatch(name)
    if m is None:
        return None
    kind, _, inverted = m[1].partition("_not")
    sources = [*operands[1:], *([EXEC_LO] if m[2] else [])]
    found = []
    for number, operand in enumerate(sources):
        if isinstance(operand, Reg) and not operand.is_null:
            found.append((regset.bit(operand), INVERTED if inverted == str(number) else PLAIN))
    result = _RESULTS.get(kind, XOR)
    if not found or (result != XOR and len(found) < len(sources)):
        return None
    return _Logic(tuple(found), result, m[2] == "_saveexec")


def _any(rows: Sequence[int]) -> int:
    found = 0
    for row in rows:
        found |= row
    return found


def _same(half: Instruction, unit: Reg, place: int, sources: Sequence[Reg | None]) -> Iterator[byte_flow.Part | None]:
    """A register of a result that is one of these, and of 16 bits one of their halves; None of a constant."""
    entry = lookup(half)
    short = bit_width(entry.roles[0].type) < 32
    to = 2 if short and halves.touched(half, unit)[1] == halves.HIGH else 0
    for number, source in zip(_sources(entry), sources, strict=True):
        rows = _SAME
        if short and source is not None:
            first = byte_flow.needed(half, number, entry.roles[number], source) & 0x5
            rows = (0, 0, first, first << 1) if to else (first, first << 1, 0, 0)
        yield byte_flow.Part(unit, source.sub(place), rows) if source is not None else None


def _given(half: Instruction) -> dict[int, int]:
    """The data of a store: number of an operand -> its first register's place among them."""
    access = half.desc.access
    if access is None or access.kind != "store":
        return {}
    addresses, found, place = half.desc.address_of(half), {}, 0
    for number, (role, operand) in enumerate(half.desc.roles_of(half)):
        reg = bare(operand)
        if role.read and isinstance(reg, Reg) and role.kind == "v" and not any(operand is a for a in addresses):
            found[number] = place
            place += reg.count
    return found


def parts_of_copies(blocks: Sequence[Block]) -> frozenset[int]:
    """The addresses of stores that touch or overlap another one of their block, with the same address registers: pieces
    in which compilers store a structure. What a piece holds may be padding, all of it."""
    found: set[int] = set()
    for block in blocks:
        written: dict[Reg, int] = {}
        pieces: dict[object, list[tuple[int, int, int]]] = {}  # by base: offset, end, which store
        for number, inst in enumerate(block.instructions):
            access = inst.desc.access
            if access is not None and access.kind == "store" and inst.address is not None:
                base = [bare(operand) for operand in inst.desc.address_of(inst)]
                units = [unit for reg in base if isinstance(reg, Reg) for unit in reg.units()]
                key = (*map(str, base), *(written.get(unit, -1) for unit in units))
                size = bit_width(access.element) // 8
                others = pieces.setdefault(key, [])
                for offset in inst.offsets:
                    for start, end, other in others:
                        if start <= offset + size and offset <= end:
                            found |= {inst.address, other}
                    others.append((offset, offset + size, inst.address))
            written.update(dict.fromkeys(inst.writes(), number))
    return frozenset(found)
