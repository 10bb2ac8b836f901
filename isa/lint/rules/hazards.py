"""Hazards of GFX11 (`isa.lint.hazards`) as findings: those that one remedy would settle as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from isa.analysis import regset, sgpr_reads, valu_writes
from isa.analysis.cfg import Cfg
from isa.analysis.waits import InFlight
from isa.errors import Finding
from isa.lint import causes, hazards, vopd
from isa.lint.functions import LintedFunction
from isa.lint.hazards import Hazard
from isa.lint.names import Rule, called, place
from isa.lint.registry import RULES
from isa.semantics.instruction import Description
from isa.semantics.waits import results_text, wait_text
from isa.targets import GFX1100, Target

TRANS = RULES["HAZ001"]
PERMLANE = RULES["HAZ002"]
WMMA = RULES["HAZ003"]
DEALLOC = RULES["HAZ004"]
FORWARDING = RULES["HAZ005"]
MASK = RULES["HAZ006"]
SCRATCH = RULES["HAZ007"]
GIVEN_BACK = RULES["HAZ008"]
SGPR = RULES["HAZ009"]

_VALU_WAIT = results_text(GFX1100.family, "va_vdst")
_MASK_WAIT = f"{results_text(GFX1100.family, 'sa_sdst')}, or depctr_va_vcc(0) or depctr_va_sdst(0) where VALU wrote it,"


_UNWRITTEN = "reads {regs}, which {source} may not have written yet"


class _Kind(NamedTuple):
    """A hazard by its name in `Target.hazards`. about: whether it begins with such an instruction; says: what is wrong,
    of {regs} and {source}, where it comes from."""

    name: str
    rule: Rule
    about: Callable[[Description], bool]
    find: Callable[[Cfg], Iterator[Hazard]]
    remedy: str
    says: str
    wave64: bool = False


_KINDS = (
    _Kind("trans use", TRANS, lambda d: d.is_trans, hazards.trans_use, _VALU_WAIT, _UNWRITTEN),
    _Kind(
        "permlane", PERMLANE, lambda d: d.is_compare and d.writes_exec, hazards.permlane,
        "a VALU instruction other than v_nop", "may use the EXEC from before {source}",
    ),
    _Kind("wmma", WMMA, lambda d: d.is_matrix, hazards.wmma, "v_nop, or another VALU instruction,", _UNWRITTEN),
    _Kind(
        "forwarding", FORWARDING, lambda d: d.is_salu and d.writes_exec, hazards.forwarding, _VALU_WAIT,
        "reads {regs}, written by {source} before EXEC changed, and a later result", wave64=True,
    ),
    _Kind(
        "mask write", MASK, lambda d: d.is_valu and hazards.reads_mask(d), hazards.mask_write, _MASK_WAIT,
        "reads {regs}, which was written after {source} had read it as a lane mask", wave64=True,
    ),
)  # fmt: skip


def about(desc: Description) -> list[str]:
    """The ids of the rules whose hazards begin with such an instruction."""
    message = [SCRATCH.id, GIVEN_BACK.id, DEALLOC.id] if desc.name == "s_sendmsg" else []
    return sorted([kind.rule.id for kind in _KINDS if kind.about(desc)] + message)


def findings(f: LintedFunction) -> Iterator[Finding]:
    """The faults."""
    yield from faults(f.flight, f.start.target, f.start.wave64, f.called)


def sgprs(cfg: Cfg, function: bool, wave64: bool) -> Iterator[Finding]:
    """Reads of SGPRs that may give the value from before their last write. function: it is one that is called."""
    for i, by_salu, by_valu in sgpr_reads.strikes(cfg, function, wave64):
        inst, early = cfg.instructions[i], regset.names(by_salu | by_valu)
        waits = " and ".join(results_text(cfg.family, field) for field in sgpr_reads.fields(by_salu, by_valu))
        yield SGPR.broken(
            inst,
            f"{called(inst)} reads {early}, which was written after a VALU instruction had read it",
            expected=f"{waits} between the write and this",
            hint="compilers insert this; the assembler does not",
        )


def notes(f: LintedFunction) -> Iterator[Finding]:
    """VOPDs that can miss a VALU write: when one does is not known, and shipped code, which works, is full of them."""
    yield from parity(f.flow, f.start.target, f.written)


def parity(cfg: Cfg, target: Target | None, written: Mapping[int, int] = MappingProxyType({})) -> Iterator[Finding]:
    """VOPDs that can miss a VALU write, where the target can. written: as in `LintedFunction`."""
    pairs = any(inst.pair is not None for inst in cfg.instructions)
    if pairs and "vopd interlock" in (target or GFX1100).hazards:
        yield from vopd.parity(valu_writes.analyse(cfg, written))


def faults(flight: InFlight, target: Target | None, wave64: bool, function: bool = False) -> Iterator[Finding]:
    """The hazards of a function that its target has. target: None where it is not known, which stands for gfx1100;
    function: it is one that is called."""
    cfg, has = flight.cfg, (target or GFX1100).hazards
    for kind in _KINDS:
        if kind.name in has and (wave64 or not kind.wave64):
            yield from _found(cfg, kind)
    for i in hazards.dealloc(cfg) if "dealloc" in has else ():
        yield DEALLOC.broken(
            cfg.instructions[i], "there is no s_nop before the message", expected="s_nop 0 right before it",
            hint="insert one, or leave the message out: it only frees registers earlier",
        )  # fmt: skip
    for at, late in hazards.after_dealloc(cfg).items():
        yield causes.one([_late(cfg, i, at) for i in late], "s_endpgm after the message, or no message, fixes all")
    for i, stores in hazards.scratch_at_dealloc(flight):
        wait = f"{wait_text(cfg.family, dict.fromkeys(cfg.family.raised['scratch_store'], 0))} before the message"
        yield causes.one([_scratch(cfg, i, store, wait) for store in stores], f"{wait} fixes all")
    if "sgpr" in has:
        yield from sgprs(cfg, function, wave64)


def _late(cfg: Cfg, position: int, at: int) -> Finding:
    inst, message = cfg.instructions[position], cfg.instructions[at]
    return GIVEN_BACK.broken(
        inst,
        f"{called(inst)} names VGPRs, which the message ({place(message, at)}) gives back",
        expected="s_endpgm after the message",
        hint="move the message behind it, or leave it out: it only frees registers earlier",
    )


def _scratch(cfg: Cfg, position: int, store: int, wait: str) -> Finding:
    inst = cfg.instructions[store]
    return SCRATCH.broken(
        cfg.instructions[position],
        f"{inst} ({place(inst, store)}) may be in flight at the message, which gives its scratch memory back",
        expected=wait,
        hint="insert it, or leave the message out: it only frees registers earlier",
    )


def _found(cfg: Cfg, kind: _Kind) -> Iterator[Finding]:
    findings = {}
    for h in kind.find(cfg):
        inst, source = cfg.instructions[h.position], cfg.instructions[h.source]
        where = f"{source} ({place(source, h.source)})"
        findings[h.source, h.position] = kind.rule.broken(
            inst,
            f"{called(inst)} {kind.says.format(regs=regset.names(h.registers), source=where)}",
            expected=f"{kind.remedy} before it",
            hint="compilers insert this; the assembler does not",
        )
    yield from causes.joined(
        cfg, findings, lambda _, at: True,
        lambda pairs: f"{kind.remedy} before {place(cfg.instructions[pairs[0][1]], pairs[0][1])} fixes all",
    )  # fmt: skip
