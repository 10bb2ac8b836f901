"""Clobbers: a register that still held something was overwritten, and what reads it can only have meant the old value.

Which value a read was meant to see stands nowhere, so only that is reported which no intention explains:

    address      a memory access takes its address from what is none: a float, a lane mask, a return address
    half pair    one half of a 64-bit address comes from a value that was made whole (a load, a shift by 64 bits), the
                 other from an instruction that has nothing to do with it; a constant high half extends a 32-bit value,
                 and s_getpc_b64 gives the high half of short addresses
    sum          what a multiply-add has added up is overwritten before anything reads it; in a loop: round for round,
                 and nothing of the loop reads it
    comparison   a comparison's result is overwritten by the by-product of an instruction that is none (SCC of s_add,
                 VCC of a carry), and that is what is read
    carry        s_addc or s_subb adds an SCC that is neither a carry nor a condition
    EXEC         lanes are brought back (s_or_b32 exec_lo, exec_lo, s2) from a register that holds a number

Values are followed through moves, over all paths; what then looks wrong is asked again along the paths that a lane can
take (`isa.analysis.lane_view`). It is a fault where such a path is shown; where the search for paths had to forget what
masks hold, nothing is said. Both halves of a pair are seen on one path. All that one overwriting instruction spoils is
one finding, with the other readers related to it. A register that a load in flight will overwrite is found by
`isa.check.wait_rules`, a return address that a call overwrote by `isa.check.call_rules`.

Limits: of a value that is moved, each move is shown for itself, not all of them on one path; a number overwritten by
another number of its kind is not seen; where the old value is then read by nobody, a note says so
(`isa.check.value_rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.asm.program import Imm, Instruction
from isa.check import causes
from isa.check.registry import RULES
from isa.check.rules import Rule, place
from isa.check.value_rules import Values
from isa.errors import Finding
from isa.instructions import lookup
from isa.registers import EXEC_LO, SCC, Reg

ADDRESS = RULES["CLB001"]
HALF = RULES["CLB002"]
SUM = RULES["CLB003"]
COMPARISON = RULES["CLB004"]
CARRY = RULES["CLB005"]
LANES = RULES["CLB006"]

_MOVES = frozenset({"v_mov_b32", "s_mov_b32", "v_readfirstlane_b32"})
_SUMS = ("v_fmac", "v_dot2acc", "v_pk_fmac")
_CARRIES = ("s_add_u32", "s_sub_u32", "s_addc_u32", "s_subb_u32")
_CONDITIONS = (
    "s_cmp",
    "s_bitcmp",
    "s_and",
    "s_or",
    "s_xor",
    "s_nand",
    "s_nor",
    "s_xnor",
    "s_not",
    "s_lshl1_add",
    "s_lshl2_add",
    "s_lshl3_add",
    "s_lshl4_add",
)


def faults(values: Values) -> Iterator[Finding]:
    """Reads of what can only be there by mistake, and sums and comparisons that nothing reads, at the instruction that
    overwrote the register."""
    cfg = values.live.cfg
    by_cause: dict[tuple[int, str, str | None], dict[int, Finding]] = {}
    for position, other, finding in _faults(cfg, values.chains, values.narrowed):
        by_cause.setdefault((position, finding.id, finding.hint), {}).setdefault(other, finding)
    for found in by_cause.values():
        first, *others = found
        also = [_at(found[other], cfg.instructions[other]) for other in others]
        yield causes.one([found[first], *also], "one change here settles all")


_Fault = tuple[int, int, Finding]
"""Position of the instruction that overwrites, position of what it spoils, and the finding."""
_Before = Callable[[int], set[int]]
"""Position -> those that its value was computed from (`_before`)."""


def _at(finding: Finding, inst: Instruction) -> Finding:
    """The finding at another of its places."""
    where = f"{inst.address:#x}: {inst}" if inst.address is not None else ""
    return replace(finding, span=inst.span, where=where)


def _faults(cfg: Cfg, chains: DefUse, narrowed: DefUse) -> Iterator[_Fault]:
    """What looks wrong over all paths, as far as it is so on the paths that a lane can take."""
    broad, narrow = (cache(partial(_before, which)) for which in (chains, narrowed))
    for i in sorted(i for b in cfg.order for i in cfg.blocks[b].range):
        if any(_reader(chains, broad, i)):
            yield from _reader(narrowed, narrow, i)
    loops = [set(cfg.positions(loop)) for loop in cfg.loops]
    for reg, adding in _sums(cfg):
        if any(_sum(chains, loops, reg, adding)):
            yield from _sum(narrowed, loops, reg, adding)


def _reader(chains: DefUse, before: _Before, i: int) -> Iterator[_Fault]:
    inst = chains.cfg.instructions[i]
    name = inst.desc.name
    if inst.desc.access is not None:
        yield from _address(chains, before, i, inst)
    elif name in _CARRIES[2:]:
        yield from _carry(chains, i, inst)
    elif name == "s_or_b32" and inst.operands[0] == EXEC_LO and EXEC_LO in inst.operands[1:]:
        yield from _exec(chains, i, inst)
    elif "_cmp_" in name or "bitcmp" in name:
        yield from _comparison(chains, i, inst)


# --- what a definition leaves in a register
def _origins(chains: DefUse, position: int, unit: Reg) -> list[tuple[int, Reg]]:
    """The definitions that a read may see, behind moves, each with the register that it writes; what the function
    starts with and what a called one leaves is not among them."""
    work, seen = [(position, unit)], set()
    found = []
    while work:
        at, reg = work.pop()
        for (site,) in sorted(chains.together(at, (reg,))):
            if site < 0 or site in chains.cfg.calls or (site, reg) in seen:
                continue
            seen.add((site, reg))
            half = _writer(chains.cfg.instructions[site], reg)
            source = half.operands[1] if half is not None and half.desc.name in _MOVES and not half.modifiers else None
            if isinstance(source, Reg) and source.count == 1:
                work.append((site, source))
            else:
                found.append((site, reg))
    return sorted(found)


def _writer(inst: Instruction, unit: Reg) -> Instruction | None:
    """Of an instruction that writes a register: itself, or the half of a VOPD, where it does so through an operand."""
    if len(inst.halves) == 1 and unit.is_vgpr and not inst.desc.scatters:  # no VGPR is written but through an operand
        return inst
    return next((half for half in inst.halves if unit in lookup(half).writes(half)), None)


def _what(inst: Instruction, unit: Reg) -> str:
    """What a register holds after an instruction, if that is certainly no address and no mask; else ""."""
    half = _writer(inst, unit)
    if half is None or half.desc.access is not None:
        return ""
    for role, operand in lookup(half).roles_of(half):
        if role.written and isinstance(operand, Reg) and unit in operand.units():
            if role.kind == "m":
                return "a lane mask"
            return "a float" if role.type[0] == "f" or role.type.startswith(("bf", "pkf")) else ""
    return ""


# --- rules
def _address(chains: DefUse, before: _Before, position: int, inst: Instruction) -> Iterator[_Fault]:
    for reg in _address_registers(inst):
        bad = False
        for site, unit in (origin for part in reg.units() for origin in _origins(chains, position, part)):
            if what := _what(chains.cfg.instructions[site], unit):
                bad = True
                it = chains.cfg.instructions[site]
                how = "takes its address from it"
                yield site, position, _broken(ADDRESS, it, unit, f"leaves {what} in {unit}", inst, position, how)
        if reg.count == 2 and not bad:
            yield from _half_pair(chains, before, position, inst, reg)


def _address_registers(inst: Instruction) -> Iterator[Reg]:
    """The registers that a memory access gets its address from."""
    sources = [(role, operand) for role, operand in inst.desc.roles_of(inst) if role.read and not role.written]
    for n, (role, operand) in enumerate(sources):
        if isinstance(operand, Reg) and not operand.is_null and (n == 0 or role.kind == "sa"):
            yield operand


def _half_pair(chains: DefUse, before: _Before, position: int, inst: Instruction, pair: Reg) -> Iterator[_Fault]:
    cfg, units = chains.cfg, tuple(pair.units())
    rows = chains.together(position, units)
    for kept, lost in ((1, 0), (0, 1)):
        whole = {site for site in {row[kept] for row in rows} if _made_whole(cfg, site, pair)}
        if whole:
            whole -= chains.defs_of(position, units[lost])
        for row in sorted(row for row in rows if row[kept] in whole and row[lost] >= 0):
            origin, site = cfg.instructions[row[kept]], row[lost]
            it = cfg.instructions[site]
            extends = lost == 1 and _is_constant(it)
            if site not in cfg.calls and not extends and row[kept] not in before(site):
                made = f"{origin} ({place(origin, row[kept])}) made {pair}, and this"
                what, how = f"overwrites {units[lost]} alone", f"takes {pair} for an address"
                yield site, position, _broken(HALF, it, units[lost], what, inst, position, how, made)


def _made_whole(cfg: Cfg, site: int, pair: Reg) -> bool:
    """Whether a definition writes both halves of a pair as one value."""
    both = regset.mask([pair])
    if site < 0 or cfg.defs[site] & both != both or site in cfg.calls:
        return False
    if cfg.instructions[site].desc.name == "s_getpc_b64":
        return False
    return any(regset.mask(lookup(h).writes(h)) & both == both for h in cfg.instructions[site].halves)


def _is_constant(inst: Instruction) -> bool:
    return all(isinstance(operand, Imm) for half in inst.halves for operand in half.operands[1:])


def _before(chains: DefUse, position: int) -> set[int]:
    """What the value that `position` writes was computed from, at any distance."""
    work, seen = [position], {position}
    while work:
        at = work.pop()
        for unit in chains.cfg.instructions[at].reads() - {EXEC_LO}:
            new = {site for site in chains.defs_of(at, unit) if site >= 0} - seen
            seen |= new
            work += new
    return seen


def _carry(chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    for (site,) in sorted(chains.together(position, (SCC,))):
        it = chains.cfg.instructions[site] if site >= 0 and site not in chains.cfg.calls else None
        if it is not None and not it.desc.name.startswith((*_CARRIES, *_CONDITIONS)):
            yield site, position, _broken(CARRY, it, SCC, "overwrites SCC", inst, position, "adds it as a carry")


def _exec(chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    for operand in inst.operands[1:]:
        if not isinstance(operand, Reg) or operand == EXEC_LO or operand.count != 1:
            continue
        for site, unit in _origins(chains, position, operand):
            it = chains.cfg.instructions[site]
            number = any(role.written and role.type in ("u32", "i32", "f32") for role in it.desc.roles)
            if it.desc.unit == "smem" or (it.desc.is_salu and number):
                how = "brings lanes back from it"
                yield site, position, _broken(LANES, it, unit, f"leaves a number in {unit}", inst, position, how)


def _comparison(chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    cfg = chains.cfg
    written = regset.members(cfg.defs[position] & ~regset.mask([EXEC_LO]))
    if len(written) != 1 or cfg.defs[position] >> regset.bit(EXEC_LO) & 1 or chains.uses_of(position, written[0]):
        return
    for site in sorted(_next_writers(cfg, position, written[0])):
        it = cfg.instructions[site]
        by_product = not any(
            role.written and isinstance(o, Reg) and written[0] in o.units() and role.kind != "m"
            for half in it.halves
            for role, o in lookup(half).roles_of(half)
        )
        readers = chains.uses_of(site, written[0])
        used = sorted(use for use in readers if (site,) in chains.together(use, written))
        if by_product and used and "cmp" not in it.desc.name:
            reader = cfg.instructions[used[0]]
            made = f"nothing has read the result of {inst} ({place(inst, position)}), and this"
            what = f"overwrites {written[0]}"
            yield site, used[0], _broken(COMPARISON, it, written[0], what, reader, used[0], "reads it", made)


def _sums(cfg: Cfg) -> list[tuple[Reg, set[int]]]:
    """The registers that multiply-adds add up in, and where."""
    by_register: dict[Reg, set[int]] = {}
    for i in (i for b in cfg.order for i in cfg.blocks[b].range):
        for half in cfg.instructions[i].halves:
            if half.desc.name.startswith(_SUMS) and isinstance(reg := half.operands[0], Reg) and reg.count == 1:
                by_register.setdefault(reg, set()).add(i)
    return sorted(by_register.items())


def _sum(chains: DefUse, loops: Sequence[set[int]], reg: Reg, adding: set[int]) -> Iterator[_Fault]:
    """Once over the whole function, once for each loop around it."""
    cfg, own = chains.cfg, 1 << regset.bit(reg)
    readers = {i: chains.uses_of(i, reg) - adding for i in adding}
    reported: set[int] = set()
    for loop in loops:
        inside = adding & loop
        if inside and not any(readers[i] & loop for i in inside):
            lost = {i for i in loop - adding if cfg.defs[i] & ~cfg.uses[i] & own}
            yield from _lost(cfg, reg, inside, lost - reported, "before anything in the loop reads the sum")
            reported |= lost
    for i in sorted(adding):
        if not chains.uses_of(i, reg):
            lost = _next_writers(cfg, i, reg)
            yield from _lost(cfg, reg, {i}, lost - reported, "before anything reads the sum")
            reported |= lost


def _lost(cfg: Cfg, reg: Reg, adding: set[int], overwriting: set[int], when: str) -> Iterator[_Fault]:
    at = min(adding)
    half = _writer(cfg.instructions[at], reg)
    for i in sorted(overwriting):
        told = (
            f"{cfg.instructions[i].mnemonic} overwrites {reg}, where {half} ({place(cfg.instructions[at], at)}) adds up"
        )
        finding = SUM.broken(
            cfg.instructions[i], f"{told}, {when}", hint=f"give one of the two another register than {reg}"
        )
        yield i, at, finding


def _next_writers(cfg: Cfg, position: int, reg: Reg) -> set[int]:
    """The first instructions behind a position that write a register, on each path."""
    flag = 1 << regset.bit(reg)
    block = cfg.block_of(position)
    work = [(position + 1, block.end, block.successors)]
    seen: set[int] = set()
    found: set[int] = set()
    while work:
        start, end, successors = work.pop()
        at = next((i for i in range(start, end) if cfg.defs[i] & flag), None)
        if at is not None:
            found.add(at)
            continue
        for s in set(successors) - seen:
            seen.add(s)
            work.append((cfg.blocks[s].start, cfg.blocks[s].end, cfg.blocks[s].successors))
    return found


def _broken(
    rule: Rule, it: Instruction, unit: Reg, what: str, reader: Instruction, position: int, how: str, before: str = ""
) -> Finding:
    moved = f"move it from between the two, or let it leave {unit} alone"
    return rule.broken(
        it,
        f"{before or it.mnemonic} {what}; {reader} ({place(reader, position)}) {how}",
        hint=moved if unit == SCC else f"use another register than {unit} here, or put the value back",
    )
