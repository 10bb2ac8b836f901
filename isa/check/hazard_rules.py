"""Hazards of GFX11 (`isa.check.hazards`) as findings: those that one remedy would settle as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.check import causes, hazards
from isa.check.hazards import Hazard
from isa.check.registry import RULES
from isa.check.rules import Rule, place
from isa.errors import Finding
from isa.targets import GFX1100, Target

TRANS = RULES["HAZ001"]
PERMLANE = RULES["HAZ002"]
WMMA = RULES["HAZ003"]
DEALLOC = RULES["HAZ004"]
FORWARDING = RULES["HAZ005"]
MASK = RULES["HAZ006"]

_VALU_WAIT = "s_waitcnt_depctr depctr_va_vdst(0)"
_MASK_WAIT = "s_waitcnt_depctr depctr_sa_sdst(0), or depctr_va_vcc(0) or depctr_va_sdst(0) where VALU wrote it,"


def faults(cfg: Cfg, target: Target | None, wave64: bool) -> Iterator[Finding]:
    """The hazards of a function. target: None where it is not known, which stands for gfx1100."""
    has = (target or GFX1100).hazards
    if "trans use" in has:
        yield from _found(
            cfg, TRANS, hazards.trans_use(cfg), _VALU_WAIT,
            lambda regs, source: f"reads {regs}, which {source} may not have written yet",
        )  # fmt: skip
    yield from _found(
        cfg, PERMLANE, hazards.permlane(cfg), "a VALU instruction that is no v_nop",
        lambda _, source: f"may see the lanes that were on before {source}",
    )  # fmt: skip
    yield from _found(
        cfg, WMMA, hazards.wmma(cfg), "v_nop, or another VALU instruction,",
        lambda regs, source: f"reads {regs}, which {source} may not have written yet",
    )  # fmt: skip
    for i in hazards.dealloc(cfg):
        yield DEALLOC.broken(
            cfg.instructions[i], "no s_nop stands before the message", expected="s_nop 0 right before it",
            hint="put one there, or leave the message out: it only gives registers back earlier",
        )  # fmt: skip
    if wave64:
        yield from _found(
            cfg, FORWARDING, hazards.forwarding(cfg), _VALU_WAIT,
            lambda regs, source: f"reads {regs}, written by {source} before EXEC changed, and a later result",
        )  # fmt: skip
        yield from _found(
            cfg, MASK, hazards.mask_write(cfg), _MASK_WAIT,
            lambda regs, source: f"reads {regs}, which was written after {source} had read it as a lane mask",
        )  # fmt: skip


def _found(
    cfg: Cfg, rule: Rule, found: Iterable[Hazard], remedy: str, says: Callable[[str, str], str]
) -> Iterator[Finding]:
    """says: (the registers, the instruction that it comes from) -> what is wrong."""
    findings = {}
    for h in found:
        inst, source = cfg.instructions[h.position], cfg.instructions[h.source]
        findings[h.source, h.position] = rule.broken(
            inst,
            f"{inst.mnemonic} {says(regset.names(h.registers), f'{source} ({place(source, h.source)})')}",
            expected=f"{remedy} before it",
            hint="compilers insert it; the assembler does not",
        )
    yield from causes.joined(
        cfg, findings, lambda _, at: True,
        lambda pairs: f"{remedy} before {place(cfg.instructions[pairs[0][1]], pairs[0][1])} settles all",
    )  # fmt: skip
