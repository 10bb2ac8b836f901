"""Liveness: a `Cfg` -> the registers before and after each instruction whose value is still read.

Backward data flow over single registers: VGPRs, SGPRs, VCC, EXEC, M0 and SCC alike. A read makes a register live, a
write ends its life, a join is a union.

Vector writes are masked by EXEC, so for VGPRs two sets are kept: `on`, registers whose value is still read in some
lane that EXEC has on at this point, and `off`, in some lane that it has off. A masked write removes a register from
`on` only. Going backward over a write of EXEC that only narrows it, lanes that are on before may be on or off after:
on = on | off; over one that only widens it, off = on | off; else both. Where `exec_mask` proves EXEC full there are no
lanes off: off is empty. So a temporary within a divergent region dies where its value is written, and a value that
outlives the region lives through it, as it must.

A register counts as live where it is in `on` or `off`. Reads across lanes (v_readlane_b32, v_writelane_b32, DPP that
fetches from lanes that are off) read both. A 16-bit write into half a VGPR and a DPP write read the old value by
description. Calls and jumps through a register read everything: what they reach is not known here. At s_endpgm nothing
is live. `analyse` also follows one half of the VGPRs by itself (`isa.semantics.halves`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isa.analysis import dataflow, exec_mask, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.exec_mask import ExecMask
from isa.registers import SGPR_LIMIT, VGPR_LIMIT, Reg
from isa.semantics import halves

_LIMIT = {"v": VGPR_LIMIT, "s": SGPR_LIMIT}


@dataclass(frozen=True)
class Liveness:
    """Register sets (`regset` bits) before and after each position, and those still read in lanes that EXEC has on
    after it. The methods give them as registers."""

    cfg: Cfg
    before: tuple[int, ...]
    after: tuple[int, ...]
    on_after: tuple[int, ...]

    def live_in(self, position: int) -> frozenset[Reg]:
        """Single registers live just before a position."""
        return frozenset(regset.members(self.before[position]))

    def live_out(self, position: int) -> frozenset[Reg]:
        """Single registers live just after a position, on some path."""
        return frozenset(regset.members(self.after[position]))

    def read_later(self, position: int) -> int:
        """Of the registers that a position writes, those of which something may read what it wrote (`regset`)."""
        masked = regset.VGPRS if self.cfg.instructions[position].desc.exec_masked else 0
        wanted = self.on_after[position] | (self.after[position] & ~masked)
        return self.cfg.defs[position] & wanted

    def block_in(self, block: int) -> frozenset[Reg]:
        return self.live_in(self.cfg.blocks[block].start)

    def occupied(self, position: int) -> int:
        """Registers that hold something at a position: live before or after it, or written by it (`regset` bits)."""
        return self.before[position] | self.after[position] | self.cfg.defs[position]

    def free(self, positions: int | Iterable[int], file: str = "v", limit: int | None = None) -> list[Reg]:
        """Registers below `limit` (256 VGPRs, 106 SGPRs) that hold nothing at any of the positions, lowest first."""
        taken = 0
        for position in [positions] if isinstance(positions, int) else positions:
            taken |= self.occupied(position)
        top = _LIMIT[file] if limit is None else limit
        return [reg for reg in (Reg(file, i) for i in range(top)) if not taken >> regset.bit(reg) & 1]


def analyse(cfg: Cfg, lanes: ExecMask | None = None, half: int = halves.BOTH) -> Liveness:
    """Live registers at each position of a function; `lanes` where they are known already. half: one of VGPRs, and of
    VGPRs alone: those of which that half is live."""
    lanes = lanes or exec_mask.analyse(cfg)
    count = len(cfg)
    uses, defs = (cfg.uses, cfg.defs) if half == halves.BOTH else _of_half(cfg, half)
    masked = [0] * count
    for i in cfg.where(lambda desc: desc.exec_masked):
        masked[i] = regset.VGPRS
    opaque = frozenset(cfg.calls) | frozenset(cfg.indirect_jumps)
    before, after, on_after = [0] * count, [0] * count, [0] * count

    def through(block: Block, state: tuple[int, int]) -> tuple[int, int]:
        on, off = state
        for i in reversed(block.range):
            if i in opaque:
                on = off = regset.ALL
            after[i], on_after[i] = on | off, on
            if lanes.change[i]:
                on, off = exec_mask.backward(lanes.change[i], on, off)
            if lanes.full[i]:
                off = 0
            on &= ~defs[i]
            off &= ~(defs[i] & ~masked[i])
            on |= uses[i]
            if i in cfg.across_lanes and not lanes.full[i]:
                off |= uses[i] & regset.VGPRS
            before[i] = on | off
        return on, off

    dataflow.backward(cfg, (0, 0), through, lambda a, b: (a[0] | b[0], a[1] | b[1]))
    return Liveness(cfg, tuple(before), tuple(after), tuple(on_after))


def _of_half(cfg: Cfg, half: int) -> tuple[list[int], list[int]]:
    """What computes with this half of VGPRs, and what writes it in all lanes that are on."""
    uses, defs = [0] * len(cfg), [0] * len(cfg)
    for i, inst in enumerate(cfg.instructions):
        if inst.desc.relative:
            uses[i] = cfg.uses[i] & regset.VGPRS
            continue
        for reg in regset.members((cfg.uses[i] | cfg.defs[i]) & regset.VGPRS):
            bit = 1 << regset.bit(reg)
            read, written = halves.touched(inst, reg)
            kept = inst.dpp or (written == halves.BOTH and cfg.uses[i] & bit)
            if read & half or (kept and cfg.uses[i] & bit):
                uses[i] |= bit
            elif written & half:
                defs[i] |= bit
    return uses, defs
