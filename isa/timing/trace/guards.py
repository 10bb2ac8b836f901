"""Guards whose conditions depend on loaded data: a `Cfg` -> the comparisons that make them (`of_data`), and the ends of
the code that they guard (`restores`).

    if (score > max) { rescale(); max = score; }

A guard turns lanes off for some instructions, and a branch skips these where no lane is left. What it costs hangs on
data, but where the kernel goes afterwards does not. So a kernel with such guards can be timed without its data once it
is said how they go: **all lanes that come to one take it**. That is no bound where there is an `else`, which then
nothing enters; whoever shows a time must say that it was assumed.

`of_data` is a forward analysis over registers that hold what was loaded or computed from it, in lanes that are on or
off, and lane masks that follow from how a guard goes. A comparison of data gives the lanes that are on.
`isa.timing.trace.slicing` then rejects all that would not be so simple: a loop that such a mask ends, a branch on
another mask than EXEC, which may choose between values of the whole wave, and a value or an address that differs by how
the guard went.

`restores` finds the writes of EXEC that end an `if`:

    s_mov_b32 s2, exec_lo  (or s_and_saveexec_b32 s2, vcc_lo)      saves EXEC
    v_cmpx_gt_f32 0, v1                                             some lanes go off
    ...
    s_or_b32 exec_lo, exec_lo, s2                                   all of them come on again

EXEC at the end is what s2 holds, whatever the condition was, because EXEC only went down from there. Forward, it keeps
which registers hold the EXEC of which save, and of which saves EXEC is a part. It is the same at any depth, also where
EXEC was not full at the beginning (which `isa.analysis.exec_mask` follows).

Limits: spilled data is not followed through scratch; masks that come from data otherwise than by a vector comparison
are data. An `if` with an `else`, which takes EXEC from one part of the lanes to the other, is not seen; nor is one that
may be left otherwise than by its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.analysis import dataflow, exec_mask, regset
from isa.analysis.cfg import Block, Cfg
from isa.analysis.exec_mask import Mask, effects, narrows
from isa.registers import EXEC, EXEC_LO

_State = tuple[int, int, int]


@dataclass(frozen=True)
class Guards:
    """comparisons: positions; masked[i]: registers (`isa.analysis.regset`) that follow from them before position i;
    ends: where EXEC becomes what it was before another position (`restores`)."""

    comparisons: frozenset[int]
    masked: Sequence[int]
    ends: Mapping[int, int]

    @staticmethod
    def none(cfg: Cfg) -> Guards:
        return Guards(frozenset(), [0] * len(cfg), {})

    @staticmethod
    def skip(cfg: Cfg, position: int) -> bool:
        """Whether a branch on EXEC only skips what has no lane that is on: no loop ends by it."""
        block = cfg.block_of(position)
        return all(loop.blocks.issuperset(block.successors) for loop in cfg.loops if block.index in loop.blocks)


def of_data(cfg: Cfg, lanes: int, exec_: exec_mask.ExecMask, spills: frozenset[int]) -> Guards:
    """lanes: of a wave; spills: accesses of scratch that stand for registers."""
    ends = restores(cfg, lanes)
    count, mask = len(cfg), regset.mask([EXEC_LO, EXEC])
    masked, comparisons = [0] * count, set[int]()

    def through(block: Block, state: _State) -> _State:
        on, off, masks = state
        for i in block.range:
            inst, read, written = cfg.instructions[i], cfg.uses[i], cfg.defs[i]
            desc = inst.desc
            if i in ends:
                read &= ~mask
            if exec_.full[i]:
                masks &= ~mask
            masked[i] = masks
            loads = desc.access is not None and desc.access.space != "scalar" and i not in spills
            # Which lanes take part says nothing of what they compute.
            operands = read & ~mask if desc.is_vector else read
            across = desc.crosses_lanes or inst.dpp or regset.across_lanes(inst)
            data = on | off if across else on
            on_data = loads or bool(operands & data) or (desc.is_vector and bool(operands & masks))
            guard = desc.is_compare and on_data
            if guard:
                comparisons.add(i)
            narrowed = written & (mask if desc.is_vector else regset.SCALARS) if read & masks else 0
            masks = masks & ~(written & regset.SCALARS) | (written if guard else narrowed)
            on = on & ~written | (written if on_data and not guard else 0)
            if exec_.full[i] or not desc.exec_masked:
                off &= ~written
            if exec_.change[i]:
                on, off = exec_mask.forward(exec_.change[i], on, off)
        return on, off, masks

    dataflow.forward(cfg, (0, 0, 0), through, lambda one, two: (one[0] | two[0], one[1] | two[1], one[2] | two[2]))
    return Guards(frozenset(comparisons), masked, ends)


_EXEC = regset.bit(EXEC_LO)


@dataclass(frozen=True)
class _Saves:
    """holds: (register, save) whose EXEC it holds; within: saves of whose EXEC the present one is a part; outer: (save,
    another one of whose EXEC it is a part)."""

    holds: frozenset[tuple[int, int]] = frozenset()
    within: frozenset[int] = frozenset()
    outer: frozenset[tuple[int, int]] = frozenset()

    def __and__(self, other: _Saves) -> _Saves:
        return _Saves(self.holds & other.holds, self.within & other.within, self.outer & other.outer)


def restores(cfg: Cfg, lanes: int = 32) -> dict[int, int]:
    """Position of a write of EXEC -> that of the instruction before which EXEC was the same. lanes: of a wave."""
    written, found = effects(cfg, lanes), dict[int, int]()

    def through(block: Block, state: _Saves) -> _Saves:
        for i in block.range:
            found.pop(i, None)
            masks = written[i]
            if i in cfg.calls:
                state = _Saves()
            elif masks is not None:
                state, save = _step(state, i, masks)
                found.update({} if save is None else {i: save})
        return state

    dataflow.forward(cfg, _Saves(), through, lambda one, two: one & two)
    return {
        end: save for end, save in found.items() if _always_ends(cfg, save, {e for e, s in found.items() if s == save})
    }


def _step(state: _Saves, i: int, masks: Mapping[int, Mask]) -> tuple[_Saves, int | None]:
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
    return _Saves(frozenset(holds), frozenset(within), frozenset(outer)), save


def _ended(state: _Saves, mask: Mask) -> Iterator[int]:
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
