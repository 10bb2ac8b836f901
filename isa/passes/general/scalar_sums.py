"""64-bit addresses of the form scalar base + 32-bit lane offset: the sums that compute them in two vector instructions,
found by use-def chains, and those that a base in SGPRs may replace (`isa.passes.general.scalar_addresses` says
when that is right).

In: a kernel. Out: `Web`s. A web is what a pair of VGPRs holds from one beginning on: where it begins, the sums that
move it, the accesses and the beginnings of other webs that read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isa.analysis import defuse, liveness
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY
from isa.asm.program import Kernel
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.instruction import Imm, Instruction, Operand, Special


@dataclass(frozen=True)
class Sum:
    """A sum of 64 bits in two instructions. vector: the VGPRs of the part that differs by lane, one where its high word
    is 0; scalar: the words of the other part."""

    low: int
    high: int
    pair: tuple[Reg, Reg]
    vector: tuple[Reg, ...]
    scalar: tuple[Operand, Operand]


@dataclass(frozen=True)
class Zero:
    """A VGPR and a high word 0. low: where the VGPR is written, or `ENTRY`; high: where the 0 is."""

    low: int
    high: int
    pair: tuple[Reg, Reg]


Value = Sum | Zero


@dataclass(frozen=True)
class Web:
    """What a pair of VGPRs holds from one beginning on. parent: the value of the pair of VGPRs that it begins at."""

    start: Value
    steps: tuple[Sum, ...]
    parent: Value | None
    accesses: tuple[int, ...]
    sums: tuple[Sum, ...]
    """Beginnings of other webs that read this one."""


class Addresses:
    """One kernel's addresses. webs: those that can be rewritten, each after the one that it begins at."""

    def __init__(self, kernel: Kernel, cfg: Cfg) -> None:
        self.kernel, self.cfg = kernel, cfg
        self.chains = defuse.analyse(cfg)
        self.live = liveness.analyse(cfg)
        self.paths = Paths(cfg)
        self.sums = self._sums()
        self.webs = self._webs()

    # --- what there is
    def _sums(self) -> list[Sum]:
        found = []
        for low, inst in enumerate(self.cfg.instructions):
            if inst.desc.name == "v_add_co_u32" and inst.pair is None and not inst.modifiers and not inst.dpp:
                made = self._sum(low, inst)
                if made is not None:
                    found.append(made)
        return found

    def _sum(self, low: int, inst: Instruction) -> Sum | None:
        """The sum that begins at a position."""
        target, carry, *words = inst.operands
        if not isinstance(target, Reg) or not isinstance(carry, Reg):
            return None
        uses = self.chains.uses_of(low, carry)
        high = next(iter(uses), -1)
        if len(uses) != 1 or high not in range(low, self.cfg.block_of(low).end):
            return None
        other = self.cfg.instructions[high]
        if other.desc.name != "v_add_co_ci_u32" or other.modifiers or other.dpp or other.operands[4] != carry:
            return None
        second, out, *highs = other.operands[:4]
        if not isinstance(second, Reg) or (isinstance(out, Reg) and out.file != "null" and self._read(high, out)):
            return None
        if second == target or self.chains.defs_of(high, carry) != {low}:
            return None
        vectors, scalars = _parted(words)
        high_vectors, high_scalars = _parted(highs)
        if len(vectors) != 1 or len(scalars) != 1:
            return None
        if high_vectors and not self._all_zero(high, high_vectors[0]):
            if len(high_vectors) > 1 or len(high_scalars) > 1:
                return None
            return Sum(low, high, (target, second), (vectors[0], high_vectors[0]), (scalars[0], high_scalars[0]))
        rest = [o for o in high_scalars if not _is_zero(o)]
        if len(high_vectors) > 1 or len(rest) > 1:
            return None
        return Sum(low, high, (target, second), (vectors[0],), (scalars[0], rest[0] if rest else Imm(0)))

    def _read(self, position: int, reg: Reg) -> bool:
        return any(self.chains.uses_of(position, unit) for unit in reg.units())

    def _all_zero(self, position: int, reg: Reg) -> bool:
        """Whether a VGPR that is read is 0 whichever path control took."""
        return all(self._zero_at(d, reg) for d in self.chains.defs_of(position, reg))

    def _zero_at(self, position: int, reg: Reg) -> bool:
        if position == ENTRY:
            return False
        for half in self.cfg.instructions[position].halves:
            if reg in half.writes():
                return half.desc.name == "v_mov_b32" and _is_zero(half.operands[1]) and not half.dpp
        return False

    def _values(self, positions: tuple[int, int], pair: tuple[Reg, Reg]) -> frozenset[Value] | None:
        """What a pair of VGPRs that is read may hold, its low word at the first position, its high one at the second;
        None where that is not known."""
        low, high = (self.chains.defs_of(at, reg) for at, reg in zip(positions, pair, strict=True))
        sums = frozenset(s for s in self.sums if s.pair == pair and s.low in low)
        if sums != {s for s in self.sums if s.pair == pair and s.high in high}:
            return None
        lows, highs = low - {s.low for s in sums}, high - {s.high for s in sums}
        if not lows and not highs:
            return sums
        if len(lows) != 1 or len(highs) != 1 or not self._zero_at(min(highs), pair[1]):
            return None
        return sums | {Zero(min(lows), min(highs), pair)}

    # --- what can be done
    def _webs(self) -> list[Web]:
        """Values that share pairs of VGPRs, each with its beginning, those first that others begin at."""
        readers: dict[Sum | int, frozenset[Value]] = {}
        for s in self.sums:
            if len(s.vector) == 2 and (values := self._values((s.low, s.high), (s.vector[0], s.vector[1]))):
                readers[s] = values
        for i, inst in enumerate(self.cfg.instructions):
            pair = _address(inst)
            if pair is not None and (values := self._values((i, i), pair)):
                readers[i] = values
        groups: dict[Value, set[Value]] = {s: {s} for s in self.sums}
        for values in readers.values():
            joined = set[Value]().union(*(groups.get(v, {v}) for v in values))
            groups.update(dict.fromkeys(joined, joined))
        distinct = {id(group): group for group in groups.values()}
        webs = [web for group in distinct.values() if (web := self._web(group, readers)) is not None]
        return self.whole(webs)

    def _web(self, group: set[Value], readers: dict[Sum | int, frozenset[Value]]) -> Web | None:
        """A web, if it has one beginning, and accesses and sums alone read it."""
        steps = {v for v in group if isinstance(v, Sum) and readers.get(v, frozenset()) & group}
        starts = group - steps
        if len(starts) != 1:
            return None
        start, parent = next(iter(starts)), None
        if isinstance(start, Zero) and not steps:
            return None
        if isinstance(start, Sum) and len(start.vector) == 2:
            if start not in readers:
                return None
            parent = min(readers[start], key=lambda v: v.high)
        mine = [reader for reader, values in readers.items() if values & group]
        known = {p for r in mine for p in ((r,) if isinstance(r, int) else (r.low, r.high))}
        for value in group:
            if isinstance(value, Sum):
                used = self.chains.uses_of(value.low, value.pair[0]) | self.chains.uses_of(value.high, value.pair[1])
                if not used <= known:
                    return None
        accesses = tuple(r for r in mine if isinstance(r, int))
        sums = tuple(r for r in mine if not isinstance(r, int) and r not in steps)
        web = Web(start, tuple(sorted(steps, key=lambda s: s.low)), parent, accesses, sums)
        return web if self._by_all_lanes(web) and self._scalar_fits(web) else None

    def _by_all_lanes(self, web: Web) -> bool:
        """Whether what the SALU does once is done for the lanes that read it."""
        begins = web.start.high
        steps = [s.high for s in web.steps]
        if isinstance(web.start, Zero) and any({begins, web.start.low} & self.paths.reachable(s) for s in steps):
            return False
        masks = {i for i, inst in enumerate(self.cfg.instructions) if EXEC_LO in inst.writes()}
        once = begins not in self.paths.reachable(begins)
        ends = steps if once else [*steps, *web.accesses, *(s.high for s in web.sums)]
        return not masks & self.paths.between(begins, ends)

    def _scalar_fits(self, web: Web) -> bool:
        """Whether SCC is free where the base moves, and what is added to it is at hand in one place."""
        moves = [*web.steps, *([web.start] if web.parent is not None and isinstance(web.start, Sum) else [])]
        for s in moves:
            if SCC in self.live.live_in(s.high) or SCC in self.live.live_out(s.high):
                return False
            if self.written(s.scalar[0], range(s.low + 1, s.high)):
                return False
        return True

    def written(self, operand: Operand, positions: Iterable[int]) -> bool:
        """Whether an operand changes at one of the positions."""
        return isinstance(operand, Reg) and any(operand in self.cfg.instructions[i].writes() for i in positions)

    def whole(self, webs: list[Web]) -> list[Web]:
        """Those whose beginnings and readers are among them, in the order in which they begin at one another."""
        while True:
            starts = {w.start for w in webs}
            values = {v for w in webs for v in (w.start, *w.steps)}
            kept = [w for w in webs if (w.parent is None or w.parent in values) and set(w.sums) <= starts]
            kept = [w for w in kept if w.accesses or w.sums]
            if len(kept) == len(webs):
                break
            webs = kept
        return [w for depth in range(len(webs)) for w in webs if self._depth(w, webs) == depth]

    def _depth(self, web: Web, webs: list[Web]) -> int:
        depth = 0
        while web.parent is not None and depth < len(webs):
            web, depth = self.parent(web, webs), depth + 1
        return depth

    @staticmethod
    def parent(web: Web, webs: Iterable[Web]) -> Web:
        """The web that one begins at."""
        return next(w for w in webs if web.parent is not None and web.parent in (w.start, *w.steps))


