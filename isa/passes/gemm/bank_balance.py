"""Kernel 6: the inner loop on registers whose banks never collide, in dual FMAs only.

The loop that `outer_product` found is rewritten; `isa.outer_product.fma_order` says in which order. What it needs
and gives:

    column (A)     pairs of registers on banks 2 and 3, each filled by one ds_load_b64
    row (B)        pairs on banks 0 and 1
    accumulators   on banks 1, 2, 3, 0, 1, ... in the order in which they are written

Accumulators start at zero, so before the loop nest their places need not be exchanged: only a register that was none
before is cleared. After the nest they return to where the rest of the kernel expects them. An accumulator that lies
on the right bank stays there; the others change places in cycles, mostly of two, each an exchange (v_swap_b32).

Registers are chosen among those that hold nothing: for accumulators over the whole nest, for column, row and LDS
addresses over the inner loop. Everything outside of the inner loop keeps the registers that the compiler gave it.

Parallel moves: a permutation of registers -> the swaps that perform it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

from isa.analysis import liveness, regset
from isa.asm.program import Program
from isa.errors import IsaError
from isa.outer_product import text
from isa.outer_product.fma_order import BANKS, COLUMN_BANK, ROW_BANK, schedule, turning
from isa.outer_product.text import KStep, Words
from isa.passes.edit import Edit, instruction_lines, render
from isa.passes.gemm import outer_product
from isa.passes.gemm.outer_product import OuterProduct, Stream
from isa.passes.symbolic import flow
from isa.passes.symbolic.poly import Poly
from isa.passes.words import in_words
from isa.registers import VGPR_LIMIT, Reg
from isa.semantics.instruction import Instruction


@dataclass(frozen=True)
class BankBalance:
    """Rewrites the inner loop of a GEMM so that every dual FMA reads four banks.

    rows, columns: the thread tile that is expected, words of A's column and of B's row.
    vgprs:         how many VGPRs the kernel may use; up to 240 leaves room for 6 waves a SIMD.
    kernel:        which one, of several.

    Requires:   an inner loop as `outer_product` describes it, accumulators that start at zero and that nothing else in
                the loop nest touches, one exit of the nest, and LDS words that were loaded by twos or more.
    Guarantees: the loop holds (rows * columns / 2) dual FMAs and no single one, (rows + columns) / 2 ds_load_b64; in
                each pair the four sources lie in four banks and src0 and src1 of X and Y differ in parity. Each
                accumulator adds up the same products in the same order.
    Leaves alone: everything outside of the inner loop, but for what is added before and after it.
    """

    name: ClassVar[str] = "bank-balance"
    rows: int = 8
    columns: int = 16
    vgprs: int = 240
    kernel: str = ""

    def run(self, program: Program) -> Program:
        kernel = program.kernel(self.kernel or None)
        product = outer_product.find(kernel, (self.rows, self.columns))
        plan = _Plan(product, self.vgprs)
        cfg = product.cfg
        edit = Edit(kernel)
        into_nest = outer_product.entering(cfg, product.nest)
        into_loop = outer_product.entering(cfg, product.loop)
        edit.insert(outer_product.end_line(cfg, into_nest), render("moves.s.j2", moves=[], zero=plan.to_clear))
        for register, terms in plan.address_setup:
            edit.insert(
                outer_product.end_line(cfg, into_loop), render("lds_address.s.j2", register=register, terms=terms)
            )
        first, last = product.positions[0], product.positions[-1]
        *control, branch = (cfg.instructions[i] for i in product.control)
        beside = [f"v_add_nc_u32_e32 {plan.addresses[s]}, {s.step:#x}, {plan.addresses[s]}" for s in plan.streams]
        body = [*text.group([plan.step], plan.slots, plan.accumulators, [*beside, *map(str, control)]), str(branch)]
        edit.insert(cfg.lines[first], instruction_lines(in_words(cfg.instructions[0].target, body)))
        edit.remove(cfg.lines[i] for i in range(first, last + 1))
        edit.insert(outer_product.leaving_line(cfg, product.nest), render("moves.s.j2", moves=plan.restore, zero=[]))
        return edit.apply()


class _Plan:
    """Which register everything gets, and the text's parts that follow from it."""

    def __init__(self, product: OuterProduct, limit: int) -> None:
        self.product, self.limit = product, limit
        self.cfg = product.cfg
        self.slots = schedule(len(product.column.offsets), len(product.row.offsets))
        self._check_accumulators()
        inner, nest = self._busy()
        self._place_accumulators(nest)
        taken = inner | set(self.accumulators.values())
        free = [v for v in self._all() if v not in taken]
        self._choose_addresses(free)
        self.column = self._pairs(free, COLUMN_BANK, len(product.column.offsets))
        self.row = self._pairs(free, ROW_BANK, len(product.row.offsets))
        self._check_limit()

    def _all(self) -> list[Reg]:
        return [Reg("v", i) for i in range(VGPR_LIMIT)]

    def _first(self) -> Instruction:
        return self.cfg.instructions[self.product.positions[0]]

    def _busy(self) -> tuple[set[Reg], set[Reg]]:
        """Registers that hold something else: within the inner loop, and within the nest."""
        live = liveness.analyse(self.cfg)
        product = self.product
        own = set(product.accumulators.values())
        inside = set(product.positions)
        header = product.positions[0]
        inner = set(live.live_in(header))
        for _, block in product.loop.exits:
            inner |= live.block_in(block)
        for i in product.control:
            inner |= self.cfg.instructions[i].reads() | self.cfg.instructions[i].writes()
        nest = set(inner)
        for i in self.cfg.positions(product.nest):
            if i not in inside:
                nest |= set(regset.members(live.occupied(i)))
        return inner - own, nest - own

    def _check_accumulators(self) -> None:
        """Zero before the nest, and touched in it by the loop's FMAs only."""
        product, cfg = self.product, self.cfg
        own = set(product.accumulators.values())
        for i in cfg.positions(product.nest):
            inst = cfg.instructions[i]
            touched = own & (inst.reads() | inst.writes())
            if touched and i not in product.fmas:
                raise inst.error(f"{min(touched)} is an accumulator that not only the inner loop's FMAs use")
        before = flow.leave(cfg, product.entry, outer_product.entering(cfg, product.nest).index)
        for register in sorted(own):
            if before[register].value != 0:
                raise cfg.instructions[cfg.blocks[product.nest.header].start].error(
                    f"the accumulator {register} does not start at zero", got=str(before[register])
                )

    def _place_accumulators(self, busy: set[Reg]) -> None:
        product = self.product
        order = [(slot.column, slot.row) for pair in self.slots for slot in pair]
        old = [product.accumulators[product_of] for product_of in order]
        banks = [bank for pair in turning(self.slots) for bank in pair]
        spare = [v for v in self._all() if v not in busy and v not in old]
        try:
            new = settle(old, banks, spare)
        except IsaError as e:
            raise self._first().error(e.message) from e
        self.accumulators = dict(zip(order, new, strict=True))
        self.to_clear = sorted(set(new) - set(old))
        self.restore = parallel_moves(zip(old, new, strict=True))

    def _choose_addresses(self, free: list[Reg]) -> None:
        """A VGPR that holds each stream's address when the loop begins, and how it gets there."""
        self.addresses: dict[Stream, Reg] = {}
        self.bias: dict[Stream, int] = {}
        self.address_setup: list[tuple[Reg, list[Reg]]] = []
        head = self.product.head
        live_after = {u for _, b in self.product.loop.exits for u in liveness.analyse(self.cfg).block_in(b)}
        for stream in (self.product.column, self.product.row):
            terms, constant = self._terms(stream.base)
            own = terms[0]
            # The compiler's own running address serves as it is, if the loop alone moves and needs it.
            runs = len(terms) == 1 and own not in live_after and head[own].atom is not None
            moves = any(own in self.cfg.instructions[i].writes() for i in self.product.positions)
            if not (runs and moves):
                own = free.pop(0)
                self.address_setup.append((own, terms))
            self.addresses[stream], self.bias[stream] = own, constant

    def _terms(self, base: Poly) -> tuple[list[Reg], int]:
        """Registers whose sum is `base` at the head of the loop, the VGPR last, and the constant that must be added."""
        head = self.product.head.polynomials()
        vectors = {p.without_constant(): r for r, p in reversed(head.items()) if r.is_vgpr}
        if base in vectors:
            return [vectors[base]], -head[vectors[base]].constant
        for register, poly in head.items():
            rest = (base - poly).without_constant()
            if register.file == "s" and register.index < 106 and poly.terms and rest in vectors:
                vector = vectors[rest]
                return [register, vector], -poly.constant - head[vector].constant
        raise self.cfg.instructions[self.product.loads[0]].error(
            "no two registers hold an LDS address of the inner loop before it begins", got=str(base)
        )

    def _pairs(self, free: list[Reg], bank: int, words: int) -> list[Reg]:
        """`words` registers in pairs that begin on `bank`."""
        found: list[Reg] = []
        have = set(free)
        for register in list(free):
            other = Reg("v", register.index + 1)
            if register.bank == bank and other in have and len(found) < words:
                found += [register, other]
        if len(found) < words:
            raise self._first().error(
                f"too few VGPRs are free in pairs on banks {bank} and {bank + 1}",
                expected=f"{words // 2} pairs",
                got=f"{len(found) // 2}",
            )
        for register in found:
            free.remove(register)
        return found

    def _check_limit(self) -> None:
        used = {*self.column, *self.row, *self.accumulators.values(), *self.addresses.values()}
        highest = max(r.index for r in used)
        if highest >= self.limit:
            raise self._first().error(
                "the inner loop needs too many VGPRs", expected=f"at most {self.limit}", got=f"v{highest}"
            )

    @property
    def streams(self) -> tuple[Stream, Stream]:
        return self.product.column, self.product.row

    @property
    def step(self) -> KStep:
        """The operands, by address."""
        return KStep(self._words(self.product.column, self.column), self._words(self.product.row, self.row))

    def _words(self, stream: Stream, registers: list[Reg]) -> Words:
        offsets = []
        for low, high in zip(stream.offsets[::2], stream.offsets[1::2], strict=True):
            offset = low + self.bias[stream]
            if high != low + 4 or low not in stream.even or not 0 <= offset < 1 << 16:
                raise self.cfg.instructions[self.product.loads[0]].error(
                    "words of the inner loop cannot be loaded in pairs",
                    expected="two adjacent words from one load of 64 or 128 bits",
                    got=f"offsets {low} and {high}",
                )
            offsets.append(offset)
        return Words([Reg("v", r.index, 2) for r in registers[::2]], self.addresses[stream], offsets)


