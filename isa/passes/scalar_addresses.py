"""64-bit addresses of each lane become a scalar base and 32 bits of the lane.

A global access takes its address from two VGPRs, or from two SGPRs and a VGPR whose 32 bits without sign are added.
Compilers make the first from the second where it is not needed: a pointer that all lanes share and a lane's offset,
added by two vector instructions and moved on by two more in each round of a loop:

    v_add_co_u32 v0, vcc_lo, s2, v2                     s_mov_b64 s[6:7], s[2:3]
    v_add_co_ci_u32_e64 v1, null, s3, 0, vcc_lo
    .Lloop:                                             .Lloop:
    global_load_b32 v4, v[0:1], off                     global_load_b32 v4, v2, s[6:7]
    v_add_co_u32 v0, vcc_lo, v0, s4                     s_add_u32 s6, s6, s4
    v_add_co_ci_u32_e64 v1, null, s5, v1, vcc_lo        s_addc_u32 s7, s7, s5

What such a pair of VGPRs holds is base + lane at all times: `lane` a VGPR without sign, `base` 64 bits that all lanes
share. So a pair of SGPRs follows the base: set where the sum begins, of something scalar and a VGPR (or of a VGPR and a
high word 0); moved on where something scalar is added to the pair. Sums of another such pair and something scalar begin
at its base. The sums themselves are then dead, and go. Nothing is assumed of sizes: both sides wrap at 2**64 alike.

All of a pair's values, by use-def chains, must be such sums, with one beginning; all its uses accesses or such sums;
between the beginning and the uses nothing else writes the lane's register (else it gets a copy). What the SALU does it
does for all lanes: so no instruction on the way from the beginning to the uses may write EXEC, unless the beginning
is passed once, and no sum behind it lies behind a write of EXEC.

Limit: an index with a sign, which most C has, is not 32 bits without one; nothing is done to it. Sums of three parts,
`v_mad_u64_u32` and shifts of 64 bits are not read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from isa.analysis import defuse, liveness
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import ENTRY
from isa.asm.emit import instruction_line
from isa.asm.program import Imm, Instruction, Kernel, Operand, Program, Special
from isa.passes.block_order import Function
from isa.passes.edit import Edit, instruction_lines, named, remove_dead
from isa.passes.rename_banks import most_vgprs
from isa.passes.scalar_code import take_pair
from isa.registers import EXEC_LO, SCC, SGPR_LIMIT, Reg


@dataclass(frozen=True)
class ScalarAddresses:
    """Puts what all lanes share of an address into SGPRs.

    kernel: which one; none: all.

    Requires:   nothing; a kernel with calls or jumps through registers is left alone.
    Guarantees: the same accesses in the same order at the same addresses; no more VGPRs than leave the number of waves
                a SIMD what it was.
    Leaves alone: addresses that are not something scalar and 32 bits without sign by the text, or that anything but
                accesses reads; all of them where SGPRs are short.
    """

    name: ClassVar[str] = "scalar-addresses"
    kernel: str = ""

    def run(self, program: Program) -> Program:
        for name in named(program, self.kernel):
            program = _Addresses(program.kernel(name)).made()
        return program


@dataclass(frozen=True)
class _Sum:
    """A sum of 64 bits in two instructions. vector: the VGPRs of the part that differs by lane, one where its high word
    is 0; scalar: the words of the other part."""

    low: int
    high: int
    pair: tuple[Reg, Reg]
    vector: tuple[Reg, ...]
    scalar: tuple[Operand, Operand]


@dataclass(frozen=True)
class _Zero:
    """A VGPR and a high word 0. low: where the VGPR is written, or `ENTRY`; high: where the 0 is."""

    low: int
    high: int
    pair: tuple[Reg, Reg]


_Value = _Sum | _Zero


@dataclass(frozen=True)
class _Web:
    """What a pair of VGPRs holds from one beginning on. parent: the value of the pair of VGPRs that it begins at."""

    start: _Value
    steps: tuple[_Sum, ...]
    parent: _Value | None
    accesses: tuple[int, ...]
    sums: tuple[_Sum, ...]
    """Beginnings of other webs that read this one."""


class _Addresses:
    """One kernel's addresses."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.function = Function.of(kernel)
        self.cfg: Cfg = self.function.cfg

    def made(self) -> Program:
        """The new program; the very one that there is where nothing can be done."""
        if self.function.opaque:
            return self.kernel.program
        self.chains = defuse.analyse(self.cfg)
        self.live = liveness.analyse(self.cfg)
        self.paths = _Paths(self.cfg)
        self.sums = self._sums()
        if not (webs := self._webs()):
            return self.kernel.program
        while (made := _Rewriting(self, webs)).failed is not None:
            if not (webs := self._whole([web for web in webs if web is not made.failed])):
                return self.kernel.program
        return remove_dead(made.edit.apply().kernel(self.kernel.name))

    # --- what there is
    def _sums(self) -> list[_Sum]:
        found = []
        for low, inst in enumerate(self.cfg.instructions):
            if inst.desc.name == "v_add_co_u32" and inst.pair is None and not inst.modifiers and not inst.dpp:
                made = self._sum(low, inst)
                if made is not None:
                    found.append(made)
        return found

    def _sum(self, low: int, inst: Instruction) -> _Sum | None:
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
            return _Sum(low, high, (target, second), (vectors[0], high_vectors[0]), (scalars[0], high_scalars[0]))
        rest = [o for o in high_scalars if not _is_zero(o)]
        if len(high_vectors) > 1 or len(rest) > 1:
            return None
        return _Sum(low, high, (target, second), (vectors[0],), (scalars[0], rest[0] if rest else Imm(0)))

    def _read(self, position: int, reg: Reg) -> bool:
        return any(self.chains.uses_of(position, unit) for unit in reg.units())

    def _all_zero(self, position: int, reg: Reg) -> bool:
        """Whether a VGPR that is read is 0 whichever way control came."""
        return all(self._zero_at(d, reg) for d in self.chains.defs_of(position, reg))

    def _zero_at(self, position: int, reg: Reg) -> bool:
        if position == ENTRY:
            return False
        for half in self.cfg.instructions[position].halves:
            if reg in half.writes():
                return half.desc.name == "v_mov_b32" and _is_zero(half.operands[1]) and not half.dpp
        return False

    def _values(self, positions: tuple[int, int], pair: tuple[Reg, Reg]) -> frozenset[_Value] | None:
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
        return sums | {_Zero(min(lows), min(highs), pair)}

    # --- what can be done
    def _webs(self) -> list[_Web]:
        """Values that share pairs of VGPRs, each with its beginning, those first that others begin at."""
        readers: dict[_Sum | int, frozenset[_Value]] = {}
        for s in self.sums:
            if len(s.vector) == 2 and (values := self._values((s.low, s.high), (s.vector[0], s.vector[1]))):
                readers[s] = values
        for i, inst in enumerate(self.cfg.instructions):
            pair = _address(inst)
            if pair is not None and (values := self._values((i, i), pair)):
                readers[i] = values
        groups: dict[_Value, set[_Value]] = {s: {s} for s in self.sums}
        for values in readers.values():
            joined = set[_Value]().union(*(groups.get(v, {v}) for v in values))
            groups.update(dict.fromkeys(joined, joined))
        distinct = {id(group): group for group in groups.values()}
        webs = [web for group in distinct.values() if (web := self._web(group, readers)) is not None]
        return self._whole(webs)

    def _web(self, group: set[_Value], readers: dict[_Sum | int, frozenset[_Value]]) -> _Web | None:
        """A web, if it has one beginning, and accesses and sums alone read it."""
        steps = {v for v in group if isinstance(v, _Sum) and readers.get(v, frozenset()) & group}
        starts = group - steps
        if len(starts) != 1:
            return None
        start, parent = next(iter(starts)), None
        if isinstance(start, _Zero) and not steps:
            return None
        if isinstance(start, _Sum) and len(start.vector) == 2:
            if start not in readers:
                return None
            parent = min(readers[start], key=lambda v: v.high)
        mine = [reader for reader, values in readers.items() if values & group]
        known = {p for r in mine for p in ((r,) if isinstance(r, int) else (r.low, r.high))}
        for value in group:
            if isinstance(value, _Sum):
                used = self.chains.uses_of(value.low, value.pair[0]) | self.chains.uses_of(value.high, value.pair[1])
                if not used <= known:
                    return None
        accesses = tuple(r for r in mine if isinstance(r, int))
        sums = tuple(r for r in mine if not isinstance(r, int) and r not in steps)
        web = _Web(start, tuple(sorted(steps, key=lambda s: s.low)), parent, accesses, sums)
        return web if self._by_all_lanes(web) and self._scalar_fits(web) else None

    def _by_all_lanes(self, web: _Web) -> bool:
        """Whether what the SALU does once is done for the lanes that read it."""
        begins = web.start.high
        steps = [s.high for s in web.steps]
        if isinstance(web.start, _Zero) and any({begins, web.start.low} & self.paths.behind(s) for s in steps):
            return False
        masks = {i for i, inst in enumerate(self.cfg.instructions) if EXEC_LO in inst.writes()}
        once = begins not in self.paths.behind(begins)
        ends = steps if once else [*steps, *web.accesses, *(s.high for s in web.sums)]
        return not masks & self.paths.between(begins, ends)

    def _scalar_fits(self, web: _Web) -> bool:
        """Whether SCC is free where the base moves, and what is added to it is at hand in one place."""
        moves = [*web.steps, *([web.start] if web.parent is not None and isinstance(web.start, _Sum) else [])]
        for s in moves:
            if SCC in self.live.live_in(s.high) or SCC in self.live.live_out(s.high):
                return False
            if self.written(s.scalar[0], range(s.low + 1, s.high)):
                return False
        return True

    def written(self, operand: Operand, positions: Iterable[int]) -> bool:
        """Whether an operand changes at one of the positions."""
        return isinstance(operand, Reg) and any(operand in self.cfg.instructions[i].writes() for i in positions)

    def _whole(self, webs: list[_Web]) -> list[_Web]:
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

    def _depth(self, web: _Web, webs: list[_Web]) -> int:
        depth = 0
        while web.parent is not None and depth < len(webs):
            web, depth = self.parent(web, webs), depth + 1
        return depth

    @staticmethod
    def parent(web: _Web, webs: Iterable[_Web]) -> _Web:
        """The web that one begins at."""
        return next(w for w in webs if web.parent is not None and web.parent in (w.start, *w.steps))


