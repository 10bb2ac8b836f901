"""Kernel 8: global loads from SGPR bases, two in each step of the unrolled inner loop.

The main loop loads the next tile of A and B from 64-bit vector addresses that take dozens of vector instructions. As
polynomials (see `symbolic`) these addresses fall apart into

    base     uniform and the same in each iteration: pointer, kernel arguments, workgroup number
    lane     differs by lane, the same in each iteration: multiples of parts of the thread number
    moving   a uniform factor times a scalar that the loop changes, the number of the tile

Loads with equal lane and moving parts, all those of one matrix, share one VGPR with lane + moving as a byte offset, and
each has its base in a pair of SGPRs: `global_load_b32 v, offset, s[base]`. The bases are computed once, at the kernel's
entry, with 64-bit arithmetic from its own arguments, so any size does. Each iteration moves the offset on by what its
scalar moved: nothing, where the compiler's code chose to read the last tile again.

The prologue loads the first tile from addresses of the same form, with the scalar at 0: they become the same kind of
load. The vector address arithmetic is then dead and goes.

With the option `bases` the moving part is added to the bases, in 64 bits by the SALU before each load, and the VGPR
holds the lane part alone: then what the offset may reach does not depend on the number of tiles.

Limit: the offset is 32 bits without sign, and the compiler's own index arithmetic, which is now done with 64 bits, was
32 bits with sign. So lane + moving must stay below 2**32 bytes: for B of K x N floats and 8 rows a tile,
4 * (N * (K - 8) + 127) < 2**32, which 2**30 elements keep; A's offset stays below 4 * 16 * K.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from isa.algebra.ranges import Monomial
from isa.analysis import cfg as flow_graph
from isa.analysis import liveness
from isa.analysis.cfg import Cfg, Loop
from isa.asm.emit import instruction_line
from isa.asm.program import Kernel, Line, Program
from isa.errors import IsaError
from isa.passes.edit import Edit, instruction_lines, remove_dead, render, render_text
from isa.passes.gemm import outer_product
from isa.passes.symbolic import flow
from isa.passes.symbolic.poly import Poly
from isa.passes.symbolic.scalar_code import EntryCode, take_pair
from isa.passes.words import in_words, text_in_words
from isa.registers import SCC, SGPR_LIMIT, Reg
from isa.semantics.instruction import Instruction
from isa.semantics.waits import parse_wait

_SUMS = 4
"""Pairs of SGPRs that loads take turns with, where what moves is added to the bases."""


@dataclass(frozen=True)
class BatchLoads:
    """Gives the main loop's global loads SGPR bases and spreads them over its steps.

    per_step: how many loads go into each step of the loop, after its LDS loads.
    bases:    the moving part is added to the bases, in 64 bits and before each load, and not to the offsets.
    vgprs, sgprs: how many the kernel may use; kernel: which one, of several.

    Requires:   an unrolled main loop of one basic block; global loads in it whose addresses are sums as above; nothing
                between their old and new places that waits for them or touches their destinations.
    Guarantees: the same loads in the same order, no 64-bit vector address arithmetic for them in the loop, one VGPR of
                offsets a matrix, advanced once an iteration; or with `bases`, never.
    Leaves alone: what is loaded, waits, barriers, everything that is not address arithmetic.
    """

    name: ClassVar[str] = "batch-loads"
    per_step: int = 2
    bases: bool = False
    vgprs: int = 240
    sgprs: int = SGPR_LIMIT
    kernel: str = ""

    def run(self, program: Program) -> Program:
        kernel = program.kernel(self.kernel or None)
        cfg = flow_graph.of_kernel(kernel)
        loop = outer_product.most_fmas(kernel, cfg)
        outer_product.one_block(cfg, loop)
        loads = _Loads(kernel, cfg, loop)
        plan = _Registers(cfg, loop, loads, self)
        edit = Edit(kernel)
        edit.insert(cfg.lines[0], plan.entry_text())
        edit.insert(*plan.advance_text())
        for i in loads.moved:
            edit.remove([cfg.lines[i]])
        for line, batch in self._places(cfg, loop, loads.moved):
            edit.insert(line, [line for i in batch for line in plan.moved_load(i)])
        for i in loads.first_tile:
            edit.remove([cfg.lines[i]])
            edit.insert(cfg.lines[i], [instruction_line(plan.load(i))])
        return remove_dead(edit.apply().kernel(kernel.name))

    def _places(self, cfg: Cfg, loop: Loop, moved: list[int]) -> Iterator[tuple[int, list[int]]]:
        """(line to insert before, loads): after the LDS loads of each step."""
        steps = _step_ends(cfg, loop)
        each = max(self.per_step, -(-len(moved) // len(steps)))
        for k, end in enumerate(steps):
            batch = moved[k * each : (k + 1) * each]
            for i in batch:
                _may_move(cfg, i, end, set(moved))
            if self.bases and batch and SCC in liveness.analyse(cfg).live_out(end):
                raise cfg.instructions[end].error("SCC is in use where a base address must be computed")
            if batch:
                yield cfg.lines[end] + 1, batch


@dataclass
class _Group:
    """Loads that share an offset. `factor` times `counter` moves; `bases` by position of the load."""

    lane: Poly
    factor: Poly
    counter: Poly
    bases: dict[int, Poly] = field(default_factory=dict)


class _Loads:
    """The global loads of the loop and of the prologue, by group. `head`: the machine when an iteration begins."""

    def __init__(self, kernel: Kernel, cfg: Cfg, loop: Loop) -> None:
        self.cfg, self.loop = cfg, loop
        self.entry = flow.entry(kernel)
        self.groups: list[_Group] = []
        self.moved: list[int] = []
        self.first_tile: list[int] = []
        self.head = flow.arrive(cfg, self.entry, loop.header)
        machine = self.head.copy()
        for i in cfg.blocks[loop.header].range:
            inst = cfg.instructions[i]
            if _is_global_load(inst):
                self._add(i, machine.address(inst))
            machine.run(inst)
        if not self.moved:
            raise outer_product.first_instruction(cfg, loop).error(
                "the main loop has no global loads", expected="global_load_b32 from 64-bit vector addresses"
            )
        self._find_first_tile()

    def _add(self, position: int, address: Poly) -> None:
        inst = self.cfg.instructions[position]
        base, lane, moving = _parts(inst, address)
        factor, counter = _factored(inst, moving)
        for group in self.groups:
            if (group.lane, group.factor, group.counter) == (lane, factor, counter):
                break
        else:
            group = _Group(lane, factor, counter)
            self.groups.append(group)
        group.bases[position] = base
        self.moved.append(position)

    def _find_first_tile(self) -> None:
        """Loads before the loop from the same places, with the counter at 0."""
        cfg = self.cfg
        bases = {(g.lane, base): (g, i) for g in self.groups for i, base in g.bases.items()}
        for block in cfg.order:
            if block in self.loop.blocks or not cfg.dominates(block, self.loop.header):
                continue
            machine = flow.arrive(cfg, self.entry, block)
            for i in cfg.blocks[block].range:
                inst = cfg.instructions[i]
                if _is_global_load(inst):
                    address = machine.address(inst)
                    lane = Poly({m: c for m, c in address.terms.items() if not all(a.uniform for a in m)})
                    if (found := bases.get((lane, address - lane))) is not None:
                        found[0].bases[i] = address - lane
                        self.first_tile.append(i)
                machine.run(inst)


class _Registers:
    """Which registers hold bases and offsets, and the instructions that fill them."""

    def __init__(self, cfg: Cfg, loop: Loop, loads: _Loads, options: BatchLoads) -> None:
        self.cfg, self.loop, self.loads, self.by_base = cfg, loop, loads, options.bases
        self.live = liveness.analyse(cfg)
        until = range(cfg.blocks[loop.header].end)
        self.vectors = self.live.free(until, "v", options.vgprs)
        self.scalars = self.live.free(until, "s", options.sgprs)
        groups = loads.groups
        self.bases: dict[tuple[int, Poly], Reg] = {}
        for g, group in enumerate(groups):
            for base in dict.fromkeys(group.bases.values()):
                self.bases[g, base] = self._take_pair()
        self.offsets = [self._take_vector() for _ in groups]
        counters = dict.fromkeys(g.counter for g in groups)
        if len(counters) != 1:
            raise outer_product.first_instruction(cfg, loop).error(
                "the main loop's global loads do not all advance with one scalar", got=", ".join(map(str, counters))
            )
        self.counter = next(iter(counters))
        self.moved = None if self.by_base else self._take_scalar()
        self.previous = None if self.by_base else self._take_scalar()
        self.products = [self._take_scalar() for _ in groups]
        self.high = [self._take_scalar() for _ in groups if self.by_base]
        self.sums = [self._take_pair() for _ in range(_SUMS) if self.by_base]
        self.factors: list[Reg | int] = []
        for group in groups:
            value = group.factor.value
            self.factors.append(self._take_scalar() if value is None else value)

    def _take_scalar(self) -> Reg:
        if not self.scalars:
            raise self._too_many("SGPRs")
        return self.scalars.pop(0)

    def _take_vector(self) -> Reg:
        if not self.vectors:
            raise self._too_many("VGPRs")
        return self.vectors.pop(0)

    def _take_pair(self) -> Reg:
        pair = take_pair(self.scalars)
        if pair is None:
            raise self._too_many("SGPRs")
        return pair

    def _too_many(self, what: str) -> IsaError:
        loads = len(self.loads.moved)
        return outer_product.first_instruction(self.cfg, self.loop).error(
            f"too few {what} are free for {loads} base addresses, their offsets and their step",
            hint="allow the pass more of them, or batch fewer loads",
        )

    def load(self, position: int) -> Instruction:
        """The load at `position` with its new address."""
        inst = self.cfg.instructions[position]
        for g, group in enumerate(self.loads.groups):
            if position in group.bases:
                operands = (inst.operands[0], self.offsets[g], self.bases[g, group.bases[position]])
                modifiers = tuple(m for m in inst.modifiers if m[0] != "offset")
                return dataclasses.replace(inst, operands=operands, modifiers=modifiers)
        raise AssertionError(position)

    def moved_load(self, position: int) -> list[Line]:
        """The load in the loop, and what it needs before it."""
        load = self.load(position)
        if not self.by_base:
            return [instruction_line(load)]
        base = load.operands[2]
        assert isinstance(base, Reg)
        g = next(g for g, group in enumerate(self.loads.groups) if position in group.bases)
        at = self.sums[self.loads.moved.index(position) % _SUMS]
        adds = zip(("s_add_u32", "s_addc_u32"), at.units(), base.units(), (self.products[g], self.high[g]), strict=True)
        texts = [f"{add} {to}, {low}, {high}" for add, to, low, high in adds]
        return [
            *instruction_lines(in_words(load.target, texts)),
            instruction_line(dataclasses.replace(load, operands=(*load.operands[:2], at))),
        ]

    def entry_text(self) -> list[Line]:
        """Bases, offsets and factors, at the kernel's first instruction."""
        at_entry = self.live.live_in(0)
        own = {u for r in (*self.bases.values(), *self.offsets) for u in r.units()}
        own |= {r for r in (self.previous, *self.factors) if isinstance(r, Reg)}
        scalars = [r for r in self.live.free(0, "s") if r not in at_entry | own]
        vectors = [r for r in self.live.free(0, "v") if r not in at_entry | own]
        code = EntryCode(self.loads.entry, self.cfg.instructions[self.loads.moved[0]], scalars, vectors)
        groups = self.loads.groups
        code.need(p for group in groups for p in (group.lane, group.factor, *group.bases.values()))
        for g, group in enumerate(groups):
            self._fill_bases(code, g)
            code.lane(group.lane, self.offsets[g])
            factor = self.factors[g]
            if isinstance(factor, Reg):
                code.uniform32(group.factor, factor)
        if self.previous is not None:
            code.setup.append(f"s_mov_b32 {self.previous}, 0")
        text = render_text("base_addresses.s.j2", arguments=code.arguments, kernarg=code.kernarg, setup=code.setup)
        return instruction_lines(map(str.strip, text_in_words(self.cfg.instructions[0].target, text).splitlines()))

    def _fill_bases(self, code: EntryCode, g: int) -> None:
        """Each base from the one before it, where they differ by what needs no pointer."""
        bases = list(dict.fromkeys(self.loads.groups[g].bases.values()))
        code.uniform64(bases[0], self.bases[g, bases[0]])
        stride, held = Poly({}), code.pair()
        for last, base in itertools.pairwise(bases):
            if any(a.width == 64 for a in (base - last).atoms()):
                code.uniform64(base, self.bases[g, base])
                continue
            if base - last != stride:
                stride = base - last
                code.uniform64(stride, held)
            code.add64(self.bases[g, base], self.bases[g, last], held)

    def advance_text(self) -> tuple[int, list[Line]]:
        """(line to insert before, text): where an SGPR holds the counter and SCC nothing."""
        cfg = self.cfg
        machine = self.loads.head.copy()
        for i in cfg.blocks[self.loop.header].range:
            machine.run(cfg.instructions[i])
            holder = next(
                (
                    r
                    for r, p in machine.polynomials().items()
                    if r.file == "s" and r.index < SGPR_LIMIT and p == self.counter
                ),
                None,
            )
            if holder and SCC not in self.live.live_out(i):
                return cfg.lines[i] + 1, self._advance(holder)
        raise outer_product.first_instruction(cfg, self.loop).error(
            "no SGPR holds the scalar that the global loads' addresses advance with", got=str(self.counter)
        )

    def _advance(self, counter: Reg) -> list[Line]:
        """The offsets go on as the counter did; or what is to be added to the bases follows it."""
        if self.by_base:
            products = list(zip(self.products, self.high, self.factors, strict=True))
            return render("scaled_counter.s.j2", counter=counter, products=products)
        offsets = list(zip(self.offsets, self.factors, self.products, strict=True))
        return render(
            "advance_offsets.s.j2", counter=counter, previous=self.previous, moved=self.moved, offsets=offsets
        )


