"""The cost of an order of dual FMAs: what is counted, what is refused, and that the bounds are no lower than they are.

The bounds are proved in the module's docstring; here all orders of small tiles are tried one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from isa.asm.parse import parse_instruction
from isa.asm.program import Instruction
from isa.errors import IsaError
from isa.outer_product import text
from isa.outer_product.fma_order import opposite, place, schedule, turning
from isa.registers import VGPR_LIMIT
from isa.timing.bank_rules import RULES
from tools.dual_fma import cost as dual_fma_cost
from tools.dual_fma import odd_tiles

EVEN = [2, 4, 6, 8, 10, 12, 14, 16, 24, 32]
# Accumulators, and quads of operands for the longer side.
TILES = [(r, c) for r in EVEN for c in EVEN if r * c + 2 * max(r, c) <= VGPR_LIMIT]


def instructions(columns: int, rows: int, banks=opposite) -> list[Instruction]:  # type: ignore[no-untyped-def]
    pairs = schedule(columns, rows)
    at = place(pairs, banks(pairs))
    return [parse_instruction(line) for line in text.dual_fmas(pairs, at.column, at.row, at.accumulators)]


@pytest.mark.parametrize("tile", TILES, ids=lambda t: f"{t[0]}x{t[1]}")
def test_every_tile_meets_every_bound(tile: tuple[int, int]) -> None:
    cost = dual_fma_cost.measure(instructions(*tile))
    n = tile[0] * tile[1] // 2
    assert (cost.columns, cost.rows, cost.instructions.count) == (*tile, n)
    assert {name: count.count for name, count in cost.stalls.items()} == dict.fromkeys(RULES, 0)
    assert all(c.optimal for c in (cost.instructions, *cost.stalls.values(), cost.shared_reads, cost.own_reads))
    assert cost.one_parity == 0
    assert (cost.shared_reads.count, cost.own_reads.count) == (n if n > 2 else 0, 2 * n)


@pytest.mark.parametrize("tile", TILES[::4], ids=lambda t: f"{t[0]}x{t[1]}")
def test_accumulators_by_turns_stall_only_if_they_are_read_like_sources(tile: tuple[int, int]) -> None:
    cost = dual_fma_cost.measure(instructions(*tile, turning))
    stalling = {name for name, count in cost.stalls.items() if count.count}
    assert stalling <= {"with-src2"}
    if len(instructions(*tile)) > 2:
        assert cost.stalls["with-src2"].count == tile[0] * tile[1] // 4
        assert not cost.stalls["with-src2"].optimal


ODD = [(r, c) for r in range(1, 12) for c in range(1, 12) if (r % 2 or c % 2) and r * c > 1]


@pytest.mark.parametrize("tile", ODD, ids=lambda t: f"{t[0]}x{t[1]}")
def test_a_tile_with_an_odd_side_stalls_only_if_accumulators_are_read_like_sources(tile: tuple[int, int]) -> None:
    fmas = odd_tiles.schedule(*tile)
    at = odd_tiles.place(fmas)
    cost = dual_fma_cost.measure(
        [parse_instruction(line) for line in text.dual_fmas(fmas, at.column, at.row, at.accumulators)]
    )
    assert (cost.columns * cost.rows, cost.instructions.count) == (tile[0] * tile[1], -(-tile[0] * tile[1] // 2))
    assert cost.one_parity == 0
    stalling = {name: count for name, count in cost.stalls.items() if count.count}
    assert set(stalling) <= {"with-src2"}
    # Where the pair of rows changes, and along a last row.
    assert sum(count.count for count in stalling.values()) <= -(-tile[1] // 2) + tile[0] // 2
    assert cost.shared_reads.count >= cost.shared_reads.lower_bound
    assert cost.own_reads.count >= cost.own_reads.lower_bound


def pairings(products: list[tuple[int, int]]) -> Iterator[list[tuple[tuple[int, int], tuple[int, int]]]]:
    """All ways to make pairs of them."""
    if not products:
        yield []
        return
    first, *others = products
    for other in others:
        rest = [p for p in others if p != other]
        yield from ([(first, other), *more] for more in pairings(rest))


@pytest.mark.parametrize("tile", [(1, 6), (2, 3), (2, 4), (2, 5)], ids=lambda t: f"{t[0]}x{t[1]}")
def test_no_order_of_a_small_tile_reads_less_than_the_bound(tile: tuple[int, int]) -> None:
    """Whatever the banks: an instruction finds all that the one before it read, in whichever slot."""
    products = [(c, r) for c in range(tile[0]) for r in range(tile[1])]
    best = len(products) * 4
    for pairs in pairings(products):
        sets = [{("c", x[0]), ("r", x[1]), ("c", y[0]), ("r", y[1])} for x, y in pairs]
        for order in itertools.permutations(sets[1:]):
            walk = [sets[0], *order]
            best = min(best, sum(len(now - before) for before, now in zip([walk[-1], *walk], walk, strict=False)))
    assert best >= len(products) // 2
    if tile == (2, 4):
        assert best == dual_fma_cost.measure(instructions(*tile)).shared_reads.count


def fmas(*lines: str) -> list[Instruction]:
    return [parse_instruction(line) for line in lines]


BLOCK = (
    "v_dual_fmac_f32 v5, v2, v0 :: v_dual_fmac_f32 v6, v3, v1",
    "v_dual_fmac_f32 v7, v2, v1 :: v_dual_fmac_f32 v8, v3, v0",
)


def test_a_block_by_itself_reads_nothing_anew() -> None:
    cost = dual_fma_cost.measure(fmas(*BLOCK))
    assert (cost.shared_reads.count, cost.own_reads.count) == (0, 4)
    assert cost.entering == {**dict.fromkeys(RULES, 0), "with-src2": 1}


def test_reads_are_counted_against_the_last_instruction_of_the_pass_before() -> None:
    """Two blocks that share the row's pair, and between them its registers change halves."""
    cost = dual_fma_cost.measure(
        fmas(
            *BLOCK,
            "v_dual_fmac_f32 v9, v10, v0 :: v_dual_fmac_f32 v12, v11, v1",
            "v_dual_fmac_f32 v13, v10, v1 :: v_dual_fmac_f32 v16, v11, v0",
        )
    )
    assert (cost.shared_reads.count, cost.own_reads.count) == (4, 2 + 4 + 2 + 4)
    assert cost.shared_reads.optimal
    assert not cost.own_reads.optimal


