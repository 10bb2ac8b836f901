"""Two ends of the same path, held against each other: branches, barriers, stores. A mismatch is explained down to the
first expression that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isa.display import number_of
from isa.prove.equivalence.decode import name
from isa.prove.equivalence.induction import Loop
from isa.prove.equivalence.machine import SymbolicMachine
from isa.prove.equivalence.state import Leaf, MemoryEvent
from isa.prove.equivalence.symbolic import is_uniform
from isa.prove.equivalence.term import Monomial, Term, show
from isa.prove.equivalence.witness import Outline, go_apart, told_apart
from isa.prove.proof import Difference, ProofPlace
from isa.semantics.instruction import Instruction


class Differs(Exception):
    """The two programs differ; the difference is the argument."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference


@dataclass
class Comparison:
    """The two machines and what was proved of their loops so far."""

    machines: tuple[SymbolicMachine, SymbolicMachine]
    loops: list[Loop]

    # --- paths
    def pair(self, where: str, left: Sequence[Leaf], right: Sequence[Leaf]) -> list[tuple[Leaf, Leaf]]:
        """Ends of paths that were taken under the same branch conditions."""
        by_key = {frozenset(leaf.state.literals): leaf for leaf in right}
        pairs = [(leaf, by_key[key]) for leaf in left if (key := frozenset(leaf.state.literals)) in by_key]
        if len(pairs) == len(left) == len(right):
            return pairs
        a = next((x for x in left if frozenset(x.state.literals) not in by_key), None)
        keys = {frozenset(leaf.state.literals) for leaf in left}
        b = next((x for x in right if frozenset(x.state.literals) not in keys), None)
        places = []
        for leaf, other in ((a, b), (b, a)):
            shared = set(other.state.literals) if other else set()
            place = ProofPlace(None, "", "no branch that depends on anything")
            if leaf is not None:
                for literal, inst in zip(leaf.state.literals, leaf.state.branches, strict=True):
                    if literal not in shared:
                        term, holds = literal
                        place = ProofPlace(inst.span, str(inst), f"{'' if holds else 'not '}{show(term)}")
                        break
            places.append(place)
        certain = go_apart(_outlines(left), _outlines(right), self.machines[0].terms.bounds)
        raise Differs(Difference("branch", f"another branch condition {where}", places[0], places[1], certain))

    # --- events
    def ends(self, where: str, left: Leaf, right: Leaf) -> None:
        """The same stores and barriers on a path of both, and no load of what the original does not load."""
        epochs = [_epochs(leaf.state.events) for leaf in (left, right)]
        if len(epochs[0]) != len(epochs[1]):
            shorter = 0 if len(epochs[0]) < len(epochs[1]) else 1
            barriers = [e for e in (left, right)[1 - shorter].state.events if e.address is None]
            extra = barriers[min(len(epochs[shorter]) - 1, len(barriers) - 1)]
            place = ProofPlace(extra.inst.span, str(extra.inst), "")
            first, second = (len(side) - 1 for side in epochs)
            what = f"{number_of(first, 'barrier')} {where} in the original, {second} in the rewritten"
            raise Differs(Difference("barrier", what, *((None, place) if shorter == 0 else (place, None))))
        fences = [[e.inst for e in leaf.state.events if e.address is None] for leaf in (left, right)]
        for x, y in zip(*fences, strict=True):
            if str(x) != str(y):
                one, other = (ProofPlace(inst.span, str(inst), "") for inst in (x, y))
                raise Differs(Difference("barrier", f"another barrier or invalidation {where}", one, other, False))
        for number, (a, b) in enumerate(zip(*epochs, strict=True)):
            self._stores(f"{where}, after {number_of(number, 'barrier')}", a, b)

        self._loads(where, left, right)

    def _loads(self, where: str, left: Leaf, right: Leaf) -> None:
        """A load too many may read outside of its buffer, whatever becomes of its value; it is not claimed that it
        does."""
        for load, inst in right.state.loads.items():
            if load not in left.state.loads:
                place = ProofPlace(inst.span, str(inst), show(load))
                what = f"a load that the original does not make {where}"
                raise Differs(Difference("load", what, None, place, False))

    def _stores(self, where: str, left: list[MemoryEvent], right: list[MemoryEvent]) -> None:
        """The same dwords stored, in an order that leaves the same in memory."""
        if [(e.space, e.address, e.value) for e in left] == [(e.space, e.address, e.value) for e in right]:
            return
        maps = [{(e.space, e.address): e for e in events} for events in (left, right)]
        only = [[e for key, e in maps[i].items() if key not in maps[1 - i]] for i in (0, 1)]
        if any(only):
            self._other_addresses(where, only[0], only[1])
        for key, a in maps[0].items():
            b = maps[1][key]
            if a.value is not b.value:
                assert a.value is not None
                assert b.value is not None
                self._other_value(where, a, b)
        self._same_order(where, left, right, maps[1])

    def _other_addresses(self, where: str, left: list[MemoryEvent], right: list[MemoryEvent]) -> None:
        a, b = (left[0] if left else None), (right[0] if right else None)
        if a is not None and b is not None:
            certain = told_apart(_address(a), _address(b), self.machines[0].terms.bounds)
            what = f"a store to another address {where}"
        else:
            certain, what = True, f"a store that only the {'original' if a else 'rewritten'} makes {where}"
        places = [
            ProofPlace(e.inst.span, str(e.inst), f"{e.space} address {show(_address(e))}") if e else None
            for e in (a, b)
        ]
        if a is not None and b is not None and a.space == b.space == "lds":
            certain, what = False, f"{what}, in LDS, which may be laid out in another way"
        raise Differs(Difference("address", what, places[0], places[1], certain))

    def _same_order(
        self,
        where: str,
        left: list[MemoryEvent],
        right: list[MemoryEvent],
        others: dict[tuple[str, Term | None], MemoryEvent],
    ) -> None:
        """Stores that changed places must not overlap, whichever work-items make them: lanes of a wave store together,
        instruction after instruction."""
        if len(left) != len(right) or len(others) != len(right):
            what = f"a dword is stored more than once {where}, in another order"
            raise Differs(Difference("order", what, None, None, False))
        rank = {(e.space, e.address): i for i, e in enumerate(right)}
        order = [rank[e.space, e.address] for e in left]
        for i, a in enumerate(left):
            for j in range(i + 1, len(left)):
                b = left[j]
                if order[j] > order[i] or a.space != b.space:
                    continue
                if not self._apart(_address(a), _address(b), a.space):
                    places = [ProofPlace(e.inst.span, str(e.inst), f"address {show(_address(e))}") for e in (a, b)]
                    what = f"two stores that may overlap changed places {where}"
                    raise Differs(Difference("order", what, places[0], places[1], False))

    def _apart(self, a: Term, b: Term, space: str) -> bool:
        """Whether dwords at a and b never overlap, for any two work-items of a workgroup."""
        terms = self.machines[0].terms
        other: dict[Monomial, int] = {}
        for m, c in b.monomials.items():
            moved = (terms.atom("bit", "other", t.args[1], width=1) if t.op == "bit" else t for t in m)
            other[tuple(sorted(moved, key=lambda t: t.id))] = c
        if not all(is_uniform(t) for m in b.monomials for t in m if t.op != "bit"):
            return False
        width = 32 if space == "lds" else 64
        d = terms.sub(a, terms.sum(b.const, other, width), width)
        low, high = terms.bounds.smallest(d.const, d.monomials), terms.bounds.largest(d.const, d.monomials)
        return (low is not None and low >= 4) or (high is not None and high <= -4)

    # --- explaining
    def _other_value(self, where: str, a: MemoryEvent, b: MemoryEvent) -> None:
        assert a.value is not None
        assert b.value is not None
        notes: list[str] = []
        x, y, count = self._descend(a.value, b.value, notes)
        certain = count or told_apart(x, y, self.machines[0].terms.bounds)
        target = f"{a.space}[{show(_address(a))}]"
        what = f"another value stored to {target} {where}" + "".join(f"; {n}" for n in notes)
        places = [self._place(side, term, event.inst) for side, term, event in ((0, x, a), (1, y, b))]
        raise Differs(Difference("value", what, places[0], places[1], certain))

    def _place(self, side: int, term: Term, store: Instruction) -> ProofPlace:
        inst = self.machines[side].origin.get(term, store)
        return ProofPlace(inst.span, str(inst), show(term))

    def _descend(self, a: Term, b: Term, notes: list[str]) -> tuple[Term, Term, bool]:
        """The first parts of two unequal terms that differ; True where one has more products than the other."""
        while a is not b:
            if a.op == b.op == "state":
                born = self._parted(a, b)
                if born is None:
                    break
                notes.append(f"accumulators {self._holder(0, a)} and {self._holder(1, b)}")
                a, b = born
            elif a.op == b.op == "fma":
                products = [_products(a), _products(b)]
                (base_a, list_a), (base_b, list_b) = products
                if base_a is not base_b and not (base_a.op == base_b.op == "state" and len(list_a) == 1):
                    a, b = base_a, base_b
                    continue
                first = next((i for i, (p, q) in enumerate(zip(list_a, list_b, strict=False)) if p[:2] != q[:2]), None)
                if first is None and len(list_a) != len(list_b):
                    notes.append(f"{number_of(len(list_a), 'product')} in the original, {len(list_b)} in the rewritten")
                    return list_a[-1][2], list_b[-1][2], True
                if first is None:
                    a, b = base_a, base_b
                    continue
                factors = [(p, q) for p, q in zip(list_a[first][:2], list_b[first][:2], strict=True) if p is not q]
                if len(factors) == 1 and all(t.op != "load" for t in factors[0]):
                    a, b = factors[0]
                    continue
                notes.append(f"product {first + 1} of {len(list_a)}")
                return list_a[first][2], list_b[first][2], False
            elif a.op == b.op and a.op in ("fmul", "add", "sub", "fsum") and len(a.args) == len(b.args):
                parts = [(p, q) for p, q in zip(a.args, b.args, strict=True) if p is not q and isinstance(p, Term)]
                if len(parts) != 1 or not isinstance(parts[0][1], Term):
                    break
                a, b = parts[0]
            else:
                break
        return a, b, False

    def _holder(self, side: int, state: Term) -> str:
        """The register that holds a state at the header."""
        found = [r for loop in self.loops for r, held in loop.states[side].items() if held is state]
        return name(found[0]) if found else str(state.args[1])

    def _parted(self, a: Term, b: Term) -> tuple[Term, Term] | None:
        """Two states' values where they parted; None where they are not states of one loop."""
        for loop in self.loops:
            if a in loop.births and b in loop.births:
                ancestors: dict[Term | None, Term] = {}
                state: Term | None = a
                while state is not None:
                    ancestors[loop.births[state].parent] = state
                    state = loop.births[state].parent
                state = b
                while state is not None:
                    parent = loop.births[state].parent
                    if parent in ancestors:
                        return loop.births[ancestors[parent]].value, loop.births[state].value
                    state = parent
        return None


