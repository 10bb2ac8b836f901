"""Values: registers read that nobody wrote, values written that nobody reads, code that nobody reaches.

A register is given where the hardware or the runtime sets it before the first instruction: EXEC, M0 and the trap
registers, the user and system SGPRs that the descriptor asks for, and v0, which holds the work-item IDs (packed by ten
bits on gfx11; LLVM AMDGPUUsage, "Initial Kernel Execution State"). Anything else that a read can see from the entry was
never written on that path.

It is a fault where the first execution of the read is sure to see it: no write of the register reaches the read, or
only writes behind the read itself (an accumulator that nobody cleared). It is a note where a write reaches it on other
paths. Two reads are none in earnest: an instruction that keeps part of a register (v_writelane_b32, the d16 loads) and
the high half of a 64-bit source of a multiply-add or left shift whose high result nobody reads; compilers leave such a
half undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.analysis import defuse, exec_mask, liveness, regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY, DefUse
from isa.analysis.exec_mask import ExecMask
from isa.analysis.liveness import Liveness
from isa.check.registry import RULES
from isa.check.rules import register
from isa.describe import lookup
from isa.errors import Finding
from isa.program import Instruction
from isa.registers import EXEC, M0, Reg

UNWRITTEN = RULES["VAL001"]
UNWRITTEN_SOMEWHERE = RULES["VAL002"]
UNREAD = RULES["VAL003"]
UNREACHABLE = RULES["VAL004"]

ALWAYS_GIVEN = regset.mask([EXEC, M0, Reg("s", 108, 16), Reg("v", 0)])
_EXEC = regset.mask([EXEC])
_LOW_FREE_OF_HIGH = frozenset({"v_mad_u64_u32", "v_mad_i64_i32", "v_lshlrev_b64", "s_lshl_b64"})


@dataclass(frozen=True, slots=True)
class Values:
    """The analyses that these rules read. given: registers that are set before the first instruction (`regset`)."""

    given: int
    lanes: ExecMask
    chains: DefUse
    live: Liveness

    @staticmethod
    def of(cfg: Cfg, given: int) -> Values:
        lanes = exec_mask.analyse(cfg)
        return Values(given, lanes, defuse.analyse(cfg, lanes), liveness.analyse(cfg, lanes))


def faults(values: Values) -> Iterator[Finding]:
    """Reads of registers that are sure to hold nothing."""
    yield from _unwritten(values, sure=True)


def notes(values: Values) -> Iterator[Finding]:
    """Reads of registers that hold nothing on some path, values that nobody reads, blocks that nobody reaches."""
    yield from _unwritten(values, sure=False)
    live, cfg = values.live, values.live.cfg
    for b in cfg.order:
        for i in cfg.blocks[b].range:
            inst = cfg.instructions[i]
            written = cfg.defs[i]
            computes = inst.desc.unit in ("valu", "valu64", "trans", "salu") and not inst.desc.effect
            if computes and written and not written & _EXEC and not live.read_later(i):
                yield UNREAD.broken(
                    inst,
                    f"nobody reads {regset.names(written)}",
                    hint="leave it out, or see who was meant to read it",
                )
    for b in cfg.unreachable:
        block = cfg.blocks[b]
        yield UNREACHABLE.broken(
            cfg.instructions[block.start],
            f"no path from the entry comes here ({block.end - block.start} instructions)",
            hint="leave it out, or branch to it",
        )


def _unwritten(values: Values, *, sure: bool) -> Iterator[Finding]:
    chains, live, cfg = values.chains, values.live, values.live.cfg
    reported: set[Reg] = set()
    for i, reg in chains.from_entry():
        inst = cfg.instructions[i]
        if values.given >> regset.bit(reg) & 1 or reg in reported or reg not in _earnest(inst, live.after[i]):
            continue
        others = chains.defs_of(i, reg) - {ENTRY}
        here = cfg.block_of(i).index
        certain = all(_behind(cfg, i, here, at) for at in others)
        if certain != sure or (not sure and reg.is_vgpr and not values.lanes.full[i]):
            continue
        reported.add(reg)
        rule = UNWRITTEN if sure else UNWRITTEN_SOMEWHERE
        yield rule.broken(
            inst,
            f"{inst.mnemonic} reads {reg}, which nothing has written"
            + ("" if certain and not others else " the first time round" if certain else " on some path"),
            hint="set it first" if sure else "nothing to do where that path is never taken",
        )


def _behind(cfg: Cfg, read: int, block: int, write: int) -> bool:
    """Whether a write can only run after the read has."""
    its = cfg.block_of(write).index
    return write >= read if its == block else cfg.dominates(block, its)


def _earnest(inst: Instruction, live_after: int) -> set[Reg]:
    """The registers whose value an instruction computes with, see the module's docstring."""
    found: set[Reg] = set()
    for half in inst.halves:
        desc = lookup(half)
        rows = desc.roles_of(half)
        result = next((register(o) for role, o in rows if role.written), None)
        low_only = (
            desc.name in _LOW_FREE_OF_HIGH
            and result is not None
            and not live_after >> regset.bit(result.sub(result.count - 1)) & 1
        )
        for role, operand in rows:
            reg = register(operand)
            keeps = role.written and (desc.name == "v_writelane_b32" or (desc.access is not None and desc.access.half))
            if not role.read or reg is None or keeps:
                continue
            found.update([reg.sub(0)] if low_only and reg.count == 2 else reg.units())
    implicit = regset.mask(r for r in inst.reads() if r.file != "v")
    return found | set(regset.members(implicit))
