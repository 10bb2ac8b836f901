"""`banks`: what the operand reads of dual FMAs cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import Bars, Column, Experiment, Row
from isa.outer_product import fma_order

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int, int, int]
"""VGPRs that a dual FMA reads: SRC0 and SRC1 of X, SRC0 and SRC1 of Y."""
_FIRST, _SOURCES = 4, 40  # v4 to v43 hold values
_SUMS = 44  # accumulators from here on, two a pair
PAIRS = 8  # of an iteration: their sums are ready again when the next iteration needs them
_BLOCK = 256
WAVES_A_SIMD = _BLOCK // 32 // 2


@dataclass(frozen=True)
class Pattern:
    """reads: registers of each pair of an iteration; sums: what X and Y of each add to, from v44 on. what: in words."""

    name: str
    what: str
    reads: tuple[Pair, ...]
    sums: tuple[tuple[int, int], ...] = tuple((_SUMS + 2 * k, _SUMS + 2 * k + 1) for k in range(PAIRS))


def _fresh(*banks: Pair) -> tuple[Pair, ...]:
    """Registers of these banks, of each in turn; no pair reads one that the pair before it read."""

    def register(k: int, place: int) -> int:
        return _FIRST + banks[k % len(banks)][place] + 4 * (3 * k + 5 * (place % 2)) % _SOURCES

    return tuple((register(k, 0), register(k, 1), register(k, 2), register(k, 3)) for k in range(PAIRS))


def _each(pair: Callable[[int], Pair]) -> tuple[Pair, ...]:
    return tuple(map(pair, range(PAIRS)))


def _turns(one: Pair, other: Pair) -> tuple[Pair, ...]:
    return _each(lambda k: other if k % 2 else one)


def _order(name: str, what: str, destinations: Callable[[Sequence[fma_order.Pair]], list[fma_order.Banks]]) -> Pattern:
    """The dual FMAs of a thread tile of 4 x 4 in the order of `isa.outer_product.fma_order`."""
    pairs = fma_order.schedule(4, 4)
    column, row = (
        fma_order.operands(4, fma_order.COLUMN_BANK, _FIRST),
        fma_order.operands(4, fma_order.ROW_BANK, _FIRST),
    )
    sums = fma_order.accumulators(pairs, destinations(pairs), _SUMS)
    return Pattern(
        name,
        what,
        tuple((column[x.column].index, row[x.row].index, column[y.column].index, row[y.row].index) for x, y in pairs),
        tuple((sums[x.column, x.row].index, sums[y.column, y.row].index) for x, y in pairs),
    )


_A, _B = (4, 8, 5, 9), (12, 16, 13, 17)
_X0, _X1, _Y0, _Y1 = _A
PATTERNS = (
    Pattern("conflict-free", "four banks, no register twice in a row", _fresh((0, 2, 1, 3))),
    Pattern("one clash", "X reads its SRC0 and SRC1 from one bank, Y from two others", _fresh((0, 0, 1, 2))),
    Pattern("two-way", "X reads twice from bank 0, Y twice from bank 1", _fresh((0, 0, 1, 1))),
    Pattern(
        "two-way, in turn", "two-way, bank 0 and 1 in one pair, 2 and 3 in the next", _fresh((0, 0, 1, 1), (2, 2, 3, 3))
    ),
    Pattern(
        "clash in turn",
        "four banks; SRC0 in those of SRC1 of the pair before",
        _fresh((0, 2, 1, 3), (2, 0, 3, 1)),
    ),
    Pattern(
        "same register",
        "two-way banks, but SRC1 is the register that SRC0 is",
        _each(lambda k: (4 + 8 * (k % 4), 4 + 8 * (k % 4), 5 + 8 * (k % 4), 5 + 8 * (k % 4))),
    ),
    Pattern(
        "reuse of SRC0",
        "two-way banks; SRC0 of both halves stays, SRC1 changes",
        _each(lambda k: (4, 8 + 4 * (k % 7), 5, 9 + 4 * (k % 7))),
    ),
    Pattern("reuse of both", "two-way banks; no source changes", _each(lambda _: _A)),
    Pattern("reuse, swapped", "as before, but X and Y change places each time", _turns(_A, (_Y0, _Y1, _X0, _X1))),
    Pattern(
        "reuse, other slot", "as before, but SRC0 and SRC1 change places each time", _turns(_A, (_X1, _X0, _Y1, _Y0))
    ),
    Pattern("alternating", "two-way banks; two sets of sources take turns, none stays", _turns(_A, _B)),
    _order("order, turning", "a thread tile of 4 x 4, accumulators as in kernels 6 to 8", fma_order.turning),
    _order("order, opposite", "the same order, accumulators as in generated kernels", fma_order.opposite),
)


def kernel(pattern: Pattern) -> micro.Micro:
    """The microbenchmark of a pattern. A source register v holds v % 7 + 1 + (work-item & 3)."""
    setup = ["v_and_b32_e32 v2, 3, v0", "v_cvt_f32_u32_e32 v2, v2"]
    setup += [f"v_add_f32_e32 v{r}, {_value(r)}.0, v2" for r in range(_FIRST, _FIRST + _SOURCES)]
    setup += [f"v_mov_b32_e32 v{_SUMS + k}, 0" for k in range(2 * PAIRS)]
    body = [
        f"v_dual_fmac_f32 v{x}, v{x0}, v{x1} :: v_dual_fmac_f32 v{y}, v{y0}, v{y1}"
        for (x, y), (x0, x1, y0, y1) in zip(pattern.sums, pattern.reads, strict=True)
    ]
    finish = ["v_mov_b32_e32 v1, 0"] + [f"v_add_f32_e32 v1, v1, v{_SUMS + k}" for k in range(2 * PAIRS)]
    name = "lab_banks_" + "".join(c if c.isalnum() else "_" for c in pattern.name)
    return micro.Micro(name, setup, 8 * body, finish, vgprs=_SUMS + 2 * PAIRS, block=_BLOCK)


def _value(register: int) -> int:
    return register % 7 + 1


def answer(pattern: Pattern, iterations: int) -> np.ndarray:
    """What each work-item's sums add up to: small integers, exact in fp32."""
    import numpy as np

    lane = np.arange(_BLOCK) & 3
    products = [
        (_value(a) + lane) * (_value(b) + lane) for x0, x1, y0, y1 in pattern.reads for a, b in ((x0, x1), (y0, y1))
    ]
    return (8 * iterations * np.sum(products, axis=0)).astype(np.float32)


