"""VOPD pairing rules: precomputed per instruction half, so that thousands of pairs can be tested.
`isa.lint.vopd` judges what comes out.

`facts` gives the forms that an instruction can take as a half: as it is, and with src0 and src1 exchanged where its
product or sum is the same either way. An FMA whose addend is its destination is an FMAC.

Exchanged factors give the same number; of two NaNs another one's payload may come out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from isa.asm.encoding import LITERAL_AT, is_literal, literal_value
from isa.registers import VCC, VCC_LO, VGPR_LIMIT, Reg
from isa.semantics.instruction import Imm, Instruction, Modified, Operand, bare
from isa.targets.family import Vopd

COMMUTES = frozenset({"v_fmac_f32", "v_mul_f32", "v_add_f32", "v_max_f32", "v_min_f32", "v_mul_dx9_zero_f32",
                      "v_add_nc_u32", "v_and_b32"})  # fmt: skip
"""Whose src0 and src1 can be exchanged."""
_BITS = [1 << n for n in range(VGPR_LIMIT)]


@dataclass(frozen=True)
class Half:
    """An instruction as a half of a VOPD. inst: as it stands alone, an FMA as FMAC; src: VGPR numbers of src0, src1 and
    src2 (-1: no VGPR); dst: the VGPR it writes; scalars, literals: what else it reads."""

    inst: Instruction
    places: str
    src: tuple[int, int, int]
    dst: int
    scalars: frozenset[Reg]
    literals: frozenset[int | float]


def facts(inst: Instruction, commute: bool = True) -> tuple[Half, ...]:
    """The halves that an instruction can be; () where it can be none."""
    plain = _as_half(inst)
    if plain is None:
        return ()
    found = [_half(plain)]
    if commute and plain.desc.name in COMMUTES and min(found[0].src[:2]) >= 0:
        d, a, b, *rest = plain.operands
        found.append(_half(dataclasses.replace(plain, operands=(d, b, a, *rest))))
    return tuple(found)


def _as_half(inst: Instruction) -> Instruction | None:
    """An instruction without sign modifiers and the like, an FMA that adds to its destination as FMAC; None where no
    VOPD has it."""
    if inst.pair is not None or inst.modifiers or inst.dpp or any(isinstance(o, Modified) for o in inst.operands):
        return None
    if inst.desc.name == "v_fma_f32" and inst.operands[0] == inst.operands[3]:
        inst = dataclasses.replace(inst, mnemonic="v_fmac_f32_e32", operands=inst.operands[:3], size=0)
    desc = inst.desc
    if not desc.vopd or (desc.roles[-1].kind == "m" and inst.operands[-1] != VCC_LO):
        return None
    second = inst.operands[2] if len(inst.operands) > 2 else None
    literal = LITERAL_AT.get(desc.name) == 1
    if second is not None and not literal and not (isinstance(second, Reg) and second.is_vgpr):
        return None
    dst = inst.operands[0]
    return inst if isinstance(dst, Reg) and dst.is_vgpr and not dst.half else None


def _half(inst: Instruction) -> Half:
    desc = inst.desc
    src = [-1, -1, -1]
    scalars: set[Reg] = set()
    literals: set[int | float] = set()
    slot = 0
    for role, operand in desc.roles_of(inst):
        reg = bare(operand)
        if role.written:
            if role.read and isinstance(reg, Reg):
                src[2] = reg.index
            continue
        at, slot = slot, slot + 1
        if isinstance(reg, Reg):
            if reg.is_vgpr:
                src[at] = reg.index
            elif not reg.is_null:
                scalars.add(VCC if role.kind == "m" else reg)
        elif _literal(desc.name, at, reg, role.type):
            literals.add(literal_value(reg))
    dst = inst.operands[0]
    assert isinstance(dst, Reg)
    return Half(inst, desc.vopd, (src[0], src[1], src[2]), dst.index, frozenset(scalars), frozenset(literals))


def _literal(name: str, at: int, operand: Operand, type_: str) -> bool:
    return isinstance(operand, Imm) and (LITERAL_AT.get(name) == at or is_literal(operand, type_))


def _share(x: Half, y: Half, most: Vopd) -> bool:
    """Whether one VOPD holds what both read beside VGPRs."""
    literals = len(x.literals | y.literals)
    return literals <= most.literals and literals + len(x.scalars | y.scalars) <= most.scalars


def _banks_differ(x: Half, y: Half) -> bool:
    """Whether the sources of each slot lie in different banks, src2 at different parity."""
    for a, b, bits in zip(x.src, y.src, (3, 3, 1), strict=True):
        if a >= 0 and b >= 0 and not (a ^ b) & bits:
            return False
    return True


def gathered(x: Half, y: Half) -> int:
    """The VGPRs (bits) of which no VALU write may be in flight where X and Y are one VOPD: sources of one slot and one
    parity (`isa.analysis.valu_writes`)."""
    found = 0
    for slot in (0, 1):
        a, b = x.src[slot], y.src[slot]
        if a >= 0 and b >= 0 and not (a ^ b) & 1:
            found |= _BITS[a] | _BITS[b]
    return found


def pairs(
    one: tuple[Half, ...], two: tuple[Half, ...], most: Vopd, numbers: bool = True
) -> Iterator[tuple[Half, Half]]:
    """The forms in which two instructions may be one, each as X first, if what `gathered` says has landed. numbers: of
    VGPRs matter."""
    if not one or not two or (numbers and not (one[0].dst ^ two[0].dst) & 1) or not _share(one[0], two[0], most):
        return
    ahead = "x" in one[0].places and "y" in two[0].places
    behind = "x" in two[0].places and "y" in one[0].places
    for a in one:
        for b in two:
            if numbers and not _banks_differ(a, b):
                continue
            if ahead:
                yield a, b
            if behind:
                yield b, a
