"""Whether a changed instruction makes no difference, by running what follows it twice, with one lane's terms.

In: a kernel and what is known of it (`peephole_equivalence.Local`), an instruction, and the one in its place or None
where it is removed. Out: whether both versions store the same, for all that registers can hold there. This looks
further than the instruction: a number may be another one, a mask wider, a branch may be taken or not, as long as
nothing comes of it.

Registers are terms (`isa.check.equivalence`) that hold whatever their spans allow; a scalar of a few values takes each
of them in turn, and where a comparison with a constant is changed its register takes the ranges between which the
answer can change. EXEC is this lane's bit of it. Where a bit, or a branch, is not known, both sides are followed, with
what is assumed noted; which combinations of assumptions no launch meets is not asked, so more is shown than is needed.

Both run side by side, from the change or from a place in its block before it, where EXEC is full. They do the same
where

- they come to one place with all registers that are read later equal (masks: this lane's bit, since each lane may be
  this one), after the same accesses, or
- they take different paths, and at the end, or where these meet for good, have stored the same values at the same
  addresses and left the same to what follows. Terms of two addresses that differ are taken for two addresses: rows of C
  do not overlap.

Atomics, values of other lanes, calls and all else that `isa.check.equivalence` rejects end it with no answer, as do
barriers and LDS on paths that differ. Waits are the linter's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Protocol

from isa.analysis.cfg import Cfg
from isa.analysis.exec_mask import ExecMask
from isa.analysis.liveness import Liveness
from isa.asm.program import Imm, Instruction, Kernel
from isa.check.equivalence import Facts
from isa.check.equivalence.bounds import Bounds
from isa.check.equivalence.decode import REGISTERS, Step, decode, index
from isa.check.equivalence.engine import Engine
from isa.check.equivalence.symbolic import lanes as bit_of
from isa.check.equivalence.term import Term
from isa.check.equivalence.terms import Terms
from isa.registers import EXEC_LO, SCC, Reg
from isa.semantics.engine import UNKNOWN
from isa.semantics.execute import run
from isa.semantics.float_mode import FloatMode
from tools.mutation.spans import Span, written

_FEW, _CASES, _STEPS, _STARTS = 16, 64, 4_500, 4
_EXEC, _SCC = index(EXEC_LO), index(SCC)
_END = -1
Spans = Mapping[Reg, Span]


class Known(Protocol):
    """A kernel, and what is known of its registers."""

    kernel: Kernel

    @property
    def flow(self) -> Cfg: ...
    @property
    def lanes(self) -> ExecMask: ...
    @property
    def live(self) -> Liveness: ...

    def held(self, position: int, reg: Reg) -> Span:
        """What a register can hold before an instruction."""

    def scc(self, position: int) -> int | None:
        """SCC there, where it is one number."""

    def division(self, position: int) -> Mapping[str, Reg] | None:
        """The registers of a division (`quotients`), where its first remainder is left there."""


class _Unclear(Exception):
    """It makes a difference, or that is not known."""


class _Fork(Exception):
    """A truth value decides, and nothing is assumed of it yet."""

    def __init__(self, atom: Term) -> None:
        self.atom = atom


def same(local: Known, position: int, changed: Instruction | None) -> bool:
    """See the module's docstring. changed: None where the instruction is removed."""
    if not all(_plain(inst) for inst in (local.flow.instructions[position], changed) if inst is not None):
        return False
    block = local.flow.block_of(position)
    full = [i for i in range(block.start, position + 1) if local.lanes.full[i]]
    divided = [i + 1 for i in range(max(block.start, position - _STARTS * 3), position) if local.division(i)]
    starts = dict.fromkeys((*divided[-1:], *full[-1:], *full[:1], *full[::-1][:_STARTS]))
    return any(_from(local, start, position, changed, most) for start in starts for most in (1, _CASES))


def _plain(inst: Instruction) -> bool:
    """Whether it writes registers or branches and does nothing else: no access, which has an order, and no wait."""
    return not any(half.desc.access or half.desc.effect not in ("", "branch") for half in inst.halves)


def _from(local: Known, start: int, position: int, changed: Instruction | None, most: int) -> bool:
    try:
        budget = iter(range(_STEPS))
        cases = _cases(local, start, position, changed, most)
        return all(_case(local, start, position, changed, spans, budget) for spans in cases)
    except _Unclear:
        return False


