"""Finding a GEMM's inner loop: a column of A times a row of B, both read from LDS, added to accumulators.

What is sought is found from data flow alone. The loop is the innermost one with the most FMAs. Its FMAs must all be
`accumulator += x * y` with x and y words that this iteration loaded from LDS. Addresses, as polynomials, fall into two
streams: words of one stream differ by constants. The stream of fewer words is the column, the other the row; words are
numbered by their address. All products column x row must be there, each once, each with an accumulator of its own.

Beside this the loop may hold waits, hints, address arithmetic and its own control, and nothing else. It must be one
basic block. An IsaError names the line, what was sought and what was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isa.algebra.term import Term
from isa.analysis import cfg as flow_graph
from isa.analysis import inner
from isa.analysis.cfg import Block, Cfg, Loop
from isa.asm.program import Kernel
from isa.display import number_of
from isa.errors import IsaError
from isa.passes.symbolic import flow
from isa.passes.symbolic.poly import Poly
from isa.passes.symbolic.symbolic import PolynomialMachine
from isa.registers import Reg
from isa.semantics.instruction import Instruction, lookup
from isa.semantics.waits import parse_wait, wait_text

_FMA = frozenset({"v_fmac_f32", "v_fma_f32"})


@dataclass(frozen=True)
class Stream:
    """Words at `base` + offsets (bytes, ascending), `base` a polynomial at the head of an iteration without constant
    term; each iteration goes `step` bytes on. `even` holds the offsets known to be multiples of 8 in all."""

    base: Poly
    offsets: tuple[int, ...]
    step: int
    even: frozenset[int]


@dataclass(frozen=True)
class OuterProduct:
    """A GEMM's inner loop.

    loop, nest:    the loop, and the outermost one around it (itself where there is none).
    entry, head:   what registers hold when the kernel, and an iteration, begins.
    accumulators:  (word of the column, word of the row) -> register.
    fmas, loads:   positions of the FMA instructions and of the LDS loads.
    control:       positions of what decides whether the loop goes on, its branch last.
    """

    cfg: Cfg
    loop: Loop
    nest: Loop
    entry: PolynomialMachine
    head: PolynomialMachine
    column: Stream
    row: Stream
    accumulators: dict[tuple[int, int], Reg]
    fmas: tuple[int, ...]
    loads: tuple[int, ...]
    control: tuple[int, ...]

    @property
    def positions(self) -> range:
        return self.cfg.blocks[self.loop.header].range


def is_fma(inst: Instruction) -> bool:
    return lookup(inst).name in _FMA


def find(kernel: Kernel, tile: tuple[int, int]) -> OuterProduct:
    """The inner loop of `kernel`, whose tile (words of column and row) must be `tile`. IsaError where it is not so."""
    cfg = flow_graph.of_kernel(kernel)
    loop = most_fmas(kernel, cfg)
    nest = outermost(cfg, loop)
    _refuse_spills(kernel, cfg, nest)
    count = sum(map(inner.fmas, inner.body(cfg, loop)))
    if count != tile[0] * tile[1]:
        raise first_instruction(cfg, loop).error(
            f"the inner loop {flow.name_of(cfg, loop)} is not that of a thread tile of {tile[0]} x {tile[1]}",
            expected=f"{tile[0] * tile[1]} fp32 FMAs: a column of {tile[0]} times a row of {tile[1]}",
            got=f"{number_of(count, 'FMA')}",
            hint="{rows=R columns=C} after the pass selects another tile; or compile it with -O3, from a source "
            "with its inner loops unrolled",
        )
    one_block(cfg, loop)
    return _Reader(cfg, loop, nest, flow.entry(kernel), tile).read()


def most_fmas(kernel: Kernel, cfg: Cfg) -> Loop:
    """The loop with the most fp32 FMAs. IsaError where none has any."""
    best = inner.main_loop(cfg)
    if best is None:
        raise IsaError(
            f"kernel {kernel.name} has no inner loop that multiplies and adds",
            span=kernel.program.span(kernel.start),
            expected="a loop with fp32 FMAs on registers",
            got=f"{number_of(len(cfg.loops), 'loop')}, none with an FMA",
        )
    return best


def outermost(cfg: Cfg, loop: Loop) -> Loop:
    """The outermost loop around `loop`, itself where there is none."""
    while loop.parent is not None:
        loop = cfg.loops[loop.parent]
    return loop


def first_instruction(cfg: Cfg, loop: Loop) -> Instruction:
    return cfg.instructions[cfg.blocks[loop.header].start]


def one_block(cfg: Cfg, loop: Loop) -> None:
    """IsaError unless the loop is one basic block."""
    if len(loop.blocks) > 1:
        raise first_instruction(cfg, loop).error(
            f"the inner loop {flow.name_of(cfg, loop)} is not one basic block",
            expected="one basic block that branches back to itself",
            got=f"{number_of(len(loop.blocks), 'block')}",
        )


def entering(cfg: Cfg, loop: Loop) -> Block:
    """The one block before a loop, from which control goes nowhere else. IsaError where it is not so."""
    outside = [p for p in cfg.blocks[loop.header].predecessors if p not in loop.blocks]
    if len(outside) != 1 or len(cfg.blocks[outside[0]].successors) != 1:
        raise first_instruction(cfg, loop).error(
            f"there is more than one entry to the loop {flow.name_of(cfg, loop)}, or around it",
            expected="one block before it that leads only there",
            got=f"{number_of(len(outside), 'block')} before it",
        )
    return cfg.blocks[outside[0]]


def end_line(cfg: Cfg, block: Block) -> int:
    """The line before which code at the end of a block goes: its branch, or the line after its last instruction."""
    last = cfg.instructions[block.end - 1]
    return cfg.lines[block.end - 1] + (not last.desc.is_branch)


def leaving_line(cfg: Cfg, loop: Loop) -> int:
    """The line where only the exit of a loop passes: after its branch, before the label that follows."""
    if len(loop.exits) != 1 or cfg.blocks[loop.exits[0][0]].end != cfg.blocks[loop.exits[0][1]].start:
        raise first_instruction(cfg, loop).error(
            f"the loop {flow.name_of(cfg, loop)} has an exit other than the branch at its end",
            got=f"{len(loop.exits)} exits",
        )
    return cfg.lines[cfg.blocks[loop.exits[0][0]].end - 1] + 1


def _refuse_spills(kernel: Kernel, cfg: Cfg, nest: Loop) -> None:
    for i in cfg.positions(nest):
        inst = cfg.instructions[i]
        if inst.desc.access and inst.desc.access.space == "scratch":
            size = kernel.directive("private_segment_fixed_size")
            raise inst.error(
                "the main loop keeps registers in scratch memory: the compiler spilled",
                expected="all accumulators in VGPRs",
                got=f"{size} bytes of scratch a thread",
                hint="build with more VGPRs a thread, or with clang 19 or newer",
            )


class _Reader:
    """Reads one loop body; see the module's docstring for the rules."""

    def __init__(self, cfg: Cfg, loop: Loop, nest: Loop, entry: PolynomialMachine, tile: tuple[int, int]) -> None:
        self.cfg, self.loop, self.nest, self.entry, self.tile = cfg, loop, nest, entry, tile
        self.head = flow.arrive(cfg, entry, loop.header)
        self.positions = list(cfg.blocks[loop.header].range)
        self.products: dict[Reg, tuple[Term, Term]] = {}
        self.fmas: list[int] = []
        self.loads: list[int] = []

    def read(self) -> OuterProduct:
        machine = self.head.copy()
        machine.loads.clear()
        for i in self.positions:
            inst = self.cfg.instructions[i]
            if any(is_fma(half) for half in inst.halves):
                self._fma(machine, i, inst)
            elif inst.desc.access:
                self._load(i, inst)
            elif inst.desc.is_wait or inst.desc.is_internal:
                self._wait(inst)
            machine.run(inst)
        streams = self._streams(machine)
        control = self._control()
        self._nothing_else(control)
        column, row = streams
        accumulators = self._accumulators(machine, column, row)
        return OuterProduct(
            self.cfg,
            self.loop,
            self.nest,
            self.entry,
            self.head,
            self._stream(machine, *column),
            self._stream(machine, *row),
            accumulators,
            tuple(self.fmas),
            tuple(self.loads),
            control,
        )

    def _fma(self, machine: PolynomialMachine, position: int, inst: Instruction) -> None:
        self.fmas.append(position)
        for half in inst.halves:
            desc = lookup(half)
            if not is_fma(half):
                raise inst.error("half of a pair in the inner loop is not an FMA", got=half.mnemonic)
            target, *sources = (o for _, o in desc.roles_of(half))
            if desc.name == "v_fma_f32" and sources.pop() != target:
                raise inst.error("an FMA that does not add to its own destination", expected="v_fmac_f32")
            words = []
            for source in sources:
                atom = machine[source].atom if isinstance(source, Reg) else None
                if atom is None or atom not in machine.loads:
                    raise inst.error(
                        "an FMA whose factor was not loaded from LDS in the same iteration",
                        expected="two words of a column and a row in LDS",
                        got=str(source),
                    )
                words.append(atom)
            assert isinstance(target, Reg)
            if target in self.products:
                raise inst.error(f"the accumulator {target} is updated twice in one iteration")
            self.products[target] = (words[0], words[1])

    def _load(self, position: int, inst: Instruction) -> None:
        access = inst.desc.access
        assert access
        if (access.space, access.kind) != ("lds", "load") or access.element not in ("b32", "b64", "b128"):
            raise inst.error(
                "the inner loop accesses memory other than by loading words from LDS",
                expected="ds_load_b32, b64 or b128 and their 2addr forms",
            )
        self.loads.append(position)

    def _wait(self, inst: Instruction) -> None:
        counters = inst.family.raised["lds_load"]
        of_results = inst.mnemonic == inst.family.results_wait
        if inst.desc.is_wait and not of_results and parse_wait(inst).keys() != set(counters):
            expected = f"{wait_text(inst.family, dict.fromkeys(counters, 0))}, or another number"
            raise inst.error("the inner loop waits for more than its LDS loads", expected=expected)

    def _streams(self, machine: PolynomialMachine) -> tuple[tuple[Poly, set[int]], tuple[Poly, set[int]]]:
        """(base, offsets) of the column and of the row."""
        found: dict[Poly, set[int]] = {}
        for atom in {a for pair in self.products.values() for a in pair}:
            base, offset = word_address(machine, atom)
            found.setdefault(base, set()).add(offset)
        streams = sorted(found.items(), key=lambda s: len(s[1]))
        sizes = [len(offsets) for _, offsets in streams]
        if len(streams) != 2 or tuple(sizes) != tuple(sorted(self.tile)):
            raise self.cfg.instructions[self.loads[0]].error(
                f"the words that the inner loop multiplies are not a column of {self.tile[0]} and a row of "
                f"{self.tile[1]}",
                expected="two sequences of LDS addresses that differ by constants",
                got=", ".join(
                    f"{n} words at {base} + {sorted(o)}" for (base, o), n in zip(streams, sizes, strict=True)
                ),
            )
        # A square tile: the factor that comes first in the FMAs is the column's.
        first = next(iter(self.products.values()))[0]
        if sizes[0] == sizes[1] and word_address(machine, first)[0] != streams[0][0]:
            streams.reverse()
        return streams[0], streams[1]

    def _accumulators(
        self, machine: PolynomialMachine, column: tuple[Poly, set[int]], row: tuple[Poly, set[int]]
    ) -> dict[tuple[int, int], Reg]:
        numbers = [{offset: k for k, offset in enumerate(sorted(s[1]))} for s in (column, row)]
        result: dict[tuple[int, int], Reg] = {}
        for register, words in self.products.items():
            places = dict(word_address(machine, a) for a in words)
            if set(places) != {column[0], row[0]}:
                raise self.cfg.instructions[self.fmas[0]].error(f"{register} accumulates products within one stream")
            key = numbers[0][places[column[0]]], numbers[1][places[row[0]]]
            if key in result:
                raise self.cfg.instructions[self.fmas[0]].error(
                    f"{register} and {result[key]} accumulate the same product",
                    expected="each product of column and row in one accumulator",
                )
            result[key] = register
        return result

    def _stream(self, machine: PolynomialMachine, base: Poly, offsets: set[int]) -> Stream:
        even = set()
        for atom, (inst, _, number) in machine.loads.items():
            where = word_address(machine, atom)
            access = inst.desc.access
            # A load of 8 or 16 bytes is aligned to its size (LLVM forms no other without unaligned access).
            if where[0] == base and access and access.element != "b32" and number % 2 == 0:
                even.add(where[1])
        return Stream(base, tuple(sorted(offsets)), self._step(machine, base), frozenset(even))

    def _step(self, machine: PolynomialMachine, base: Poly) -> int:
        """How far a stream moves in one iteration: the step of each loop-carried register in its address."""
        carried = {term: reg for reg, term in self.head.registers.items()}
        total = 0
        for monomial, factor in base.terms.items():
            for atom in monomial:
                register = carried.get(atom)
                change = (machine[register] - self.head[register]).value if register else 0
                if change is None or (change and len(monomial) > 1):
                    raise self.cfg.instructions[self.loads[0]].error(
                        "an LDS address of the inner loop does not advance by a constant", got=str(base)
                    )
                total += factor * change
        return total

    def _control(self) -> tuple[int, ...]:
        """What the branch's condition depends on within the loop, over iterations too."""
        branch = self.positions[-1]
        needed = set(self.cfg.instructions[branch].reads())
        kept = {branch}
        while True:
            before = len(kept)
            for i in reversed(self.positions):
                if self.cfg.instructions[i].writes() & needed and i not in kept:
                    kept.add(i)
                    needed |= self.cfg.instructions[i].reads()
            if len(kept) == before:
                break
        for i in sorted(kept):
            inst = self.cfg.instructions[i]
            if not (inst.desc.is_salu or inst.desc.is_branch):
                raise inst.error("the inner loop's end is not decided by scalar arithmetic alone")
        return tuple(sorted(kept))

    def _nothing_else(self, control: Iterable[int]) -> None:
        known = {*control, *self.fmas, *self.loads}
        for i in self.positions:
            inst = self.cfg.instructions[i]
            desc = inst.desc
            ignored = desc.is_wait or desc.is_internal
            arithmetic = desc.is_salu or (desc.is_valu and not desc.is_trans)
            if i not in known and not ignored and (not arithmetic or desc.effect):
                raise inst.error(
                    "an instruction that does not belong in the inner loop of a GEMM",
                    expected="LDS loads, FMAs, address arithmetic and the loop's own control",
                )


def word_address(machine: PolynomialMachine, atom: Term) -> tuple[Poly, int]:
    """(address without constant term, constant) of a word that an LDS load gave."""
    _, address, number = machine.loads[atom]
    return address.without_constant(), address.constant + 4 * number
