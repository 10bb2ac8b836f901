"""Which block a data-flow analysis looks at next: the one that comes first in reverse postorder.

So a block is looked at again only when all that can still change before it has, and a function without loops takes one
round, one with loops some two or three (Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms", 1976). In
the order of discovery the same takes a number of rounds that grows with the function.
"""

from __future__ import annotations

from heapq import heappop, heappush

from isa.analysis.cfg import Cfg


class Worklist:
    """Blocks that wait, each once; the entry to begin with."""

    def __init__(self, cfg: Cfg) -> None:
        self._order = cfg.order
        self._rank = {block: rank for rank, block in enumerate(cfg.order)}
        self._heap = [0]
        self._waiting = {0}

    def add(self, block: int) -> None:
        """Puts in a block that can be reached."""
        rank = self._rank[block]
        if rank not in self._waiting:
            self._waiting.add(rank)
            heappush(self._heap, rank)

    def pop(self) -> int:
        """Takes out the first."""
        rank = heappop(self._heap)
        self._waiting.remove(rank)
        return self._order[rank]

    def __bool__(self) -> bool:
        return bool(self._heap)
