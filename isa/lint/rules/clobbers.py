"""Clobbers: a register that still held something was overwritten, and what reads it can only have meant the old value.

Which value a read was meant to see stands nowhere, so only that is reported which no intention explains:

    address      a memory access takes its address from what is none: a float, a lane mask, a return address
    half pair    one half of a 64-bit address comes from a value that was made whole (a load, a shift by 64 bits), the
                 other from an instruction that has nothing to do with it; a constant high half extends a 32-bit value,
                 and s_getpc_b64 gives the high half of short addresses
    sum          what a multiply-add has added up is overwritten before anything reads it; in a loop: in each iteration,
                 and nothing of the loop reads it
    comparison   a comparison's result is overwritten by the by-product of an instruction that is none (SCC of s_add,
                 VCC of a carry), and that is what is read
    carry        s_addc or s_subb adds an SCC that is neither a carry nor a condition
    EXEC         lanes are brought back (s_or_b32 exec_lo, exec_lo, s2) from a register that holds a number
    by-product   a carry, v_div_scale's flag or a saved EXEC that nothing reads is overwritten, and the instruction that
                 it was made for reads what overwrote it: the upper half of a sum, v_div_fmas, a restored EXEC. It is a
                 finding of the carry or of EXEC

Values are followed through moves, over all paths; what then looks wrong is asked again along the paths that a lane can
take (`isa.analysis.lane_view`). It is a fault where such a path is shown; where the search for paths had to forget what
masks hold, nothing is said. Both halves of a pair are seen on one path. All that one overwriting instruction spoils is
one finding, with the other readers related to it. A register that a load in flight will overwrite is found by
`isa.lint.rules.waits`, a return address that a call overwrote by `isa.lint.rules.calls`.

Limits: not told apart are a carry of an upper half under another sum's, one that two sums of one register pair make,
and a mask saved over a saved one. Of a value that is moved, each move is shown for itself, not all of them on one path;
a number overwritten by another number of its kind is not seen; where the old value is then never read, a note says so
(`isa.lint.rules.values`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from isa.analysis import regset
from isa.analysis.cfg import Cfg, Loop
from isa.analysis.defuse import ENTRY, DefUse
from isa.errors import Finding
from isa.lint import causes
from isa.lint.functions import LintedFunction
from isa.lint.names import Rule, place
from isa.lint.registry import RULES
from isa.registers import EXEC, EXEC_LO, SCC, Reg
from isa.semantics.instruction import Description, Imm, Instruction, fact

ADDRESS = RULES["CLB001"]
HALF = RULES["CLB002"]
SUM = RULES["CLB003"]
COMPARISON = RULES["CLB004"]
CARRY = RULES["CLB005"]
LANES = RULES["CLB006"]

_SUMS = ("v_fmac", "v_dot2acc", "v_pk_fmac")
_CARRIES = ("s_add_u32", "s_sub_u32", "s_addc_u32", "s_subb_u32")
_VECTOR_MAKERS = ("v_add_co_", "v_sub_co_", "v_subrev_co_", "v_div_scale_")
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


def findings(f: LintedFunction) -> Iterator[Finding]:
    """Reads of what can only be there by mistake, and sums and comparisons that nothing reads, at the instruction that
    overwrote the register."""
    values, cfg = f.values, f.values.live.cfg
    by_cause: dict[tuple[int, str, str | None], dict[int, Finding]] = {}
    for position, other, finding in _faults(cfg, values.chains, values.narrowed):
        by_cause.setdefault((position, finding.id, finding.hint), {}).setdefault(other, finding)
    for found in by_cause.values():
        first, *others = found
        also = [_at(found[other], cfg.instructions[other]) for other in others]
        yield causes.one([found[first], *also], "one change here fixes all")


_What = Callable[[Instruction, Reg], str]
"""An instruction and a register that it writes -> what it leaves there, "" for what is no matter."""
_Site = tuple[int, Reg]
"""A definition: position, and the register that it writes."""
_NOWHERE: _Site = (ENTRY, SCC)
_Fault = tuple[int, int, Finding]
"""Position of the instruction that overwrites, position of what it spoils, and the finding."""


def _at(finding: Finding, inst: Instruction) -> Finding:
    """The finding at another of its places."""
    where = f"{inst.address:#x}: {inst}" if inst.address is not None else ""
    return replace(finding, span=inst.span, where=where)


def _faults(cfg: Cfg, chains: DefUse, narrowed: DefUse) -> Iterator[_Fault]:
    """What looks wrong over all paths, as far as it is so on the paths that a lane can take."""
    sources = _Sources(chains)
    for i in cfg.where(_may_read):
        if i in cfg.reached and any(_reader(sources, chains, i)):
            yield from _reader(sources, narrowed, i)
    sums = _sums(cfg)
    loops = [_Loop.of(cfg, loop, regset.mask(reg for reg, _ in sums)) for loop in cfg.loops]
    for reg, adding in sums:
        if any(_sum(chains, loops, reg, adding)):
            yield from _sum(narrowed, loops, reg, adding)


def _may_read(desc: Description) -> bool:
    """Whether `_reader` may say anything of such an instruction."""
    maker = desc.name in _CARRIES or desc.name.startswith(_VECTOR_MAKERS) or _may_save(desc)
    return desc.access is not None or maker or desc.name == "s_or_b32" or _compares(desc)


def _reader(sources: _Sources, chains: DefUse, i: int) -> Iterator[_Fault]:
    inst = chains.cfg.instructions[i]
    name = inst.desc.name
    if inst.desc.access is not None:
        yield from _address(sources, chains, i, inst)
        return
    for unit in _by_products(inst):
        yield from _by_product(chains, i, inst, unit)
    if name in _CARRIES[2:]:
        yield from _carry(chains, i, inst)
    elif name == "s_or_b32" and inst.operands[0] == EXEC_LO and EXEC_LO in inst.operands[1:]:
        yield from _exec(sources, chains, i, inst)
    elif _compares(inst.desc):
        yield from _comparison(chains, i, inst)


# --- what a definition leaves in a register
class _Sources:
    """Where values come from over all paths. before: position -> those that its value may have been computed from, at
    any distance, found once."""

    def __init__(self, chains: DefUse) -> None:
        self.chains, self.cfg = chains, chains.cfg
        self.before, self._inputs, self._spoiled = cache(self._before), cache(self._read_from), cache(self._spoiling)

    def origins(self, chains: DefUse, position: int, unit: Reg, what: _What) -> list[tuple[int, Reg, str]]:
        """The definitions that a read may see by `chains`, after moves, and of which `what` tells a name: position,
        the register that it writes, the name."""
        spoiled, cfg = self._spoiled(self.chains.over_all_paths(position, unit), unit, what), self.cfg
        work, seen = [(position, unit)] if spoiled else [], set()
        while work:
            at, reg = work.pop()
            sites = {
                site for site in chains.over_all_paths(at, reg) if (site, reg) in spoiled and (site, reg) not in seen
            }
            for site in (site for site in sites if chains.sees(at, (reg,), (site,))):
                seen.add((site, reg))
                source = _moved(cfg.instructions[site], reg)
                work += [(site, source)] if source is not None else []
        return [(at, reg, name) for at, reg in sorted(seen) if (name := self._name(at, reg, what))]

    def _name(self, site: int, reg: Reg, what: _What) -> str:
        inst = self.cfg.instructions[site]
        return what(inst, reg) if site not in self.cfg.calls and _moved(inst, reg) is None else ""

    def _spoiling(self, read: frozenset[int], unit: Reg, what: _What) -> set[_Site]:
        """The definitions behind those of a register that are read, moves and these among them, that may leave
        something of which `what` tells a name. Many reads see the same ones."""
        work, moved_to = [(read, unit, _NOWHERE)], dict[_Site, set[_Site]]()
        while work:
            sites, reg, to = work.pop()
            for site in sites - {ENTRY}:
                if (site, reg) not in moved_to:
                    moved_to[site, reg] = set()
                    if (source := _moved(self.cfg.instructions[site], reg)) is not None:
                        work.append((self.chains.over_all_paths(site, source), source, (site, reg)))
                moved_to[site, reg].add(to)
        found = {(site, reg) for site, reg in moved_to if self._name(site, reg, what)}
        left = list(found)
        while left:
            new = moved_to[left.pop()] - found - {_NOWHERE}
            found |= new
            left += new
        return found

    def _before(self, position: int) -> set[int]:
        work, seen = [position], {position}
        while work:
            new = self._inputs(work.pop()) - seen
            seen |= new
            work += new
        return seen

    def _read_from(self, position: int) -> frozenset[int]:
        units = self.cfg.instructions[position].reads() - {EXEC_LO}
        return frozenset().union(*(self.chains.over_all_paths(position, unit) for unit in units)) - {ENTRY}


def _writer(inst: Instruction, unit: Reg) -> Instruction | None:
    """Of an instruction that writes a register: itself, or the half of a VOPD, where it does so through an operand."""
    if len(inst.halves) == 1 and unit.is_vgpr and not inst.desc.scatters:  # no VGPR is written but through an operand
        return inst
    return next((half for half in inst.halves if unit in half.writes()), None)


@fact
def _moved(inst: Instruction, unit: Reg) -> Reg | None:
    """The single register that an instruction moves into this one."""
    half = _writer(inst, unit)
    source = half.operands[1] if half is not None and half.desc.moves == 32 and not half.modifiers else None
    return source if isinstance(source, Reg) and source.count == 1 else None


def _number(inst: Instruction, _: Reg) -> str:
    """What scalar instructions leave that compute numbers."""
    typed = any(role.written and role.type in ("u32", "i32", "f32") for role in inst.desc.roles)
    return "a number" if inst.desc.unit == "smem" or (inst.desc.is_salu and typed) else ""


@fact
def _what(inst: Instruction, unit: Reg) -> str:
    """What a register holds after an instruction, if that is certainly no address and no mask; else ""."""
    half = _writer(inst, unit)
    if half is None or half.desc.access is not None:
        return ""
    for role, operand in half.desc.roles_of(half):
        if role.written and isinstance(operand, Reg) and unit in operand.units():
            if role.kind == "m":
                return "a lane mask"
            return "a float" if role.type[0] == "f" or role.type.startswith(("bf", "pkf")) else ""
    return ""


# --- rules
def _address(sources: _Sources, chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    for reg in _address_registers(inst):
        origins = [o for part in reg.units() for o in sources.origins(chains, position, part, _what)]
        for site, unit, what in origins:
            it, how = chains.cfg.instructions[site], "uses it as an address"
            yield site, position, _broken(ADDRESS, it, unit, f"leaves {what} in {unit}", inst, position, how)
        if reg.count == 2 and not origins:
            yield from _half_pair(sources, chains, position, inst, reg)


@fact
def _address_registers(inst: Instruction) -> tuple[Reg, ...]:
    """The registers that a memory access gets its address from."""
    return tuple(o for o in inst.desc.address_of(inst) if isinstance(o, Reg) and not o.is_null)


def _half_pair(sources: _Sources, chains: DefUse, position: int, inst: Instruction, pair: Reg) -> Iterator[_Fault]:
    cfg, units = chains.cfg, tuple(pair.units())
    for kept, lost in ((1, 0), (0, 1)):
        its, others = (chains.over_all_paths(position, units[k]) for k in (kept, lost))
        whole = {at for at in its - others if _made_whole(cfg, at, pair)}
        own = {at for at in others if whole and at >= 0 and at not in cfg.calls}
        if lost == 1:
            own = {at for at in own if not _is_constant(cfg.instructions[at])}
        for site, number in ((o, w) for o in sorted(own) for w in sorted(whole)):
            row = (number, site) if kept == 0 else (site, number)
            if not chains.sees(position, units, row) or number in sources.before(site):
                continue
            origin, it = cfg.instructions[number], cfg.instructions[site]
            made = f"{origin} ({place(origin, number)}) made {pair}, and this"
            what, how = f"overwrites {units[lost]} alone", f"uses {pair} as an address"
            yield site, position, _broken(HALF, it, units[lost], what, inst, position, how, made)


def _made_whole(cfg: Cfg, site: int, pair: Reg) -> bool:
    """Whether a definition writes both halves of a pair as one value."""
    both = regset.mask([pair])
    if site < 0 or cfg.defs[site] & both != both or site in cfg.calls:
        return False
    if cfg.instructions[site].desc.name == "s_getpc_b64":
        return False
    return any(regset.mask(h.writes()) & both == both for h in cfg.instructions[site].halves)


def _is_constant(inst: Instruction) -> bool:
    return all(isinstance(operand, Imm) for half in inst.halves for operand in half.operands[1:])


def _carry(chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    for site in sorted(chains.over_all_paths(position, SCC)):
        it = chains.cfg.instructions[site] if site >= 0 and site not in chains.cfg.calls else None
        if it is None or it.desc.name.startswith((*_CARRIES, *_CONDITIONS)):
            continue
        if chains.sees(position, (SCC,), (site,)):
            yield site, position, _broken(CARRY, it, SCC, "overwrites SCC", inst, position, "adds it as a carry")


def _exec(sources: _Sources, chains: DefUse, position: int, inst: Instruction) -> Iterator[_Fault]:
    for operand in inst.operands[1:]:
        if not isinstance(operand, Reg) or operand == EXEC_LO or operand.count != 1:
            continue
        for site, unit, what in sources.origins(chains, position, operand, _number):
            it, how = chains.cfg.instructions[site], "restores EXEC from it"
            yield site, position, _broken(LANES, it, unit, f"leaves {what} in {unit}", inst, position, how)


def _by_products(inst: Instruction) -> Iterator[Reg]:
    """The registers that hold a carry, a flag or the old EXEC after an instruction, made for one other to read."""
    if inst.desc.name in _CARRIES:
        yield SCC
    elif inst.desc.name.startswith(_VECTOR_MAKERS):
        masks = (o for role, o in inst.desc.roles_of(inst) if role.written and role.kind == "m")
        yield from (next(mask.units()) for mask in masks if isinstance(mask, Reg) and not mask.is_null)
    elif _saves(inst) and isinstance(saved := inst.operands[0], Reg) and not saved.is_null:
        yield next(saved.units())


def _by_product(chains: DefUse, position: int, inst: Instruction, unit: Reg) -> Iterator[_Fault]:
    """What a by-product was made for reads what overwrote it, and nothing else has read it."""
    cfg = chains.cfg
    if chains.uses_of(position, unit):
        return
    work, seen = [position], {position}
    while work:
        for site in sorted(_next_writers(cfg, work.pop(), unit) - seen):
            seen.add(site)
            it, uses = cfg.instructions[site], chains.uses_of(site, unit)
            for use in sorted(uses):
                reader = cfg.instructions[use]
                own = _made_for(it, reader, unit) or (_adds_carry(inst) and _carries(it))
                how = "" if own else _made_for(inst, reader, unit)
                if how and chains.sees(use, (unit,), (site,)):
                    rule = LANES if _saves(inst) else CARRY
                    made = f"nothing has read {unit} of {inst} ({place(inst, position)}), and this"
                    yield site, use, _broken(rule, it, unit, f"overwrites {unit}", reader, use, how, made)
            if not uses and not _saves(inst) and not any(_by_products(it)):
                work.append(site)


def _made_for(maker: Instruction, user: Instruction, unit: Reg) -> str:
    """What an instruction does with another one's by-product in a register, where that was made for it."""
    name, to = user.desc.name, user.operands[0]
    if name.startswith("v_div_fmas"):
        return "scales by it" if maker.desc.name.startswith("v_div_scale") else ""
    if _adds_carry(user):
        masks = [o for role, o in user.desc.roles_of(user) if role.kind == "m" and not role.written]
        taken = all(isinstance(mask, Reg) and unit in mask.units() for mask in masks)
        return "adds it as a carry" if taken and _carries(maker) and _upper(maker, user) else ""
    if name in ("s_or_b32", "s_mov_b32", "s_or_b64", "s_mov_b64") and to in (EXEC_LO, EXEC):
        return "restores EXEC from it" if _saves(maker) else ""
    return ""


