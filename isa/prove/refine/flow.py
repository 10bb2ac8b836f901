"""The product graph: two control-flow graphs -> the pairs of blocks that are reached together.

A pair begins with both entries. From a pair both programs go on alone as long as one of them has no choice and the
other has or has ended; then they choose together: fall-through with fall-through, or, where the two conditions are
each other's opposite (scc0 and scc1), with the branch that is taken. So a loop and its unrolled text give a pair for
each copy. What the pairs say is checked by who runs them: that both choose the same.

Where that is not so, who runs them may give a pair a `Step` of its own, and the graph is made again: one program goes
on over branches of which it is known there whether they are taken (a loop whose tests the other no longer has); or one
program chooses, and the other stays where it is (a test that only one of them has). No program may stay for ever: what
one does alone has no cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from isa.analysis.cfg import Cfg
from isa.semantics.instruction import Instruction, base_name

Node = tuple[int, int]
LONGEST = 200
_PAIRS = (("scc0", "scc1"), ("vccz", "vccnz"), ("execz", "execnz"))
_OPPOSITE = {f"s_cbranch_{a}": f"s_cbranch_{b}" for x, y in _PAIRS for a, b in ((x, y), (y, x))}


class NoMatch(Exception):
    """Where the paths of the two programs differ: the reason and the last instruction of both."""

    def __init__(self, why: str, first: Instruction, second: Instruction) -> None:
        self.why, self.places = why, tuple((inst, "") for inst in (first, second))
        super().__init__(why)


@dataclass(frozen=True)
class Stretch:
    """What both run from a pair on: blocks of either; the pairs after it, those of the fall-through first. opposite:
    the second falls through where the first branches. alone: which one runs, while the other stays. unlike: why the
    two cannot go on together from here."""

    blocks: tuple[tuple[int, ...], tuple[int, ...]]
    successors: tuple[Node, ...]
    opposite: bool = False
    alone: int | None = None
    unlike: NoMatch | None = None


@dataclass(frozen=True)
class Step:
    """How a pair goes on. taken: of either program, which successors it takes at branches one after the other, known
    there; alone: see `Stretch`."""

    taken: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    alone: int | None = None


def stretches(a: Cfg, b: Cfg, steps: Mapping[Node, Step] = MappingProxyType({})) -> dict[Node, Stretch]:
    """All pairs that can be reached. NoMatch where one program would go on for ever and the other stay."""
    found: dict[Node, Stretch] = {}
    work: list[Node] = [(0, 0)]
    while work:
        node = work.pop()
        if node not in found:
            step = steps.get(node, Step())
            found[node] = goes_on((a, b), node, step) if step.alone is None else _alone((a, b), node, step.alone)
            work.extend(found[node].successors)
    for side in (0, 1):
        alone = {node for node in found if found[node].alone == side}
        for part in _order(sorted(alone), frozenset(alone), lambda node: found[node].successors):
            if isinstance(part, Cycle):
                first, second = (
                    flow.instructions[flow.blocks[n].start] for flow, n in ((a, part.head[0]), (b, part.head[1]))
                )
                raise NoMatch("one program goes around a loop while the other stays", first, second)
    return found


def _alone(flows: tuple[Cfg, Cfg], node: Node, side: int) -> Stretch:
    """One program goes to its next branch and chooses."""
    blocks = [node[side]]
    while len(ends := flows[side].blocks[blocks[-1]].successors) == 1 and len(blocks) <= LONGEST:
        blocks.append(ends[0])
    if len(ends) != 2:
        raise NoMatch("one program ends where the other branches", *_last(flows, [[b] for b in node]))
    if side:
        return Stretch(((), tuple(blocks)), tuple((node[0], s) for s in ends), alone=side)
    return Stretch((tuple(blocks), ()), tuple((s, node[1]) for s in ends), alone=side)


def goes_on(flows: tuple[Cfg, Cfg], node: Node, step: Step) -> Stretch:
    """Both go to where they choose together."""
    runs = [[block] for block in node]
    taken = [list(known) for known in step.taken]
    while True:
        ends = [flow.blocks[run[-1]].successors for flow, run in zip(flows, runs, strict=True)]
        known = [k for k in (0, 1) if len(ends[k]) == 2 and taken[k]]
        for k in known:
            runs[k].append(ends[k][taken[k].pop(0)])
        if known:
            continue
        jumps = [k for k in (0, 1) if _jumps(flows[k], runs[k][-1])]
        if len(ends[0]) == len(ends[1]) and len(jumps) == 1 and len(runs[jumps[0]]) <= LONGEST:
            runs[jumps[0]].append(ends[jumps[0]][0])
            continue
        if len(ends[0]) == len(ends[1]):
            break
        side = next((k for k in (0, 1) if len(ends[k]) == 1), None)
        if side is None or len(runs[side]) > LONGEST:
            why = NoMatch("one program ends or goes straight on where the other branches", *_last(flows, runs))
            return Stretch((tuple(runs[0]), tuple(runs[1])), (), unlike=why)
        runs[side].append(ends[side][0])
    blocks = (tuple(runs[0]), tuple(runs[1]))
    if len(ends[0]) < 2:
        return Stretch(blocks, tuple(zip(*ends, strict=True)))
    first, second = (base_name(inst.mnemonic) for inst in _last(flows, runs))
    opposite = _OPPOSITE.get(first) == second
    other = ends[1][::-1] if opposite else ends[1]
    return Stretch(blocks, tuple(zip(ends[0], other, strict=True)), opposite)


def _jumps(flow: Cfg, block: int) -> bool:
    """Whether a block does nothing but go elsewhere."""
    return len(flow.blocks[block].range) == 1 and base_name(_end(flow, block).mnemonic) == "s_branch"


def _end(flow: Cfg, block: int) -> Instruction:
    return flow.instructions[flow.blocks[block].end - 1]


def _last(flows: tuple[Cfg, Cfg], runs: list[list[int]]) -> list[Instruction]:
    return [_end(flow, run[-1]) for flow, run in zip(flows, runs, strict=True)]


@dataclass(frozen=True)
class Cycle:
    """Pairs that repeat: where they are entered, and the rest in the order in which they are followed."""

    head: Node
    rest: tuple[Node | Cycle, ...]

    def nodes(self) -> Iterable[Node]:
        yield self.head
        for part in self.rest:
            yield from part.nodes() if isinstance(part, Cycle) else [part]


def order(successors: Callable[[Node], tuple[Node, ...]], entry: Node) -> tuple[Node | Cycle, ...]:
    """A weak topological order (Bourdoncle 1993): each pair after those that it can be reached from, repeats apart."""
    return _order([entry], None, successors)


def _order(
    entries: Iterable[Node], within: frozenset[Node] | None, successors: Callable[[Node], tuple[Node, ...]]
) -> tuple[Node | Cycle, ...]:
    result: list[Node | Cycle] = []
    for component in _components(entries, within, successors):
        head = component[0]
        inside = frozenset(component)
        if len(component) == 1 and head not in successors(head):
            result.append(head)
            continue
        rest = inside - {head}
        starts = [*(s for s in successors(head) if s in rest), *sorted(rest)]
        result.append(Cycle(head, _order(starts, rest, successors)))
    return tuple(result)


def _components(
    entries: Iterable[Node], within: frozenset[Node] | None, successors: Callable[[Node], tuple[Node, ...]]
) -> list[list[Node]]:
    """Strongly connected components (Tarjan 1972), a component before those that it reaches; the first pair of each is
    the one that was come to first."""
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    found: list[list[Node]] = []
    for entry in entries:
        if entry in number:
            continue
        path = [(entry, iter(successors(entry)))]
        number[entry] = low[entry] = len(number)
        stack.append(entry)
        waiting.add(entry)
        while path:
            node, rest = path[-1]
            for s in rest:
                if within is not None and s not in within:
                    continue
                if s not in number:
                    number[s] = low[s] = len(number)
                    stack.append(s)
                    waiting.add(s)
                    path.append((s, iter(successors(s))))
                    break
                if s in waiting:
                    low[node] = min(low[node], number[s])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    component, stack[at:] = stack[at:], []
                    waiting.difference_update(component)
                    found.append(component)
    return found[::-1]
