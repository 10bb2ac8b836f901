"""Symbolic execution of a kernel by one generic work-item: from a state to the states at the ends of a segment.

A segment starts at the kernel's entry or at a cut (the header of a loop whose trip count is not a constant) and ends at
a cut or at s_endpgm. Loops whose branch conditions come out as constants simply run. At a branch whose condition is not
a constant both sides are followed, each with the condition as a literal of its path.

What a path leaves behind is its events, in order: stores of dwords (space, address, value) and barriers. What it reads
from memory are terms: `load(space, version, address)`.

- LDS: the version is the barrier epoch, with the work-item's own stores in that epoch before the load. That two
  programs read the same then follows from their storing the same in each epoch; that other work-items' stores of the
  same epoch do not decide what is read is the original's business (a data race otherwise), and is assumed.
- global memory: the version is the work-item's own stores before the load, in any epoch.
- kernel arguments never change.

Waits are checked as well: a register that a load is still filling must not be read or written, and no LDS access
may be in flight at a barrier. `state` says what is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

from isa.analysis import cfg, waits
from isa.analysis.memory_order import Order
from isa.asm.program import Kernel, Label
from isa.errors import Finding
from isa.prove.equivalence.decode import REGISTERS, SCC_INDEX, SGPR0, Beyond, Step, beyond, decode, index, name
from isa.prove.equivalence.engine import Engine
from isa.prove.equivalence.state import Leaf, MemoryEvent, State
from isa.prove.equivalence.term import Term
from isa.prove.equivalence.terms import Terms
from isa.prove.proof import Facts
from isa.semantics import wave_start
from isa.semantics.engine import UNKNOWN
from isa.semantics.execute import run
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction

STEP_LIMIT = 100_000
TRIP_LIMIT = 500
EXEC_LO = SGPR0 + 126


def cache_bits(step: Step) -> str:
    """What an access says of caches: accesses that say something else are others."""
    return "".join(f" {bit}" for bit in step.inst.family.cache_bits if step.inst.has(bit))


class OverBudget(Exception):
    """A path of more than STEP_LIMIT instructions."""

    def __init__(self, machine: SymbolicMachine, inst: Instruction) -> None:
        self.machine, self.inst = machine, inst


class ManyTrips(Exception):
    """A loop was repeated very often, each time on a condition that is a constant: does it ever end?"""

    def __init__(self, machine: SymbolicMachine, position: int, state: State) -> None:
        self.machine, self.position, self.state = machine, position, state


class NeedCut(Exception):
    """A loop was repeated on a condition that is not a constant: its header must be a cut."""

    def __init__(self, machine: SymbolicMachine, position: int) -> None:
        self.machine, self.position = machine, position


class SymbolicMachine:
    """One kernel, decoded. `faults` collects what was found wrong with waits; `origin` says which instruction first
    made a term; `executed` counts instructions; `ending` are loops that repeat often but were seen not to repeat
    for ever."""

    def __init__(self, kernel: Kernel, terms: Terms, unknowns: dict[str, Term], facts: Facts, tag: str) -> None:
        self.kernel, self.terms, self.unknowns, self.facts, self.tag = kernel, terms, unknowns, facts, tag
        self.faults: dict[str, Finding] = {}
        self.origin: dict[Term, Instruction] = {}
        self.executed = self._at = 0
        self.cuts: set[int] = set()
        self.ending: set[int] = set()
        self._lines: list[Instruction] = []
        self._steps: dict[int, Step] = {}
        self._ends: dict[Hashable, tuple[list[Leaf], dict[str, Finding], int]] = {}
        # By id: each is kept alive by its step.
        self._decoded: dict[int, Step] = {}
        self.labels: dict[str, int] = {}
        self.position_labels: dict[int, str] = {}
        for line in kernel.lines:
            if isinstance(line.node, Label):
                self.labels[line.node.name] = len(self._lines)
                self.position_labels[len(self._lines)] = line.node.name
            elif line.instruction is not None:
                self._lines.append(line.instruction)
        self._heads = self._backward_targets()
        self._engine = Engine(terms, unknowns["work-item"], FloatMode.of_kernel(kernel))
        self._kernarg = terms.atom("unknown", "kernarg", 1, width=64)
        self._dwords = self._argument_dwords()

    def other(self, kernel: Kernel, tag: str) -> SymbolicMachine:
        """A machine for another kernel over the same terms. What both share of the code is decoded once."""
        other = SymbolicMachine(kernel, self.terms, self.unknowns, self.facts, tag)
        other._decoded = self._decoded
        return other

    @cached_property
    def order(self) -> Order:
        """What the program completes on purpose."""
        return Order(waits.analyse(cfg.of_kernel(self.kernel)))

    # --- the start
    def entry(self) -> State:
        """The state in which the hardware starts a wave, as the kernel's descriptor says (LLVM AMDGPUUsage)."""
        terms = self.terms
        regs = [terms.atom("undefined", self.tag, name(i)) for i in range(REGISTERS)]
        regs[SCC_INDEX] = terms.atom("undefined", self.tag, "scc", width=1)
        start = wave_start.of_kernel(self.kernel)
        for which, reg in start.user.items():
            at = index(reg)
            if which == "kernarg_segment_ptr":
                regs[at], regs[at + 1] = terms.trunc(self._kernarg), terms.hi(self._kernarg)
            else:
                regs[at : at + reg.count] = [terms.atom("unknown", f"{which}.{k}", 1) for k in range(reg.count)]
        for which, number in start.system_sgprs.items():
            if which != "workgroup_info":
                regs[SGPR0 + number] = self.unknowns[f"workgroup {which[-1]}"]
        regs[0] = self.unknowns["work-item"]
        lanes = terms.const(-1, 32) if self.facts.whole else terms.atom("unknown", "exec", 1)
        regs[EXEC_LO], regs[EXEC_LO + 1] = lanes, terms.const(0, 32)
        return State(regs, terms.atom("epoch", "start", 0), terms.atom("memory", "start"))

    def _argument_dwords(self) -> dict[int, Term]:
        dwords = {}
        for a in self.facts.arguments:
            value = self.unknowns[a.name]
            if a.size == 8:
                dwords[a.offset], dwords[a.offset + 4] = self.terms.trunc(value), self.terms.hi(value)
            else:
                dwords[a.offset] = value
        given = self.facts.given
        for at in given:
            if at % 4 == 0 and all(at + i in given for i in range(4)):
                dwords[at] = self.terms.const(sum(given[at + i] << 8 * i for i in range(4)), 32)
        return dwords

    def _backward_targets(self) -> set[int]:
        """Positions that an instruction after them branches to."""
        named = ((at, self.labels.get(str(o))) for at, inst in enumerate(self._lines) for o in inst.operands)
        return {target for at, target in named if target is not None and target <= at}

    # --- the code
    def step(self, position: int) -> Step:
        if not 0 <= position < len(self._lines):
            raise Beyond(f"{self.kernel.name} runs past its last instruction")
        step = self._steps.get(position)
        if step is None:
            inst = self._lines[position]
            step = self._decoded.get(id(inst))
            if step is None:
                step = self._decoded[id(inst)] = decode(inst)
            self._steps[position] = step
        return step

    def target(self, step: Step) -> int:
        position = self.labels.get(step.target)
        if position is None:
            raise Beyond(f"branch to {step.target}, which is not in this kernel", span=step.inst.span)
        return position

    def _following(self, position: int) -> list[int]:
        step = self.step(position)
        if step.kind == "end":
            return []
        if step.kind != "branch":
            return [position + 1]
        return [self.target(step)] + ([position + 1] if step.bound else [])

    def reaches(self, goal: int) -> set[int]:
        """Positions from which `goal` can be reached."""
        before: dict[int, list[int]] = {}
        seen, stack = set(), [0]
        while stack:
            position = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            for after in self._following(position):
                before.setdefault(after, []).append(position)
                stack.append(after)
        found, stack = set(), [goal]
        while stack:
            position = stack.pop()
            if position not in found:
                found.add(position)
                stack.extend(before.get(position, []))
        return found

    # --- execution
    def ends(self, state: State, position: int, towards: set[int] | None = None) -> list[Leaf]:
        """`run`, once for a state: a kernel that many are held against comes to the same ones again. It is one that a
        segment begins with, without accesses of its own. towards: None, or all positions that reach this one."""
        bounds = frozenset((atom, const, frozenset(m.items())) for atom, (const, m) in self.terms.bounds.upper.items())
        key = (
            position, towards is None, tuple(state.regs), state.epoch, state.memory, frozenset(state.pending.items()),
            state.lds_busy, frozenset(self.cuts), frozenset(self.ending), bounds,
        )  # fmt: skip
        found = self._ends.get(key)
        if found is None:
            before, executed, self.faults = self.faults, self.executed, {}
            try:
                leaves = list(self.run(state, position, towards))
            finally:
                new, self.faults = self.faults, {**before, **self.faults}
            found = self._ends[key] = leaves, new, self.executed - executed
        else:
            for rule, fault in found[1].items():
                self.faults.setdefault(rule, fault)
            self.executed += found[2]
        return found[0]

    def run(self, state: State, position: int, towards: set[int] | None = None) -> Iterator[Leaf]:
        """All paths from `position` to their ends; with `towards` only those that stay in this set at branches.

        Raises NeedCut where a loop has to be cut first.
        """
        stack = [(state, position, True)]
        while stack:
            state, position, first = stack.pop()
            leaf = self._path(state, position, first, stack, towards)
            if leaf is not None:
                yield leaf

    def _path(
        self, state: State, position: int, first: bool, stack: list[tuple[State, int, bool]], towards: set[int] | None
    ) -> Leaf | None:
        """Run one path; the other sides of branches go on the stack. None where it leaves `towards`."""
        regs, budget, trips = state.regs, STEP_LIMIT, dict[int, int]()
        while True:
            if position in self._heads:
                if position in self.cuts and not first:
                    return Leaf(state, position)
                decided = len(state.literals)
                if state.arrivals.get(position, decided) != decided:
                    raise NeedCut(self, position)
                state.arrivals[position] = decided
                trips[position] = trips.get(position, 0) + 1
                if trips[position] > TRIP_LIMIT and position not in self.ending:
                    raise ManyTrips(self, position, state)
            first = False
            step = self.step(position)
            self._at = position
            self.executed += 1
            budget -= 1
            if budget == 0:
                raise OverBudget(self, step.inst)
            if state.pending:
                self._check_pending(state, step)
            kind = step.kind
            if kind == "alu":
                if step.bound:
                    self._run(state, step)
                    for written in step.writes:
                        self.origin.setdefault(regs[written], step.inst)
            elif kind == "load":
                self._load(state, step)
            elif kind == "store":
                self._store(state, step)
            elif kind == "wait":
                state.wait(step)
            elif kind == "barrier":
                self._barrier(state, step)
            elif kind == "end":
                return Leaf(state, None)
            else:
                taken = self._decide(state, step)
                if taken is None:
                    literal = self._literal(step, state)
                    edges = [(self.target(step), True), (position + 1, False)]
                    edges = [(to, taken) for to, taken in edges if towards is None or to in towards]
                    for to, taken in edges:
                        other = state.copy()
                        other.literals = (*state.literals, (literal[0], literal[1] is taken))
                        other.branches = (*state.branches, step.inst)
                        stack.append((other, to, False))
                    return None
                position = self.target(step) if taken else position + 1
                continue
            position += 1

    def _run(self, state: State, step: Step) -> None:
        """What an instruction does to the registers."""
        self._engine.registers = state.regs
        try:
            run(self._engine, step.bound)
        except UNKNOWN as error:
            raise beyond(step.inst, f"cannot be run: {error}") from None

    def _condition(self, state: State, step: Step) -> Term:
        self._run(state, step)
        return self._engine.condition

    def _literal(self, step: Step, state: State) -> tuple[Term, bool]:
        """A branch condition as (term, polarity), so that a condition and its opposite share the term."""
        condition = self._condition(state, step)
        return (condition, True) if condition.const == 0 else (self.terms.invert(condition), False)

    def _decide(self, state: State, step: Step) -> bool | None:
        """Whether the branch is taken, where that is a constant or was decided on this path already."""
        if not step.bound:
            return True
        condition = self._condition(state, step)
        if condition.is_const:
            return bool(condition.const)
        term, polarity = self._literal(step, state)
        for known, value in state.literals:
            if known is term:
                return value is polarity
        return None

    # --- memory
    def _load(self, state: State, step: Step) -> None:
        terms, space = self.terms, step.space
        if space == "lds":
            queue = "lds"
            version = terms.atom("own", state.epoch, state.own_lds) if state.own_lds else state.epoch
        else:
            queue = "vm" if space == "global" else "smem"
            version = terms.atom("own", state.memory, state.own_global) if state.own_global else state.memory

        def loaded(where: Term) -> Term:
            if space == "scalar" and (offset := terms.sub(where, self._kernarg, 64)).is_const:
                return self._dwords.get(offset.const) or terms.atom("unknown", f"argument+{offset.const}", 1)
            value = terms.atom("load", ("lds" if space == "lds" else "global") + cache_bits(step), version, where)
            state.loads.setdefault(value, step.inst)
            state.trace.append((value, self._at))
            self.origin.setdefault(value, step.inst)
            return value

        self._engine.loaded = loaded
        self._run(state, step)
        state.issued[queue] += 1
        for register in step.writes:
            state.pending[register] = (queue, state.issued[queue])
        if queue == "lds":
            state.lds_busy = state.issued["lds"]

    def _store(self, state: State, step: Step) -> None:
        own = set()

        def stored(where: Term, value: Term) -> None:
            state.events.append(MemoryEvent(step.space + cache_bits(step), step.inst, where, value))
            state.trace.append(((step.space, where), self._at))
            own.add((where, value))

        self._engine.stored = stored
        self._run(state, step)
        if step.space == "lds":
            state.own_lds |= own
            state.issued["lds"] += 1
            state.lds_busy = state.issued["lds"]
        else:
            state.own_global |= own

    def _barrier(self, state: State, step: Step) -> None:
        state.trace.append((str(step.inst), self._at))
        if not step.inst.desc.is_barrier:
            state.events.append(MemoryEvent("invalidation", step.inst))
            return
        state.events.append(MemoryEvent("barrier", step.inst))
        if state.lds_busy is not None:
            self._fault(
                "lds-in-flight",
                step.inst,
                "an LDS access may still be in flight at this barrier",
                "s_waitcnt lgkmcnt(0) must come before it",
            )
        state.barriers += 1
        label, number = state.epoch.args
        state.epoch = self.terms.atom("epoch", label, number + 1)
        state.own_lds = frozenset()

    # --- waits
    def _check_pending(self, state: State, step: Step) -> None:
        pending = state.pending
        for register in step.reads:
            if register in pending:
                self._fault("not-waited", step.inst, f"{name(register)} is read while a load may still be filling it")
        for register in step.writes:
            if register in pending:
                queue = {"lds": "lds", "global": "vm"}.get(step.space) if step.kind == "load" else None
                if pending[register][0] != queue:  # loads of one queue arrive in order
                    self._fault(
                        "overwritten",
                        step.inst,
                        f"{name(register)} is written while a load may still be filling it",
                    )
                del pending[register]

    def _fault(self, rule: str, inst: Instruction, message: str, hint: str = "a wait must come before it") -> None:
        key = f"{rule} {inst.span}"
        self.faults.setdefault(key, Finding(rule, f"{inst}: {message}", inst.span, hint))
