"""Waits and hints for the order in which a block stands: `relax-waits`, `delay-alu`, `clause`, and passes that reorder.

s_delay_alu lets other waves issue while an operand is computed. As LLVM's AMDGPUInsertDelayAlu does it, within a block:
a register is late for so many cycles after its write (`isa.timing.machine.rdna3`), unless more than 4 VALU (3
transcendental) instructions stand between, or an access that waits for the VALU anyway; an instruction says which of
its operands are late, and two that stand within 5 instructions share one hint. None stands between s_getpc_b64 and what
counts from it.

s_clause keeps accesses of one kind together: two or more neighbours among vector memory loads, stores, or scalar loads
(LLVM's SIInsertHardClauses).

Neither changes what is computed. What hints gain on a card was not measured here; the cycle model knows a hint's cost
and what it holds back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

from isa.analysis import dependences, regset
from isa.asm.parse import parse_instruction
from isa.asm.program import Program
from isa.passes.edit import each_kernel
from isa.passes.schedule import block_order
from isa.registers import VCC_LO, Reg
from isa.semantics.instruction import Instruction, bare
from isa.semantics.own_place import distance

_MOST_VALU, _MOST_TRANS, _MOST_SALU = 4, 3, 3
_SKIPS = ("SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")
_LONGEST = 32


@dataclass(frozen=True)
class DelayAlu:
    """Rewrites `s_delay_alu`.

    Requires:   nothing.
    Guarantees: each block's hints name the operands that are late in its order, and no others.
    Leaves alone: all else; functions that call, whole.
    """

    name: ClassVar[str] = "delay-alu"

    def run(self, program: Program) -> Program:
        return _each(program, lambda rows: delays([inst for inst in rows if inst.desc.sched != "delay"]))


@dataclass(frozen=True)
class Clause:
    """Rewrites `s_clause`.

    Requires:   nothing.
    Guarantees: neighbouring loads, stores or scalar loads, two or more, stand in one clause.
    Leaves alone: all else; functions that call, whole.
    """

    name: ClassVar[str] = "clause"

    def run(self, program: Program) -> Program:
        return _each(program, lambda rows: clauses([inst for inst in rows if inst.desc.sched != "clause"]))


def hinted(rows: list[Instruction]) -> list[Instruction]:
    """A block's instructions with new hints of both kinds."""
    plain = [inst for inst in rows if not dependences.is_hint(inst)]
    return clauses(delays(plain))


def _each(program: Program, again: block_order.Hinted) -> Program:
    """A program with new hints of one kind, in the order that is there."""
    change = partial(block_order.rewrite, reorder=block_order.as_it_is, hinted=again, anew=False)
    return each_kernel(program, "", change)


@dataclass
class _Late:
    """How long a register is late: cycles, and instructions that stood after its write. None: it is not."""

    valu: tuple[int, int] | None = None
    trans: tuple[int, int] | None = None
    salu: int = 0

    def merge(self, other: _Late) -> None:
        """The later of both: fewer instructions back, more cycles."""
        self.valu = _later(self.valu, other.valu)
        self.trans = _later(self.trans, other.trans)
        self.salu = max(self.salu, other.salu)

    def advance(self, valu: bool, trans: bool, cycles: int) -> None:
        """One more instruction stands after the write."""
        if self.valu:
            left, back = self.valu[0] - cycles, self.valu[1] + valu
            self.valu = (left, back) if left > 0 and back <= _MOST_VALU else None
        if self.trans:
            left, back = self.trans[0] - cycles, self.trans[1] + trans
            self.trans = (left, back) if left > 0 and back <= _MOST_TRANS else None
        self.salu = max(0, self.salu - cycles)

    def texts(self) -> list[str]:
        found = [f"TRANS32_DEP_{self.trans[1]}"] if self.trans else []
        found += [f"VALU_DEP_{self.valu[1]}"] if self.valu else []
        found += [f"SALU_CYCLE_{min(self.salu, _MOST_SALU)}"] if self.salu else []
        return found[:2]


def _later(a: tuple[int, int] | None, b: tuple[int, int] | None) -> tuple[int, int] | None:
    return (max(a[0], b[0]), min(a[1], b[1])) if a and b else a or b


@cache
def _latencies() -> tuple[int, int, int]:
    from isa.timing.machine import rdna3

    numbers = rdna3.values()
    return round(numbers["valu_latency"]), round(numbers["trans_latency"]), round(numbers["salu_latency"])


