"""Memory order: which accesses a program has completed, on purpose, before each access that others may observe.

In: a `Cfg`, or two programs and which accesses of them are the same. Out: at each position the accesses that must be
complete there (`Order.before`); the first place where a second program promises less than the first one does
(`weaker`, `overtaken`).

The theory is the memory model of gfx10 and gfx11 (LLVM AMDGPUUsage). A release is written as waits (vmcnt, vscnt,
lgkmcnt) and then a store, an atomic, a barrier; nothing tells such a store from any other one. An acquire is written as
a load, a wait for it, and invalidations of caches. So order is read off the waits. A wait promises that an access is
complete; the promise is made on purpose

- for a store, or an atomic without return: no register is waited for;
- for a coherent load (glc), or an atomic with return;
- for another load where the instruction after the wait (hints and other waits apart) would not need it: compilers wait
  for registers right before these are used, at most before a run of stores to LDS that all need what is waited for. A
  load that is complete by the in-order return of one that is needed there was not waited for on purpose.

A promise on purpose binds every later access and fence; a plain load does not order plain loads, and accesses to
scratch and scalar loads take no part. At a fence (barrier, invalidation, message) and at what is coherent or atomic
every completion is on purpose. Promises from before a fence are not repeated after it: nothing passes it, and what it
asked for stays complete.

A second program promises as much if for each access or fence of its own nothing is in flight that the first program had
completed on purpose at the same one, over all paths (`isa.analysis.waits`); and if no access overtakes one, along what
both run together, that the first program had completed on purpose before it. The caller says which accesses are the
same and that fences come in the same order, with the same cache bits.

Apart from that, `awaited` finds the loads and atomics by which a wave waits for another.

Limits: a compiler that would wait for a register early is taken to mean order. That a plain access waits for another
thread by what its value decides (a dependence without a wait) is the hardware's business: accesses issue in order.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from isa.analysis import dataflow, dependences, regset, waits
from isa.analysis.cfg import Block, Cfg, is_branch
from isa.analysis.defuse import DefUse
from isa.analysis.waits import InFlight
from isa.errors import Span
from isa.semantics.instruction import Instruction

Access = tuple[Hashable, int]
"""What an access is, equal in both programs, and its position."""
_BETWEEN = ("wait", "wait_alu", "delay", "clause", "nop")
"""Scheduling classes of what may stand between a wait and what it is for."""


def is_synchronising(inst: Instruction) -> bool:
    """Whether it is a fence, or an access by which waves speak to each other."""
    access = inst.desc.access
    if access is None:
        return dependences.guards_memory(inst) or inst.desc.sched == "message"
    return access.kind == "atomic" or inst.coherent


def is_observed(inst: Instruction) -> bool:
    """Whether it takes part in the order: whether others may see it, or what it sees."""
    access = inst.desc.access
    return is_synchronising(inst) if access is None else access.space not in ("scratch", "scalar")


def awaited(cfg: Cfg, chains: DefUse) -> set[int]:
    """Positions by which a wave waits for another: what a load, or an atomic, gives decides whether a loop goes on that
    else changes neither memory nor where and with what it is asked. Unoptimised code keeps its numbers in scratch
    memory; there it is a flat load past caches in such a loop, as an atomic one is made of (in CU mode it is not)."""
    accesses = [inst.desc.access for inst in cfg.instructions]
    asks = {i for i, a in enumerate(accesses) if a is not None and (a.kind == "load" or a.returns)}
    past = {i for i in asks if cfg.instructions[i].desc.space == "flat" and cfg.instructions[i].coherent}
    found: set[int] = set()
    for loop in cfg.loops if asks else ():
        inside = {*cfg.positions(loop)}
        others = {a.space for i in inside if i not in asks and (a := accesses[i]) is not None}
        if any(cfg.instructions[i].desc.is_barrier for i in inside) or others - {"scratch"}:
            continue
        found |= past & inside
        if others:
            continue
        follows: dict[int, set[int]] = {}
        fixed = inside & asks
        for i in inside:
            for number in regset.numbers(cfg.uses[i]):
                sites = chains.reaching_at(i, number) & inside
                for site in sites:
                    follows.setdefault(site, set()).add(i)
                if sites and 1 << number & regset.VGPRS:
                    fixed.discard(i)
        found |= {i for i in fixed if any(is_branch(cfg.instructions[j]) for j in _reached(i, follows))}
    return found


def _reached(first: int, after: Mapping[int, set[int]]) -> set[int]:
    seen, work = {first}, [first]
    for i in work:
        fresh = after.get(i, set()) - seen
        seen |= fresh
        work += fresh
    return seen


@dataclass(frozen=True)
class Order:
    """See the module's docstring. Sets of positions are numbers, a bit for each."""

    flight: InFlight

    @property
    def cfg(self) -> Cfg:
        return self.flight.cfg

    @cached_property
    def before(self) -> list[int]:
        """At each position, what has been completed on purpose since the last fence."""
        found = [0] * len(self.cfg.instructions)

        def through(block: Block, done: int) -> int:
            for i in block.range:
                found[i] = done & ~self.in_flight[i]
                inst = self.cfg.instructions[i]
                if i in self.completed:
                    done |= self.completed[i]
                elif is_synchronising(inst):
                    done = 0
                elif inst.desc.access is not None:
                    done &= ~(1 << i)
            return done

        dataflow.forward(self.cfg, 0, through, int.__or__)
        return found

    @cached_property
    def in_flight(self) -> list[int]:
        """What takes part in the order and may be in flight before each position."""
        observed = [is_observed(inst) for inst in self.cfg.instructions]
        return [_bits(at for at, _ in pending if observed[at]) for pending in self.flight.before]

    @cached_property
    def completed(self) -> dict[int, int]:
        """Position of a wait -> what it completes on purpose."""
        found = {}
        for i, numbers in enumerate(self.flight.waits):
            on_purpose = 0
            for counter, events in self.flight.covered_by(i).items() if numbers else ():
                least = self._needed(i, counter)
                pending = self.flight.before[i]
                on_purpose |= _bits(at for at in events if pending[at, counter] < least or self._speaks(at))
            if on_purpose:
                found[i] = on_purpose
        return found

    def _speaks(self, at: int) -> bool:
        """Whether a wait for it is on purpose, whatever it fills."""
        inst = self.cfg.instructions[at]
        return not waits.filled(self.cfg, at) or is_synchronising(inst)

    def _needed(self, wait: int, counter: str) -> int:
        """What the counter must be at most for what a wait stands in front of: an instruction, or a run of stores to
        LDS each of which stores what was waited for, as a tile's."""
        cfg, pending, least = self.cfg, self.flight.before[wait].items(), 1 << 30
        for i in range(wait + 1, cfg.block_of(wait).end):
            desc = cfg.instructions[i].desc
            if desc.sched in _BETWEEN:
                continue
            needed = [n for (at, c), n in pending if c == counter and any(waits.too_early(cfg, at, i, c))]
            least = min([least, *needed])
            if not needed or desc.space != "lds" or desc.access is None or desc.access.kind != "store":
                break
        return least

    def promised(self, position: int) -> int:
        """What has been completed on purpose where an access or fence stands, and orders it."""
        done, inst = self.before[position], self.cfg.instructions[position]
        if is_synchronising(inst):
            return done | self._others & ~self.in_flight[position]
        if not is_observed(inst):
            return 0
        if inst.desc.space == "lds":  # which serves a wave's accesses in order
            done &= ~self._of_lds
        return done & ~self.plain_loads if dependences.plain_load(inst) else done

    @cached_property
    def _of_lds(self) -> int:
        return _bits(i for i, inst in enumerate(self.cfg.instructions) if inst.desc.space == "lds")

    @cached_property
    def _others(self) -> int:
        """What takes part in the order, but plain loads."""
        observed = (i for i, inst in enumerate(self.cfg.instructions) if inst.desc.access and is_observed(inst))
        return _bits(observed) & ~self.plain_loads

    @cached_property
    def plain_loads(self) -> int:
        """Loads that order no loads."""
        return _bits(i for i, inst in enumerate(self.cfg.instructions) if dependences.plain_load(inst))


