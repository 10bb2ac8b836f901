"""The paths of one lane: a `Cfg` -> a graph whose nodes know what the lane's masks hold.

It knows the lane's own bit of EXEC and of the masks that EXEC is computed from, so `s_and_saveexec_b32`, `s_xor_b32`,
`s_and_not1_saveexec_b32` and the rest are exact, and a branch tells what it asked:

    node    (segment, masks): instructions in a row within which EXEC does not change, and what the masks hold: all
            zeros, all ones, 0 or 1 for this lane, or unknown
    split   where EXEC depends on an unknown bit, at a branch on SCC, and where s_cselect_b32 makes a mask by it, there
            is a node for either answer; a segment ends before it has LIMIT times two of these
    edge    not taken where the masks rule it out: s_cbranch_execz while this lane is on, s_cbranch_vccz after
            `s_and_b32 vcc_lo, exec_lo, s9` while s9 is all ones

The effect of an instruction on masks is that of `isa.analysis.exec_mask`. Masks that nothing reads any more are
forgotten. A segment that has been entered with LIMIT different masks is entered with those alone from then on that
lanes are brought back from, as all are where there are NODES nodes; and with EXEC alone in the end, or where there are
`most` nodes: after that a path of the graph may join answers that exclude each other. `followers` forgets nothing.

Limits: as of exec_mask; a mask that was spilled to memory or to a VGPR's lane is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from isa.analysis import exec_mask, regset
from isa.analysis.cfg import Cfg
from isa.analysis.exec_mask import Mask
from isa.analysis.liveness import Liveness
from isa.registers import EXEC_LO, SCC, VCC_LO

LIMIT = 64
NODES = 20_000
_EXEC, _SCC, _VCC = (regset.bit(r) for r in (EXEC_LO, SCC, VCC_LO))

# What a mask holds: NONE and ALL for all lanes; OFF and ON for this lane, others may differ; ANY: not known.
_NONE, _ALL, _OFF, _ON, _ANY = range(5)
_KNOWN = {_NONE: False, _ALL: True, _OFF: False, _ON: True}
_NOT = {_NONE: _ALL, _ALL: _NONE, _OFF: _ON, _ON: _OFF, _ANY: _ANY}

Masks = tuple[int, ...]
Node = tuple[int, Masks]
"""(position at which the segment starts, what each tracked register holds)."""
_BRANCHES = {  # what they ask, and whether they are taken where it is not zero
    "s_cbranch_execz": (_EXEC, False),
    "s_cbranch_execnz": (_EXEC, True),
    "s_cbranch_vccz": (_VCC, False),
    "s_cbranch_vccnz": (_VCC, True),
    "s_cbranch_scc0": (_SCC, False),
    "s_cbranch_scc1": (_SCC, True),
}


def _and(a: int, b: int) -> int:
    if _NONE in (a, b):
        return _NONE
    if _ALL in (a, b):
        return b if a == _ALL else a
    return _OFF if _OFF in (a, b) else _ANY if _ANY in (a, b) else _ON


def _xor(a: int, b: int) -> int:
    if a in (_NONE, _ALL) or b in (_NONE, _ALL):
        fixed, other = (a, b) if a in (_NONE, _ALL) else (b, a)
        return other if fixed == _NONE else _NOT[other]
    return _ANY if _ANY in (a, b) else _ON if a != b else _OFF


@dataclass(frozen=True)
class LaneGraph:
    """See the module's docstring."""

    cfg: Cfg
    live: Liveness
    most: int = NODES

    # --- what is tracked
    @cached_property
    def _effects(self) -> list[dict[int, Mask] | None]:
        return exec_mask.effects(self.cfg)

    @cached_property
    def _tracked(self) -> dict[int, int]:
        """Register -> its place among the masks: EXEC, SCC, VCC and what EXEC and VCC are computed from."""
        found = {_EXEC: 0, _SCC: 1, _VCC: 2}
        grown = True
        while grown:
            grown = False
            for effect in self._effects:
                for reg, value in (effect or {}).items():
                    for leaf in value.registers() if reg in found else ():
                        if leaf not in found:
                            found[leaf] = len(found)
                            grown = True
        return found

    @cached_property
    def _returning(self) -> frozenset[int]:
        """EXEC and the masks that lanes are brought back from, not those that ask which lanes go off."""
        found = {_EXEC}
        grown = True
        while grown:
            grown = False
            for inst, effect in zip(self.cfg.instructions, self._effects, strict=True):
                if effect is None or inst.desc.exec_masked:
                    continue
                for reg, value in effect.items():
                    if reg not in found or (reg == _EXEC and exec_mask.narrows(effect)):
                        continue
                    new = set(value.registers()) - found - {_VCC}
                    found |= new
                    grown = grown or bool(new)
        return frozenset(found)

    @cached_property
    def stops(self) -> dict[int, list[int]]:
        """Start of a segment -> the positions in it that change masks, the last position of the segment last."""
        stops: dict[int, list[int]] = {}
        for block in self.cfg.blocks:
            start, here, splits = block.start, [], 0
            for i in block.range:
                effect = self._effects[i]
                touches = effect is not None and any(reg in self._tracked for reg in effect)
                splits += touches and self.cfg.instructions[i].desc.name == "s_cselect_b32"
                ends = i == block.end - 1 or (effect is not None and _EXEC in effect) or 2 << splits > LIMIT
                if touches or ends or self.cfg.defs[i] >> _SCC & 1 or i in self.calls:
                    here.append(i)
                if ends:
                    stops[start] = here
                    start, here, splits = i + 1, [], 0
        return stops

    @cached_property
    def calls(self) -> frozenset[int]:
        return frozenset(self.cfg.calls)

    # --- masks
    def _value(self, masks: Masks, value: Mask) -> int:
        match value.op:
            case "reg":
                return masks[self._tracked[value.args[0]]] if value.args[0] in self._tracked else _ANY
            case "ones":
                return _ALL
            case "zero":
                return _NONE
            case "not":
                return _NOT[self._value(masks, value.args[0])]
            case "and" | "or" | "xor":
                a, b = (self._value(masks, part) for part in value.args)
                return (
                    _xor(a, b)
                    if value.op == "xor"
                    else _and(a, b)
                    if value.op == "and"
                    else _NOT[_and(_NOT[a], _NOT[b])]
                )
        return _ANY

    def _step(self, i: int, masks: Masks) -> list[Masks]:
        """The masks after an instruction; several where EXEC depends on what is not known."""
        inst, effect, tracked = self.cfg.instructions[i], self._effects[i], self._tracked
        if i in self.calls:  # gives EXEC back as it got it
            return [tuple(m if k == 0 else _ANY for k, m in enumerate(masks))]
        if effect is None:
            return [self._with(masks, {_SCC: _ANY})] if self.cfg.defs[i] >> _SCC & 1 else [masks]
        if inst.desc.name == "s_cselect_b32" and any(r in tracked for r in effect):
            scc = masks[tracked[_SCC]]
            if scc == _ANY:
                return [m for s in (_NONE, _ALL) for m in self._step(i, self._with(masks, {_SCC: s}))]
            chosen = exec_mask.operand_mask(inst.operands[1 if scc == _ALL else 2])
            return [self._with(masks, dict.fromkeys(effect, self._value(masks, chosen)))]
        if _EXEC in effect and self._value(masks, effect[_EXEC]) == _ANY:
            unknown = next((r for r in effect[_EXEC].registers() if r in tracked and masks[tracked[r]] == _ANY), None)
            if unknown is not None:
                return [m for bit in (_OFF, _ON) for m in self._step(i, self._with(masks, {unknown: bit}))]
        new = {reg: self._value(masks, value) for reg, value in effect.items() if reg in tracked}
        if self.cfg.defs[i] >> _SCC & 1:
            made = [self._value(masks, value) for reg, value in effect.items() if inst.desc.name in _TESTED]
            if _EXEC in effect and inst.desc.writes_exec:
                made = [self._value(masks, effect[_EXEC])]
            new[_SCC] = {_NONE: _NONE, _ALL: _ALL, _ON: _ALL}.get(made[0], _ANY) if made else _ANY
        if new.get(_EXEC) == _ANY:
            return [self._with(masks, new | {_EXEC: bit}) for bit in (_OFF, _ON)]
        return [self._with(masks, new)]

    def _with(self, masks: Masks, new: dict[int, int]) -> Masks:
        out = list(masks)
        for reg, value in new.items():
            if reg in self._tracked:
                out[self._tracked[reg]] = value
        return tuple(out)

    @cached_property
    def _dead(self) -> dict[int, list[int]]:
        """Start of a segment -> the places of the masks that nothing reads from there on."""
        living = {start: self.live.before[start] | 1 << _EXEC for start in self.stops}
        return {start: [k for reg, k in self._tracked.items() if not live >> reg & 1] for start, live in living.items()}

    def _living(self, position: int, masks: Masks) -> Masks:
        left = list(masks)
        for k in self._dead[position]:
            left[k] = _ANY
        return tuple(left)

    @staticmethod
    def is_on(node: Node) -> bool:
        """Whether the lane is on."""
        return _KNOWN[node[1][0]]

    @property
    def forgets(self) -> bool:
        """Whether some edge of `edges` is there only because masks were forgotten."""
        return bool(self._graph[1])

    @cached_property
    def edges(self) -> dict[Node, tuple[Node, ...]]:
        """All nodes that can be reached, each with those that may follow."""
        return self._graph[0]

    @cached_property
    def sure(self) -> dict[Node, tuple[Node, ...]]:
        """The nodes that are reached with no mask forgotten, each with those of them that follow it so."""
        edges, forgetting = self._graph
        found: dict[Node, tuple[Node, ...]] = {}
        work = [self.first]
        while work:
            node = work.pop()
            if node not in found:
                found[node] = tuple(f for f in edges[node] if (node, f) not in forgetting)
                work += found[node]
        return found

    @cached_property
    def _graph(self) -> tuple[dict[Node, tuple[Node, ...]], set[tuple[Node, Node]]]:
        """The nodes with their followers, and the edges that are there only because masks were forgotten."""
        edges: dict[Node, tuple[Node, ...]] = {}
        forgetting: set[tuple[Node, Node]] = set()
        entered: dict[int, int] = {}
        work = [self.first]
        while work:
            node = work.pop()
            if node in edges:
                continue
            edges[node] = ()
            followers: dict[Node, bool] = {}  # whether a path with all masks leads there
            for target, known in self.followers(node):
                after = known
                if (target, after) not in edges:
                    entered[target] = count = entered.get(target, 0) + 1
                    if count > LIMIT or len(edges) > NODES:
                        few = count <= 4 * LIMIT and len(edges) <= self.most
                        kept = self._returning if few else frozenset({_EXEC})
                        after = tuple(m if reg in kept else _ANY for m, reg in zip(after, self._tracked, strict=True))
                followers[target, after] = after == known or followers.get((target, after), False)
            edges[node] = tuple(followers)
            forgetting.update((node, follower) for follower, sure in followers.items() if not sure)
            work += followers
        return edges, forgetting

    @cached_property
    def first(self) -> Node:
        """The function's entry."""
        return 0, (_ON, *(_ANY,) * (len(self._tracked) - 1))

    def followers(self, node: Node) -> list[Node]:
        """What may follow a node, with all masks."""
        start, masks = node
        states = [masks]
        for i in self.stops[start]:
            states = [m for s in states for m in self._step(i, s)]
        last = self.stops[start][-1]
        return [(to, self._living(to, after)) for state in states for to, after in self._leave(last, state)]

    def _leave(self, last: int, masks: Masks) -> Iterator[tuple[int, Masks]]:
        """Where control can go after a segment's last instruction, and what is known there."""
        block = self.cfg.block_of(last)
        if last != block.end - 1:
            yield last + 1, masks
            return
        inst = self.cfg.instructions[last]
        if inst.desc.name not in _BRANCHES or len(block.successors) != 2:
            yield from ((self.cfg.blocks[s].start, masks) for s in block.successors)
            return
        reg, when = _BRANCHES[inst.desc.name]
        held = masks[self._tracked[reg]]
        for k, s in enumerate(block.successors):  # the fall-through first
            nonzero = when == (k == 1)
            if held == _NONE if nonzero else held in (_ALL, _ON):
                continue
            known = {reg: _NONE} if not nonzero else {reg: _ALL} if reg == _SCC else {}
            yield self.cfg.blocks[s].start, self._with(masks, known)

    @cached_property
    def leading_to(self) -> dict[int, list[int]]:
        """Start of a segment -> the starts of those before it."""
        found: dict[int, list[int]] = {}
        for start, stops in self.stops.items():
            block = self.cfg.block_of(start)
            inside = stops[-1] != block.end - 1
            for to in [stops[-1] + 1] if inside else [self.cfg.blocks[s].start for s in block.successors]:
                found.setdefault(to, []).append(start)
        return found


_TESTED = frozenset(f"s_{op}_b32" for op in ("and", "or", "xor", "and_not1", "or_not1", "nand", "nor", "xnor", "not"))
