"""LDS shared between waves: a write and a read of the same byte by two waves with no barrier between them.

Waves of a workgroup run in any order, so what one writes to LDS another may read only after a barrier that both pass,
and may overwrite only after one that the reader has passed. The lanes of one wave run in the order of the code.

A fault here is one that the rule can show: a path of the whole workgroup, a byte, a wave that reads it and another that
writes it, and no barrier between. It is reported once for each instruction; those that one barrier would settle,
together. Two steps:

1. Forward data flow over the control flow, without addresses: the barriers after which an access comes with no other
   between. Where no read and write have one in common, nothing is left to ask; most kernels end here.
2. The workgroup is run with nothing known but the numbers of its work-items (`isa.lint.lds`). Addresses and EXEC that
   follow from them are known for each work-item, through loops whose ends are numbers, too: `s[t + d]` under `t < d`,
   `t ^ j`, buffers that change places, LDS that each wave or each work-item has for itself. What data decides takes
   in both directions, the same for all work-items.

An address that data decides reaches no byte that is known, so it is no fault: `hipgemm check` runs the code for that.
Left out are workgroups of one wave and pairs of two atomics. Calls, and atomics that give back what they found (locks,
counters of arrivals), may order what is before and after them, so nothing is said across them; an exchange, which
locks are made of, is held against nothing itself. What follows on a wait for another wave
(`isa.analysis.memory_order.awaited`) up to a barrier is held against nothing.

Shape of the workgroup: the largest that the kernel allows. Where its source may name none (it is 1024 then in HIP, 256
in OpenCL and Tensile) a fault must be there with two waves, too, or in all the workgroups that stay in the LDS that the
kernel has and read there what they write, one of which writes all of it: `s[255 - t]` of an `s[256]`. Where the kernel
asks for more than the first of the work-item's numbers, a fault must be there in each of the shapes that `_shapes`
names. A kernel whose source names none is taken to be started with one wave where an instruction reaches its own LDS in
the first wave, and in the second only what lies after it.

A condition that data decides lets all work-items in, `t < n` of an n that is not known too. Where that would take all
of a wave's work-items outside of the LDS that the kernel has, while those of the first begin inside, it has let none of
that wave into the block.

Flat instructions count where the function makes pointers to LDS (src_shared_base), as unoptimised code does.

Limits: conditions on the same data are taken to be independent, so a path may be one that no data takes. Two writes of
one byte are not looked at. A function's accesses are held against each other and not against its caller's.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, reduce
from operator import or_

import numpy as np

from isa.analysis import dataflow, memory_order
from isa.analysis.cfg import Block, Cfg
from isa.analysis.resources import LDS_PER_CU
from isa.errors import Finding
from isa.lint import causes
from isa.lint.functions import LintedFunction
from isa.lint.lds import needed
from isa.lint.lds.explore import Explorer, Node, NodeRun, Question
from isa.lint.lds.footprint import Footprint
from isa.lint.lds.machine import Start
from isa.lint.names import place
from isa.lint.registry import RULES
from isa.registers import LANES
from isa.semantics.waits import barrier_text

RACE = RULES["LDS001"]


_LARGEST = 1024  # without __launch_bounds__ (clang, --gpu-max-threads-per-block)
_UNNAMED = (_LARGEST, 256)  # the other one by clang for OpenCL, and by Tensile for 64 work-items
_FITTING = (256, 128, 64, 512, 1024)
"""Workgroups that are asked whether they fit the kernel's LDS, those first that kernels are made for most."""
_EXCHANGE = re.compile(r"xchg|cmpst|swap")


@dataclass(frozen=True)
class _Meeting:
    """Two accesses that collide: positions, the byte, and the wave of each."""

    first: int
    second: int
    byte: int
    waves: tuple[int, int]


