"""Slice for LDS addresses: a function -> the instructions to run for its LDS accesses' addresses and its waves' paths.

In: a function and the LDS accesses that are asked about. Out, by position: what to run, what to forget, and which
registers still matter at each block's entry.

Backward from the addresses of these accesses, from EXEC and from the conditions of branches, over the definitions that
reach each read. It ends where nothing can be known: an instruction is known only if something known goes into it, and
all that is known begins at numbers in the code, at the work-items' numbers and at EXEC. So the counter of a loop whose
end is a kernel argument is not followed. Where a needed number is loaded from scratch, all stores to it are
needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import reduce
from operator import or_

from isa.analysis import regset
from isa.analysis.cfg import Cfg, is_branch
from isa.analysis.dataflow import backward
from isa.analysis.defuse import ENTRY, DefUse
from isa.analysis.exec_mask import ExecMask
from isa.lint.known import Sizes
from isa.registers import EXEC_LO, Reg, s, v
from isa.semantics.instruction import Description, Imm, Instruction, Operand, base_name, fact

# One known operand can be enough for these.
_LOOSE = re.compile(r"and|or|mul|mad|cndmask|cselect|cmov|bfi|perm|writelane|saveexec")
_PICKS = re.compile(r"^(v_(dual_)?cndmask|s_cselect)")
_EXEC_BIT = regset.bit(EXEC_LO)


@dataclass(frozen=True)
class Needed:
    """run: positions whose numbers count.  blind: those whose result cannot be known.  live: block -> registers whose
    content matters at its entry (`regset`)."""

    run: frozenset[int]
    blind: frozenset[int]
    live: tuple[int, ...]


def own_memory(inst: Instruction) -> bool:
    """Whether an instruction may reach scratch memory."""
    return _own_memory(inst.desc)


def _own_memory(desc: Description) -> bool:
    return desc.space in ("scratch", "flat")


def of(cfg: Cfg, chains: DefUse, lanes: ExecMask, asked: Mapping[int, int], hopeful: Set[int]) -> Needed:
    """What has to be run for the accesses, or what else is asked about. asked: position -> the registers that count of
    those that it reads (`regset`); its data do not, where nothing needs its result."""
    run: dict[int, int] = {}  # and what it reads that counts
    blind: set[int] = set()
    work = list(asked.items())
    work += ((i, cfg.uses[i]) for i in cfg.where(lambda desc: desc.is_branch and not desc.terminator))
    own = [(i, cfg.uses[i]) for i in cfg.where(_own_memory)]  # until they are needed
    while work:
        i, counts = work.pop()
        inst = cfg.instructions[i]
        if i not in run:
            if own_memory(inst) and cfg.defs[i]:
                work += own
                own = []
            followed = i in hopeful or i in asked or is_branch(inst)
            if not followed and inst.desc.access is None and inst.desc.effect == "":
                blind.add(i)
        before = run.get(i, 0)
        run[i] = before | (1 << _EXEC_BIT if i in blind else counts)
        for number in regset.numbers(run[i] & ~before):
            sources = chains.reaching.get((i, number), frozenset())
            work += [(s, cfg.uses[s]) for s in sources if s != ENTRY and s not in cfg.calls]
    return Needed(frozenset(run), frozenset(blind), tuple(_live(cfg, lanes, run)))


def address(cfg: Cfg, position: int) -> int:
    """What a memory access reads but for its data (`regset`)."""
    inst = cfg.instructions[position]
    held = regset.mask(o for o in inst.desc.address_of(inst) if isinstance(o, Reg) and not o.is_null)
    return held | cfg.uses[position] & regset.SCALARS


def first_number_only(cfg: Cfg, chains: DefUse, needed: Needed) -> bool:
    """Whether what is run takes the lowest ten bits of the packed v0 and nothing else of it."""
    number = regset.bit(v(0))
    return all(
        _is_low_ten(cfg, chains, i)
        for i in needed.run - needed.blind
        if ENTRY in chains.reaching.get((i, number), ()) and v(0) in cfg.instructions[i].reads()
    )


def _is_low_ten(cfg: Cfg, chains: DefUse, i: int) -> bool:
    """v_and_b32 or v_bfe_u32 of these bits; the numbers may stand in SGPRs."""
    inst = cfg.instructions[i]
    rest = [o for o in inst.operands[1:] if o != v(0)]
    numbers = [_number(cfg, chains, i, o) for o in rest]
    if None in numbers:
        return False
    match base_name(inst.mnemonic), numbers:
        case ("v_and_b32", [int(mask)]):
            return 0 <= mask < 1 << 10
        case ("v_bfe_u32", [int(first), int(count)]):
            return first + count <= 10
    return False


def _number(cfg: Cfg, chains: DefUse, i: int, operand: Operand) -> int | None:
    if isinstance(operand, Imm):
        return operand.value if isinstance(operand.value, int) else None
    if not isinstance(operand, Reg) or operand.count != 1:
        return None
    sources = chains.reaching.get((i, regset.bit(operand)), frozenset())
    source = cfg.instructions[next(iter(sources))] if len(sources) == 1 and ENTRY not in sources else None
    moved = source is not None and source.mnemonic in ("s_mov_b32", "s_movk_i32")
    given = source.operands[1] if source is not None and moved else None
    return given.value if isinstance(given, Imm) and isinstance(given.value, int) else None


def hopeful(cfg: Cfg, chains: DefUse, dimensions: int, sizes: Sizes) -> set[int]:
    """Positions whose results may be known."""
    kept = not all(cfg.defs[i] for i in cfg.where(_own_memory))
    given = {_EXEC_BIT} | ({regset.bit(v(0))} if dimensions else set())
    given |= {regset.bit(s(sgpr + k)) for sgpr, *_ in sizes.pointers for k in range(2)}
    found: set[int] = set()
    for i in cfg.where(lambda desc: desc.access is not None):
        inst = cfg.instructions[i]
        if cfg.defs[i] and i not in cfg.calls and ((own_memory(inst) and kept) or _reads_size(cfg, chains, i, sizes)):
            found.add(i)

    def hope(i: int) -> bool:
        for numbers in _choices(cfg.instructions[i]):
            for number in numbers:
                reaching = chains.reaching.get((i, number), frozenset())
                if found.isdisjoint(reaching) and not (number in given and ENTRY in reaching):
                    break
            else:
                return True
        return False

    def after(i: int) -> set[int]:
        return {use for number in regset.numbers(cfg.defs[i]) for use in chains.reading(i, number)}

    computing = set(cfg.where(lambda desc: desc.access is None)) - set(cfg.calls)
    work = {i for i in computing if () in _choices(cfg.instructions[i])}
    masked = set(cfg.where(lambda desc: desc.exec_masked))  # EXEC is none of what these compute with
    work |= chains.reading(ENTRY, _EXEC_BIT) - masked
    work.update(*(chains.reading(ENTRY, number) for number in given - {_EXEC_BIT}), *map(after, found))
    while work:
        i = work.pop()
        if i in computing and cfg.defs[i] and i not in found and hope(i):
            found.add(i)
            work |= after(i)
    return found


@fact
def _choices(inst: Instruction) -> frozenset[tuple[int, ...]]:
    """Registers (`regset`) that are enough for a result to be known, where all of them are: each choice."""
    return frozenset(choice for half in inst.halves for choice in _choices_of_half(half))


def _choices_of_half(half: Instruction) -> list[tuple[int, ...]]:
    desc = half.desc
    if _PICKS.search(half.mnemonic):  # which one it picks tells nothing if neither is known
        picked = half.operands[1:3]
        return [
            tuple(map(regset.bit, o.units())) if isinstance(o, Reg) else () for o in picked if isinstance(o, Reg | Imm)
        ]
    sources = [regset.bit(r) for r in desc.reads(half) if not (r == EXEC_LO and desc.exec_masked)]
    return [(r,) for r in sources] or [()] if _LOOSE.search(half.mnemonic) else [tuple(sources)]


def _reads_size(cfg: Cfg, chains: DefUse, i: int, sizes: Sizes) -> bool:
    """Whether a scalar load reaches a size of the workgroup at a fixed offset after a pointer that is given."""
    inst = cfg.instructions[i]
    if inst.desc.access is None or inst.desc.access.space != "scalar" or not sizes.pointers or inst.desc.access.buffer:
        return False
    base, offset = inst.operands[1:3]
    at = offset.value if isinstance(offset, Imm) else inst.offset if str(offset) == "null" else None
    found = _behind(cfg, chains, i, s(base.index)) if isinstance(base, Reg) and isinstance(at, int) else None
    if found is None or not isinstance(at, int):
        return False
    return sizes.within(found[0], found[1] + at, 4 * bin(cfg.defs[i]).count("1"))


def _behind(cfg: Cfg, chains: DefUse, i: int, reg: Reg) -> tuple[int, int] | None:
    """(the SGPR of the start, the distance from it) of the low half of a pointer that position i reads."""
    sources = chains.reaching.get((i, regset.bit(reg)), frozenset())
    if sources == {ENTRY}:
        return reg.index, 0
    if len(sources) != 1:
        return None
    at = next(iter(sources))
    inst = cfg.instructions[at]
    first = inst.operands[1] if len(inst.operands) > 1 else None
    if not isinstance(first, Reg) or first.file != "s":
        return None
    if inst.mnemonic in ("s_mov_b64", "s_mov_b32"):
        target = inst.operands[0]
        assert isinstance(target, Reg)
        return _behind(cfg, chains, at, s(first.index + reg.index - target.index))
    added = inst.operands[2] if inst.mnemonic in ("s_add_u32", "s_add_i32") else None
    if not isinstance(added, Imm) or not isinstance(added.value, int):
        return None
    found = _behind(cfg, chains, at, first)
    return (found[0], found[1] + added.value) if found is not None else None


def _live(cfg: Cfg, lanes: ExecMask, run: Mapping[int, int]) -> list[int]:
    """At each block's entry: the registers that what is run reads before it is written."""
    use, keep = [0] * len(cfg.blocks), [0] * len(cfg.blocks)
    counts = reduce(or_, run.values(), 0)
    for block in cfg.blocks:
        live, kept = 0, regset.ALL
        for i in reversed(block.range):
            if not cfg.defs[i] & counts and i not in run:
                continue
            masked = cfg.instructions[i].desc.exec_masked and not lanes.full[i]
            killed = cfg.defs[i] & ~(regset.VGPRS if masked else 0)
            live, kept = live & ~killed, kept & ~killed
            live |= run.get(i, 0)
        use[block.index], keep[block.index] = live, kept
    entry = backward(cfg, 0, lambda block, out: use[block.index] | out & keep[block.index], or_)
    return [bits | 1 << _EXEC_BIT for bits in entry]
