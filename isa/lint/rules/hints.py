"""s_clause and s_delay_alu: promises about the instructions that follow, which the assembler does not check.

`s_clause n` says that the next n + 1 instructions are one clause: all of one kind, loads, stores and atomics apart,
VMEM and scratch together, FLAT, LDS, SMEM and VALU each by themselves; s_nop may stand among them, nothing else may
(RDNA3 ISA guide 5.3 and 16.5; LLVM SIInsertHardClauses.cpp). Between 2 and 63 instructions.

`s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(TRANS32_DEP_1)` says that the next instruction depends on
the second VALU instruction back, and the one after it on the last transcendental one (LLVM AMDGPUInsertDelayAlu.cpp).
A wrong one costs time and nothing else, so it is a note. Only dependences within a block are looked at; SALU_CYCLE
counts cycles and is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from isa.analysis.cfg import Cfg
from isa.display import number_of
from isa.errors import Finding
from isa.lint.functions import LintedFunction
from isa.lint.registry import RULES
from isa.semantics.instruction import Fields, Imm, Instruction

CLAUSE = RULES["HINT001"]
DELAY = RULES["HINT002"]

_SKIP = {"SAME": 0, "NEXT": 1, **{f"SKIP_{n}": n + 1 for n in range(1, 5)}}


def findings(f: LintedFunction) -> Iterator[Finding]:
    """The faults."""
    yield from faults(f.flow)


def notes(f: LintedFunction) -> Iterator[Finding]:
    """Delays for dependences that are not there."""
    for i in f.flow.where(lambda desc: desc.name == "s_delay_alu"):
        inst = f.flow.instructions[i]
        if isinstance(inst.operands[0], Fields):
            yield from _delay(f.flow, i, inst, inst.operands[0])


def faults(cfg: Cfg) -> Iterator[Finding]:
    """Clauses that hold something else than they say."""
    for i in cfg.where(lambda desc: desc.name == "s_clause"):
        yield from _clause(cfg, i, cfg.instructions[i])


def _clause_kind(inst: Instruction) -> str:
    desc = inst.desc
    if desc.unit != "vmem" or desc.access is None:
        return desc.unit
    return f"{'flat' if desc.access.space == 'flat' else desc.unit} {desc.access.kind}"


def _clause(cfg: Cfg, position: int, inst: Instruction) -> Iterator[Finding]:
    operand = inst.operands[0]
    if not isinstance(operand, Imm) or not isinstance(operand.value, int):
        return
    length = (operand.value & 0x3F) + 1
    if not 2 <= length <= 63:
        yield CLAUSE.broken(inst, "a clause has 2 to 63 instructions", operand=0, expected="1 to 62", got=str(operand))
        return
    end = cfg.block_of(position).end
    inside = range(position + 1, min(position + 1 + length, end))
    kinds = {k: _clause_kind(cfg.instructions[k]) for k in inside if cfg.instructions[k].mnemonic != "s_nop"}
    allowed = (
        "vmem load",
        "vmem store",
        "vmem atomic",
        "flat load",
        "flat store",
        "flat atomic",
        "lds",
        "smem",
        "valu",
    )
    first = next(iter(kinds.values()), "")
    wrong = next((k for k, kind in kinds.items() if kind != first or kind not in allowed), None)
    if wrong is not None:
        other = cfg.instructions[wrong]
        yield CLAUSE.broken(
            inst,
            f"instruction {wrong - position} of the clause is {other.mnemonic}",
            expected=f"{number_of(length, 'instruction')} of one kind ({first})",
            got=kinds[wrong],
            hint=f"s_clause {wrong - position - 2:#x}" if wrong - position > 2 else "leave s_clause out",
        )
    elif len(inside) < length:
        yield CLAUSE.broken(
            inst,
            "the clause extends beyond its basic block",
            operand=0,
            expected=f"at most {len(inside) - 1:#x}",
            got=str(operand),
            hint="make it shorter, or move the instructions that follow into the block",
        )


def _delay(cfg: Cfg, position: int, inst: Instruction, fields: Fields) -> Iterator[Finding]:
    skip = _SKIP.get((fields.get("instskip") or ("SAME",))[0], 0)
    for name, ahead in (("instid0", 0), ("instid1", skip)):
        what = ", ".join(fields.get(name) or ("NO_DEP",))
        kind, _, number = what.rpartition("_DEP_")
        target = position + 1 + ahead
        block = cfg.block_of(position)
        if not number.isdecimal() or target >= block.end:
            continue
        before = ((k, cfg.instructions[k].desc) for k in range(target - 1, block.start - 1, -1))
        back = (k for k, desc in before if desc.is_valu and desc.is_trans == (kind == "TRANS32"))
        at = next(islice(back, int(number) - 1, None), None) if int(number) else None
        if at is None:
            continue
        source = cfg.instructions[at]
        if not cfg.defs[at] & cfg.uses[target]:
            yield DELAY.broken(
                inst,
                f"{name}({what}): {cfg.instructions[target]} does not depend on {source}",
                operand=0,
                hint="leave it out, or correct the distance: it only costs time",
            )