def by_rules(pattern: Pattern) -> dict[str, float]:
    """Cycles a pair under each rule of `isa.timing.machine.bank_rules`, once the caches hold what they will."""
    from isa.analysis import cfg
    from isa.analysis.banks import sources
    from isa.asm.parse import parse
    from isa.timing.machine.bank_rules import RULES

    text = "\n".join([*kernel(pattern).body[:PAIRS], "s_endpgm\n"])
    row = [sources(inst) for inst in cfg.of_text(parse(text)).instructions[:PAIRS]]
    return {name: 1 + sum(rule(row[k - 1], now) for k, now in enumerate(row)) / PAIRS for name, rule in RULES.items()}


@dataclass(frozen=True)
class Banks(Experiment):
    """patterns: what is tried."""

    patterns: Sequence[Pattern] = PATTERNS
    name = "banks"
    title = "VGPR banks: the cost of a dual FMA's operands"
    paragraph = (
        "The bank of a VGPR is its number mod 4, and a bank reads one register a cycle. A dual FMA reads four "
        "sources besides its two accumulators: from four banks in one cycle, from two banks in two, unless an "
        "operand cache still holds a register that the previous instruction read through the same slot. How far the "
        "caches reach is not documented. The last columns show what each bank rule of the cycle model predicts: "
        "patterns where they differ are those that a card can decide. Four waves a SIMD, 64 dual FMAs an iteration, "
        "each accumulator eight instructions from its last use."
    )
    columns = (
        Column("pattern", "pattern", what="which registers the pairs read"),
        Column("cycles", "time", "cycles a pair", 2, "of one dual FMA on one SIMD"),
        Column("previous-slot", "previous-slot", "rule", 2, "the model's default rule: X and Y share a cache"),
        Column("previous-place", "previous-place", "rule", 2, "X and Y have caches of their own"),
        Column("previous-any", "previous-any", "rule", 2, "a cache serves any slot"),
        Column("with-src2", "with-src2", "rule", 2, "accumulators count too"),
        Column("no-cache", "no-cache", "rule", 2, "nothing is kept"),
        Column("what", "what it reads", what="in words"),
    )

    bars = Bars("Cycles a dual FMA", "cycles", "cycles", "{pattern}", "{cycles:.2f}")

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        for pattern in self.patterns:
            one = kernel(pattern)
            found = micro.run(bench, one, 0, partial(answer, pattern))
            yield {
                "pattern": pattern.name, "what": pattern.what, **by_rules(pattern),
                **found.row(len(one.body) * WAVES_A_SIMD),
            }  # fmt: skip


EXPERIMENT = Banks()