def test_what_a_compiler_left_single_is_counted() -> None:
    lines = ["v_fmac_f32 v5, v2, v0", "v_fmac_f32 v6, v3, v1", BLOCK[1]]
    cost = dual_fma_cost.measure(fmas(*lines))
    assert (cost.instructions.count, cost.instructions.lower_bound) == (3, 2)
    assert not cost.instructions.optimal
    assert cost.shared_reads.lower_bound == 1


def test_pairs_of_one_parity_are_counted() -> None:
    cost = dual_fma_cost.measure(
        fmas(
            "v_dual_fmac_f32 v5, v2, v0 :: v_dual_fmac_f32 v8, v4, v1",
            "v_dual_fmac_f32 v7, v2, v1 :: v_dual_fmac_f32 v6, v4, v0",
        )
    )
    assert cost.one_parity == 2


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "nothing to measure"),
        (["v_fma_f32 v1, v2, v3, v1"], "made of FMAs"),
        (["v_dual_mul_f32 v5, v2, v0 :: v_dual_fmac_f32 v6, v3, v1"], "made of FMAs"),
        (["v_dual_fmac_f32 v5, 1.0, v0 :: v_dual_fmac_f32 v6, v3, v1"], "factors of an outer product are VGPRs"),
        (["v_dual_fmac_f32 v5, v2, v0 :: v_dual_fmac_f32 v6, v10, v1"], "read src0 from one bank"),
        (["v_dual_fmac_f32 v5, v2, v0 :: v_dual_fmac_f32 v7, v3, v1"], "one even, one odd"),
        ([BLOCK[0]], "no outer product"),
        ([BLOCK[0], BLOCK[0]], "no outer product"),
        ([BLOCK[0], BLOCK[1].replace("v7", "v5")], "no outer product"),
        ([BLOCK[0], BLOCK[1].replace("v8", "v2")], "no outer product"),
    ],
)
def test_what_is_no_legal_outer_product_is_refused(lines: list[str], expected: str) -> None:
    with pytest.raises(IsaError, match=expected):
        dual_fma_cost.measure(fmas(*lines))
