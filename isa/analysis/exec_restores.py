"""Where EXEC becomes again what it was: the instructions of a `Cfg` -> the writes of EXEC that end an `if`.

    s_mov_b32 s2, exec_lo  (or s_and_saveexec_b32 s2, vcc_lo)      saves EXEC
    v_cmpx_gt_f32 0, v1                                             some lanes go off
    ...
    s_or_b32 exec_lo, exec_lo, s2                                   all of them come on again

EXEC at the end is what s2 holds, whatever the condition was, because EXEC only went down from there: forward, kept are
which registers hold the EXEC of which save, and of which saves EXEC is a part. It is the same at any depth, also where
EXEC was not full at the beginning (which `isa.analysis.exec_mask` follows).

Limits: an `if` with an `else`, which takes EXEC from one part of the lanes to the other, is not seen; nor is one that
may be left otherwise than by its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isa.analysis import dataflow, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.exec_mask import Mask, effects, narrows
from isa.registers import EXEC_LO

_EXEC = regset.bit(EXEC_LO)


@dataclass(frozen=True)
class _State:
    """holds: (register, save) whose EXEC it holds; within: saves of whose EXEC the present one is a part; outer: (save,
    another one of whose EXEC it is a part)."""

    holds: frozenset[tuple[int, int]] = frozenset()
    within: frozenset[int] = frozenset()
    outer: frozenset[tuple[int, int]] = frozenset()

    def __and__(self, other: _State) -> _State:
        return _State(self.holds & other.holds, self.within & other.within, self.outer & other.outer)


def restores(cfg: Cfg, lanes: int = 32) -> dict[int, int]:
    """Position of a write of EXEC -> that of the instruction before which EXEC was the same. lanes: of a wave."""
    written, found = effects(cfg, lanes), dict[int, int]()

    def through(block: Block, state: _State) -> _State:
        for i in block.range:
            found.pop(i, None)
            masks = written[i]
            if i in cfg.calls:
                state = _State()
            elif masks is not None:
                state, save = _step(state, i, masks)
                found.update({} if save is None else {i: save})
        return state

    dataflow.forward(cfg, _State(), through, lambda one, two: one & two)
    return {
        end: save for end, save in found.items() if _always_ends(cfg, save, {e for e, s in found.items() if s == save})
    }


def _step(state: _State, i: int, masks: Mapping[int, Mask]) -> tuple[_State, int | None]:
    saved = {reg for reg, mask in masks.items() if reg != _EXEC and mask.op == "reg" and mask.args[0] == _EXEC}
    holds = {(reg, save) for reg, save in state.holds if reg not in masks and save != i}
    within, outer = state.within - {i}, {pair for pair in state.outer if i not in pair}
    save = None
    if saved:
        holds |= {(reg, i) for reg in saved}
        outer |= {(i, other) for other in within}
        within |= {i}
    if _EXEC in masks and not narrows(dict(masks)):
        save = next(_ended(state, masks[_EXEC]), None)
        within = frozenset([save, *(other for inner, other in outer if inner == save)] if save is not None else [])
    return _State(frozenset(holds), frozenset(within), frozenset(outer)), save


def _ended(state: _State, mask: Mask) -> Iterator[int]:
    """The saves whose EXEC a new one is."""
    parts = mask.args if mask.op == "or" else (mask,)
    if any(part.op != "reg" for part in parts):
        return
    others = {part.args[0] for part in parts} - {_EXEC}
    for reg, save in state.holds:
        if others == {reg} and save in state.within:
            yield save


def _always_ends(cfg: Cfg, save: int, ends: set[int]) -> bool:
    """Whether all that goes on from a save comes to one of these before it ends or comes to the save again."""
    first = cfg.block_of(save)
    if any(save < end < first.end for end in ends):
        return True
    stop = {cfg.block_of(end).index for end in ends}
    work, seen = [*first.successors], set[int]()
    if not work:
        return False
    while work:
        block = work.pop()
        if block in seen or block in stop - {first.index}:
            continue
        seen.add(block)
        if block == first.index or not cfg.blocks[block].successors:
            return False
        work.extend(cfg.blocks[block].successors)
    return True