@dataclass
class Orders:
    """Two programs that are held against each other. same: positions of the second -> those of the first that are the
    same access."""

    first: Order
    second: Order
    same: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def broken(
        self, traces: Iterable[tuple[Sequence[Access], Sequence[Access]]], open_at: Callable[[int], bool]
    ) -> tuple[str, Span | None, str] | None:
        """Where the second program promises less: in words, the place and the text there. traces: what accesses both
        make together, stretch by stretch; open_at: fences of the second at which plain loads may be in flight."""
        before, after = self.first.cfg.instructions, self.second.cfg.instructions
        for first, second in traces:
            if (found := self.overtaken(first, second)) is not None:
                x, at = found
                what = f"memory order: it must come after {before[x]}, for which the original waits before it"
                return what, after[at].span, str(after[at])
        if (found := self.weaker(open_at)) is not None:
            x, at = found
            what = (
                f"memory order: a wait is missing or too weak: {after[x]} may be in flight there, not in the original"
            )
            return what, after[at].span, str(after[at])
        return None

    def overtaken(self, first: Sequence[Access], second: Sequence[Access]) -> tuple[int, int] | None:
        """Notes which accesses are the same, of those that both programs make together, in the order in which each
        makes them; the first access of the second program that does not come after what it had to come after: positions
        of that in the first, of the access in the second."""
        a, b = _numbered(first), _numbered(second)
        for access, at in b.items():
            if access in a:
                self.same[at].add(a[access])
        order, known = self.first, _bits(a.values())
        if not any(order.promised(at) & known for at in a.values()):
            return None
        earlier: dict[Access, list[Access]] = {}
        for n, (access, at) in enumerate(a.items()):
            if promised := order.promised(at) & known:
                earlier[access] = [x for x, p in itertools.islice(a.items(), n) if p != at and promised >> p & 1]
        loads, done = order.plain_loads, dict[Access, int]()
        for access, at in b.items():
            for x in earlier.get(access, ()):
                if done.get(x, at) == at and (x in b or not loads >> a[x] & 1):
                    return a[x], at
            done[access] = at
        return None

    def weaker(self, open_at: Callable[[int], bool]) -> tuple[int, int] | None:
        """The first access of the second program before which something may be in flight that the first one had
        completed on purpose: positions, in the second program, of what is in flight and of the access. open_at: fences
        at which plain loads may be in flight."""
        loads = self.second.plain_loads
        for at in sorted(self.same):
            flying = self.second.in_flight[at]
            promised = [done for a in self.same[at] if (done := self.first.promised(a))] if flying else []
            if promised and flying & loads and self.second.cfg.instructions[at].desc.access is None and open_at(at):
                flying &= ~loads
            for x in regset.numbers(flying) if promised else ():
                if any(self._promised(x, done) for done in promised):
                    return x, at
        return None

    def _promised(self, x: int, done: int) -> bool:
        """Whether an access of the second program is one that the first one had completed: all that it may be."""
        if self.same.get(x):
            return all(done >> a & 1 for a in self.same[x])
        kind = _kind(self.second.cfg.instructions[x])
        return any(_kind(self.first.cfg.instructions[a]) == kind for a in regset.numbers(done))


def _numbered(accesses: Iterable[Access]) -> dict[Access, int]:
    """Accesses with how often the same came before, and their positions."""
    before: Counter[Hashable] = Counter()
    found = {}
    for key, at in accesses:
        found[key, before[key]] = at
        before[key] += 1
    return found


def _kind(inst: Instruction) -> tuple[str, bool]:
    access = inst.desc.access
    return ("", False) if access is None else (access.space, access.kind == "load")


def _bits(positions: Iterable[int]) -> int:
    found = 0
    for i in positions:
        found |= 1 << i
    return found