def _carries(inst: Instruction) -> bool:
    return inst.desc.name in _CARRIES or "_co_" in inst.desc.name


def _adds_carry(inst: Instruction) -> bool:
    return inst.desc.name in _CARRIES[2:] or "_co_ci_" in inst.desc.name


def _saves(inst: Instruction) -> bool:
    """Whether it leaves the old EXEC in its destination."""
    return _may_save(inst.desc) and ("_saveexec_" in inst.desc.name or inst.operands[1] in (EXEC_LO, EXEC))


def _may_save(desc: Description) -> bool:
    return "_saveexec_" in desc.name or desc.moves >= 32


def _compares(desc: Description) -> bool:
    return "_cmp_" in desc.name or "bitcmp" in desc.name


def _upper(low: Instruction, high: Instruction) -> bool:
    """Whether a register of one is the one after the other's: halves of one sum. What adds a carry itself mostly ends
    its sum, and what comes next adds a condition: there no register may be of another sum."""
    first, second = ([o for o in inst.operands if isinstance(o, Reg)] for inst in (low, high))
    steps = {b.index - a.index if b.file == a.file else None for a, b in zip(first, second, strict=False)}
    return 1 in steps and (not _adds_carry(low) or steps <= {0, 1})


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
            for role, o in half.desc.roles_of(half)
        )
        if not by_product or "cmp" in it.desc.name:
            continue
        use = next(
            (use for use in sorted(chains.uses_of(site, written[0])) if chains.sees(use, written, (site,))), None
        )
        if use is not None:
            reader = cfg.instructions[use]
            made = f"nothing has read the result of {inst} ({place(inst, position)}), and this"
            what = f"overwrites {written[0]}"
            yield site, use, _broken(COMPARISON, it, written[0], what, reader, use, "reads it", made)


