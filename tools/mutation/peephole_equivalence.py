"""Whether a changed instruction does what the original did, wherever and whenever it runs: at all sizes.

In: a kernel, the ranges of its arguments that are sizes, the size of a workgroup. Out: for an instruction of it and a
changed one, the reason why they do the same, or None where that is not seen. These reasons are known:

- only factors of a product, or summands, changed places (which only tells, of two NaNs, whose payload survives);
- what reads either is the minimum of it and of a number that is never larger;
- both take all bits of a number from one place on that can be set;
- one is a sum, the other exclusive or, or or, of numbers of which no bit can be in both;
- both give the same number, one for all values that their operands can have (`tools.mutation.spans`). These follow
  from what computed them, back to sizes and the number of the work-item; a loop, a value from memory and one that is
  written in some lanes only can be anything. EXEC is all ones where it is full. What a division by the host's
  reciprocal leaves is known, too (`quotients`), and that a register is not 0 after a branch that says so;
- they leave equal terms (`isa.check.equivalence`), for all that their sources can be;
- each gives one number, and whatever reads it does the same with either (`equivalent_mutant`);
- each leaves one lane on, and all lanes would store the same (`any_lane`);
- nothing depends on what either leaves (see below), and both write the same registers;
- with what follows it, run in each lane, it comes to the same accesses (`one_lane`).

Lane masks that hold in all lanes, by these terms, count as such where the change is not one that they depend on.

An instruction is needless where nothing reads what it writes, its registers hold those numbers already, no store stores
anything made of what it leaves (`unstored`), or the code without it does the same in each lane.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property

from hipgemm.kernels import LARGEST_GRID_Y, Gemm
from isa.analysis import cfg as control_flow
from isa.analysis import defuse, exec_mask, liveness
from isa.analysis.liveness import Liveness
from isa.asm.program import Imm, Instruction, Kernel, Operand
from isa.check.equivalence import Facts
from isa.check.equivalence.bounds import Bounds
from isa.check.equivalence.decode import REGISTERS, decode, index
from isa.check.equivalence.engine import Engine
from isa.check.equivalence.term import Term
from isa.check.equivalence.terms import Terms
from isa.errors import IsaError
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.parameters import Parameters
from isa.gemm.work import most_streamed
from isa.instructions import lookup
from isa.registers import EXEC_LO, SCC, Reg, s, v
from isa.semantics.engine import UNKNOWN
from isa.semantics.execute import run
from isa.semantics.float_mode import FloatMode
from tools.mutation import quotients, unstored
from tools.mutation.any_lane import any_does, one_lane_on
from tools.mutation.equivalent_mutant import readers
from tools.mutation.one_lane import parts
from tools.mutation.one_lane import same as same_in_a_lane
from tools.mutation.spans import MINIMA, Span, anything, constant, join, written

Sizes = Mapping[int, tuple[int, int]]
"""Byte offset of an argument of 32 bits -> the smallest and the largest that it can be."""
Left = list[tuple[Operand, int]]
"""What an instruction leaves in its operands."""
_LANES, _ALL_ON = 32, 0xFFFFFFFF
_POINTER = (s(0), s(1))  # to the arguments, as the waves begin
_CONDITIONS, _BRANCHES = {"s_cbranch_scc0": 0, "s_cbranch_scc1": 1}, 8
_NOTHING = "nothing comes of it in any lane, whatever its registers hold"
_SUMMANDS = ("v_pk_add_f16",)
_BITS = ("v_or_b32", "v_xor_b32", "v_add_nc_u32")
"""The same where no bit can be in both sources."""
_FACTORS = ("v_fmac_f32", "v_fma_f32", "v_mul_f32", "v_dual_fmac_f32", "v_dual_mul_f32")


Reciprocals = Mapping[int, tuple[int, int]]
"""Byte offset of an argument -> (that of a size, a step): it is floor((2^32 - 1) / max(1, size / step rounded up))."""


class Local:
    """One kernel. threads: of a workgroup, along x; groups: the most workgroups along x and y, where that is known.
    masks: lane masks that hold in all lanes are looked for, too."""

    def __init__(
        self, kernel: Kernel, sizes: Sizes, threads: int, reciprocals: Reciprocals | None = None,
        groups: tuple[int, int] | None = None, *, masks: bool = True,
    ) -> None:  # fmt: skip
        self.kernel, self.sizes, self.threads, self.reciprocals = kernel, sizes, threads, reciprocals or {}
        self.groups, self.masks = groups, masks

    @staticmethod
    def of_rung(kernel: Kernel, rung: Gemm) -> Local:
        """The text of a rung of the ladder, launched in any manner that the rung admits."""
        sizes = {24 + 4 * i: (1, most) for i, most in enumerate(rung.largest)}
        p = rung.parameters
        if isinstance(p, (Parameters, MatrixParameters)) and p.stream_k:
            # Arguments in the order of `isa.gemm.work.Work.numbers`, after the workspace's address.
            begin = 8 + (p.after_vectors if isinstance(p, MatrixParameters) else 48)
            dealt, streamed, chunk, by_across, by_blocks, by_chunk = range(begin, begin + 24, 4)
            sizes |= {dealt: (0, (1 << 30) - 1), streamed: (0, most_streamed(p, 1)), chunk: (1, (1 << 31) - 1)}
            by = {by_across: (28, p.columns), by_blocks: (32, p.depth), by_chunk: (chunk, 1)}
            return Local(kernel, sizes, rung.block[0], by)
        (m, n, _), (rows, columns) = rung.largest, rung.block_tile
        grid = -(-n // columns), min(LARGEST_GRID_Y, -(-m // rows))
        return Local(kernel, sizes, rung.block[0], groups=grid)

    @cached_property
    def flow(self) -> control_flow.Cfg:
        return control_flow.of_kernel(self.kernel)

    @cached_property
    def _chains(self) -> defuse.DefUse:
        return defuse.analyse(self.flow, self.lanes)

    @cached_property
    def _code(self) -> control_flow.Cfg:
        """The same with a number in place of each comparison that holds in all lanes."""
        instructions = (self._always.get(i, inst) for i, inst in enumerate(self.flow.instructions))
        return replace(self.flow, instructions=tuple(instructions))

    @cached_property
    def lanes(self) -> exec_mask.ExecMask:
        return exec_mask.analyse(self._code)

    @cached_property
    def _without_masks(self) -> Local:
        return Local(self.kernel, self.sizes, self.threads, self.reciprocals, self.groups, masks=False)

    @cached_property
    def _always(self) -> dict[int, Instruction]:
        """Position of such a comparison -> what it comes to."""
        found = {}
        for i, inst in enumerate(self.flow.instructions if self.masks else ()):
            rows = inst.desc.roles_of(inst.halves[0])
            masks = [operand for role, operand in rows if role.written and role.kind == "m"]
            if len(masks) == 1 and isinstance(masks[0], Reg) and inst.writes() == {masks[0]}:
                number = Instruction("s_mov_b32", (masks[0], Imm(-1, "-1")))
                if self._without_masks._same_terms(i, inst, number):
                    found[i] = number
        return found

    @cached_property
    def _relied_on(self) -> set[int]:
        """What these comparisons depend on, at any distance."""
        work, seen = list(self._always), set(self._always)
        while work:
            at = work.pop()
            for reg in self.flow.instructions[at].reads():
                new = {site for site in self._without_masks._chains.defs_of(at, reg) if site >= 0} - seen
                seen |= new
                work += new
        return seen

    @cached_property
    def live(self) -> Liveness:
        return liveness.analyse(self.flow, self.lanes)

    @cached_property
    def _known(self) -> dict[tuple[int, Reg], Span]:
        return {}

    def same(self, line: int, changed: Instruction) -> str | None:
        """Why the instruction in this line and `changed` do the same, None where that is not seen."""
        position = self.flow.lines.index(line)
        if position in self._relied_on:
            return self._without_masks.same(line, changed)
        original = self.flow.instructions[position]
        if _turned(original, changed, _FACTORS):
            return "only factors of a product changed places"
        if _turned(original, changed, _SUMMANDS):
            return "only summands changed places"
        if self._too_large(position, original, changed):
            return "all that reads it takes a smaller number instead, before and after the change"
        if self._whole_field(position, original, changed):
            return "takes all bits from there on that can be set, before and after the change"
        if self._apart(position, original, changed):
            return "no bit can be in both of its sources: sum, or and exclusive or are the same"
        if _pure(changed) and changed.writes() == original.writes() and (why := self._unread(position)):
            return f"{why}, before and after the change"
        before, after = self._constants(position, original), self._constants(position, changed)
        said = ", ".join(f"{number} in {operand}" for operand, number in before or ())
        if before and before == after:
            return f"leaves {said} before and after the change, whatever the sizes that the kernel takes"
        if self._same_terms(position, original, changed):
            return "leaves the same where it counts, for all that its sources can be"
        new = ", ".join(str(number) for _, number in after or ())
        if before and after and (why := self._unseen(position, before, after, f"leaves {new} instead of {said}")):
            return why
        if self._another_lane(position, changed):
            return "another lane stores the same there"
        return _NOTHING if same_in_a_lane(self, position, changed) else None

    def _apart(self, position: int, original: Instruction, changed: Instruction) -> bool:
        """Whether both are sums or (exclusive) or of the same two, of which no bit can be in both."""
        alike = original.operands == changed.operands and len(original.halves) == len(changed.halves) == 1
        if not alike or any(lookup(inst).name not in _BITS or inst.modifiers for inst in (original, changed)):
            return False
        spans = []
        for x in original.operands[1:]:
            if isinstance(x, Reg):
                spans.append(self._register(position, x))
            elif isinstance(x, Imm) and isinstance(x.value, int):
                spans.append(constant("u32", x.value & 0xFFFFFFFF))
        return len(spans) == 2 and not spans[0].possible & spans[1].possible

    def _whole_field(self, position: int, original: Instruction, changed: Instruction) -> bool:
        """Whether both take bits of the same from the same place on, and none that can be set is left out."""
        (*same, first), (*other, second) = original.operands, changed.operands
        if {lookup(inst).name for inst in (original, changed)} != {"v_bfe_u32"} or same != other or len(same) != 3:
            return False
        of, start = same[1:]
        counts = [x.value for x in (start, first, second) if isinstance(x, Imm) and isinstance(x.value, int)]
        if len(counts) != 3 or not isinstance(of, Reg) or max(counts) > 31:
            return False
        return self._register(position, of).possible >> counts[0] < 1 << min(counts[1:])

    def _too_large(self, position: int, original: Instruction, changed: Instruction) -> bool:
        """Whether what both leave goes to minima only, of it and of what is never larger."""
        left = [self._leaves(position, inst) for inst in (original, changed)]
        if len(left[0]) != 1 or left[0].keys() != left[1].keys() or not (_pure(original) and _pure(changed)):
            return False
        ((reg, before),), (after,) = left[0].items(), left[1].values()
        readers = self._chains.uses_of(position, reg)
        for at in readers:
            inst = self.flow.instructions[at]
            if lookup(inst).name not in MINIMA or inst.modifiers:
                return False
            others = [x for x in inst.operands[1:] if x != reg]
            if len(others) != 1 or not isinstance(others[0], Reg):
                return False
            if self._register(at, others[0]).high > min(before.low, after.low):
                return False
        return bool(readers)

    def _another_lane(self, position: int, changed: Instruction) -> bool:
        if not (one_lane_on(self.flow.instructions[position]) and one_lane_on(changed)) or self.threads % _LANES:
            return False
        return any_does(self.flow, self._chains, self.lanes, position)

    def needless(self, line: int) -> str | None:
        """Why the kernel does the same without the instruction in this line, None where that is not seen."""
        position = self.flow.lines.index(line)
        if position in self._relied_on:
            return self._without_masks.needless(line)
        inst = self.flow.instructions[position]
        if not inst.writes() or not _pure(inst):
            return None
        if (why := self._unread(position)) is not None:
            return why
        wanted = inst.writes() & self.live.live_out(position)
        left = {reg: span.number for reg, span in self._leaves(position, inst).items()}
        if any(left.get(unit) is None or left[unit] not in self._there(position, unit) for unit in wanted):
            if (before := self._repeated(position)) is not None:
                return f"line {self.flow.lines[before] + 1} left the same there"
            same = self._same_terms(position, inst, None) or same_in_a_lane(self, position, None)
            return _NOTHING if same else None
        said = ", ".join(f"{left[unit]} in {unit}" for unit in sorted(wanted, key=str))
        return f"leaves {said}, which is there already, whatever the sizes that the kernel takes"

    def _unread(self, position: int) -> str | None:
        """Why nothing depends on what the registers hold that an instruction writes; None where that is not seen."""
        if not self.flow.instructions[position].writes() & self.live.live_out(position):
            return "nothing reads what it writes"
        if (found := unstored.readers(self.flow, self.lanes, position)) is not None:
            texts = ", ".join(f"line {self.flow.lines[i] + 1}" for i in found)
            return f"what it leaves is stored in no lane ({texts})"
        return None

    def _same_terms(self, position: int, original: Instruction, changed: Instruction | None) -> bool:
        """Whether both leave equal terms (`isa.check.equivalence`) in all registers that are read later, whatever their
        sources hold of what these can be. None: what was there stays."""
        terms = Terms(Bounds(Facts()))
        reads = original.reads() | (changed.reads() if changed is not None else set())
        before = self._before(position, terms, reads)
        left = [
            self._run(position, terms, before, inst) if inst is not None else before for inst in (original, changed)
        ]
        if left[0] is None or left[1] is None:
            return False
        wanted = (original.writes() | (changed.writes() if changed else set())) & self.live.live_out(position)
        return all(left[0][index(reg)] is left[1][index(reg)] for reg in wanted)

    def _terms_after(self, position: int, inst: Instruction) -> list[Term] | None:
        terms = Terms(Bounds(Facts()))
        return self._run(position, terms, self._before(position, terms, inst.reads()), inst)

    def _before(self, position: int, terms: Terms, reads: Collection[Reg]) -> list[Term]:
        """Terms for all registers, with what is known of those that are read."""
        before = [terms.atom("unknown", i, 1, width=32) for i in range(REGISTERS)]
        before[index(SCC)] = terms.atom("unknown", "scc", 1, width=1)
        for reg in reads:
            if reg == SCC:
                known = self.scc(position)
                before[index(SCC)] = before[index(SCC)] if known is None else terms.const(known, 64)
                continue
            span, atom = self._register(position, reg), before[index(reg)]
            if span.number is not None:
                before[index(reg)] = terms.const(span.number, 32)
            else:
                terms.bounds.lower[atom] = span.low
                terms.bounds.learn(atom, (span.high, {}))
        return before

    def _run(self, position: int, terms: Terms, before: list[Term], inst: Instruction) -> list[Term] | None:
        """The registers after an instruction there; None where it does more than write them."""
        if not self.lanes.full[position]:
            return None
        engine = Engine(terms, terms.atom("unknown", "work-item", 1, width=32), FloatMode.of_kernel(self.kernel))
        engine.registers = list(before)
        try:
            step = decode(inst)
            if step.kind != "alu" or not step.bound:
                return None
            run(engine, step.bound)
        except (IsaError, *UNKNOWN):
            return None
        return engine.registers

    def _repeated(self, position: int) -> int | None:
        """The instruction on all paths to there that left what this one leaves: the same one, of the same values."""
        inst = self.flow.instructions[position]
        sites = {site for reg in inst.writes() & self.live.live_out(position) for site in self._sources(position, reg)}
        if len(sites) != 1:
            return None
        (before,) = sites
        if inst.desc.exec_masked and not (before >= 0 and self.lanes.full[position] and self.lanes.full[before]):
            return None
        return before if before not in (defuse.ENTRY, position) and self._alike(before, position, before) else None

    def _alike(self, one: int, other: int, between: int) -> bool:
        """Whether two instructions are the same and read the same: what was there before `between`, or what other
        instructions of their own blocks leave that are alike."""
        insts = self.flow.instructions
        if str(insts[one]) != str(insts[other]):
            return False
        for reg in insts[one].reads():
            here, there = self._chains.defs_of(one, reg), self._chains.defs_of(other, reg)
            if here == there:
                if any(self._reaches(site, other, between) for site in here):
                    return False
                continue
            if len(here) != 1 or len(there) != 1:
                return False
            (first,), (second,) = here, there
            blocks = [self.flow.block_of(i) for i in (first, one, second, other) if i >= 0]
            if len(blocks) < 4 or blocks[0] != blocks[1] or blocks[2] != blocks[3]:
                return False
            if not self._alike(first, second, between):
                return False
        return True

    def _reaches(self, start: int, goal: int, avoiding: int) -> bool:
        """Whether there is a path from after one position to another that does not pass a third."""
        work, seen = [start + 1], set[int]()
        while work:
            at = work.pop()
            block = self.flow.block_of(at)
            stop = next((i for i in range(at, block.end) if i in (goal, avoiding)), None)
            if stop == goal:
                return True
            if stop is None:
                new = [self.flow.blocks[s].start for s in block.successors]
                work += [s for s in new if s not in seen]
                seen |= set(new)
        return False

    def _there(self, position: int, reg: Reg) -> tuple[int | None, ...]:
        """The number that a register holds there, by the only path to there or by all paths."""
        return self._held(position, reg), None if reg == SCC else self._register(position, reg).number

    def _held(self, position: int, reg: Reg) -> int | None:
        """The number that a register holds there, where the only path to there says so."""
        if reg == EXEC_LO:
            return self._register(position, reg).number
        block = self.flow.block_of(position)
        before, seen = range(block.start, position), {block.index}
        while True:
            source = next((i for i in reversed(before) if reg in self.flow.instructions[i].writes()), None)
            if source is not None:
                return self._written(source, reg).number
            if len(block.predecessors) != 1 or block.index == 0 or block.predecessors[0] in seen:
                return None
            block = self.flow.blocks[block.predecessors[0]]
            before = block.range
            seen.add(block.index)

    def _unseen(self, position: int, before: Left, after: Left, said: str) -> str | None:
        """Why another number makes no difference: what reads it does the same."""
        pairs = list(zip(before, after, strict=True))
        regs = [old for (old, _), (new, _) in pairs if old == new and isinstance(old, Reg) and old.file == "s"]
        if len(regs) != len(pairs) or self.flow.instructions[position].desc.implicit_writes:
            return None
        left = {
            unit: (was >> 32 * k & 0xFFFFFFFF, now >> 32 * k & 0xFFFFFFFF)
            for reg, ((_, was), (_, now)) in zip(regs, pairs, strict=True) for k, unit in enumerate(reg.units())
        }  # fmt: skip
        found = readers(self.flow, position, left, self._register)
        if found is None:
            return None
        texts = ", ".join(f"`{self.flow.instructions[i]}` (line {self.flow.lines[i] + 1})" for i in found)
        return f"{said}, and what reads it does the same with either: {texts or 'nothing'}"

    def _constants(self, position: int, inst: Instruction) -> Left | None:
        """What it leaves in its operands, where that is one number each, and it does nothing else."""
        found: Left = []
        for half in inst.halves:
            desc = lookup(half)
            if desc.access is not None or desc.effect:
                return None
            written = [operand for role, operand in desc.roles_of(half) if role.written]
            left = self._leaves(position, half)
            units = [list(operand.units()) if isinstance(operand, Reg) else [] for operand in written]
            if not all(units) or desc.writes(half) != {unit for row in units for unit in row}:
                return None
            for operand, row in zip(written, units, strict=True):
                numbers = [left[unit].number if unit in left else None for unit in row]
                if None in numbers:
                    return None
                found.append((operand, sum((n or 0) << 32 * k for k, n in enumerate(numbers))))
        return found

    def _leaves(self, position: int, inst: Instruction) -> dict[Reg, Span]:
        """What the registers can hold after an instruction there. A changed one reads the same registers."""
        return written(inst, lambda reg: self._register(position, reg))

    def held(self, position: int, reg: Reg) -> Span:
        """What a register can hold before an instruction."""
        return self._register(position, reg)

    def _register(self, position: int, reg: Reg) -> Span:
        key = position, reg
        if reg == EXEC_LO and self.lanes.full[position] and self.threads % _LANES == 0:
            return Span("u32", _ALL_ON, _ALL_ON)
        if key not in self._known:
            self._known[key] = anything("u32")  # for who comes back here, in a loop
            spans = [self._written(source, reg) for source in sorted(self._sources(position, reg))]
            if spans:
                self._known[key] = self._told(position, reg, functools.reduce(join, spans))
        return self._known[key]

    def _sources(self, position: int, reg: Reg) -> frozenset[int]:
        """The positions whose write of a register may be there; none where that is not known."""
        try:
            return self._chains.defs_of(position, reg)
        except KeyError:  # the instruction there does not read it
            pass
        insts, found, seen = self._code.instructions, set(), set()
        if self.flow.calls or any(inst.desc.relative for inst in insts):
            return frozenset()
        work = [(self.flow.block_of(position), position)]
        while work:
            block, end = work.pop()
            for i in reversed(range(block.start, end)):
                if reg in insts[i].writes():
                    found.add(i)
                    if not insts[i].desc.exec_masked or self.lanes.full[i]:
                        break
            else:
                if block.index == 0:
                    found.add(defuse.ENTRY)
                work += [(self.flow.blocks[p], self.flow.blocks[p].end) for p in block.predecessors if p not in seen]
                seen |= set(block.predecessors)
        return frozenset(found)

    def _told(self, position: int, reg: Reg, span: Span) -> Span:
        """What is left of a span by the branches on the only path to there, since the register was written last."""
        block, end, insts = self.flow.block_of(position), position, self.flow.instructions
        for _ in range(_BRANCHES):
            if any(reg in insts[i].writes() for i in range(block.start, end)) or len(block.predecessors) != 1:
                break
            before = self.flow.blocks[block.predecessors[0]]
            tests = [i for i in before.range if SCC in insts[i].writes()]
            holds = self._went(before, block)
            if holds is not None and tests:
                since = any(reg in insts[i].writes() for i in range(tests[-1], before.end))
                span = span if since else self._where(tests[-1], reg, span, holds)
            block, end = before, before.end
        return span

    def _went(self, before: control_flow.Block, block: control_flow.Block) -> int | None:
        """SCC on the path from one block to another, where a branch says so."""
        wanted = _CONDITIONS.get(self.flow.instructions[before.end - 1].mnemonic)
        if wanted is None or len(before.successors) != 2:
            return None
        return wanted if block.start != before.end else 1 - wanted

    def _where(self, at: int, reg: Reg, span: Span, holds: int) -> Span:
        """The part of a register's span with which a comparison comes to this."""
        test = self.flow.instructions[at]
        if not test.mnemonic.startswith("s_cmp_") or reg not in test.operands:
            return span
        other = next((o for o in test.operands if o != reg), None)
        number = other.value if isinstance(other, Imm) else None
        held = self._register(at, other) if isinstance(other, Reg) and other.count == 1 else None
        ends = {number} if isinstance(number, int) else {held.low, held.high} if held else set()

        def read(which: Reg, part: Span) -> Span:
            return part if which == reg else held or anything("u32")

        if quotients.in_pieces(self.flow, at + 2) and test.operands[1] == reg and not holds:
            span = Span("u32", max(span.low, 2), span.high)
        kept = [
            p for p in parts(span, ends)
            if written(test, lambda which: read(which, p))[SCC].number in (None, holds)  # noqa: B023
        ]  # fmt: skip
        return functools.reduce(join, kept) if kept else span

    def scc(self, position: int) -> int | None:
        """SCC before an instruction, where it is one number."""
        return self._scc(self.flow.block_of(position), position, frozenset())

    def _scc(self, block: control_flow.Block, end: int, seen: frozenset[int]) -> int | None:
        source = next((i for i in reversed(range(block.start, end)) if SCC in self.flow.instructions[i].writes()), None)
        if source is not None:
            return self._scc_after(source)
        if block.index == 0 or block.index in seen:
            return None
        found = set()
        for before in (self.flow.blocks[number] for number in block.predecessors):
            went = self._went(before, block)
            found.add(self._scc(before, before.end, seen | {block.index}) if went is None else went)
        return found.pop() if len(found) == 1 else None

    def _scc_after(self, source: int) -> int | None:
        inst, before = self.flow.instructions[source], self.flow.instructions[source - 1]
        if (inst.mnemonic, before.mnemonic) == ("s_sub_u32", "s_max_u32"):
            (most, *some), (_, more, less) = before.operands, inst.operands
            if more == most != less and less in some:
                return 0  # the lesser one is taken away
        if inst.mnemonic == "s_add_u32" and self._counted(source) is not None:
            return 0
        if inst.mnemonic == "s_sub_u32" and self._not_less(source, inst.operands[1:]):
            return 0
        if (
            inst.mnemonic == "s_sub_u32"
            and quotients.piece(self.flow, source - 1)
            and inst.operands[2] == before.operands[1]
        ):
            return 0  # the piece ends after it begins
        step = self._terms_after(source, inst)
        scc = step[index(SCC)] if step else None
        return scc.const if scc is not None and scc.is_const else None

    def _not_less(self, position: int, pair: tuple[Operand, ...]) -> bool:
        """Whether the only path to there is by a branch that says that the first of two registers is not the lesser."""
        block, insts = self.flow.block_of(position), self.flow.instructions
        if len(block.predecessors) != 1:
            return False
        before = self.flow.blocks[block.predecessors[0]]
        tests = [i for i in before.range if SCC in insts[i].writes()]
        if not tests or insts[tests[-1]].operands != pair:
            return False
        passed = [*range(tests[-1], before.end), *range(block.start, position)]
        if any(insts[i].writes() & set(pair) for i in passed):
            return False
        return (insts[tests[-1]].mnemonic, self._went(before, block)) in (("s_cmp_lt_u32", 0), ("s_cmp_ge_u32", 1))

    def _written(self, source: int, reg: Reg) -> Span:
        """What a register can hold after an instruction that writes it, or as the wave begins."""
        if source == defuse.ENTRY:
            most = self.threads if reg == v(0) else self._groups.get(reg)
            return anything("u32") if most is None else Span("u32", 0, most - 1)
        inst = self._code.instructions[source]
        if inst.desc.access is not None:
            return self._argument(source, inst, reg)
        if inst.desc.exec_masked and not self.lanes.full[source]:
            return anything("u32")
        if (most := self._piece(source)) is not None and inst.operands[0] == reg:
            return Span("u32", 0, most)
        if (known := self._counted(source)) is not None and inst.operands[0] == reg:
            return known
        return self._leaves(source, inst).get(reg, anything("u32"))

    @cached_property
    def _groups(self) -> dict[Reg, int]:
        """The SGPRs that a wave begins with a workgroup's numbers in, and how many there are at most."""
        found: dict[Reg, int] = {}
        if self.groups is not None:
            at = self.kernel.directive("user_sgpr_count")
            for axis, most in zip("xy", self.groups, strict=True):
                if self.kernel.directive(f"system_sgpr_workgroup_id_{axis}"):
                    found[s(at + len(found))] = most
        return found

    def _counted(self, position: int) -> Span | None:
        """What an instruction of a stream-K kernel leaves that counts tiles, K blocks or workgroups, as `isa.gemm.work`
        keeps them: below 2^30, 2^31 and 2^31."""
        inst, before = self.flow.instructions[position], self.flow.instructions[position - 1]
        if not self.reciprocals or inst.mnemonic not in ("s_mul_i32", "s_add_u32"):
            return None
        if inst.mnemonic == "s_add_u32":  # the workgroup's number, y across + x
            target, x, y = inst.operands
            if before.mnemonic != "s_mul_i32" or not before.operands[0] == before.operands[1] == y or target != x:
                return None
            return Span("u32", 0, (1 << 31) - 1) if self._given(position, x) and self._given(position - 1, y) else None
        if (found := quotients.in_pieces(self.flow, position)) is not None:
            return Span("u32", 0, (1 << 31) - 1 - self._register(position, found["d"]).low)
        if all(self._rounded(position, o) for o in inst.operands[1:]):
            return Span("u32", 1, (1 << 30) - 1)
        return None

    def _given(self, position: int, operand: Operand) -> bool:
        """Whether a register holds there what the wave begins with in it or, by a move, in another one."""
        if not isinstance(operand, Reg):
            return False
        (source, *others) = self._chains.defs_of(position, operand)
        if others or source == defuse.ENTRY:
            return not others
        inst = self.flow.instructions[source]
        return inst.mnemonic == "s_mov_b32" and self._given(source, inst.operands[1])

    def _rounded(self, position: int, operand: Operand) -> bool:
        """Whether it is a size in tiles, there."""
        if not isinstance(operand, Reg):
            return False
        (source, *others) = self._chains.defs_of(position, operand)
        return not others and source >= 0 and quotients.blocks(self.flow, source) is not None

    def _piece(self, position: int) -> int | None:
        """The largest number that this instruction leaves, where it finds the first K block of a piece, or what is left
        over of a division by the host's reciprocal (`quotients`)."""
        found, first = quotients.piece(self.flow, position), position - 7
        if found is None:
            found, first = quotients.remainder(self.flow, position), position - 6
        return self._register(first + 1, found["d"]).high - 1 if found and self._divides(found, first) else None

    def division(self, position: int) -> dict[str, Reg] | None:
        """The registers of a division by the host's reciprocal, where its first remainder is left there."""
        found = quotients.quotient(self.flow, position)
        return found if found is not None and self._divides(found, position - 2) else None

    def _divides(self, found: Mapping[str, Reg], first: int) -> bool:
        """Whether the product there is one by the reciprocal of what the instruction after it takes for the divisor."""
        given = self._offset_of(first, found["by"])
        (source, *others) = self._chains.defs_of(first + 1, found["d"])
        if others or source < 0 or given is None or given not in self.reciprocals:
            return False
        if (known := quotients.blocks(self.flow, source)) is not None:
            begin, size, step = known
            at = self._offset_of(begin, size)
        else:  # an argument itself
            at, step = self._offset(source, self.flow.instructions[source], found["d"]), 1
        if at is None or self.reciprocals[given] != (at, step):
            return False
        return self.sizes.get(at, (0, 1 << 32))[1] + step <= 1 << 32  # rounded up, it might wrap

    def _offset_of(self, position: int, reg: Reg) -> int | None:
        """The offset of the argument that is read there."""
        (source, *others) = self._chains.defs_of(position, reg)
        return None if others or source < 0 else self._offset(source, self.flow.instructions[source], reg)

    def _argument(self, source: int, inst: Instruction, reg: Reg) -> Span:
        """A size, where a scalar load takes it from the arguments."""
        at = self._offset(source, inst, reg)
        return anything("u32") if at is None or at not in self.sizes else Span("u32", *self.sizes[at])

    def _offset(self, source: int, inst: Instruction, reg: Reg) -> int | None:
        """Of the argument that a scalar load puts into a register."""
        access = inst.desc.access
        if access is None or access.space != "scalar" or access.buffer or len(inst.operands) != 3:
            return None
        target, base, offset = inst.operands
        if not isinstance(target, Reg) or not isinstance(base, Reg) or tuple(base.units()) != _POINTER:
            return None
        given = all(self._chains.defs_of(source, unit) == {defuse.ENTRY} for unit in _POINTER)
        if not given or not isinstance(offset, Imm) or not isinstance(offset.value, int) or inst.modifiers:
            return None
        return offset.value + 4 * list(target.units()).index(reg)


def _pure(inst: Instruction) -> bool:
    """Whether it does nothing but write registers."""
    return not any(half.desc.access or half.desc.effect for half in inst.halves)


def _turned(original: Instruction, changed: Instruction, names: Collection[str]) -> bool:
    """Whether nothing differs but the order of the sources of these, multiplications or sums."""
    if original == changed or len(original.halves) != len(changed.halves):
        return False
    for a, b in zip(original.halves, changed.halves, strict=True):
        if (a.mnemonic, a.modifiers) != (b.mnemonic, b.modifiers) or len(a.operands) != len(b.operands):
            return False
        if a.operands == b.operands:
            continue
        if lookup(a).name not in names or a.modifiers:
            return False
        target, x, y, *more = a.operands
        if b.operands != (target, y, x, *more):
            return False
    return True