def _outlines(leaves: Sequence[Leaf]) -> list[Outline]:
    """What can be seen of paths without looking at values: their conditions, how they end, barriers and addresses."""
    return [
        Outline(leaf.state.literals, leaf.position is None, tuple((e.space, e.address) for e in leaf.state.events))
        for leaf in leaves
    ]


def _products(t: Term) -> tuple[Term, list[tuple[Term, Term, Term]]]:
    """A chain of fma -> where it starts, and (factor, factor, the fma) in the order of the sum."""
    chain = []
    while t.op == "fma":
        chain.append((t.args[0], t.args[1], t))
        t = t.args[2]
    return t, chain[::-1]


def products(t: Term) -> tuple[Term, int]:
    """Where a sum of products starts, and how many products it has."""
    if t.op == "fsum":
        others = [u for u in t.args[0] if u.op != "fmul"]
        return (others[0] if others else t), len(t.args[0]) - len(others)
    base, chain = _products(t)
    return base, len(chain)


def _epochs(events: Sequence[MemoryEvent]) -> list[list[MemoryEvent]]:
    epochs: list[list[MemoryEvent]] = [[]]
    for event in events:
        if event.address is None:
            epochs.append([])
        else:
            epochs[-1].append(event)
    return epochs


def _address(event: MemoryEvent) -> Term:
    assert event.address is not None
    return event.address
