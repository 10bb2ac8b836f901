"""Lane view: a `Cfg` -> which definitions a read may see, or is shown to, along a single lane's paths.

`isa.analysis.defuse` keeps two sets of definitions, for the lanes that EXEC has on and for those that it has off, and
takes both sides of every branch. That is fast, and too much where lanes come back that were off for another reason (the
else of an if within a loop that other lanes have left), or where two branches ask the same question. This analysis
follows one lane instead, any one that is on at the entry, through the nodes of `isa.analysis.lane_graph`: a masked
write replaces definitions where the lane is on and does nothing where it is off.

Where that graph has had to forget masks a path may join answers that exclude each other. So there are two questions:
`defs_of` has all that a read may see, and its absence from it is certain; `sees` tells what a read is shown to see,
along one path from the entry on which nothing was forgotten. Where the nodes that are kept show no such path, one is
looked for with all masks: best first, by how many of the definitions are still to come and how far away the next one
is, for SEARCH nodes at most.

It costs something for each register that is asked for, and is meant for the few questions that `DefUse` leaves open
(`Narrowed`).

Limits: what two lanes do to each other (v_readlane_b32) is taken for any lane's. v_readfirstlane_b32 is shown to see
what lanes hold that are on; that it takes lane 0 where none is, only `defs_of` counts. Conditions on the same data are
taken to be independent where they are computed again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from isa.analysis import regset
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY, DefUse
from isa.analysis.lane_graph import NODES, LaneGraph, Node
from isa.analysis.liveness import Liveness
from isa.registers import Reg

SEARCH = 4_000
"""Nodes that one search for a path may come to; a function's searches together five times as many."""
UNKNOWN = -2
"""What no instruction is shown to have written: after a call, and after a write whose register M0 chooses."""
_Row = tuple[int, ...]
"""Definitions of several registers: positions, ENTRY or UNKNOWN."""
_FAR = 1 << 30