def _sums(cfg: Cfg) -> list[tuple[Reg, set[int]]]:
    """The registers that multiply-adds add up in, and where."""
    by_register: dict[Reg, set[int]] = {}
    for i in cfg.where(lambda desc: desc.vopd or desc.name.startswith(_SUMS)):  # VOPD: another may be the Y half
        for half in cfg.instructions[i].halves if i in cfg.reached else ():
            if half.desc.name.startswith(_SUMS) and isinstance(reg := half.operands[0], Reg) and reg.count == 1:
                by_register.setdefault(reg, set()).add(i)
    return sorted(by_register.items())


@dataclass(frozen=True)
class _Loop:
    """positions: of a loop; overwriting: number of a register (`regset`) -> those of them that write it unread."""

    positions: set[int]
    overwriting: dict[int, set[int]]

    @staticmethod
    def of(cfg: Cfg, loop: Loop, registers: int) -> _Loop:
        positions, overwriting = set(cfg.positions(loop)), defaultdict[int, set[int]](set)
        for i in positions if registers else ():
            for number in regset.numbers(cfg.defs[i] & ~cfg.uses[i] & registers):
                overwriting[number].add(i)
        return _Loop(positions, overwriting)


def _sum(chains: DefUse, loops: Sequence[_Loop], reg: Reg, adding: set[int]) -> Iterator[_Fault]:
    """Once over the whole function, once for each loop around it."""
    cfg = chains.cfg
    readers = {i: chains.uses_of(i, reg) - adding for i in adding}
    reported: set[int] = set()
    for loop in loops:
        inside = adding & loop.positions
        if inside and not any(readers[i] & loop.positions for i in inside):
            lost = loop.overwriting.get(regset.bit(reg), set()) - adding
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
        what = f"{cfg.instructions[i].mnemonic} overwrites {reg}, the sum of {half} ({place(cfg.instructions[at], at)})"
        finding = SUM.broken(
            cfg.instructions[i], f"{what}, {when}", hint=f"use a register other than {reg} for one of the two"
        )
        yield i, at, finding


def _next_writers(cfg: Cfg, position: int, reg: Reg) -> set[int]:
    """The first instructions after a position that write a register, on each path."""
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
    moved = f"move it out from between the two, or use an instruction that does not write {unit}"
    return rule.broken(
        it,
        f"{before or it.mnemonic} {what}; {reader} ({place(reader, position)}) {how}",
        hint=moved if unit == SCC else f"use a register other than {unit} here, or restore the value",
    )
