"""VGPR banks: which registers an instruction reads from where, which reads collide, which the operand caches serve.

Facts (RDNA3 ISA guide 7.6 "VOPD"; LLVM AMDGPUBaseInfo.h `VOPD::VOPD_VGPR_BANK_MASKS`):

- a VGPR's bank is its number mod 4;
- an instruction reads through three operand slots, SRC0, SRC1 and SRC2; the destination of FMAC is its SRC2, the third
  operand of FMAMK (whose second is a literal) is SRC2;
- each bank has a cache with one read port a slot. A VOPD reads SRC0 for X and Y at once, hence their banks must differ;
  the same for SRC1; SRC2 and the destinations must differ in parity.

The cache model is the one with which the published study explains its tables: each (bank, slot) keeps the register it
read last, and a read that finds its register there costs no read of the bank. A write of a register drops it from the
caches (not documented; the study's tables hold no such case).

Source parity: whether X and Y read src0, or src1, from registers both even or both odd decides whether GFX11 can read
one of them too early; see `isa.analysis.valu_writes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from isa.registers import Reg
from isa.semantics.instruction import Instruction, bare


@dataclass(frozen=True, slots=True)
class Source:
    """One VGPR read: by half "X" or "Y" (X where it is no VOPD), through slot 0, 1 or 2."""

    half: str
    slot: int
    reg: Reg


@lru_cache(1 << 13)
def source(half: str, slot: int, number: int) -> Source:
    """The read of VGPR `number`; one object for each."""
    return Source(half, slot, Reg("v", number))


@lru_cache(1 << 15)
def sources(inst: Instruction) -> tuple[Source, ...]:
    """The single-register VGPR reads of a VALU instruction, X before Y, by slot. Others have none."""
    found = []
    for name, half in zip("XY", inst.halves, strict=False):
        desc = half.desc
        if not desc.is_valu:
            continue
        slot = 0
        for role, operand in desc.roles_of(half):
            at = 2 if role.written else slot
            slot += not role.written
            reg = bare(operand)
            if role.read and isinstance(reg, Reg) and reg.is_vgpr and reg.count == 1:
                found.append(Source(name, at, reg))
    return tuple(sorted(found, key=lambda s: (s.half, s.slot)))


def destinations(inst: Instruction) -> list[Reg]:
    """The VGPRs that the X and the Y half write, as the operands name them."""
    return [
        operand
        for half in inst.halves
        for role, operand in half.desc.roles_of(half)
        if role.written and isinstance(operand, Reg) and operand.is_vgpr
    ]


def slot_pair(inst: Instruction, slot: int) -> tuple[Reg, Reg] | None:
    """The VGPRs that X and Y of a VOPD read through one slot; None where one of them reads no VGPR there."""
    by_half = {s.half: s.reg for s in sources(inst) if s.slot == slot}
    return (by_half["X"], by_half["Y"]) if inst.pair is not None and len(by_half) == 2 else None


def same_bank(inst: Instruction) -> list[int]:
    """The slots in which X and Y of a VOPD read the same bank, of slot 2 one parity: ISA guide 7.6 forbids it, but for
    what the family allows."""
    vopd = inst.family.vopd
    if vopd.any_moves and all(half.desc.name == "v_mov_b32" for half in inst.halves):
        return []
    pairs = [(slot, p) for slot in (0, 1, 2) if (p := slot_pair(inst, slot)) is not None]
    return [
        slot for slot, (x, y) in pairs
        if (x.parity == y.parity if slot == 2 else x.bank == y.bank) and not (vopd.same_register and x == y)
    ]  # fmt: skip


@lru_cache(1 << 15)
def same_parity(inst: Instruction) -> tuple[int, ...]:
    """The slots 0 and 1 in which X and Y of a VOPD read registers of one parity."""
    return tuple(slot for slot in (0, 1) if (p := slot_pair(inst, slot)) is not None and p[0].parity == p[1].parity)


def clashes(inst: Instruction) -> int:
    """How many reads beyond the first a bank must serve for one instruction, caches and SRC2 apart: the same register
    counts once."""
    regs = {s.reg for s in sources(inst) if s.slot != 2}
    return len(regs) - len({r.bank for r in regs})


COLUMNS = ("DSTX", "SRC0X", "SRC1X", "DSTY", "SRC0Y", "SRC1Y")


def cache_table(instructions: Iterable[Instruction]) -> Iterator[tuple[str, ...]]:
    """One row of six cells (`COLUMNS`) an instruction, as the published study prints them: `R2` a read from bank 2,
    `Cache2` one served by its cache, `W1` a write to bank 1, empty where there is none. Writes stand at the next VALU
    instruction, since they happen a cycle later. SRC2 is not shown, nor are writes of other units."""
    cache: dict[tuple[int, int], Reg] = {}
    written: list[str] = ["", ""]
    for inst in instructions:
        cells = dict.fromkeys(COLUMNS, "")
        is_valu = inst.halves[0].desc.is_valu
        if is_valu:
            cells["DSTX"], cells["DSTY"] = written
            written = ["", ""]
        for s in sources(inst):
            key = (s.reg.bank, s.slot)
            if s.slot < 2:
                cells[f"SRC{s.slot}{s.half}"] = f"{'Cache' if cache.get(key) == s.reg else 'R'}{s.reg.bank}"
        for s in sources(inst):
            cache[s.reg.bank, s.slot] = s.reg
        for k, reg in enumerate(destinations(inst)[:2]):
            if is_valu:
                written[k] = f"W{reg.bank}"
            cache = {key: held for key, held in cache.items() if held not in set(reg.units())}
        yield tuple(cells.values())


def bank_reads(instructions: Iterable[Instruction]) -> tuple[int, int]:
    """(reads of a VGPR bank, reads that the operand caches served) over SRC0 and SRC1 of a run of instructions."""
    cells = [cell for row in cache_table(instructions) for cell in row]
    return sum(c.startswith("R") for c in cells), sum(c.startswith("Cache") for c in cells)
