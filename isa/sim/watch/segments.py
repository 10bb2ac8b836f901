"""Which registers must be ready where: blocks -> segments, each with its registers as one table.

A segment is a run of instructions of a block in which readiness changes in one way only: what its instructions write
becomes ready. So all its registers are looked at together, where it begins: a register that it reads before it writes
it must be ready there, and one that it writes must not be in flight. A new segment begins behind a wait, and where an
instruction touches a register that a load of the same segment fills. EXEC changes only at the end of a block.

Not asked for are registers that an instruction only keeps a part of: a 16-bit result leaves the other half of its
register alone, DPP leaves lanes alone, and compilers let both hold anything. A store to scratch may save a register
that nobody wrote. The high half of a 64-bit source of a multiply-add or a left shift says nothing about the low half of
the result: the high half of the result holds something if it does. Such an instruction is a segment of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import regset
from isa.analysis.waits import parse_wait
from isa.describe import IMPLICIT, Description, Role, lookup
from isa.program import Instruction, Operand
from isa.registers import EXEC, SGPR_LIMIT, Reg
from isa.sim.cfg import Block
from isa.sim.watch.state import ANY_LANE, EVERY_LANE, MAY_BE_EMPTY, SOURCE_SHIFT, UNIT_MASK, WRITES

LOW_FREE_OF_HIGH = frozenset({"v_mad_u64_u32", "v_mad_i64_i32", "v_lshlrev_b64", "s_lshl_b64"})
_EXEC = frozenset(regset.bit(reg) for reg in EXEC.units())


@dataclass(frozen=True)
class Segment:
    """`number`: of its first instruction; `entries`: reads, then writes, as `state` encodes them."""

    number: int
    entries: tuple[int, ...]

    @property
    def units(self) -> int:
        """All registers as the bits of `regset`."""
        bits = 0
        for entry in self.entries:
            bits |= 1 << (entry & UNIT_MASK)
        return bits


def first(instructions: Sequence[Instruction], number: int, unit: int, *, writes: bool) -> Instruction:
    """The first instruction of a segment that reads (writes) a register. number: the segment's, in the code."""
    for inst in instructions[number:]:
        for entry in _entries(inst):
            if entry & UNIT_MASK == unit and bool(entry & WRITES) == writes:
                return inst
    return instructions[number]


_LAST = {"v": 256, "s": 256 + SGPR_LIMIT}


def segments_of(blocks: Sequence[Block], numbers: Mapping[int, int]) -> dict[int, Segment]:
    """Address of a segment's first instruction -> segment. numbers: address of an instruction -> its place in the
    code."""
    found: dict[int, Segment] = {}
    for block in blocks:
        for run in _runs(block.instructions):
            entries: dict[int, None] = {}
            written: set[int] = set()
            writes: dict[int, None] = {}
            for inst in run:
                mine = list(_entries(inst))
                for entry in mine:
                    if not entry & WRITES and entry & UNIT_MASK not in written:
                        entries[entry] = None
                for entry in mine:
                    if entry & WRITES:
                        writes[entry] = None
                        written.add(entry & UNIT_MASK)
            if entries or writes:
                address = run[0].address
                assert address is not None
                found[address] = Segment(numbers[address], (*entries, *writes))
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
    if not inst.desc.counters:
        return None
    for role, operand in inst.desc.roles_of(inst):
        if role.written and isinstance(operand, Reg) and not operand.is_null:
            return operand
    return None


def _keeps(desc: Description) -> bool:
    """Whether the destination is read only for what the instruction leaves alone: other lanes, the other half."""
    return desc.name == "v_writelane_b32" or (desc.access is not None and bool(desc.access.half))


def _high_source(rows: Sequence[tuple[Role, Operand]]) -> int:
    """The number of the high half of the 64-bit source; -1 where it is a constant."""
    for role, operand in rows:
        if role.read and role.type[1:] == "64" and isinstance(operand, Reg) and operand.count == 2:
            return regset.bit(operand.sub(1))
    return -1


def _entries(inst: Instruction) -> Iterator[int]:
    """How one instruction touches registers; what a load fills is not among them."""
    desc = inst.desc
    dpp = "dpp" in inst.mnemonic or any(name in ("quad_perm", "dpp8", "row_mask") for name, _ in inst.modifiers)
    across = ANY_LANE if dpp or regset.across_lanes(inst) else 0
    saves = MAY_BE_EMPTY if desc.access is not None and desc.access.space == "scratch" else 0
    for half in inst.halves:
        entry = lookup(half)
        rows = entry.roles_of(half)
        source = _high_source(rows) if entry.name in LOW_FREE_OF_HIGH else -1
        for number, (role, operand) in enumerate(rows):
            reg = getattr(operand, "operand", operand)
            if not isinstance(reg, Reg) or reg.is_null:
                continue
            if number in entry.relative:  # any register from there on
                last = _LAST[reg.file] if role.written else 0
                yield from (bit | WRITES for bit in range(regset.bit(reg), last))
                continue
            for place, unit in enumerate(reg.units()):
                bit = regset.bit(unit)
                if bit in _EXEC:
                    continue
                if role.read and not (role.written and _keeps(entry)):
                    yield bit | across | (saves if role.kind == "v" else MAY_BE_EMPTY if bit == source else 0)
                if role.written and not desc.counters:
                    after = (source + 1) << SOURCE_SHIFT if role.type[1:] == "64" and place == 1 else 0
                    yield bit | WRITES | (EVERY_LANE if entry.ignores_exec else 0) | after
    for names, flag in ((desc.implicit_reads, 0), (desc.implicit_writes, WRITES)):
        for name in names:
            for reg in IMPLICIT[name].units() if name in IMPLICIT else ():
                if regset.bit(reg) not in _EXEC:
                    yield regset.bit(reg) | flag
