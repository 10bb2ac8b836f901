"""What a run of dual FMAs costs, counted from its instructions alone, and whether any order could cost less.

In: the FMAs of an outer product, parsed, `v_dual_fmac_f32` or what a compiler left single; they run again and again
(one pass a step of k), so that the last one stands before the first. Nothing of how they were found
(`isa.outer_product`) comes in. Out: a `Cost`, or an IsaError that names what makes them no legal outer product.

**Instructions**: two products each at the most.

**Stalls** are counted by the rules of `isa.timing.bank_rules`, all of them. No order stalls less than not at all: an
order without stalls is optimal. Where both sides are even, one that stalls is not, since `isa.outer_product.fma_order`
has one that does not, by any rule. Of odd sides that is shown for all rules but `with-src2`.

**Bank reads**: registers that an instruction reads and the one before it did not (through the same slot). N is the
number of dual FMAs of a pass; S and P are the sets of registers that one of them and the instruction before it read.
Accumulators aside; factors may stand in either slot, and registers on any bank. Then a pass reads at least

    N from banks, where X and Y share the caches (N > 2).
        Call dual FMAs in a row with the same S a run. Their products are within S, of two column and two row elements
        at most, so a run has one or two instructions. A run of one reads at least 1: were S a smaller part of P, it
        would be one element and its products with both elements that P has of the other side, and P had done one of
        these two already. A run of two does all four products of S. If P held three of S, say both rows and a column
        element c (or the reverse), then P, which has no third row, would multiply c with one of S's rows: a
        product of the run, done twice. So P holds two of S at most, and the run reads at least 2. Together: one a dual
        FMA. (A single one may read nothing new.)
    one for each product, where X and Y have caches of their own (two instructions or more).
        A half that keeps both its factors does the same product again. So each half reads at least one new.

An order may meet both at once. With a tile of 2 x 2 both instructions read the same four registers: 0 for the first. A
step of k whose operands lie in other registers than the last one's begins with nothing in the caches, of which this
counts `entering` stalls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isa.analysis.banks import Source, same_parity, sources
from isa.asm.program import Instruction
from isa.check import vopd
from isa.errors import IsaError
from isa.registers import Reg
from isa.timing.bank_rules import RULES

_FMACS = ("v_dual_fmac_f32", "v_fmac_f32_e32", "v_fmac_f32")
TWO_EACH = "an instruction does two products at most"
NO_STALL = "no order stalls less than not at all"
BETTER = "there is an order with fewer"
NOT_SHOWN = "not shown whether any order meets the bound"
SHARED = "two instructions at most share their registers, and then the first reads two new ones"
OWN = "a half that reads nothing new does the same product again"


@dataclass(frozen=True)
class Count:
    """Something of a pass, and what any order of this thread tile has at least. optimal: the bound is met.
    argument: why the bound holds where it is met, else whether some order meets it."""

    count: int
    lower_bound: int
    argument: str

    @property
    def optimal(self) -> bool:
        return self.count == self.lower_bound


@dataclass(frozen=True)
class Cost:
    """columns, rows: of the thread tile. instructions: of a pass. one_parity: pairs of which X and Y read a slot from
    registers of one parity, whose interlock GFX11 can lose. stalls: cycles beyond one an instruction in a pass, by
    rule. entering: the same of the first instruction where nothing is in the caches. shared_reads, own_reads: registers
    read from banks in a pass, where X and Y share caches, and where each has its own."""

    columns: int
    rows: int
    instructions: Count
    one_parity: int
    stalls: dict[str, Count]
    entering: dict[str, int]
    shared_reads: Count
    own_reads: Count


def measure(instructions: Sequence[Instruction]) -> Cost:
    """The cost of a pass. IsaError where it is no legal outer product of FMAs, each product once."""
    columns, rows = _tile(instructions)
    reads = [sources(inst) for inst in instructions]
    before = [reads[-1], *reads[:-1]]
    n = len(instructions)
    stalls = {}
    odd = columns % 2 or rows % 2
    for name, rule in RULES.items():
        count = sum(map(rule, before, reads))
        stalls[name] = Count(count, 0, NO_STALL if not count else NOT_SHOWN if odd and name == "with-src2" else BETTER)
    shared = _fresh(before, reads, lambda s: (s.slot, s.reg), lambda s: s.reg)
    own = _fresh(before, reads, lambda s: (s.half, s.slot, s.reg), lambda s: (s.half, s.reg))
    duals = sum(inst.pair is not None for inst in instructions)
    least, least_shared, least_own = -(-columns * rows // 2), (duals if n > 2 else 0), (columns * rows if n > 1 else 0)

    def reads_of(count: int, bound: int, why: str, known: int) -> Count:
        """known: what `isa.outer_product.fma_order` has where both sides are even."""
        return Count(count, bound, why if count == bound else BETTER if count > known and not odd else NOT_SHOWN)

    return Cost(
        columns,
        rows,
        Count(n, least, TWO_EACH if n == least else BETTER),
        sum(bool(same_parity(inst)) for inst in instructions),
        stalls,
        {name: rule([], reads[0]) for name, rule in RULES.items()},
        reads_of(shared, least_shared, SHARED, least),
        reads_of(own, least_own, OWN, 2 * least),
    )


Key = Callable[[Source], object]


def _fresh(before: Sequence[Sequence[Source]], now: Sequence[Sequence[Source]], place: Key, counted: Key) -> int:
    """Different `counted` of SRC0 and SRC1 that the instruction before did not read at the same `place`."""
    total = 0
    for old, reads in zip(before, now, strict=True):
        held = {place(s) for s in old}
        total += len({counted(s) for s in reads if s.slot != 2 and place(s) not in held})
    return total


def _tile(instructions: Sequence[Instruction]) -> tuple[int, int]:
    """(elements of the column, of the row). IsaError unless each product is there once, in an accumulator of its own,
    and each pair is legal."""
    if not instructions:
        raise IsaError("no FMAs: nothing to measure")
    products: list[tuple[Reg, Reg]] = []
    sums: set[Reg] = set()
    for inst in instructions:
        for half in inst.halves:
            if half.mnemonic not in _FMACS:
                raise inst.error("an order is made of FMAs alone", expected="v_dual_fmac_f32", got=half.mnemonic)
            target, *factors = half.operands
            x, y, total = (op if isinstance(op, Reg) else None for op in (*factors, target))
            if x is None or y is None or total is None:
                raise inst.error("the factors of an outer product are VGPRs", got=str(half))
            products.append((x, y))
            sums.add(total)
        for finding in vopd.check(inst):
            raise finding.error()
    columns, rows = _sides(products)
    different = {frozenset(pair) for pair in products}
    once = len(different) == len(products) == len(sums) == len(columns) * len(rows)
    if not once or columns & rows or sums & (columns | rows):
        raise instructions[0].error(
            "these FMAs are no outer product",
            expected=f"each of {len(columns)} x {len(rows)} products once, each in an accumulator of its own",
            got=f"{len(products)} products, {len(different)} different, {len(sums)} accumulators",
        )
    return len(columns), len(rows)


def _sides(products: Sequence[tuple[Reg, Reg]]) -> tuple[set[Reg], set[Reg]]:
    """(column, row): what is multiplied with what lies on the other side. The first SRC0 is the column's."""
    factors: dict[Reg, set[Reg]] = {}
    for x, y in products:
        factors.setdefault(x, set()).add(y)
        factors.setdefault(y, set()).add(x)
    sides: tuple[set[Reg], set[Reg]] = (set(), set())
    work = [(products[0][0], 0)]
    while work:
        register, side = work.pop()
        if register not in sides[side]:
            sides[side].add(register)
            work += [(other, 1 - side) for other in factors[register]]
    return sides