@dataclass(frozen=True)
class LaneView:
    """See the module's docstring."""

    graph: LaneGraph

    @property
    def cfg(self) -> Cfg:
        return self.graph.cfg

    @cached_property
    def _found(self) -> dict[int, dict[int, frozenset[int]]]:
        return {}

    def defs_of(self, position: int, reg: Reg) -> frozenset[int]:
        """The definitions of a single register that the read at `position` may see, as `DefUse.defs_of`."""
        number = regset.bit(reg)
        if number not in self._found:
            self._found[number] = self._flow(number)
        return self._found[number].get(position, frozenset())

    @cached_property
    def _shown(self) -> dict[tuple[int, ...], dict[int, set[_Row]]]:
        return {}

    def sees(self, position: int, regs: Sequence[Reg], row: _Row) -> bool:
        """Whether the read at `position` is shown to see these definitions of single registers at once, see the
        module's docstring."""
        numbers = tuple(regset.bit(reg) for reg in regs)
        if numbers not in self._shown:
            self._shown[numbers] = self._flow_together(numbers)
        if row in self._shown[numbers].get(position, ()):
            return True
        key = (position, numbers, row)
        if self.graph.forgets and key not in self._sought:
            self._sought[key] = self._search(position, numbers, row)
        return self._sought.get(key, False)

    def _flow_together(self, numbers: tuple[int, ...]) -> dict[int, set[_Row]]:
        touching = self._touching(numbers)
        found: dict[int, set[_Row]] = {}
        entry: dict[Node, set[_Row]] = {self.graph.first: {(ENTRY,) * len(numbers)}}
        work = list(entry)
        while work:
            node = heappop(work)
            rows = self._through(node, touching[node[0]], numbers, entry[node], found)
            for follower in self.graph.sure[node]:
                old = entry.setdefault(follower, set())
                if not rows <= old:
                    entry[follower] = old | rows
                    heappush(work, follower)
        return found

    def _through(
        self, node: Node, touching: list[int], numbers: tuple[int, ...], rows: set[_Row], found: dict[int, set[_Row]]
    ) -> set[_Row]:
        """The definitions after a segment, from those before it. found: takes what its reads see."""
        cfg, on = self.cfg, self.graph.is_on(node)
        for i in touching:
            inst, uses, defs = cfg.instructions[i], cfg.uses[i], cfg.defs[i]
            seen = on or (regset.across_lanes(inst) and inst.desc.name != "v_readfirstlane_b32")
            if any(uses >> n & 1 and (seen or n >= 256) for n in numbers):
                found.setdefault(i, set()).update(rows)
            if i in self.graph.calls:
                rows = {(UNKNOWN,) * len(numbers)}
                continue
            by = UNKNOWN if inst.desc.scatters else i
            written = [defs >> n & 1 and (on or n >= 256 or not inst.desc.exec_masked) for n in numbers]
            if any(written):
                rows = {tuple(by if w else at for w, at in zip(written, row, strict=True)) for row in rows}
        return rows

    # --- the search for one path
    @cached_property
    def _sought(self) -> dict[tuple[int, tuple[int, ...], _Row], bool]:
        return {}

    @cached_property
    def _spent(self) -> list[int]:
        """How many nodes all searches came to."""
        return [0]

    @cached_property
    def _exact(self) -> dict[Node, list[Node]]:
        """The nodes that searches came to, with what may follow them."""
        return {}

    def _search(self, position: int, numbers: tuple[int, ...], wanted: _Row) -> bool:
        touching = self._touching(numbers)
        to_read, *to_write = (self._distances(at) for at in (position, *wanted))

        def far(node: Node, row: _Row) -> tuple[int, int]:
            missing = [to for to, site, at in zip(to_write, wanted, row, strict=True) if site != at]
            return len(missing), min(to.get(node[0], _FAR) for to in missing or [to_read])

        start = (ENTRY,) * len(numbers)
        work = [(far(self.graph.first, start), self.graph.first, start)]
        seen = {(self.graph.first, start)}
        while work and len(seen) < SEARCH and self._spent[0] < 5 * SEARCH:
            self._spent[0] += 1
            (_, distance), node, row = heappop(work)
            if distance == _FAR:
                continue
            found: dict[int, set[_Row]] = {}
            (after,) = self._through(node, touching[node[0]], numbers, {row}, found)
            if wanted in found.get(position, ()):
                return True
            if node not in self._exact:
                self._exact[node] = self.graph.followers(node)
            for follower in self._exact[node]:
                if (follower, after) not in seen:
                    seen.add((follower, after))
                    heappush(work, (far(follower, after), follower, after))
        return False

    def _distances(self, position: int) -> dict[int, int]:
        """Start of a segment -> how many segments later the one that holds a position stands, whatever the masks."""
        if position not in self._far:
            start = max(s for s in self.graph.stops if s <= max(position, 0))
            found, work = {start: 0}, [start]
            for at in work:
                for before in self.graph.leading_to.get(at, ()):
                    if before not in found:
                        found[before] = found[at] + 1
                        work.append(before)
            self._far[position] = found
        return self._far[position]

    @cached_property
    def _far(self) -> dict[int, dict[int, int]]:
        return {}

    @cached_property
    def _touched(self) -> dict[tuple[int, ...], dict[int, list[int]]]:
        return {}

    def _touching(self, numbers: tuple[int, ...]) -> dict[int, list[int]]:
        """Start of a segment -> the positions in it that read or write the registers, or call."""
        if numbers not in self._touched:
            cfg, flags = self.cfg, sum(1 << n for n in numbers)
            starts = sorted(self.graph.stops)
            found: dict[int, list[int]] = {start: [] for start in starts}
            for i, (uses, defs) in enumerate(zip(cfg.uses, cfg.defs, strict=True)):
                if (uses | defs) & flags or i in self.graph.calls:
                    found[starts[bisect_right(starts, i) - 1]].append(i)
            self._touched[numbers] = found
        return self._touched[numbers]

    def _flow(self, number: int) -> dict[int, frozenset[int]]:
        cfg, flag = self.cfg, 1 << number
        touching = self._touching((number,))
        found: dict[int, frozenset[int]] = {}
        entry: dict[Node, frozenset[int]] = {self.graph.first: frozenset({ENTRY})}
        work = list(entry)
        while work:
            node = heappop(work)
            sites, on = entry[node], self.graph.is_on(node)
            for i in touching[node[0]]:
                inst = cfg.instructions[i]
                if cfg.uses[i] & flag and (on or number >= 256 or regset.across_lanes(inst)):
                    found[i] = found.get(i, frozenset()) | sites
                if i in self.graph.calls or (inst.desc.scatters and cfg.defs[i] & flag):
                    sites |= {i}
                elif cfg.defs[i] & flag and (on or number >= 256 or not inst.desc.exec_masked):
                    sites = frozenset({i})
            for follower in self.graph.edges[node]:
                old = entry.get(follower)
                new = sites if old is None else old | sites
                if new != old:
                    entry[follower] = new
                    heappush(work, follower)
        return found


@dataclass(frozen=True)
class Narrowed(DefUse):
    """Definitions as `view` has them, where `DefUse` knows of several; `sees` knows only what is shown."""

    view: LaneView

    def defs_of(self, position: int, reg: Reg) -> frozenset[int]:
        sites = super().defs_of(position, reg)
        return sites & self.view.defs_of(position, reg) if len(sites) > 1 else sites

    def sees(self, position: int, regs: Sequence[Reg], row: _Row) -> bool:
        known = super().sees(position, regs, row)
        open_ = known and any(len(self.over_all_paths(position, reg)) > 1 for reg in regs)
        return known and (not open_ or self.view.sees(position, regs, row))

    def uses_of(self, position: int, reg: Reg) -> frozenset[int]:
        return frozenset(use for use in super().uses_of(position, reg) if position in self.defs_of(use, reg))


def narrowed(chains: DefUse, live: Liveness, most: int = NODES) -> Narrowed:
    """The same chains, followed lane by lane where that can matter. most: nodes of the graph of lanes."""
    return Narrowed(chains.cfg, chains.reaching, LaneView(LaneGraph(chains.cfg, live, most)))