class Paths:
    """Which positions control may come to from others."""

    def __init__(self, cfg: Cfg) -> None:
        self.after: list[tuple[int, ...]] = [()] * len(cfg)
        for block in cfg.blocks:
            for i in block.range[:-1]:
                self.after[i] = (i + 1,)
            if block.range:
                self.after[block.end - 1] = tuple(cfg.blocks[b].start for b in block.successors)
        self.before: list[list[int]] = [[] for _ in self.after]
        for i, targets in enumerate(self.after):
            for t in targets:
                self.before[t].append(i)

    def reachable(self, position: int, stop: int = ENTRY) -> set[int]:
        """Those that can be reached from a position, without passing `stop` between."""
        return self._walk([position], self.after, stop)

    def between(self, first: int, ends: Iterable[int]) -> set[int]:
        """Those on the paths from a position to one of the ends, without passing it again."""
        return self.reachable(first, first) & self._walk(ends, self.before, first)

    @staticmethod
    def _walk(starts: Iterable[int], edges: list[tuple[int, ...]] | list[list[int]], stop: int) -> set[int]:
        work, seen = list(starts), set[int]()
        while work:
            for i in edges[work.pop()]:
                if i not in seen:
                    seen.add(i)
                    if i != stop:
                        work.append(i)
        return seen


def _parted(operands: Iterable[Operand]) -> tuple[list[Reg], list[Operand]]:
    """VGPRs and the rest."""
    rows = list(operands)
    vectors = [o for o in rows if isinstance(o, Reg) and o.is_vgpr]
    return vectors, [o for o in rows if not (isinstance(o, Reg) and o.is_vgpr)]


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Imm) and operand.value == 0


def _address(inst: Instruction) -> tuple[Reg, Reg] | None:
    """The two VGPRs of a global access's address, if nothing else of it reads them."""
    if inst.desc.space != "global" or inst.desc.access is None:
        return None
    address = inst.desc.address_of(inst)
    if len(address) != 2 or not isinstance(address[0], Reg) or address[1] != Special("off"):
        return None
    low, high = address[0].units()
    data = [u for o in inst.operands if isinstance(o, Reg) and o is not address[0] for u in o.units()]
    stored = inst.desc.access.kind == "load" or not {low, high} & set(data)
    return (low, high) if stored else None
