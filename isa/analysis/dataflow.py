"""Data flow over the blocks of a function, forward and backward: what holds at each one's entry.

The block that is looked at next is the first in reverse postorder of those that wait, backward the last. So a block is
looked at again only when all that can still change before it has, and a function without loops takes one pass, one with
loops some two or three (Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976). In the order of
discovery the same takes a number of passes that grows with the function.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeVar

from isa.analysis.cfg import Block, Cfg

S = TypeVar("S")


def forward(
    cfg: Cfg,
    first: S,
    through: Callable[[Block, S], S],
    join: Callable[[S, S], S],
    leaves: Callable[[Block], tuple[int, ...]] = lambda block: block.successors,
) -> dict[int, S]:
    """Block -> the state at its entry, of all that can be reached. first: that of the function's; through: the state
    after a block from the one before it, asked last with the state that stays; join: what holds on either path; leaves:
    the successors that there are after `through`, never fewer as it is asked again."""
    order, rank = cfg.order, {block: rank for rank, block in enumerate(cfg.order)}
    entry, ranks, waiting = {0: first}, [0], {0}
    while ranks:
        block = cfg.blocks[order[heappop(ranks)]]
        waiting.remove(block.index)
        state = through(block, entry[block.index])
        for s in leaves(block):
            new = join(entry[s], state) if s in entry else state
            if s in entry and new == entry[s]:
                continue
            entry[s] = new
            if s not in waiting:
                waiting.add(s)
                heappush(ranks, rank[s])
    return entry


def backward(cfg: Cfg, last: S, through: Callable[[Block, S], S], join: Callable[[S, S], S]) -> list[S]:
    """The state at each block's entry, of all blocks. last: that at the end of one without successors, and of others
    before anything is known of these; through: the state before a block from the one after it, asked last with the
    state that stays; join: what holds on either path."""
    order = [*cfg.order, *sorted(set(range(len(cfg.blocks))) - set(cfg.order))]
    rank = {block: -rank for rank, block in enumerate(order)}
    entry, ranks, waiting = [last] * len(cfg.blocks), sorted(rank.values()), set(order)
    while ranks:
        block = cfg.blocks[order[-heappop(ranks)]]
        waiting.remove(block.index)
        state = last
        for s in block.successors:
            state = join(state, entry[s])
        new = through(block, state)
        if new == entry[block.index]:
            continue
        entry[block.index] = new
        for p in block.predecessors:
            if p not in waiting:
                waiting.add(p)
                heappush(ranks, rank[p])
    return entry