def delays(rows: list[Instruction]) -> list[Instruction]:
    """A block without s_delay_alu -> with it."""
    valu, trans, salu = _latencies()
    late: dict[int, _Late] = {}
    out: list[Instruction] = []
    open_at = -1  # where in `out` the last hint stands that has room for a second
    for inst in rows:
        desc = inst.desc
        if desc.drains_valu:
            late.clear()
        elif (desc.is_valu or desc.is_salu) and distance(inst) is None:
            mine = _Late()
            for reg in regset.members(_named(inst)):
                mine.merge(late.get(regset.bit(reg), _Late()))
            if desc.is_salu:  # the hardware holds it back until the VALU has written
                mine.valu = mine.trans = None
            open_at = _emit(out, mine.texts(), open_at)
        if desc.is_valu or desc.is_salu:
            for reg in regset.members(regset.defs(inst)):
                late[regset.bit(reg)] = (
                    _Late(trans=(trans, 0))
                    if desc.is_trans
                    else _Late(valu=(valu, 0))
                    if desc.is_valu
                    else _Late(salu=salu)
                )
        for state in late.values():
            state.advance(desc.is_valu and not desc.is_trans, desc.is_trans, 1)
        late = {bit: state for bit, state in late.items() if state.valu or state.trans or state.salu}
        out.append(inst)
    return out


def _named(inst: Instruction) -> int:
    """The registers that an instruction names and reads (`regset`); LLVM leaves out what it reads without naming it."""
    short = inst.mnemonic.endswith("_e32")
    return regset.mask(
        reg
        for half in inst.halves
        for role, operand in zip(half.desc.roles, half.operands, strict=False)
        if role.read and isinstance(reg := bare(operand), Reg) and not reg.is_null and not (short and reg == VCC_LO)
    )


def _emit(out: list[Instruction], texts: list[str], open_at: int) -> int:
    """Says it of the instruction that comes next: in the last hint, where that has room, else in one of its own."""
    if not texts:
        return open_at
    if open_at >= 0 and len(texts) == 1 and (skip := len(out) - open_at - 1) < len(_SKIPS):
        first = str(out[open_at])
        out[open_at] = parse_instruction(f"{first} | instskip({_SKIPS[skip]}) | instid1({texts[0]})")
        return -1
    second = f" | instid1({texts[1]})" if len(texts) == 2 else ""
    out.append(parse_instruction(f"s_delay_alu instid0({texts[0]}){second}"))
    return len(out) - 1 if len(texts) == 1 else -1


def _clause_kind(inst: Instruction) -> str:
    access = inst.desc.access
    if access is None or access.space == "lds":
        return ""
    return f"{access.space == 'flat'} {inst.desc.unit} {access.kind}"


def clauses(rows: list[Instruction]) -> list[Instruction]:
    """A block without s_clause -> with it."""
    out: list[Instruction] = []
    at = 0
    while at < len(rows):
        kind, end = _clause_kind(rows[at]), at + 1
        while kind and end < len(rows) and end - at < _LONGEST and _clause_kind(rows[end]) == kind:
            end += 1
        if end - at > 1:
            out.append(parse_instruction(f"s_clause {end - at - 1:#x}"))
        out += rows[at:end]
        at = end
    return out


@dataclass(frozen=True)
class RelaxWaits:
    """Puts each `s_waitcnt` in front of the first instruction that needs it, for the largest number that will do.

    blocks: numbers of the blocks that it takes, as 2+5+7; none: all. kernel: which one; none: all.

    Requires:   nothing.
    Guarantees: the same instructions in the same order, waits and hints apart; nothing uses a register that a load may
                still fill; what had been waited for before a barrier, a fence, a scalar load, a branch or a block's end
                still has been there.
    Leaves alone: functions that call; functions that wait for other waves through memory (atomics, `glc`, sleeping);
                waits for results (`s_waitcnt_depctr`).
    """

    name: ClassVar[str] = "relax-waits"

    blocks: str = ""
    kernel: str = ""

    def run(self, program: Program) -> Program:
        only = block_order.numbers_of(self.blocks)
        change = partial(block_order.rewrite, reorder=block_order.as_it_is, hinted=hinted, only=only)
        return each_kernel(program, self.kernel, change)