class _Rewriting:
    """The new instructions. failed: a web for which there are no registers."""

    def __init__(self, known: _Addresses, webs: list[_Web]) -> None:
        self.known, self.cfg, self.paths, self.webs = known, known.cfg, known.paths, webs
        self.edit = Edit(known.kernel)
        self.gone = {p for w in webs for s in (w.start, *w.steps) if isinstance(s, _Sum) for p in (s.low, s.high)}
        self.bases: dict[_Value, Reg] = {}
        self.lanes: dict[_Value, Reg] = {}
        self.taken: set[Reg] = set()  # what got a value of its own
        scalars = {o for w in webs for s in (w.start, *w.steps) if isinstance(s, _Sum) for o in s.scalar}
        self.held = {o for o in scalars if isinstance(o, Reg)}  # what may have to keep its value for longer
        self.edit.remove(self.cfg.lines[p] for p in self.gone)
        self.failed = next((web for web in webs if not self._place(web)), None)

    def _place(self, web: _Web) -> bool:
        """Gives a web its registers and rewrites what reads it."""
        parent = self.known.parent(web, self.webs) if web.parent is not None else None
        lane = self.lanes[parent.start] if parent is not None else self._lane(web)
        region = self._region(web)
        base = self._as_it_is(web, region) or self._pair(region)
        if lane is None or base is None:
            return False
        self.lanes[web.start], self.bases[web.start] = lane, base
        self._begin(web, base, parent)
        for s in web.steps:
            self._add(s, base, base)
        for i in web.accesses:
            inst = self.cfg.instructions[i]
            operands = tuple(self._operand(o, web.start.pair, lane, base) for o in inst.operands)
            self.edit.remove([self.cfg.lines[i]])
            self.edit.insert(self.cfg.lines[i], [instruction_line(dataclasses.replace(inst, operands=operands))])
        return True

    @staticmethod
    def _operand(operand: Operand, pair: tuple[Reg, Reg], lane: Reg, base: Reg) -> Operand:
        if isinstance(operand, Special):
            return base
        return lane if operand == Reg("v", pair[0].index, 2) else operand

    def _region(self, web: _Web) -> set[int]:
        """The positions at which a base must be kept."""
        ends = [*web.accesses, *(s.high for s in (*web.steps, *web.sums))]
        first = web.start.low if isinstance(web.start, _Sum) else web.start.high
        return self.paths.between(first, ends) | {first, web.start.high, *ends}

    def _pair(self, region: set[int]) -> Reg | None:
        """A pair of SGPRs that hold nothing there."""
        free = [r for r in self.known.live.free(region, "s", SGPR_LIMIT) if r not in self.taken | self.held]
        pair = take_pair(free)
        self.taken.update(pair.units() if pair is not None else ())
        return pair

    def _as_it_is(self, web: _Web, region: set[int]) -> Reg | None:
        """The pair of SGPRs that a base lies in already, and stays in."""
        if not isinstance(web.start, _Sum) or web.parent is not None or web.steps:
            return None
        pair = _aligned(web.start.scalar)
        if pair is None or self.taken & set(pair.units()):
            return None
        if any(self.known.written(u, region - self.gone) for u in pair.units()):
            return None
        self.held.update(pair.units())
        return pair

    def _lane(self, web: _Web) -> Reg | None:
        """The VGPR of a lane's part: the one that it is in, or a copy."""
        start, readers = web.start, set(self._readers(web))
        zero = isinstance(start, _Zero)
        reg = start.pair[0] if isinstance(start, _Zero) else start.vector[0]
        if reg not in self.taken and self._kept(reg, start.low, start.low if zero else None, readers):
            self.held.add(reg)
            return reg
        if zero:
            return None
        region = self.paths.between(start.low, readers) | {start.low, *readers}
        limit = most_vgprs(self.known.kernel, self.cfg)
        free = [r for r in self.known.live.free(region, "v", limit) if r not in self.taken | self.held]
        if not free:
            return None
        self.taken.add(free[0])
        self._insert(start.low, [f"v_mov_b32_e32 {free[0]}, {reg}"])
        return free[0]

    def _readers(self, web: _Web) -> Iterator[int]:
        """The accesses of a web, and of those that begin at it."""
        yield from web.accesses
        for s in web.sums:
            yield from self._readers(next(w for w in self.webs if w.start == s))

    def _kept(self, reg: Reg, stop: int, own: int | None, readers: set[int]) -> bool:
        """Whether a register's value reaches the readers: what else writes it comes to none of them, or to `stop`
        before."""
        for i, inst in enumerate(self.cfg.instructions):
            others = reg in inst.writes() and i != own and i not in self.gone
            if others and readers & self.paths.behind(i, stop):
                return False
        return True

    def _begin(self, web: _Web, base: Reg, parent: _Web | None) -> None:
        """Sets a base where its sum begins."""
        start, low, high = web.start, *base.units()
        if isinstance(start, _Zero):
            self._insert(start.high, [f"s_mov_b64 {base}, 0"])
        elif parent is not None:
            self._add(start, base, self.bases[parent.start])
        elif (pair := _aligned(start.scalar)) == base:
            pass
        elif pair is not None and not self.known.written(start.scalar[0], range(start.low + 1, start.high)):
            self._insert(start.high, [f"s_mov_b64 {base}, {pair}"])
        else:
            self._insert(start.low, [f"s_mov_b32 {low}, {start.scalar[0]}"])
            self._insert(start.high, [f"s_mov_b32 {high}, {start.scalar[1]}"])

    def _add(self, s: _Sum, to: Reg, base: Reg) -> None:
        rows = zip(("s_add_u32", "s_addc_u32"), to.units(), base.units(), s.scalar, strict=True)
        self._insert(s.high, [f"{add} {t}, {b}, {scalar}" for add, t, b, scalar in rows])

    def _insert(self, position: int, texts: list[str]) -> None:
        self.edit.insert(self.cfg.lines[position], instruction_lines(texts))


class _Paths:
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

    def behind(self, position: int, stop: int = ENTRY) -> set[int]:
        """Those that can be reached from a position, without passing `stop` on the way."""
        return self._walk([position], self.after, stop)

    def between(self, first: int, ends: Iterable[int]) -> set[int]:
        """Those on the ways from a position to one of the ends, without passing it again."""
        return self.behind(first, first) & self._walk(ends, self.before, first)

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


def _aligned(scalar: tuple[Operand, Operand]) -> Reg | None:
    """Two words as a pair of SGPRs, if they are one."""
    low, high = scalar
    if not isinstance(low, Reg) or not isinstance(high, Reg) or low.file != "s" or low.index >= SGPR_LIMIT:
        return None
    return Reg("s", low.index, 2) if low.index % 2 == 0 and high == Reg("s", low.index + 1) else None


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
