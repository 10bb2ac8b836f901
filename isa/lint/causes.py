"""One finding per cause: merges the findings that a single instruction, put at one place, would settle.

Many rules find pairs: something begins (a load, an LDS access) and something later collides with it, because nothing on
a path between them waits. One missing wait or barrier then shows as many pairs. They are put together greedily: the
first collision in the order of the code names a place, the one before it; all pairs whose every path passes that place
are settled there, and belong together. The rest is handled likewise.

A path is followed only as far as the pair can still collide on it, which the caller says of each position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from isa.analysis.cfg import Cfg
from isa.errors import Finding, Related

Pair = tuple[int, int]
"""Positions: where it begins, and where it collides."""
_ENOUGH = 500_000
"""Positions to look at; code that needs more has other problems, and is reported place by place from there."""


def groups(cfg: Cfg, pairs: Sequence[Pair], alive: Callable[[int, int], bool]) -> list[list[Pair]]:
    """The pairs by what settles them, in the order of the code; what settles a group stands before the collision of its
    first pair. alive: (beginning, position) -> whether something may still collide with it there."""
    left = sorted(set(pairs), key=lambda pair: (pair[1], pair[0]))
    found: list[list[Pair]] = []
    seen = 0
    anywhere: dict[int, set[int]] = {}
    while left:
        if seen > _ENOUGH:
            at: dict[int, list[Pair]] = {}
            for pair in left:
                at.setdefault(pair[1], []).append(pair)
            return found + list(at.values())
        cut = left[0][1]
        reached: dict[int, set[int]] = {}
        for begin in sorted({begin for begin, _ in left}):
            if seen > _ENOUGH:
                break
            if begin not in anywhere:
                anywhere[begin] = reached_from(cfg, begin, None, alive)
                seen += len(anywhere[begin])
            if cut in anywhere[begin]:  # else the place is on none of its paths
                reached[begin] = reached_from(cfg, begin, cut, alive)
                seen += len(reached[begin])
        settled = [end == cut or (begin in reached and end not in reached[begin]) for begin, end in left]
        found.append([pair for pair, is_settled in zip(left, settled, strict=True) if is_settled])
        left = [pair for pair, is_settled in zip(left, settled, strict=True) if not is_settled]
    return found


def reached_from(cfg: Cfg, begin: int, cut: int | None, alive: Callable[[int, int], bool]) -> set[int]:
    """The positions that a path from after `begin` comes to, alive, without passing `cut`."""
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
    is reported where there are several."""
    head, *others = findings
    if not others:
        return head
    related = tuple(Related(f.message, f.span, f.where) for f in others)
    return replace(
        head,
        message=f"{head.message}; {len(others)} more with this cause",
        expected=settled,
        related=(*head.related, *related),
    )


def joined(
    cfg: Cfg, found: Mapping[Pair, Finding], alive: Callable[[int, int], bool], settled: Callable[[list[Pair]], str]
) -> list[Finding]:
    """Findings of pairs, those of one cause as one. settled: the pairs of a cause -> what would settle them all."""
    return [one([found[pair] for pair in group], settled(group)) for group in groups(cfg, list(found), alive)]
