"""Dual issue: a VOPD -> the rules of RDNA3 ISA guide 7.6 that its halves break together.

    opcodes     X and Y each from their list (`Description.vopd`); no DPP, no modifiers of sources
    VSRC1       a VGPR (FMAMK has its literal there, and its VGPR in SRC2)
    SRC0        if both are VGPRs, in different banks; the same for SRC1
    SRC2        (the destination of FMAC, the third operand of FMAMK) one even, one odd
    destination one even, one odd, which also keeps the halves from writing one register
    scalars     at most two of SGPRs, VCC (which CNDMASK reads) and literals; one literal, which both halves may share

Beyond the guide, `parity` finds the pairs at which GFX11 can lose the interlock of a VALU write in flight: no assembler
reports them, and compilers emit them, so they are the linter's to report and no reason to reject a program. The pass
`vopd-interlock` repairs them.

Sources: the guide; LLVM GCNVOPDUtils.cpp `checkVOPDRegConstraints` and AMDGPUBaseInfo.h `VOPD_VGPR_BANK_MASKS`.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.analysis import banks
from isa.analysis.valu_writes import ValuWrites
from isa.asm.encoding import LITERAL_AT, number_text
from isa.errors import Finding
from isa.lint.names import register
from isa.lint.operands import scalars
from isa.lint.registry import RULES
from isa.registers import VCC, Reg
from isa.semantics.instruction import Instruction, Modified, Operand, Special, bare
from isa.semantics.waits import results_text

OPCODE = RULES["VOPD001"]
BANKS = RULES["VOPD002"]
SOURCES = RULES["VOPD003"]
DESTINATIONS = RULES["VOPD004"]
SCALARS = RULES["VOPD005"]
PARITY = RULES["VOPD006"]

_NAMES = ("src0", "src1", "src2")
_RENAME = "rename a register"
_APART = "write the halves as two instructions"


def check(inst: Instruction) -> Iterator[Finding]:
    """The rules that a VOPD breaks; nothing for other instructions."""
    if inst.pair is None:
        return
    yield from _halves(inst)
    yield from _scalars(inst)
    for slot in banks.same_bank(inst):
        pair = banks.slot_pair(inst, slot)
        assert pair is not None
        x, y = pair
        if slot == 2:
            yield BANKS.broken(inst, "src2 of X and Y must be one even, one odd", got=f"{x} and {y}", hint=_RENAME)
            continue
        yield BANKS.broken(
            inst,
            f"X and Y read {_NAMES[slot]} from one bank",
            expected="registers with different numbers mod 4",
            got=f"{x} and {y}, both bank {x.bank}",
            hint=_swap_hint(inst),
        )
    if len(written := banks.destinations(inst)) == 2 and written[0].parity == written[1].parity:
        x, y = written
        yield DESTINATIONS.broken(
            inst, "the destinations of X and Y must be one even, one odd", got=f"{x} and {y}", hint=_RENAME
        )


def parity(writes: ValuWrites) -> Iterator[Finding]:
    """The pairs of one parity whose interlock GFX11 can lose while it matters (`isa.analysis.valu_writes`)."""
    for risk in writes.risks():
        yield PARITY.broken(
            writes.cfg.instructions[risk.position],
            f"{_NAMES[risk.slot]} of X and Y are both {'odd' if risk.x.parity else 'even'}, and a VALU write of "
            f"{risk.written} may be in flight: GFX11 can read the old value",
            expected=f"one even, one odd; or {results_text(writes.cfg.family, 'va_vdst')} before it",
            got=f"{risk.x} and {risk.y}",
            hint="split the pair into two instructions, as LLVM does since pull request 220348, or rename a register",
        )


def _halves(inst: Instruction) -> Iterator[Finding]:
    for name, half in zip("xy", inst.halves, strict=True):
        desc = half.desc
        if name not in desc.vopd:
            yield OPCODE.broken(half, f"{desc.name} cannot be the {name.upper()} half of a VOPD", hint=_APART)
        if half.modifiers:
            yield OPCODE.broken(half, "the halves of a VOPD take no modifiers", got=half.modifiers[0][0], hint=_APART)
        if desc.roles[-1].kind == "m" and len(half.operands) == len(desc.roles):
            yield OPCODE.broken(
                half, "the mask of a VOPD is vcc_lo, which is not written", operand=len(desc.roles) - 1,
                got=str(half.operands[-1]), hint=_APART,
            )  # fmt: skip
        rows = [(n, o) for n, (role, o) in enumerate(desc.roles_of(half)) if role.kind != "m" and not role.written]
        for k, (number, operand) in enumerate(rows):
            if isinstance(operand, Modified):
                yield OPCODE.broken(
                    half, "the sources of a VOPD take no modifiers", operand=number, got=str(operand), hint=_APART
                )
            reg = register(operand)
            if LITERAL_AT.get(desc.name) == k:
                if isinstance(bare(operand), Reg | Special):
                    yield SOURCES.broken(
                        half, f"{desc.name} has a literal here", operand=number, expected="a number", got=str(operand)
                    )
            elif k > 0 and (reg is None or not reg.is_vgpr):
                yield SOURCES.broken(
                    half,
                    f"{_NAMES[k]} of a VOPD is a VGPR",
                    operand=number,
                    expected="a VGPR",
                    got=str(operand),
                )


def _scalars(inst: Instruction) -> Iterator[Finding]:
    values: set[Operand] = set()
    literals: set[int | float] = set()
    for half in inst.halves:
        # LLVM counts the mask of CNDMASK apart from a vcc_lo that is named as a source.
        for one, _ in scalars(half, half.desc.roles_of(half), mask=VCC):
            if isinstance(one, int | float):
                literals.add(one)
            else:
                values.add(one)
    most = inst.family.vopd
    if len(literals) > most.literals:
        yield SCALARS.broken(
            inst, "the halves of a VOPD share one literal", got=f"{len(literals)} literals", hint=_APART
        )
    elif len(literals) + len(values) > most.scalars:
        yield SCALARS.broken(
            inst,
            f"a VOPD reads at most {most.scalars} scalar values",
            got=", ".join([*sorted(map(str, values)), *map(number_text, literals)]),
            hint=_APART,
        )


def _swap_hint(inst: Instruction) -> str | None:
    commutes = {"v_fmac_f32", "v_mul_f32", "v_add_f32", "v_min_f32", "v_max_f32"}
    if any(half.desc.name in commutes for half in inst.halves):
        return "swap src0 and src1 of one half where that helps, or rename a register"
    return _RENAME
