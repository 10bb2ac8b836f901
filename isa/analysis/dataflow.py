"""Forward data flow over the blocks of a function: what holds at each one's entry.

The block that is looked at next is the first in reverse postorder of those that wait. So a block is looked at again
only when all that can still change before it has, and a function without loops takes one pass, one with loops some two
or three (Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976). In the order of discovery the
same takes a number of passes that grows with the function.
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
