"""Which instructions of a block become dual ones, chosen before their order is.

In: a block's dependence graph and, for two instructions, whether a VOPD can hold both. Out: pairs, such that the graph
in which each pair is one node has no cycle; so some order has them all. Two may be a pair where no path leads from one
to the other, or only the edge of a register that one reads and the other writes (both halves of a VOPD read before
either writes). It is greedy: in the order of the code each instruction takes, of the `_NEAR` that follow it and could,
the one that fewest others could take, and of these the nearest.

Limits: greedy, so not the most pairs that there could be; tests compare it with a solver's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isa.analysis import regset
from isa.analysis.dependences import Why

_NEAR = 40
"""How many instructions that a VOPD can hold are looked at after each."""


def matched(
    before: Sequence[Mapping[int, Why]], able: Sequence[int], suit: Callable[[int, int], bool]
) -> dict[int, int]:
    """Pairs, as earlier -> later. before: for each instruction those that it must stay after; able: what a VOPD can
    hold, in order; suit: whether two of them may be one."""
    reach = _Reach(before)
    partners: dict[int, list[int]] = {i: [] for i in able}
    degree = dict.fromkeys(able, 0)
    for k, i in enumerate(able):
        for j in able[k + 1 : k + 1 + _NEAR]:
            if reach.apart(i, j) and suit(i, j):
                partners[i].append(j)
                degree[i] += 1
                degree[j] += 1
    found: dict[int, int] = {}
    taken: set[int] = set()
    for i in able:
        if i in taken:
            continue
        for j in sorted(partners[i], key=lambda j: (degree[j], j)):
            if j not in taken and reach.apart(i, j):
                found[i] = j
                taken |= {i, j}
                reach.join(i, j)
                break
        for j in partners[i]:
            degree[j] -= 1
    return found


class _Reach:
    """What lies before and after each node, over any path, as bits."""

    def __init__(self, before: Sequence[Mapping[int, Why]]) -> None:
        self.direct = before
        self.above = [0] * len(before)
        self.below = [0] * len(before)
        for i, row in enumerate(before):
            for earlier in row:
                self.above[i] |= self.above[earlier] | 1 << earlier
        for i in reversed(range(len(before))):
            for earlier in before[i]:
                self.below[earlier] |= self.below[i] | 1 << i

    def apart(self, i: int, j: int) -> bool:
        """Whether the graph has no cycle where two nodes, i before j, are one."""
        if self.below[j] >> i & 1:
            return False
        if not self.below[i] >> j & 1:
            return True
        return self.direct[j].get(i) == Why.WAR and not self.below[i] & self.above[j]

    def join(self, i: int, j: int) -> None:
        """Makes two nodes one."""
        both = 1 << i | 1 << j
        above, below = (self.above[i] | self.above[j]) & ~both, (self.below[i] | self.below[j]) & ~both
        for node in regset.numbers(above | both):
            self.below[node] |= below | both & ~(1 << node)
        for node in regset.numbers(below | both):
            self.above[node] |= above | both & ~(1 << node)
