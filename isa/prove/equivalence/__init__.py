"""A proof that a rewritten kernel computes what the original did.

In: two programs, a kernel of each, and `Facts` of the launches (sizes, tile, block). Out: a `Proof`, whose statement
says in one line what was proved, whose assumptions say under what, and whose difference names the first accumulator,
store, address, branch or wait that differs, with both expressions and both instructions.

What is proved. One generic work-item of one generic workgroup runs both kernels symbolically, for all sizes that the
facts admit. Both take the same branches under the same conditions, pass the same barriers, and store the same values at
the same addresses of LDS and global memory between the same barriers, where values are the same terms: the same float
operations on the same operands in the same order, so that results agree bit for bit; the rewritten one loads from
nowhere else. What the original had completed on purpose before an access or fence is complete there, too
(`isa.analysis.memory_order`), but for plain loads at barriers. If only the order of a sum changed, the statement says
so. Integers are compared as polynomials modulo 2^32 and 2^64, so that addresses may be computed in another way. No
register is read or overwritten while a load may still be filling it, and no LDS access is in flight at a barrier.
Descriptor and metadata agree but for register counts.

Loops with a constant trip count are executed, so that a loop and its unrolled text compare; other loops are cut at
their header and proved by induction. The parts:

    term, terms values: interned polynomials and functions          decode     instructions -> steps
    bounds      what sizes allow: ranges of terms                   machine    steps along paths, memory, waits
    engine, symbolic: instructions run on terms                     induction  loops: what registers hold at the header
    witness     are two terms different or just not shown equal     compare    ends of paths held against each other
    show        terms as text

It knows nothing of how a pass works: no code is shared with `isa.passes`, only the descriptions of
instructions and what binds them to operands (`isa.semantics`).

Limits. Beyond the prover, with an error that names it: changed EXEC, atomics, scratch and flat access, sub-dword
access, matrix products, calls, loops of variable trip count inside one another, loads in flight at a
loop's header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from isa.analysis.memory_order import Access, Orders
from isa.asm.program import Kernel, Program
from isa.display import number_of
from isa.prove import settings
from isa.prove.equivalence.bounds import Bounds, unknowns
from isa.prove.equivalence.compare import Comparison, Differs, products
from isa.prove.equivalence.decode import Beyond
from isa.prove.equivalence.induction import Loop, endless, solve
from isa.prove.equivalence.machine import STEP_LIMIT, ManyTrips, NeedCut, OverBudget, SymbolicMachine
from isa.prove.equivalence.state import Leaf
from isa.prove.equivalence.term import Term
from isa.prove.equivalence.terms import Terms, TooLarge
from isa.prove.proof import Difference, Facts, Proof, ProofPlace, names

MOST_TERMS = 300_000
"""What an `Original` keeps at most: some 200 MB."""


def prove(
    original: Program,
    rewritten: Program,
    kernel: str | None = None,
    rewritten_kernel: str | None = None,
    facts: Facts | None = None,
    *,
    thorough: bool = True,
) -> Proof:
    """Whether the rewritten kernel computes what the original does.

    thorough: before values are called different, see whether they only have factors or summands in another order.
    kernel, rewritten_kernel: names; the only kernel, or the same name, where not given. Raises IsaError for a name that
    is not there or an instruction without a description; everything else that stops the proof is its verdict.
    """
    return Original(original.kernel(kernel), facts).prove(
        rewritten.kernel(rewritten_kernel or (kernel if kernel in rewritten.kernels else None)), thorough=thorough
    )


class Original:
    """A kernel that many are held against, one after another: what was found out of it stays."""

    def __init__(self, kernel: Kernel, facts: Facts | None = None) -> None:
        self.kernel, self.facts = kernel, facts or Facts()
        self._machines: dict[tuple[bool, bool], SymbolicMachine] = {}

    def prove(self, rewritten: Kernel, *, thorough: bool = True) -> Proof:
        """See `prove`."""
        a, b, facts = self.kernel, rewritten, self.facts
        if (setting := settings.difference(a, b)) is not None:
            return _different(a, b, setting, facts)
        exact = _attempt(self._machine(), b)
        if not thorough or exact.difference is None or exact.difference.kind not in ("value", "address"):
            return exact
        commuted = _attempt(self._machine(commute=True), b)
        if commuted.proved:
            also = "factors of a product may change places (only which NaN's payload survives depends on it)"
            return replace(commuted, assumptions=(*commuted.assumptions, also))
        reordered = _attempt(self._machine(commute=True, reassociate=True), b)
        if reordered.proved:
            return replace(reordered, difference=commuted.difference)
        return commuted

    def _machine(self, *, commute: bool = False, reassociate: bool = False) -> SymbolicMachine:
        """Its machine, with nothing learnt of a loop; a new one where too many terms have come together."""
        machine = self._machines.get((commute, reassociate))
        if machine is None or len(machine.terms) > MOST_TERMS:
            terms = Terms(Bounds(self.facts), commute=commute, reassociate=reassociate)
            machine = SymbolicMachine(self.kernel, terms, unknowns(terms, self.facts), self.facts, "original")
            self._machines[commute, reassociate] = machine
        else:
            terms = machine.terms
            terms.bounds = Bounds(self.facts)
            unknowns(terms, self.facts)
            terms.bounds_changed()
        return machine


def _attempt(left: SymbolicMachine, b: Kernel) -> Proof:
    """One comparison; the terms of `left` say what counts as equal."""
    a, facts = left.kernel, left.facts
    machines = (left, left.other(b, "rewritten"))
    session = _Session(machines)
    try:
        while True:
            try:
                counts = session.run()
                break
            except NeedCut as cut:
                cut.machine.cuts.add(cut.position)
                session = _Session(machines)
            except ManyTrips as loop:
                if endless(loop.machine, loop.position, loop.state):
                    _never_ends(loop.machine, loop.position)
                loop.machine.ending.add(loop.position)
                session = _Session(machines)
        session.check_waits()
    except OverBudget as over:
        return _different(a, b, _over_budget(over), facts)
    except Differs as differs:
        return _different(a, b, differs.difference, facts)
    except (Beyond, TooLarge) as beyond:
        where = f" ({beyond.span})" if beyond.span else ""
        first, second = names(a, b)
        text = f"unproven: {second} against {first}: {beyond.message}{where}"
        return Proof("unproven", text, facts.sentences())
    return Proof("proved", _statement(a, b, counts, left.terms.reassociate), _assumptions(facts), counts=counts)


def _never_ends(machine: SymbolicMachine, position: int) -> None:
    """Raises Differs for the rewritten kernel, Beyond for the original."""
    inst = machine.step(position).inst
    what = f"the loop at {machine.position_labels.get(position, inst)} never ends"
    if machine.tag == "original":
        raise Beyond(f"the original itself is wrong: {what}", span=inst.span)
    raise Differs(Difference("end", what, None, ProofPlace(inst.span, str(inst), "is reached again and again")))


def _over_budget(over: OverBudget) -> Difference:
    place = ProofPlace(over.inst.span, str(over.inst), "is where it stopped")
    original, rewritten = (place, None) if over.machine.tag == "original" else (None, place)
    what = f"the {over.machine.tag} runs more than {STEP_LIMIT} instructions"
    return Difference("budget", what, original, rewritten, certain=False)


def _different(a: Kernel, b: Kernel, difference: Difference, facts: Facts) -> Proof:
    first, second = names(a, b)
    if not difference.certain:
        text = f"unproven: {second} against {first}: could be shown neither equal nor different: {difference.what}"
        return Proof("unproven", text, _assumptions(facts), difference)
    text = f"different: {second} does not compute what {first} does"
    return Proof("different", text, _assumptions(facts), difference)


def _assumptions(facts: Facts) -> tuple[str, ...]:
    return (
        *facts.sentences(),
        "stores overlap neither what other work-items load from global memory, nor LDS that they load between the same "
        "barriers",
    )


def _statement(a: Kernel, b: Kernel, counts: Mapping[str, int], reassociate: bool) -> str:
    order = "the same products, summed in another order" if reassociate else "bit for bit"
    first, second = names(a, b)
    sums = ""

    def number(what: str) -> str:
        return number_of(counts[f"{what}s"], what)

    if counts["accumulators"]:
        sums = f"{number('accumulator')} of {number('product')} an iteration, "
    stored = [f"{counts[f'{space}_stores']} {where}" for space, where in (("lds", "LDS"), ("global", "global"))]
    return (
        f"proved: {second} computes what {first} does, {order}: {sums}{' and '.join(stored)} dwords a work-item "
        f"stored to the same addresses, {number('barrier')}, {number('path')}"
    )


class _Session:
    """One run of the comparison, with the cuts known so far."""

    def __init__(self, machines: tuple[SymbolicMachine, SymbolicMachine]) -> None:
        self.machines = machines
        self.loops: list[Loop] = []
        self.seen: set[tuple[str, int, Term | None]] = set()
        self.comparison = Comparison(machines, self.loops)
        self.traces: list[tuple[list[Access], list[Access]]] = []
        for machine in machines:
            machine.executed = 0
            machine.faults.clear()

    def run(self) -> dict[str, int]:
        """Compare from entry to all ends. Raises Differs, Beyond, NeedCut."""
        left, right = self.machines
        totals = {"paths": 0, "accumulators": 0, "products": 0}
        ends = self.comparison.pair("before the first loop", left.ends(left.entry(), 0), right.ends(right.entry(), 0))
        waiting = self._follow(ends, "before the first loop", None, totals)
        while waiting:
            loop = waiting.pop(0)
            solve(loop, self.machines)
            where = f"in or after the loop at {loop.label}"
            starts = [loop.header(side, left.terms) for side in (0, 1)]
            leaves = [self.machines[side].ends(starts[side], loop.positions[side]) for side in (0, 1)]
            waiting += self._follow(self.comparison.pair(where, *leaves), where, loop, totals)
            self._count_sums(loop, totals)
        for key, space in (("lds_stores", "lds"), ("global_stores", "global"), ("barriers", "barrier")):
            totals[key] = sum(event[0] == space for event in self.seen)
        totals["instructions"] = left.executed + right.executed
        totals["terms"] = len(left.terms)
        return totals

    def _follow(
        self, pairs: list[tuple[Leaf, Leaf]], where: str, inside: Loop | None, totals: dict[str, int]
    ) -> list[Loop]:
        """Compare the ends of one segment; the loops that it enters."""
        entered = []
        for a, b in pairs:
            self.comparison.ends(where, a, b)
            self.traces.append((a.state.trace, b.state.trace))
            self.seen.update((e.space, id(e.inst), e.address) for e in a.state.events)
            totals["paths"] += 1
            if (a.position is None) != (b.position is None):
                what = f"one kernel ends where the other repeats a loop {where}"
                raise Differs(Difference("end", what, None, None, False))
            if a.position is None or b.position is None:
                continue
            positions = (a.position, b.position)
            if inside is not None and positions == inside.positions:
                continue
            if any(p in loop.positions for loop in self.loops for p in positions):
                raise Beyond(f"a loop has more than one entry {where}")
            machine = self.machines[0]
            label = machine.position_labels.get(a.position, f"instruction {a.position}")
            number = len(self.loops)
            counter = machine.terms.atom("counter", number, width=64)
            loop = Loop(label, number, positions, (a.state, b.state), counter)
            self.loops.append(loop)
            entered.append(loop)
        return entered

    def _count_sums(self, loop: Loop, totals: dict[str, int]) -> None:
        """Accumulators: states that both kernels have and that an iteration adds products to."""
        shared = set(loop.states[0].values()) & set(loop.states[1].values())
        registers = {state: register for register, state in loop.states[0].items()}
        for state in shared:
            base, number = products(loop.backs[0][0].state.regs[registers[state]])
            if base is state and number:
                totals["accumulators"] += 1
                totals["products"] = max(totals["products"], number)

    def check_waits(self) -> None:
        """What was found wrong with waits. Raises Differs, or Beyond where the original is wrong already."""
        left, right = self.machines
        if left.faults:
            fault = next(iter(left.faults.values()))
            raise Beyond(f"the original itself is wrong: {fault.message}", span=fault.span)
        if right.faults:
            fault = next(iter(right.faults.values()))
            place = ProofPlace(fault.span, fault.message.partition(":")[0], fault.hint or "")
            raise Differs(Difference("wait", f"a wait is missing or too weak: {fault.message}", None, place))
        orders = Orders(left.order, right.order)
        if (broken := orders.broken(self.traces, lambda _: True)) is not None:
            what, span, text = broken
            raise Differs(Difference("order", what, None, ProofPlace(span, text, ""), certain=False))


__all__ = ["Beyond", "Original", "prove"]
