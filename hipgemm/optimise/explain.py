"""`hipgemm opt --explain`: why instructions of inner loops were not paired, or have bank conflicts."""

from __future__ import annotations

from collections.abc import Sequence

from isa.analysis import banks, cfg, inner
from isa.analysis.cfg import Cfg
from isa.asm.program import Program
from isa.display import number_of
from isa.passes import run_pipeline
from isa.passes.schedule import dual_issue
from isa.semantics.instruction import Instruction, base_name
from isa.timing.machine import bank_rules


def explain(program: Program, name: str) -> list[str]:
    """Why what is single, or collides, in loops is so: lines to print."""
    flow = cfg.of_kernel(program.kernel(name))
    *_, (_, renamed) = run_pipeline(program, "rename-banks")
    parted = cfg.of_kernel(renamed.kernel(name)).instructions
    return [line for loop in flow.loops if not _has_inner(flow, loop) for line in _why(flow, loop, parted)]


def _has_inner(flow: Cfg, loop: cfg.Loop) -> bool:
    return any(other is not loop and other.blocks < loop.blocks for other in flow.loops)


def _why(flow: Cfg, loop: cfg.Loop, parted: Sequence[Instruction]) -> list[str]:
    """parted: the same instructions after `rename-banks`."""
    rule = bank_rules.RULES[bank_rules.DEFAULT]
    out: list[str] = []
    for b in sorted(loop.blocks):
        before: tuple[banks.Source, ...] = ()
        for i in flow.blocks[b].range:
            inst = flow.instructions[i]
            if not inst.desc.is_valu:
                continue
            now, where = banks.sources(inst), inst.span.line if inst.span else i
            if bank_rules.matrix_on_one_bank(inst):
                left = bank_rules.matrix_on_one_bank(parted[i])
                why = "no registers are free to move one of them" if left else "rename-banks separates them"
                out.append(f"{where}: {inst}: A, B and C begin on one bank; {why}")
            elif cycles := rule(before, now):
                read = ", ".join(f"{s.reg} (bank {s.reg.bank})" for s in now if s.slot != 2)
                out.append(f"{where}: {inst}: {number_of(cycles, 'cycle')} more: it reads {read}")
            before = now
            if inst.pair is None and inner.fmas(inst):
                out.append(f"{where}: {inst}: single: {_single(inst)}")
    return out


def _single(inst: Instruction) -> str:
    if dual_issue.facts(inst):
        return "no other ready instruction has a destination of the other parity and sources on other banks"
    if inst.modifiers or any(str(o)[0] in "-|" for o in inst.operands):
        return "the halves of a VOPD take no modifiers"
    if base_name(inst.mnemonic) == "v_fma_f32":
        return "its addend is not its destination, as FMAC requires, or src1 is not a VGPR"
    return "src1 of a VOPD must be a VGPR"
