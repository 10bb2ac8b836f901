"""Values: uninitialized registers that are read, values that are never read, unreachable code.

A register is given where the hardware or the runtime sets it before the first instruction: EXEC, M0 and the trap
registers, the user and system SGPRs that the descriptor asks for, and v0, which holds the work-item IDs (packed by ten
bits on gfx11; LLVM AMDGPUUsage, "Initial Kernel Execution State"). Anything else that a read can see from the entry was
never written on that path.

It is a fault where the first execution of the read is sure to see it: no write of the register reaches the read, or
only writes after the read itself (an accumulator that was never cleared). It is a note where a write reaches it on
other paths, and branches leave one without open (`isa.lint.paths`). What looks like a fault is asked again along the
paths that a lane can take (`isa.analysis.lane_view`).

Compilers leave undefined what does not matter, so these reads are none in earnest:

    a half that is kept    v_writelane_b32, the d16 loads
    lanes that are kept    s_or_b32 s2, s2, exec_lo and s_and_not1_b32 s3, s2, exec_lo set a mask for the lanes that are
                           on, as a vector write does
    a free high half       of the 64-bit source of a multiply-add or left shift whose high result is not computed with
    a copy                 that is not computed with; to scratch, as one register of several, it is followed no further
    a choice, a spill      in the first iteration: v_cndmask_b32 v2, v2, v3 in a loop, which fills v2 in some iteration;
                           a store of v2 to scratch there; what only such choices read: v_add_f32 v3, v2, v4 before it;
                           a comparison that s_and_b32 takes with a mask that is 0 at first
    padding                a store of several registers of which some are written; to scratch, of any: a spill takes
                           several stores for one value
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY, DefUse
from isa.display import number_of
from isa.errors import Finding
from isa.lint.functions import LintedFunction, Values
from isa.lint.names import called, register
from isa.lint.registry import RULES
from isa.registers import EXEC, EXEC_LO, M0, Reg
from isa.semantics.halves import unread_high
from isa.semantics.instruction import Description, Imm, Instruction

UNWRITTEN = RULES["VAL001"]
UNWRITTEN_SOMEWHERE = RULES["VAL002"]
UNREAD = RULES["VAL003"]
UNREACHABLE = RULES["VAL004"]

ALWAYS_GIVEN = regset.mask([EXEC, M0, Reg("s", 108, 16), Reg("v", 0)])
_EXEC = regset.mask([EXEC])
_CHOICES = frozenset({"v_cndmask_b32", "v_cndmask_b16", "s_cselect_b32"})


def findings(f: LintedFunction) -> Iterator[Finding]:
    """Reads of registers that are sure to hold nothing."""
    yield from _unwritten(f, sure=True)


def notes(f: LintedFunction) -> Iterator[Finding]:
    """Reads of registers that are uninitialized on some path, values that are never read, unreachable blocks."""
    yield from _unwritten(f, sure=False)
    live, cfg = f.values.live, f.values.live.cfg
    for i in cfg.where(lambda desc: (desc.is_valu or desc.is_salu) and not desc.effect):
        written = cfg.defs[i]
        if written and not written & _EXEC and not live.read_later(i) and i in cfg.reached:
            yield UNREAD.broken(
                cfg.instructions[i],
                f"{regset.names(written)} is never read",
                hint="remove it, or check which instruction was meant to read it",
            )
    for b in cfg.unreachable:
        block = cfg.blocks[b]
        yield UNREACHABLE.broken(
            cfg.instructions[block.start],
            f"no path from the entry leads here ({number_of(block.end - block.start, 'instruction')})",
            hint="remove it, or branch to it",
        )


def _unwritten(f: LintedFunction, *, sure: bool) -> Iterator[Finding]:
    values, chains, cfg = f.values, f.values.chains, f.flow
    reported: set[Reg] = set()
    for i, reg in chains.from_entry(values.given):
        inst = cfg.instructions[i]
        if reg in reported or reg not in _earnest(chains, i, sure):
            continue
        others = chains.defs_of(i, reg) - {ENTRY}
        here = cfg.block_of(i).index
        certain = all(_behind(cfg, i, here, at) for at in others) and not (others and reg in _passed_on(inst))
        if certain != sure or (not sure and reg.is_vgpr and not values.lanes.full[i]):
            continue
        if sure and not (values.narrowed.sees(i, (reg,), (ENTRY,)) and reg in _earnest(values.narrowed, i, sure)):
            continue
        if sure and others and _chosen_from(values.narrowed, i, reg):
            continue
        if not sure and f.left_open and not f.left_open().comes_to(here, _writing(values, others, reg)):
            continue
        reported.add(reg)
        rule = UNWRITTEN if sure else UNWRITTEN_SOMEWHERE
        yield rule.broken(
            inst,
            f"{called(inst)} reads {reg}, which nothing has written"
            + ("" if certain and not others else " in the first iteration" if certain else " on some path"),
            hint="write it first" if sure else "ignore this if that path is never taken",
        )


def _writing(values: Values, writes: Iterable[int], reg: Reg) -> frozenset[int]:
    """The blocks of those writes that fill a register in all lanes."""
    cfg, full = values.live.cfg, values.lanes.full
    whole = (i for i in writes if full[i] or not (reg.is_vgpr and cfg.instructions[i].desc.exec_masked))
    return frozenset(cfg.block_of(i).index for i in whole)


def _behind(cfg: Cfg, read: int, block: int, write: int) -> bool:
    """Whether a write can only run after the read has."""
    its = cfg.block_of(write).index
    return write >= read if its == block else cfg.dominates(block, its)


def _earnest(chains: DefUse, position: int, sure: bool) -> set[Reg]:
    """The registers whose value an instruction computes with, see the module's docstring. sure: where that is not
    certain they are left out."""
    inst = chains.cfg.instructions[position]
    found: set[Reg] = set()
    named: set[Reg] = set()
    for half in inst.halves:
        desc, rows = half.desc, half.desc.roles_of(half)
        result = next((reg for role, o in rows if role.written and (reg := register(o)) is not None), None)
        for role, operand in rows:
            reg = register(operand)
            if not role.read or reg is None:
                continue
            units = list(reg.units())
            named.update(units)
            access = desc.access
            if _keeps_lanes(half) or (role.written and desc.keeps_rest):
                continue
            if _copies(desc) and result is not None and not _wanted(chains, position, result.sub(0), sure):
                continue
            if (free := unread_high(half)) in units and result is not None:
                high = result.sub(result.count - 1)
                units = [u for u in units if u != free or _wanted(chains, position, high, sure)]
            if access is not None and access.kind == "store" and role.kind == "v" and len(units) > 1:
                none = all(chains.defs_of(position, u) == {ENTRY} for u in units)
                units = units if none and not _to_scratch(desc) else []
            found.update(units)
    return found | {reg for reg in inst.reads() - named if reg.file != "v"}


def _keeps_lanes(inst: Instruction) -> bool:
    """Whether it sets or clears the bits of a mask for the lanes that are on and keeps the others, as a vector write
    does: s_or_b32 s2, s2, exec_lo; s_and_not1_b32 s3, s2, exec_lo."""
    name, operands = inst.desc.name, inst.operands
    sets = name == "s_or_b32" and EXEC_LO in operands[1:]
    return operands[:1] != (EXEC_LO,) and (sets or (name == "s_and_not1_b32" and operands[2] == EXEC_LO))


def _copies(desc: Description) -> bool:
    """Whether it copies a register or a part of one."""
    return 0 < desc.copies <= 32


def _passed_on(inst: Instruction) -> set[Reg]:
    """The registers that an instruction only moves, chooses from or puts aside."""
    halves = [
        half for half in inst.halves if _copies(half.desc) or half.desc.name in _CHOICES or _to_scratch(half.desc)
    ]
    named = (register(operand) for half in halves for operand in half.operands[1:3])
    return {unit for reg in named if reg is not None for unit in reg.units()}


def _chosen_from(chains: DefUse, position: int, reg: Reg) -> bool:
    """Whether all that an instruction computes with a register is only chosen from, where no other value arrives, or is
    a mask of which nothing is left the first time."""
    insts = chains.cfg.instructions
    inst = insts[position]
    results = [
        unit
        for half in inst.halves
        if reg in half.reads()
        for role, operand in half.desc.roles_of(half)
        if role.written and (result := register(operand)) is not None
        for unit in result.units()
    ]
    uses = [
        (use, unit)
        for unit in results
        for use in chains.uses_of(position, unit)
        if use == position or len(chains.defs_of(use, unit)) == 1
    ]
    return bool(uses) and all(
        (half.desc.name in _CHOICES and unit in _passed_on(half)) or _shut(chains, position, use, unit)
        for use, unit in uses
        for half in insts[use].halves
        if unit in half.reads()
    )


def _shut(chains: DefUse, read: int, use: int, unit: Reg) -> bool:
    """Whether a mask is ANDed there with one that is 0 when what makes it runs for the first time."""
    cfg = chains.cfg
    inst, block = cfg.instructions[use], cfg.block_of(read).index
    others = [reg for o in inst.operands[1:] if (reg := register(o)) is not None and unit not in reg.units()]
    if inst.desc.name not in ("s_and_b32", "s_and_b64") or len(others) != 1:
        return False
    first = [
        at
        for u in others[0].units()
        for at in chains.defs_of(use, u)
        if at == ENTRY or not _behind(cfg, read, block, at)
    ]
    return bool(first) and all(at != ENTRY and _clears(cfg.instructions[at]) for at in first)


def _clears(inst: Instruction) -> bool:
    source = inst.operands[1] if inst.desc.name in ("s_mov_b32", "s_mov_b64") else None
    return isinstance(source, Imm) and source.value == 0


def _wanted(chains: DefUse, position: int, reg: Reg, sure: bool) -> bool:
    """Whether anything computes with what an instruction leaves in a register, at any distance through copies and
    through high halves that a low half does not depend on. sure: no other definition may reach the one that does."""
    work, seen = [(position, reg)], {(position, reg)}
    while work:
        at, unit = work.pop()
        for use in chains.uses_of(at, unit):
            if sure and len(chains.defs_of(use, unit)) > 1:
                continue
            inst = chains.cfg.instructions[use]
            if _spills(inst, unit):
                continue
            onward = {target for half in inst.halves for target in _onward(half, unit)}
            if None in onward or not onward:
                return True
            new = {(use, target) for target in onward if target is not None} - seen
            seen |= new
            work += new
    return False


def _spills(inst: Instruction, unit: Reg) -> bool:
    """Whether it stores a register to scratch as one of several."""
    if not _to_scratch(inst.desc):
        return False
    data = [reg for role, o in inst.desc.roles_of(inst) if role.kind == "v" and (reg := register(o)) is not None]
    return any(reg.count > 1 and unit in reg.units() for reg in data)


def _to_scratch(desc: Description) -> bool:
    access = desc.access
    return access is not None and access.kind == "store" and access.space == "scratch"


def _onward(inst: Instruction, unit: Reg) -> Iterator[Reg | None]:
    """The register that a read only passes on to; None for a read in earnest."""
    desc = inst.desc
    for role, operand in desc.roles_of(inst):
        reg = register(operand)
        if not role.read or reg is None or unit not in reg.units():
            continue
        result = register(inst.operands[0])
        passes = _copies(desc) or unit == unread_high(inst)
        yield result.sub(result.count - 1) if passes and result is not None else None