def _cases(local: Known, start: int, position: int, changed: Instruction | None, most: int) -> Iterator[Spans]:
    """What registers can hold at the start, case by case. most: how many cases may come of scalars of a few values."""
    original = local.flow.instructions[position]
    read = local.live.live_in(start) | (changed.reads() if changed is not None else set())
    held = {reg: local.held(start, reg) for reg in read if reg.file in "sv" and reg != EXEC_LO}
    choices: list[list[tuple[Reg, Span]]] = []
    compared: list[tuple[Reg, Span]] = []
    split = _compared(original, changed) if start == position else None
    for reg, span in held.items():
        if split is not None and reg == split[0]:
            compared = [(reg, part) for part in parts(span, split[1]) if not _agree(original, changed, part)]
        elif reg.file == "s" and 0 < span.high - span.low < _FEW:
            choices.append([(reg, Span("u32", n, n)) for n in range(span.low, span.high + 1)])
    choices.sort(key=len)
    while prod(map(len, choices)) > most:
        choices.pop()
    for chosen in product(*([compared] if split is not None else []), *choices):
        yield {**held, **dict(chosen)}


def _compared(original: Instruction, changed: Instruction | None) -> tuple[Reg, set[int]] | None:
    """The register and the numbers that both compare it with, where that is all."""
    if changed is None or not (original.mnemonic.startswith("s_cmp_") and changed.mnemonic.startswith("s_cmp_")):
        return None
    one, other = original.operands, changed.operands
    numbers = {o.value for o in (one[1], other[1]) if isinstance(o, Imm) and isinstance(o.value, int)}
    reg = one[0]
    if reg != other[0] or not isinstance(reg, Reg) or not isinstance(one[1], Imm) or not isinstance(other[1], Imm):
        return None
    return reg, numbers


def _agree(original: Instruction, changed: Instruction | None, part: Span) -> bool:
    """Whether two comparisons come to the same with a register in this range, whatever else."""
    answers = {written(inst, lambda _: part)[SCC].number for inst in (original, changed) if inst is not None}
    return len(answers) == 1 and None not in answers


def parts(span: Span, numbers: set[int]) -> Iterator[Span]:
    """The span in parts within which no comparison with the numbers changes, signed or not."""
    cuts = {0, 1 << 31, 1 << 32}
    for n in numbers:
        cuts |= {n & 0xFFFFFFFF, (n & 0xFFFFFFFF) + 1}
    edges = sorted(cuts)
    for low, end in pairwise(edges):
        if max(low, span.low) <= min(end - 1, span.high):
            yield Span("u32", max(low, span.low), min(end - 1, span.high))


def _case(
    local: Known, start: int, position: int, changed: Instruction | None, spans: Spans, budget: Iterator[int]
) -> bool:
    """All assumptions that are met, each from the start."""
    return all(_assumptions(local, start, position, changed, budget, *world) for world in _worlds(local, start, spans))


