"""Pending VALU writes: a `Cfg` -> at each instruction, the VGPRs whose last VALU result may not have landed in the
register file.

A VALU result stands in a destination buffer for some cycles before it is in its VGPR; the hardware counts such writes
(VA_VDST) and holds back whoever reads the register. That interlock is invisible but where the hardware loses it, and
then it matters whether a write can be in flight at all.

It can lose it on GFX11 at a VOPD whose X and Y read their src0 (or both their src1) from VGPRs of one parity: both go
through the same gather, and the wait for one of them may be forgotten (LLVM pull request 220348). Assemblers accept
such pairs and compilers emit them; LLVM's remedies were to wait for va_vdst(0), or not to form the pair. So a pair is
at risk only where one of the two registers can have a VALU write in flight; what a load filled has waited for the load.

Forward data flow over all paths, a write being in flight

    until a memory instruction (vector memory, FLAT, scratch, LDS) or export: these issue at VA_VDST = 0;
    until `s_waitcnt_depctr depctr_va_vdst(n)` has n or more VALU instructions after the write;
    until 15 VALU instructions stand after it, which complete in order. Transcendental ones run beside the others, so
    from one of them on nothing is counted.

Sources: LLVM GCNHazardRecognizer.cpp, `fixLdsDirectVALUHazard` (what brings VA_VDST to 0, 15 wait states, the mixture
with transcendentals); AMDGPUBaseInfo.cpp, `DepCtr` (VA_VDST is bits 15 to 12, VA_SDST 11 to 9, VA_VCC 1,
SA_SDST 0).

Limits: nothing is in flight at the entry; after a call everything is that the function may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from isa.analysis import banks, dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.registers import Reg
from isa.semantics.instruction import Instruction
from isa.semantics.waits import depctr

WINDOW = 15

State = tuple[int, ...]
"""The VGPRs that the last VALU instruction writes, the one before it, ...; last, those of which no count is kept."""
_NOTHING: State = (0,) * (WINDOW + 1)


@dataclass(frozen=True, slots=True)
class Risk:
    """A VOPD that may read an old value: X and Y read `x` and `y`, of one parity, through source `slot` (0 or 1), and
    `written` is one of the two whose VALU write may be in flight."""

    position: int
    slot: int
    x: Reg
    y: Reg
    written: Reg


@dataclass(frozen=True)
class ValuWrites:
    """pending[i]: VGPRs with a VALU write that may be in flight before position i (`regset` bits). entry: by block, the
    state in which it begins."""

    cfg: Cfg
    pending: tuple[int, ...]
    entry: Mapping[int, State]

    def risks(self) -> Iterator[Risk]:
        """The sources that GFX11 may read too early, in the order of the code."""
        for i, inst in enumerate(self.cfg.instructions):
            for slot in banks.same_parity(inst) if inst.pair is not None and self.pending[i] else ():
                pair = banks.slot_pair(inst, slot)
                assert pair is not None
                if hit := regset.members(self.pending[i] & regset.mask(pair)):
                    yield Risk(i, slot, *pair, hit[0])


def waits_for(inst: Instruction) -> int | None:
    """How many VALU writes `s_waitcnt_depctr` leaves in flight; None where it does not wait for them."""
    number = depctr(inst, "va_vdst")
    return number if number is not None and number < WINDOW else None


def analyse(cfg: Cfg, written: Mapping[int, int] = MappingProxyType({})) -> ValuWrites:
    """The VALU writes that may be in flight before each position. written: position of a call -> what the function may
    write (`regset`), where that is known."""
    calls = {i: written.get(i, regset.ALL) & regset.VGPRS for i in cfg.calls}
    pending = [0] * len(cfg)

    def through(block: Block, state: State) -> State:
        for i in block.range:
            pending[i] = in_flight(state)
            state = _step(cfg, i, state, calls)
        return state

    entry = dataflow.forward(cfg, _NOTHING, through, either)
    return ValuWrites(cfg, tuple(pending), entry)


def _step(cfg: Cfg, i: int, state: State, calls: Mapping[int, int]) -> State:
    if i in calls:
        return (*_NOTHING[:-1], in_flight(state) | calls[i])
    return after(cfg.instructions[i], cfg.defs[i], state)


def after(inst: Instruction, written: int, state: State) -> State:
    """The state after an instruction that is no call. written: what it writes (`regset`)."""
    desc = inst.desc
    if desc.drains_valu:
        return _NOTHING
    if desc.is_valu:
        written &= regset.VGPRS
        if desc.is_trans:
            return (*_NOTHING[:-1], in_flight(state) | written)
        return (written, *state[: WINDOW - 1], state[-1])
    number = waits_for(inst)
    if number is None:
        return state
    return (*state[:number], *_NOTHING[number:-1], state[-1] if number else 0)


def either(one: State, two: State) -> State:
    """The state where two paths meet."""
    return tuple(a | b for a, b in zip(one, two, strict=True))


def in_flight(state: State) -> int:
    """All VGPRs whose write may be in flight."""
    bits = 0
    for level in state:
        bits |= level
    return bits
