"""Whether what an instruction leaves in a VGPR is ever stored: its value is followed to stores, lane by lane.

In: a function, and an instruction of it that writes VGPRs and does nothing else. Out: the positions of what reads the
value, if no store stores anything made of it, None where that is not seen.

A state says of each register that may hold something made of the value under which masks it was overwritten since: in
the lanes of such a mask it holds something else. A mask is what sets EXEC (`s_and_b32 exec_lo, s32, s29`); it counts
for as long as nothing writes the registers that it is made of. So a load under a mask, arithmetic in all lanes and a
store under the same mask store nothing of what was there before the load. Arithmetic that works lane by lane hands on
what its sources have in common. A store's data is the only other reader that may be; an address, a comparison,
another lane's value, a scalar, or a store under another mask ends it. Where paths meet, what both say holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.analysis.cfg import Cfg
from isa.analysis.exec_mask import ExecMask
from isa.asm.program import Instruction
from isa.instructions import lookup
from isa.registers import EXEC_LO, Reg

Mask = tuple[str, tuple[Reg, ...]]
"""What sets EXEC, as text, and the registers that it reads."""
State = Mapping[Reg, frozenset[Mask]]
"""Register -> the masks under which it was overwritten."""


class _Seen(Exception):
    """Something made of the value matters, or that is not known."""


def readers(flow: Cfg, lanes: ExecMask, position: int) -> list[int] | None:
    """See the module's docstring. lanes: where EXEC is full, so that a write leaves nothing of what was there."""
    inst = flow.instructions[position]
    written = inst.writes()
    if not all(reg.is_vgpr for reg in written) or any(h.desc.access or h.desc.effect for h in inst.halves):
        return None
    met: set[int] = set()
    start: dict[Reg, frozenset[Mask]] = {reg: frozenset() for reg in written}
    block = flow.block_of(position)
    try:
        state = _through(flow, lanes, range(position + 1, block.end), start, met)
        entries: dict[int, State] = {}
        work: list[tuple[int, State]] = [(s, state) for s in block.successors]
        while work:
            index, state = work.pop()
            known = entries.get(index)
            state = state if known is None else _met(known, state)
            if not state or state == known:
                continue
            entries[index] = state
            after = _through(flow, lanes, flow.blocks[index].range, state, met)
            work += [(s, after) for s in flow.blocks[index].successors]
    except _Seen:
        return None
    return sorted(met)


def _met(one: State, two: State) -> State:
    both = {reg: one[reg] & two[reg] for reg in one.keys() & two.keys()}
    return {**one, **two, **both}


def _through(flow: Cfg, lanes: ExecMask, positions: range, state: State, met: set[int]) -> State:
    mask: Mask | None = None  # what EXEC holds, where that is known
    for position in positions:
        inst = flow.instructions[position]
        if state.keys() & inst.reads():
            met.add(position)
        state = _step(inst, state, mask, lanes.full[position])
        written = inst.writes()
        state = {
            reg: frozenset(m for m in masks if not written & set(m[1])) for reg, masks in state.items()
        }  # a mask of other registers is another mask
        if EXEC_LO in written:
            sources = tuple(sorted(inst.reads() - {EXEC_LO}, key=str))
            again = EXEC_LO in inst.reads() or not all(reg.file == "s" for reg in sources)
            text = str(inst).split(",", 1)[-1].strip()
            mask = None if again or inst.operands[0] != EXEC_LO else (f"{inst.mnemonic} {text}", sources)
        elif mask is not None and written & set(mask[1]):
            mask = None
    return state


def _step(inst: Instruction, state: State, mask: Mask | None, full: bool) -> State:
    tainted = state.keys() & inst.reads()
    access = inst.desc.access
    new = dict(state)
    if access is not None:
        if tainted:
            _store(inst, state, mask)
        for reg in inst.writes() & state.keys():
            if full:
                del new[reg]
            elif mask is not None:
                new[reg] = new[reg] | {mask}
        return new
    for half in inst.halves:
        desc = lookup(half)
        sources = [state[reg] for reg in desc.reads(half) if reg in state]
        written = [reg for reg in desc.writes(half) if reg.is_vgpr]
        across = desc.crosses_lanes or desc.relative or half.dpp
        if sources and (desc.effect or len(written) != len(desc.writes(half)) or across):
            raise _Seen
        for reg in written:
            if sources:
                # In lanes that are off the register keeps what it held, which is something else or of the value too.
                kept = [state[reg]] if reg in state and not full else []
                new[reg] = frozenset.intersection(*sources, *kept)
            elif full:
                new.pop(reg, None)
            elif reg in state and mask is not None:
                new[reg] = state[reg] | {mask}
    return new


def _store(inst: Instruction, state: State, mask: Mask | None) -> None:
    """A store may take it as data, under a mask in whose lanes it was overwritten."""
    access = inst.desc.access
    assert access is not None
    sources = [(role, operand) for role, operand in inst.desc.roles_of(inst) if role.read]
    data = sources[1][1] if access.kind == "store" and len(sources) > 1 else None
    units = set(data.units()) if isinstance(data, Reg) else set()
    for reg in state.keys() & inst.reads():
        address = isinstance(sources[0][1], Reg) and reg in set(sources[0][1].units())
        if address or reg not in units or mask is None or mask not in state[reg]:
            raise _Seen