def _worlds(local: Known, start: int, spans: Spans) -> Iterator[tuple[Terms, list[Term]]]:
    """The registers at the start; after a division both that its quotient is right and that it is one too small."""
    divided = local.division(start - 1) if start else None
    for short in (0, 1) if divided else (0,):
        terms = Terms(Bounds(Facts()))
        registers = _registers(terms, spans)
        scc = local.scc(start)
        if scc is not None:
            registers[_SCC] = terms.const(scc, 64)
        if divided is not None:
            d = registers[index(divided["d"])]
            quotient, rest = (terms.atom("unknown", name, 1) for name in ("quotient", "rest"))
            terms.bounds.lower[quotient], terms.bounds.lower[rest] = short, 0
            most = spans[divided["d"]].low if divided["d"] in spans else 1
            terms.bounds.learn(quotient, ((1 << 32) // most - 1 if most > 1 else (1 << 32) - 2, {}))
            terms.bounds.upper = {rest: (d.const - 1, d.monomials), **terms.bounds.upper}  # asked before what d can be
            registers[index(divided["q"])] = terms.sub(quotient, terms.const(short, 32), 32)
            registers[index(divided["r"])] = terms.add(rest, terms.scale(d, short, 32), 32)
            registers[_SCC] = terms.false  # the product is the lesser one
        yield terms, registers


def _assumptions(
    local: Known, start: int, position: int, changed: Instruction | None, budget: Iterator[int],
    terms: Terms, registers: list[Term],
) -> bool:  # fmt: skip
    work: list[dict[Term, bool]] = [{}]
    while work:
        assumed = work.pop()
        try:
            _Pair(local, terms, registers, start, position, changed, assumed, budget).run()
        except _Fork as fork:
            work += [{**assumed, fork.atom: True}, {**assumed, fork.atom: False}]
    return True


def _registers(terms: Terms, spans: Spans) -> list[Term]:
    found = [terms.atom("undefined", "start", i) for i in range(REGISTERS)]
    for reg, span in spans.items():
        if span.number is not None:
            found[index(reg)] = terms.const(span.number, 32)
            continue
        atom = terms.atom("undefined" if reg.file == "v" else "unknown", index(reg), 1)
        terms.bounds.lower[atom] = span.low
        terms.bounds.learn(atom, (span.high, {}))
        found[index(reg)] = atom
    found[_EXEC] = terms.const(-1, 32)
    found[_SCC] = terms.atom("unknown", "scc", 1, width=1)
    return found


class _Pair:
    """The original and the changed code, under one set of assumptions."""

    def __init__(
        self, local: Known, terms: Terms, registers: list[Term], start: int, position: int,
        changed: Instruction | None, assumed: Mapping[Term, bool], budget: Iterator[int],
    ) -> None:  # fmt: skip
        self.local, self.terms, self.position, self.assumed, self.budget = local, terms, position, assumed, budget
        self.sides = [
            _Side(local, terms, list(registers), start, self.known),
            _Side(local, terms, list(registers), start, self.known, (position, changed)),
        ]

    def known(self, truth: Term) -> bool:
        """What a truth value is under the assumptions."""
        total = truth.const
        for monomial, factor in truth.monomials.items():
            values = []
            for atom in monomial:
                if atom not in self.assumed:
                    raise _Fork(atom)
                values.append(self.assumed[atom])
            total += factor * all(values)
        return bool(total & 1)

    def run(self) -> None:
        one, two = self.sides
        passed = False
        for _ in self.budget:
            passed = passed or one.position == self.position
            one.step()
            two.step()
            self._decide()
            if one.accesses != two.accesses or (one.position == _END) != (two.position == _END):
                raise _Unclear
            if one.position != two.position:
                break
            if one.position == _END or (passed and self._alike(one.position)):
                return
        else:
            raise _Unclear
        stops = _joins(self.local, self.position)
        ends = [side.alone(self.budget, stops) for side in self.sides]
        if ends[0] != ends[1] or one.position != two.position:
            raise _Unclear
        if one.position != _END and not self._alike(one.position):
            raise _Unclear

    def _decide(self) -> None:
        """SCC is a number where it is another one in each: what is computed with it depends on it."""
        one, two = (side.registers[_SCC] for side in self.sides)
        if one is not two and not (_of_lanes(one) or _of_lanes(two)):
            for side in self.sides:
                side.registers[_SCC] = self.terms.truth(self.known(side.registers[_SCC]))

    def _alike(self, position: int) -> bool:
        one, two = (side.registers for side in self.sides)
        differ = [i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a is not b]
        wanted = {index(reg) for reg in self.local.live.live_in(position)} | {_EXEC} if differ else set()
        apart = [i for i in differ if i in wanted]
        if not all(i == _EXEC or (_mask(one[i]) and _mask(two[i])) for i in apart):
            return False
        return all(self.known(bit_of(self.terms, one[i])) == self.known(bit_of(self.terms, two[i])) for i in apart)


def _mask(term: Term) -> bool:
    return term.op == "ballot" or (term.is_const and term.const in (0, -1))


def _joins(local: Known, position: int) -> frozenset[int]:
    """Where blocks begin that all paths from there pass."""
    flow = local.flow
    here = flow.block_of(position).index
    found = set()
    for block in flow.blocks:
        if block.index in (here, 0):
            continue
        work, seen = [here], {here}
        while work:
            new = set(flow.blocks[work.pop()].successors) - seen - {block.index}
            seen |= new
            work += new
        if all(flow.blocks[i].successors for i in seen):
            found.add(block.start)
    return frozenset(found)


class _Side:
    """One of the two. accesses: of memory, and barriers, in order; stored: in a path of its own, the last at each
    address."""

    def __init__(
        self, local: Known, terms: Terms, registers: list[Term], position: int, known: Callable[[Term], bool],
        change: tuple[int, Instruction | None] | None = None,
    ) -> None:  # fmt: skip
        self.local, self.terms, self.registers, self.position = local, terms, registers, position
        self.known, self.change = known, change
        self.accesses: list[tuple[object, ...]] = []
        self.stored: dict[Term, Term] | None = None
        self.engine = Engine(terms, terms.atom("undefined", "work-item", 0), FloatMode.of_kernel(local.kernel))
        self.engine.registers = registers
        self.engine.loaded, self.engine.stored = self._loaded, self._stored
        self.space = ""

    def alone(self, budget: Iterator[int], stops: frozenset[int]) -> dict[Term, Term]:
        """To the end, or to the first of these positions: what it stores until then."""
        self.stored = {}
        for _ in budget:
            if self.position == _END or self.position in stops:
                return self.stored
            self.step()
        raise _Unclear

    def step(self) -> None:
        inst: Instruction | None = self.local.flow.instructions[self.position]
        if self.change is not None and self.position == self.change[0]:
            inst = self.change[1]
        self.position += 1
        if inst is None:
            return
        try:
            if not self._masks(inst):
                self._run(inst, _decoded(inst))
        except UNKNOWN as error:
            raise _Unclear from error

    def _run(self, inst: Instruction, step: Step) -> None:
        if any(half.desc.crosses_lanes or half.dpp for half in inst.halves):
            raise _Unclear
        if step.kind == "end":
            self.position = _END
        elif step.kind == "barrier":
            self._access("barrier")
        elif step.kind == "branch":
            if self._taken(inst, step):
                self.position = self.local.flow.labels[step.target]
        elif any(half.desc.exec_masked for half in inst.halves):
            self._vector(inst, step)
        elif step.bound:
            self.space = step.space
            run(self.engine, step.bound)

    def _taken(self, inst: Instruction, step: Step) -> bool:
        if not step.bound:
            return True
        if not inst.mnemonic.startswith("s_cbranch_scc"):
            raise _Unclear  # what all lanes say together
        run(self.engine, step.bound)
        if _of_lanes(self.engine.condition):
            raise _Unclear
        return self.known(self.engine.condition)

    def _vector(self, inst: Instruction, step: Step) -> None:
        lane = bit_of(self.terms, self.registers[_EXEC])
        masks = [index(reg) for reg in inst.writes() if reg.file != "v"]
        if self.known(lane):
            self.space = step.space
            run(self.engine, step.bound)
            for i in masks:
                self.registers[i] = self._ballot(self.terms.both(bit_of(self.terms, self.registers[i]), lane))
        else:
            for i in masks:
                self.registers[i] = self._ballot(self.terms.false)

    def _ballot(self, truth: Term) -> Term:
        """A mask of which this lane's bit is known; what it is as a number is not, even where the bit is a constant."""
        return self.terms.atom("ballot", truth, width=32)

    # --- masks
    def _masks(self, inst: Instruction) -> bool:
        """Whether it is an operation on masks, which is done then, for this lane's bit."""
        name, saves, _ = inst.mnemonic.removesuffix("_b32").partition("_saveexec")
        save = bool(saves)
        op = _LOGIC.get(name)
        if op is None or not inst.mnemonic.endswith("_b32"):
            return False
        target, *given = inst.operands
        if not isinstance(target, Reg) or target.count != 1:
            return False
        sources = [self._operand(o) for o in given] + ([self.registers[_EXEC]] if save else [])
        if index(target) != _EXEC and not save and not any(x is not None and x.op == "ballot" for x in sources):
            return False
        bits = []
        for x in sources:
            if x is None:
                raise _Unclear
            bits.append(bit_of(self.terms, x))
        result = sources[0] if name == "s_mov" else self._ballot(op(self.terms, *bits))
        assert result is not None
        if save:
            self.registers[index(target)], self.registers[_EXEC] = self.registers[_EXEC], result
        else:
            self.registers[index(target)] = result
        if name != "s_mov":
            self.registers[_SCC] = self.terms.atom("ballot", "not zero", result, width=1)
        return True

    def _operand(self, operand: object) -> Term | None:
        if isinstance(operand, Imm) and isinstance(operand.value, int):
            return self.terms.const(operand.value, 32)
        if isinstance(operand, Reg) and operand.count == 1 and not operand.is_null:
            return self.registers[index(operand)]
        return None

    # --- memory
    def _access(self, *what: object) -> None:
        if self.stored is None:
            self.accesses.append(what)
        elif what[0] == "barrier" or self.space == "lds":
            raise _Unclear

    def _loaded(self, where: Term) -> Term:
        if self.space == "scalar":
            return self.terms.atom("load", "scalar", where)
        self._access("load", self.space, where)
        held = None if self.stored is None else self.stored.get(where)
        return held or self.terms.atom("load", self.space, len(self.accesses), where)

    def _stored(self, where: Term, value: Term) -> None:
        self._access("store", self.space, where, value)
        if self.stored is not None:
            self.stored[where] = value


_decoded = lru_cache(maxsize=10_000)(decode)


def _of_lanes(term: Term) -> bool:
    """Whether some mask is part of it."""
    seen, stack = set[Term](), [term]
    while stack:
        t = stack.pop()
        if t.op in ("ballot", "lane of mask"):
            return True
        if t not in seen:
            seen.add(t)
            stack.extend(t.children())
    return False


_LOGIC: dict[str, Callable[..., Term]] = {
    "s_mov": lambda t, a: a,
    "s_not": lambda t, a: t.invert(a),
    "s_and": lambda t, a, b: t.both(a, b),
    "s_or": lambda t, a, b: t.either(a, b),
    "s_xor": lambda t, a, b: t.differ(a, b),
    "s_and_not1": lambda t, a, b: t.both(a, t.invert(b)),
    "s_or_not1": lambda t, a, b: t.either(a, t.invert(b)),
    "s_nand": lambda t, a, b: t.invert(t.both(a, b)),
    "s_nor": lambda t, a, b: t.invert(t.either(a, b)),
    "s_xnor": lambda t, a, b: t.invert(t.differ(a, b)),
}
