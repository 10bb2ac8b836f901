"""What a run of dual FMAs costs, counted from its instructions alone, and whether any order could cost less.

In: the `v_dual_fmac_f32` of an outer product, parsed; they run again and again (one pass a step of k), so that the last
one stands before the first. Nothing of how they were found (`isa.product.order`) comes in. Out: a `Cost`, or an
IsaError that names what makes them no legal outer product.

**Stalls** are counted by the rules of `isa.timing.bank_rules`, all of them. No order stalls less than not at all: an
order without stalls is optimal. Where both sides are even, one that stalls is not, since `isa.product.order` has one
that does not, by any rule. Of odd sides nothing is shown.

**Bank reads**: registers that an instruction reads and the one before it did not (through the same slot). N is the
number of instructions of a pass, two products each; S and P are the sets of registers that an instruction and the one
before it read. Accumulators aside; factors may stand in either slot, and registers on any bank. Then a pass reads at
least

    N from banks, where X and Y share the caches (N > 2).
        Call instructions in a row with the same S a run. Their products are within S, of two column and two row
        elements at most, so a run has one or two instructions. A run of one reads at least 1: were S a smaller part of
        P, it would be one element and its products with both elements that P has of the other side, and P had done one
        of these two already. A run of two does all four products of S. If P held three of S, say both rows and a column
        element c (or the other way round), then P, which has no third row, would multiply c with one of S's rows: a
        product of the run, done twice. So P holds two of S at most, and the run reads at least 2. Together: one an
        instruction.
    2 N from banks, where X and Y have caches of their own (N > 1).
        A half that keeps both its factors does the same product again. So each half reads at least one new.

An order may meet both at once. With N = 2 (a tile of 2 x 2) both instructions read the same four registers: 0 for the
first. A step of k whose operands lie in other registers than the last one's begins with four reads, of which this
counts `entering` stalls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isa.analysis.banks import Source, same_parity, sources
from isa.check import vopd
from isa.errors import IsaError
from isa.program import Instruction
from isa.registers import Reg
from isa.timing.bank_rules import RULES

NO_STALL = "no order stalls less than not at all"
BETTER = "with accumulators on the opposite banks there is none"
NOT_SHOWN = "not shown: an odd side, and the bound is 0"
SHARED = "two instructions at most share their registers, and then the first reads two new ones"
OWN = "a half that reads nothing new does the same product again"
MISSED = "it reads more than the bound"


@dataclass(frozen=True)
class Count:
    """Something of a pass, and the least that any order of this thread tile has. optimal: the bound is met.
    argument: why the bound holds where it is met, else what would be better."""

    count: int
    lower_bound: int
    argument: str

    @property
    def optimal(self) -> bool:
        return self.count == self.lower_bound


@dataclass(frozen=True)
class Cost:
    """columns, rows: of the thread tile. instructions: dual FMAs of a pass. stalls: cycles beyond one an instruction
    in a pass, by rule. entering: the same of the first instruction where nothing is in the caches. shared_reads,
    own_reads: registers read from banks in a pass, where X and Y share caches, and where each has its own."""

    columns: int
    rows: int
    instructions: int
    stalls: dict[str, Count]
    entering: dict[str, int]
    shared_reads: Count
    own_reads: Count


def measure(instructions: Sequence[Instruction]) -> Cost:
    """The cost of a pass. IsaError where it is no legal outer product of dual FMAs, each product once."""
    columns, rows = _tile(instructions)
    reads = [sources(inst) for inst in instructions]
    before = [reads[-1], *reads[:-1]]
    n = len(instructions)
    stalls = {}
    for name, rule in RULES.items():
        count = sum(map(rule, before, reads))
        stalls[name] = Count(count, 0, NO_STALL if not count else NOT_SHOWN if columns % 2 or rows % 2 else BETTER)
    shared = _fresh(before, reads, lambda s: (s.slot, s.reg))
    own = _fresh(before, reads, lambda s: (s.half, s.slot, s.reg))
    least_shared, least_own = (n if n > 2 else 0), (2 * n if n > 1 else 0)
    return Cost(
        columns,
        rows,
        n,
        stalls,
        {name: rule([], reads[0]) for name, rule in RULES.items()},
        Count(shared, least_shared, SHARED if shared == least_shared else MISSED),
        Count(own, least_own, OWN if own == least_own else MISSED),
    )


def _fresh(
    before: Sequence[Sequence[Source]], now: Sequence[Sequence[Source]], place: Callable[[Source], object]
) -> int:
    """Reads of SRC0 and SRC1 that the instruction before did not do at the same place."""
    return sum(
        len({place(s) for s in reads if s.slot != 2} - {place(s) for s in old})
        for old, reads in zip(before, now, strict=True)
    )


def _tile(instructions: Sequence[Instruction]) -> tuple[int, int]:
    """(elements of the column, of the row). IsaError unless each product is there once, in an accumulator of its own,
    and each pair is legal and its sources differ in parity."""
    if not instructions:
        raise IsaError("no dual FMAs: nothing to measure")
    products: Counter[tuple[Reg, Reg]] = Counter()
    sums: Counter[Reg] = Counter()
    for inst in instructions:
        for half in inst.halves:
            if inst.pair is None or half.mnemonic != "v_dual_fmac_f32":
                raise inst.error("an order is made of dual FMAs alone", expected="v_dual_fmac_f32", got=half.mnemonic)
            target, column, row = half.operands
            if not (isinstance(target, Reg) and isinstance(column, Reg) and isinstance(row, Reg)):
                raise inst.error("the factors of an outer product are VGPRs", got=str(half))
            products[column, row] += 1
            sums[target] += 1
        for finding in vopd.check(inst):
            raise finding.error()
        for slot in same_parity(inst):
            raise inst.error(f"X and Y read src{slot} from registers of one parity")
    columns, rows = ({pair[side] for pair in products} for side in (0, 1))
    apart = len(columns | rows | set(sums)) == len(columns) + len(rows) + len(sums)
    once = len(products) == len(sums) == 2 * len(instructions) == len(columns) * len(rows)
    if not (apart and once):
        raise instructions[0].error(
            "these dual FMAs are no outer product",
            expected=f"each of {len(columns)} x {len(rows)} products once, each in an accumulator of its own",
            got=f"{sum(products.values())} products, {len(products)} different, {len(sums)} accumulators",
        )
    return len(columns), len(rows)