def findings(f: LintedFunction) -> Iterator[Finding]:
    """LDS reads and writes of different waves of 32 lanes that no barrier orders."""
    cfg, chains, threads, dimensions, room = f.flow, f.values.chains, f.start.threads, f.start.dimensions, f.start.room
    if f.start.wave64 or (threads is not None and threads <= LANES):
        return
    kinds = _kinds(cfg)
    awaited = memory_order.awaited(cfg, chains)
    asked = _in_question(cfg, kinds, awaited)
    if not asked:
        return
    counts = {i: needed.address(cfg, i) for i in asked}
    wanted = needed.of(cfg, chains, f.values.lanes, counts, f.hopeful)
    found: dict[int, _Meeting] | None = None
    used = 1 if dimensions == 1 or needed.first_number_only(cfg, chains, wanted) else dimensions
    assumed = threads is None or threads in _UNNAMED

    def of(
        shape: tuple[int, int, int], *, two_waves: bool = False, fitting: bool = False
    ) -> tuple[dict[int, _Meeting], float]:
        start = Start(shape, dimensions > 1, f.start.sizes)
        question, positions = Question.of(cfg, chains, wanted, asked, _orders(cfg, kinds), start)
        met, share = _meetings(question, tuple(kinds[i] for i in positions), room, two_waves, fitting)
        found = {positions[m.second]: _Meeting(positions[m.first], positions[m.second], m.byte, m.waves) for m in met}
        return found, share

    for shape in [shape for size in _sizes(threads) for shape in _shapes(size, used)]:
        found = _also(found, of(shape, two_waves=assumed and math.prod(shape) == 2 * LANES)[0])
        if not found:
            assumed &= threads == _LARGEST or math.prod(shape) != threads
            break
    if not found and assumed and room and used == 1:
        found, whole = None, False
        fitting = [size for size in _FITTING if threads is None or size <= threads]
        for here, share in (of((size, 1, 1), fitting=True) for size in fitting):
            if share and not (found := _also(found, here)):
                break
            whole |= share == 1
        found = found if whole else None
    if not found:
        return
    findings = {(m.first, m.second): _finding(cfg, kinds, m) for m in found.values()}
    yield from causes.joined(
        cfg, findings, lambda _, i: cfg.instructions[i].desc.effect != "barrier", partial(_barrier, cfg)
    )


def _also(found: dict[int, _Meeting] | None, here: dict[int, _Meeting]) -> dict[int, _Meeting]:
    """Those of `found` that are here, too; all that are here where no other workgroup was asked before."""
    return here if found is None else {i: m for i, m in found.items() if i in here}


def _barrier(cfg: Cfg, pairs: list[causes.Pair]) -> str:
    """What settles a group: it stands before the first access."""
    _, first = pairs[0]
    where = place(cfg.instructions[first], first)
    return f"{barrier_text(cfg.family)} before {where}, with each wave's accesses complete, fixes all"


def _sizes(threads: int | None) -> list[int]:
    """How many work-items: the largest workgroup, but two waves where it is not known, and those, too, where the source
    may have named none: then any may be started."""
    if threads is None:
        return [2 * LANES]
    return [2 * LANES, threads] if threads == _LARGEST else [threads, 2 * LANES] if threads in _UNNAMED else [threads]


