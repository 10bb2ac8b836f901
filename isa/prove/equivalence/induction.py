"""Loops whose trip count is not a constant: what both programs' registers hold at the header, in any iteration.

The header is a cut, and `t` counts how often control came back to it. Each register of either program gets a form:

    kept      what it held when the loop was entered
    stepped   that + t * step, step the same in all iterations (counters, offsets)
    high      the high half of a 64-bit pointer that is stepped, whose low half is the register before
    state     an unknown, shared by all registers, of both programs, that hold the same value here

The forms are found by being optimistic and taking back what does not hold: all registers begin as kept; one iteration
of both programs is executed from the forms; a register that is not what its form says next time becomes stepped or
high, then state. Registers share a state at first where they entered the loop with the same value, and part where one
iteration from equal values leaves unequal ones. When nothing changes any more, what was executed is the proof: the
entry establishes the forms, an iteration of both preserves them. Accumulators pair up this way whatever registers hold
them, since only those with the same products stay together.

A bound of t (t <= K/8 - 1) comes from the condition on which control goes back, shifted by one iteration; it holds on
entry, and each iteration that goes back establishes it for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd

from isa.prove.equivalence.bounds import Polynomial, minus
from isa.prove.equivalence.decode import REGISTERS, SCC_INDEX, Beyond, name
from isa.prove.equivalence.machine import NeedCut, OverBudget, SymbolicMachine
from isa.prove.equivalence.state import Leaf, State
from isa.prove.equivalence.term import Monomial, Term
from isa.prove.equivalence.terms import Terms

ITERATIONS = 40


@dataclass(frozen=True, slots=True)
class Birth:
    """Where a state came from: the state that it parted from (None: the entry), the registers that first had it, and
    what these held when it parted."""

    parent: Term | None
    value: Term


@dataclass
class Loop:
    """One cut, in both programs (0: original, 1: rewritten).

    positions: the header.  entry: the states that come from outside.
    steps:     register -> step, of stepped registers.  highs: register -> step of the 64-bit pointer.
    states:    register -> state.
    births:    state -> where it came from.
    in_flight: what loads and LDS accesses may be in flight at the header (see State.in_flight).
    backs:     the last executed iteration's ends, path by path.
    """

    label: str
    number: int
    positions: tuple[int, int]
    entry: tuple[State, State]
    counter: Term
    steps: tuple[dict[int, Term], dict[int, Term]] = field(default_factory=lambda: ({}, {}))
    highs: tuple[dict[int, Term], dict[int, Term]] = field(default_factory=lambda: ({}, {}))
    states: tuple[dict[int, Term], dict[int, Term]] = field(default_factory=lambda: ({}, {}))
    births: dict[Term, Birth] = field(default_factory=dict)
    in_flight: list[tuple[dict[int, tuple[str, int]], int | None]] = field(default_factory=list)
    backs: tuple[list[Leaf], list[Leaf]] = field(default_factory=lambda: ([], []))

    def pointer(self, side: int, register: int, count: Term, terms: Terms) -> Term:
        """The 64-bit pointer whose high half is in `register`, after `count` iterations."""
        regs = self.entry[side].regs
        first = terms.join(regs[register - 1], regs[register])
        return terms.add(first, terms.mul(count, self.highs[side][register], 64), 64)

    def header(self, side: int, terms: Terms) -> State:
        """The state at the header in iteration t."""
        entry = self.entry[side]
        regs = list(entry.regs)
        for register, step in self.steps[side].items():
            regs[register] = terms.add(regs[register], terms.mul(self.counter, step, 32), 32)
        for register in self.highs[side]:
            regs[register] = terms.hi(self.pointer(side, register, self.counter, terms))
        for register, state in self.states[side].items():
            regs[register] = state
        memory = terms.atom("memory", self.label) if entry.own_global else entry.memory
        pending, busy = self.in_flight[side]
        epoch = terms.atom("epoch", self.label, 0)
        return State(regs, epoch, memory, pending=dict(pending), lds_busy=busy)


def solve(loop: Loop, machines: tuple[SymbolicMachine, SymbolicMachine]) -> None:
    """Find the forms; on return they are proved. Beyond where they cannot be found."""
    terms = machines[0].terms
    loop.in_flight = [state.in_flight() for state in loop.entry]
    faults = [dict(machine.faults) for machine in machines]
    inside = [machines[i].reaches(loop.positions[i]) for i in (0, 1)]
    for _ in range(ITERATIONS):
        for side, machine in enumerate(machines):
            start = loop.header(side, terms)
            leaves = machine.ends(start, loop.positions[side], inside[side])
            for leaf in leaves:
                _check_back(leaf, loop, side, machine)
            loop.backs[side][:] = leaves
        backs = _paired(loop)
        changed = _adjust(loop, backs, terms)
        changed |= _learn_bound(loop, terms)
        changed |= _merge_in_flight(loop)
        if not changed:
            _confirm_bound(loop, terms)
            for machine, before in zip(machines, faults, strict=True):
                machine.faults = before  # with the final forms they may not hold; those run once more
            return
    raise Beyond(f"the loop at {loop.label} did not settle in {ITERATIONS} iterations")


def endless(machine: SymbolicMachine, position: int, state: State) -> bool:
    """Whether a loop that was entered with this state is proved never to be left.

    It is cut at its header and solved as a loop of two equal programs; an exit that the forms leave open means that
    nothing is known.
    """
    label = machine.position_labels.get(position, f"instruction {position}")
    counter = machine.terms.atom("counter", f"endless {label}", width=64)
    loop = Loop(f"{label} for ever", 0, (position, position), (state.copy(), state.copy()), counter)
    machine.cuts.add(position)
    try:
        solve(loop, (machine, machine))
        leaves = machine.ends(loop.header(0, machine.terms), position)
    except (Beyond, NeedCut, OverBudget):
        return False
    finally:
        machine.cuts.discard(position)
    return all(leaf.position == position for leaf in leaves)


def _check_back(leaf: Leaf, loop: Loop, side: int, machine: SymbolicMachine) -> None:
    where = f"in the loop at {loop.label} of {machine.kernel.name}"
    if leaf.position != loop.positions[side]:
        raise Beyond(f"a loop with a variable trip count {where}, inside another")
    if leaf.state.own_global:
        raise Beyond(f"global stores {where}, which would need a proof that loads do not read them")


def _paired(loop: Loop) -> list[tuple[Leaf, Leaf]]:
    """The ends of an iteration, path by path. Where paths do not pair, the first of each stand for it; the comparison
    of branches that follows names the difference."""
    other = {frozenset(leaf.state.literals): leaf for leaf in loop.backs[1]}
    pairs = [(leaf, other[key]) for leaf in loop.backs[0] if (key := frozenset(leaf.state.literals)) in other]
    if not pairs:
        pairs = list(zip(loop.backs[0], loop.backs[1], strict=False))
    if not pairs:
        raise Beyond(f"the loop at {loop.label} never repeats")
    return pairs


def _adjust(loop: Loop, backs: Sequence[tuple[Leaf, Leaf]], terms: Terms) -> bool:
    """Take back the forms that do not hold. Whether any changed."""
    changed = False
    groups: dict[tuple[Term | None, tuple[Term, ...]], list[tuple[int, int]]] = {}
    simplify = [_Assume(terms, leaf.state.literals) for leaf, _ in backs]
    for side in (0, 1):
        entry, steps, highs, states = loop.entry[side].regs, loop.steps[side], loop.highs[side], loop.states[side]
        ends = [pair[side].state.regs for pair in backs]
        after = terms.add(loop.counter, terms.true, 64)
        for register in range(REGISTERS):
            values = [end[register] for end in ends]
            if register in states:
                nexts = tuple(s(v) for s, v in zip(simplify, values, strict=True))
                groups.setdefault((states[register], nexts), []).append((side, register))
                continue
            first = entry[register]
            if register not in steps and all(v is first for v in values):
                continue
            nexts = tuple(s(v) for s, v in zip(simplify, values, strict=True))
            if register in steps:
                expected = terms.add(first, terms.mul(after, steps[register], 32), 32)
                if all(v is expected for v in nexts):
                    continue
                del steps[register]
            elif register in highs:
                low = [s(end[register - 1]) for s, end in zip(simplify, ends, strict=True)]
                pointers = [terms.join(x, y) for x, y in zip(low, nexts, strict=True)]
                if all(p is loop.pointer(side, register, after, terms) for p in pointers):
                    continue
                del highs[register]
            elif all(v is first for v in nexts):
                continue
            elif register != SCC_INDEX and (step := _step(loop, terms, first, nexts)) is not None:
                steps[register] = step
                changed = True
                continue
            elif register - 1 in steps:
                low = [s(end[register - 1]) for s, end in zip(simplify, ends, strict=True)]
                if (step := _pointer_step(loop, terms, side, register, low, nexts)) is not None:
                    highs[register] = step
                    changed = True
                    continue
            changed = True
            groups.setdefault((None, (first,)), []).append((side, register))
    return _split(loop, groups, terms) or changed


def _step(loop: Loop, terms: Terms, first: Term, nexts: tuple[Term, ...]) -> Term | None:
    """What one iteration adds to a register, where that is the same in all iterations."""
    if any(v is not nexts[0] for v in nexts):
        return None
    step = terms.sub(nexts[0], first, 32)
    return None if _varies(step, loop) else step


def _pointer_step(
    loop: Loop, terms: Terms, side: int, register: int, low: Sequence[Term], high: Sequence[Term]
) -> Term | None:
    """What one iteration adds to a 64-bit pointer, where that is the same in all iterations."""
    first = terms.join(loop.entry[side].regs[register - 1], loop.entry[side].regs[register])
    steps = {terms.sub(terms.join(x, y), first, 64) for x, y in zip(low, high, strict=True)}
    (step, *others) = steps
    return None if others or _varies(step, loop) else step


def _varies(term: Term, loop: Loop) -> bool:
    """Whether a term may differ between iterations, or is no plain number."""
    seen: set[Term] = set()
    stack = [term]
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if t.op in ("state", "load", "fma", "undefined", "ult", "slt", "zero") or t is loop.counter:
            return True
        stack.extend(t.children())
    return False


def _split(loop: Loop, groups: dict[tuple[Term | None, tuple[Term, ...]], list[tuple[int, int]]], terms: Terms) -> bool:
    """Give each group of registers its own state; a state that stays whole keeps its name."""
    by_state: dict[Term | None, list[tuple[tuple[Term, ...], list[tuple[int, int]]]]] = {}
    for (state, values), members in groups.items():
        by_state.setdefault(state, []).append((values, members))
    changed = False
    for state, parts in by_state.items():
        if state is not None and len(parts) == 1:
            continue
        for values, members in parts:
            side, register = members[0]
            number = len(loop.births)
            who = name(register) + ("" if side == 0 else " (rewritten)")
            new = terms.atom("state", loop.label, who, number, width=1 if register == SCC_INDEX else 32)
            loop.births[new] = Birth(state, values[0])
            for s, r in members:
                loop.states[s][r] = new
            changed = True
    return changed


class _Assume:
    """Terms under the literals of a path: truth values that a branch decided become constants."""

    def __init__(self, terms: Terms, literals: Sequence[tuple[Term, bool]]) -> None:
        self.terms = terms
        self.known = {term: value for term, value in literals if term.op != "sum"}
        self._memo: dict[Term, Term] = {}

    def __call__(self, t: Term) -> Term:
        if t.op != "sum":
            return self.terms.const(self.known[t], 64 if t.width == 1 else 32) if t in self.known else t
        if not self.known or t.is_const:
            return t
        result = self._memo.get(t)
        if result is None:
            result = self._memo[t] = self._replaced(t)
        return result

    def _replaced(self, t: Term) -> Term:
        if not any(u in self.known for m in t.monomials for u in m):
            return t
        const, monomials = t.const, dict[Monomial, int]()
        for m, c in t.monomials.items():
            if any(not self.known.get(u, True) for u in m):
                continue
            rest = tuple(u for u in m if u not in self.known)
            if rest:
                monomials[rest] = monomials.get(rest, 0) + c
            else:
                const += c
        return self.terms.sum(const, monomials, t.width)


def _merge_in_flight(loop: Loop) -> bool:
    """What may be in flight at the header, on whichever path control came: the youngest counts. Whether that
    changed."""
    changed = False
    for side in (0, 1):
        pending, busy = loop.in_flight[side]
        merged, latest = dict(pending), busy
        for leaf in loop.backs[side]:
            others, other_busy = leaf.state.in_flight()
            for register, (queue, number) in others.items():
                known = merged.get(register)
                if known is not None and known[0] != queue:
                    raise Beyond(f"loads of two kinds to one register at the loop at {loop.label}")
                merged[register] = (queue, number if known is None else max(number, known[1]))
            if other_busy is not None:
                latest = other_busy if latest is None else max(latest, other_busy)
        if (merged, latest) != (pending, busy):
            loop.in_flight[side] = (merged, latest)
            changed = True
    return changed


# --- the bound of t
def _candidate(loop: Loop, literal: tuple[Term, bool]) -> Polynomial | None:
    """t <= this, if the literal held at the end of the iteration before."""
    term, holds = literal
    if term.op in ("ult", "slt") and holds:
        const, difference = minus(*term.args)
    elif term.op == "zero" and not holds:
        const, difference = term.args[0].const, dict(term.args[0].monomials)
        if difference.get((loop.counter,), 0) < 0:
            const, difference = -const, {m: -c for m, c in difference.items()}
    else:
        return None
    g = gcd(const, *difference.values())
    if difference.get((loop.counter,)) != g or any(loop.counter in m and len(m) > 1 for m in difference):
        return None
    rest = {m: -c // g for m, c in difference.items() if m != (loop.counter,)}
    return -const // g, rest


def _learn_bound(loop: Loop, terms: Terms) -> bool:
    """Suppose a bound of t, if there is none yet; `_confirm_bound` proves it."""
    bounds = terms.bounds
    if loop.counter in bounds.upper or not any(loop.steps):
        return False
    common = set.intersection(*(set(leaf.state.literals) for leaf in loop.backs[0]))
    for literal in sorted(common, key=lambda p: p[0].id):
        bound = _candidate(loop, literal)
        if bound is not None and (least := bounds.smallest(*bound)) is not None and least >= 0:
            bounds.learn(loop.counter, bound)
            terms.bounds_changed()
            return True
    return False


def _confirm_bound(loop: Loop, terms: Terms) -> None:
    """With the bound supposed in iteration t, the jump back implies it in t + 1. Beyond where not."""
    bounds = terms.bounds
    bound = bounds.upper.get(loop.counter)
    if bound is None:
        return
    for leaf in loop.backs[0]:
        if not any(_candidate(loop, p) == bound and _plain(p, loop, terms) for p in leaf.state.literals):
            raise Beyond(f"the bound of the loop at {loop.label} could not be proved")


def _plain(literal: tuple[Term, bool], loop: Loop, terms: Terms) -> bool:
    """Whether a comparison modulo 2**32 is one of integers: nothing wraps, and != means < because > cannot be."""
    term, _ = literal
    bounds, half = terms.bounds, (1 << 31) - 1
    if term.op in ("ult", "slt"):
        return all(bounds.within(x, 0, half) for x in term.args)
    difference = term.args[0]
    rising = difference.monomials.get((loop.counter,), 0) > 0
    return bounds.within(difference, -half, 0) if rising else bounds.within(difference, 0, half)
