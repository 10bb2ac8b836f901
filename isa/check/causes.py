"""Findings of one cause as one: what a single instruction, put at one place, would settle.

Many rules find pairs: something begins (a load, an LDS access) and something later collides with it, because nothing on
a path between them waits. One missing wait or barrier then shows as many pairs. They are put together greedily: the
first collision in the order of the code names a place, the one before it; all pairs whose every path passes that place
are settled there, and belong together. What is left goes on in the same way.

A path is followed only as far as the pair can still collide on it, which the caller says of each position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from isa.analysis.cfg import Cfg
from isa.errors import Finding, Related

Pair = tuple[int, int]
"""Positions: where it begins, and where it collides."""
_MOST = 32  # groups of a function; code with more has other troubles, and is told pair by pair from there on


def groups(cfg: Cfg, pairs: Sequence[Pair], alive: Callable[[int, int], bool]) -> list[list[Pair]]:
    """The pairs by what settles them, in the order of the code; what settles a group stands before the collision of its
    first pair. alive: (beginning, position) -> whether something may still collide with it there."""
    left = sorted(set(pairs), key=lambda pair: (pair[1], pair[0]))
    found: list[list[Pair]] = []
    while left:
        cut = left[0][1]
        together = [pair for pair in left if pair[1] == cut]
        if len(found) < _MOST:
            reached = {begin: reached_from(cfg, begin, cut, alive) for begin in {b for b, _ in left}}
            together = [(begin, end) for begin, end in left if end == cut or end not in reached[begin]]
        found.append(together)
        left = [pair for pair in left if pair not in set(together)]
    return found


def reached_from(cfg: Cfg, begin: int, cut: int | None, alive: Callable[[int, int], bool]) -> set[int]:
    """The positions that a path from behind `begin` comes to, alive, without passing `cut`."""
    found: set[int] = set()
    block = cfg.block_of(begin)
    work = [(block.index, begin + 1)]
    seen: set[int] = set()
    while work:
        index, start = work.pop()
        block = cfg.blocks[index]
        for i in range(start, block.end):
            if i == cut or not alive(begin, i):
                break
            found.add(i)
        else:
            work += [(s, cfg.blocks[s].start) for s in block.successors if s not in seen]
            seen.update(block.successors)
    return found


def one(findings: Sequence[Finding], settled: str) -> Finding:
    """Findings of one cause as the first of them, the others related to it. settled: what would settle them all, which
    is told where there are several."""
    head, *others = findings
    if not others:
        return head
    related = tuple(Related(f.message, f.span, f.where) for f in others)
    return replace(
        head,
        message=f"{head.message}; {len(others)} more of this cause",
        expected=settled,
        related=(*head.related, *related),
    )


def joined(
    cfg: Cfg, found: Mapping[Pair, Finding], alive: Callable[[int, int], bool], settled: Callable[[list[Pair]], str]
) -> list[Finding]:
    """Findings of pairs, those of one cause as one. settled: the pairs of a cause -> what would settle them all."""
    return [one([found[pair] for pair in group], settled(group)) for group in groups(cfg, list(found), alive)]