def _shapes(threads: int, dimensions: int) -> list[tuple[int, int, int]]:
    """Workgroups of so many work-items: in one dimension one; else those with rows as long as code likes them."""
    if dimensions < 2:
        return [(threads, 1, 1)]
    rows = [x for x in (LANES, LANES // 2, LANES // 4, threads) if threads % x == 0]
    shapes = [(x, threads // x, 1) for x in rows]
    return shapes + ([(8, 8, threads // 64)] if dimensions > 2 and threads % 64 == 0 else [])


def _kinds(cfg: Cfg) -> list[str]:
    """load, store or atomic for each position that may reach LDS, "" for others."""
    spaces = {"lds", "flat"} if "src_shared_base" in cfg.specials else {"lds"}
    kinds = [""] * len(cfg)
    for i in cfg.where(lambda desc: desc.access is not None and desc.access.space in spaces):
        access = cfg.instructions[i].desc.access
        kinds[i] = access.kind if access is not None else ""
    return kinds


def _orders(cfg: Cfg, kinds: list[str]) -> set[int]:
    """Positions of atomics that give back what they found."""
    returning = cfg.where(lambda desc: desc.access is not None and desc.access.returns)
    return {i for i in returning if kinds[i] == "atomic"}


def _in_question(cfg: Cfg, kinds: list[str], awaited: set[int]) -> set[int]:
    """The accesses that one of another kind may meet: both can be reached from the entry, or from one barrier, without
    passing another. The waves of a workgroup may take two branches, so no path need lead from one to the other."""
    accesses = {i for i, kind in enumerate(kinds) if kind and not _EXCHANGE.search(cfg.instructions[i].mnemonic)}
    since: dict[int, int] = {}  # by position: of which barriers that holds, as bits; the lowest is the entry
    waited = 2 << len(cfg)  # and whether one has waited since
    barriers = frozenset(cfg.where(lambda desc: desc.effect == "barrier"))
    counting = sorted(accesses | awaited | barriers)

    def through(block: Block, starts: int) -> int:
        for i in counting[bisect_left(counting, block.start) : bisect_left(counting, block.end)]:
            starts |= waited if i in awaited else 0
            since[i] = starts
            starts = 2 << i if i in barriers else starts
        return starts

    dataflow.forward(cfg, 1, through, or_)
    accesses -= {i for i in accesses if since.get(i, 0) & waited}
    of_kind = {k: reduce(or_, (since.get(i, 0) for i in accesses if kinds[i] == k), 0) for k in set(kinds)}
    return {i for i in accesses if any(since.get(i, 0) & of_kind[k] for k in of_kind if k and k != kinds[i])}


@lru_cache(64)
def _meetings(
    question: Question, kinds: tuple[str, ...], room: int, two_waves: bool, fitting: bool
) -> tuple[tuple[_Meeting, ...], float]:
    """By the question's numbers, of which `kinds` says what they do to LDS, and, if `fitting`, the `_share`, none where
    that is 0; found once for code that is the same in all that counts. two_waves: whether there may as well be one:
    none where the second has no room."""
    nodes = Explorer(question).run()
    share = _share(nodes, kinds, room) if fitting else 1.0
    if not share:
        return (), share
    reached = (event[1] for node in nodes for run in node.runs for event in run.events if event is not None)
    if two_waves and any(access.parted_by(room) for access in reached):
        return (), share
    if room:
        for run in (run for node in nodes for run in node.runs):
            _keep_in(run, room)
    return tuple(_Meetings(kinds).of(nodes).values()), share


def _share(nodes: Sequence[Node], kinds: tuple[str, ...], room: int) -> float:
    """Which share of the kernel's LDS a workgroup writes; 0 where it reaches more, or does not read just from that."""
    if not 0 < room <= LDS_PER_CU:
        return 0.0
    written, read = np.zeros(room, bool), np.zeros(room, bool)
    for event in (event for node in nodes for run in node.runs for event in run.events if event):
        position, reached = event
        if reached.grain * (reached.units[-1] + 1) > room:
            return 0.0
        for byte in range(reached.grain):
            at = reached.grain * reached.units + byte
            (read if kinds[position] == "load" else written)[at] = True
    return float(written.mean()) if read.any() and not (read & ~written).any() else 0.0


def _keep_in(run: NodeRun, room: int) -> None:
    """A block's accesses without the waves of which one would lie outside of the kernel's LDS, if they were on there:
    the condition in front of it, `t < n` of some n, has let none of them in."""
    out = reduce(or_, (event[1].outside(room) for event in run.events if event is not None), 0)
    if out:
        run.events = [event and (event[0], event[1].without(out)) for event in run.events]


@dataclass
class _Meetings:
    """Finds the pairs that collide. An access is (position, what it reached), by number; sets of them are bits."""

    kinds: Sequence[str]
    numbers: dict[tuple[int, tuple[int, bytes, bytes]], int] = field(default_factory=dict)
    accesses: list[tuple[int, Footprint]] = field(default_factory=list)
    of_kind: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("load", "store", "atomic"), 0))

    def of(self, nodes: Sequence[Node]) -> dict[int, _Meeting]:
        """By position of the later access: the earliest in the code that it collides with."""
        entry: dict[int, int] = {0: 0}
        work = [0]
        while work:
            number = work.pop()
            for run in nodes[number].runs:
                since = 0 if run.clears else self._after(run, entry[number])
                if run.next is None:
                    continue
                new = entry.get(run.next, 0) | since
                if run.next not in entry or new != entry[run.next]:
                    entry[run.next] = new
                    work.append(run.next)
        found: dict[int, _Meeting] = {}
        asked: dict[int, int] = {}
        for number, since in entry.items():
            for run in nodes[number].runs:
                self._after(run, since, found, asked)
        return found

    def _after(
        self, run: NodeRun, since: int, found: dict[int, _Meeting] | None = None, asked: dict[int, int] | None = None
    ) -> int:
        for event in run.events:
            if event is None:
                since = 0
                continue
            key = event[0], event[1].content
            number = self.numbers.get(key)
            if number is None:
                number = self.numbers[key] = len(self.accesses)
                self.accesses.append(event)
                self.of_kind[self.kinds[event[0]]] |= 1 << number
            if found is not None and asked is not None:
                fresh = since & ~self.of_kind[self.kinds[event[0]]] & ~asked.get(number, 0)
                asked[number] = asked.get(number, 0) | fresh
                self._meet(event, fresh, found)
            since |= 1 << number
        return since

    def _meet(self, event: tuple[int, Footprint], others: int, found: dict[int, _Meeting]) -> None:
        position, reached = event
        while others:
            low = others & -others
            others ^= low
            first, its = self.accesses[low.bit_length() - 1]
            if position in found and found[position].first <= first:
                continue
            if (met := its.meets(reached)) is not None:
                found[position] = _Meeting(first, position, met[0], met[1:])


def _finding(cfg: Cfg, kinds: list[str], met: _Meeting) -> Finding:
    inst, first = cfg.instructions[met.second], cfg.instructions[met.first]
    before, after = _does(kinds, met.first), _does(kinds, met.second)
    return RACE.broken(
        inst,
        f"{first} ({place(first, met.first)}) {before} LDS, this {after} it, and a path between them has no barrier",
        expected=f"{barrier_text(cfg.family)} between what one wave writes and another reads",
        got=f"byte {met.byte}: wave {met.waves[0]} {before} it, then wave {met.waves[1]} {after} it",
        hint=f"put {barrier_text(cfg.family)} between them, after a wait for LDS",
    )


def _does(kinds: list[str], position: int) -> str:
    return {"load": "reads", "store": "writes", "atomic": "changes"}[kinds[position]]