def settle(old: Sequence[Reg], banks: Sequence[int], spare: Iterable[Reg]) -> list[Reg]:
    """A register on banks[i] for each value i that lies in old[i], so that as few values as possible must move.

    A value whose bank is right stays. The others change places in cycles as short as can be, since n values in a cycle
    are n - 1 exchanges; what is left takes a register that others leave, or one of `spare`. IsaError where the spare
    registers do not do.
    """
    result: dict[int, Reg] = {i: reg for i, reg in enumerate(old) if reg.bank == banks[i]}
    waiting: dict[tuple[int, int], list[int]] = {}
    for i, reg in enumerate(old):
        if i not in result:
            waiting.setdefault((reg.bank, banks[i]), []).append(i)
    for length in range(2, BANKS + 1):
        for ring in permutations(range(BANKS), length):
            edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
            while all(waiting.get(edge) for edge in edges):
                members = [waiting[edge].pop(0) for edge in edges]
                # Each takes the place of the one that leaves the bank it must go to.
                for i, j in zip(members, members[1:] + members[:1], strict=True):
                    result[i] = old[j]
    rest = sorted(i for group in waiting.values() for i in group)
    left = [old[i] for i in rest] + list(spare)
    for i in rest:
        fitting = next((reg for reg in left if reg.bank == banks[i]), None)
        if fitting is None:
            raise IsaError(f"no free register on bank {banks[i]} for an accumulator")
        left.remove(fitting)
        result[i] = fitting
    return [result[i] for i in range(len(old))]


@dataclass(frozen=True, slots=True)
class Move:
    """`v_swap_b32 a, b` where `swap`, else `v_mov_b32 a, b`."""

    a: Reg
    b: Reg
    swap: bool = False


def parallel_moves(pairs: Iterable[tuple[Reg, Reg]]) -> list[Move]:
    """Instructions that put what is in `source` into `target` for each (target, source), as if all at once.

    Chains become moves from their free end; a cycle of n registers n - 1 exchanges. No register is needed in between.
    """
    source = {t: s for t, s in pairs if t != s}
    moves: list[Move] = []
    read = list(source.values())
    free = [t for t in source if t not in read]
    while free:
        t = free.pop(0)
        s = source.pop(t)
        moves.append(Move(t, s))
        if s in source and s not in source.values():
            free.append(s)
    while source:
        first = min(source)
        t = first
        while (s := source.pop(t)) != first:
            moves.append(Move(t, s, swap=True))
            t = s
    return moves