def _is_global_load(inst: Instruction) -> bool:
    access = inst.desc.access
    return access is not None and (access.space, access.kind, access.buffer) == ("global", "load", False)


def _parts(inst: Instruction, address: Poly) -> tuple[Poly, Poly, Poly]:
    """(base, lane, moving) of an address."""
    parts: tuple[dict[Monomial, int], ...] = ({}, {}, {})
    for monomial, c in address.terms.items():
        varies = any(a.owners for a in monomial)
        by_lane = not all(a.uniform for a in monomial)
        if varies and by_lane:
            raise inst.error(
                "the address of a global load changes in the loop by a different amount in each lane",
                expected="base + lane + factor * scalar counter",
                got=str(address),
            )
        parts[2 if varies else 1 if by_lane else 0][monomial] = c
    base, lane, moving = (Poly(p) for p in parts)
    return base, lane, moving


def _factored(inst: Instruction, moving: Poly) -> tuple[Poly, Poly]:
    """(factor, counter): moving = factor * counter with a factor that does not change and one atom as the counter."""
    changing = {a for a in moving.atoms() if a.owners}
    if len(changing) != 1 or any(sum(a in changing for a in m) != 1 for m in moving.terms):
        raise inst.error(
            "the address of a global load does not advance with one scalar of the loop",
            expected="base + lane + factor * scalar counter",
            got=str(moving),
        )
    counter = changing.pop()
    factor = Poly({tuple(a for a in m if a != counter): c for m, c in moving.terms.items()})
    return factor, Poly.of(counter)


def _step_ends(cfg: Cfg, loop: Loop) -> list[int]:
    """The position of the last LDS load of each step."""
    ends: list[int] = []
    for i in cfg.blocks[loop.header].range:
        access = cfg.instructions[i].desc.access
        if access and (access.space, access.kind) == ("lds", "load"):
            if ends and all(cfg.instructions[k].desc.access for k in range(ends[-1], i)):
                ends.pop()
            ends.append(i)
    if not ends:
        raise outer_product.first_instruction(cfg, loop).error("the main loop has no LDS loads")
    return ends


def _may_move(cfg: Cfg, old: int, new: int, others: set[int]) -> None:
    """IsaError where something between the old and the new place of a load touches its destination, or counts loads."""
    load = cfg.instructions[old]
    if new < old:
        raise load.error("a global load is after the step that it should move to")
    for i in range(old + 1, new + 1):
        inst = cfg.instructions[i]
        if i in others:
            continue
        if load.writes() & (inst.reads() | inst.writes()):
            raise inst.error(f"this prevents moving a global load into {', '.join(map(str, load.writes()))}")
        if {*parse_wait(inst), *inst.counters} & {*load.counters} or inst.desc.is_barrier:
            raise inst.error("this instruction prevents moving a global load down", got=str(inst))
