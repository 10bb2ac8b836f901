"""Stream-K kernels: how work is split, and that every split gives the sums in the order that it states."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from launching import NAME, ORDERS, image, launch_split
from numpy.typing import NDArray

from isa.analysis import cfg as flow_graph
from isa.analysis import inner
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.registers import SCALARS
from isa.gemm.vector.work import ARGUMENTS, Work, WorkError
from isa.lint import lint
from isa.registers import Reg
from isa.sim.run.card import Card, CompiledKernel

Matrix = NDArray[np.float32]
VARIANTS = {
    "two steps, two buffers": Parameters(stream_k=True),
    "one step, one buffer": Parameters(group=1, stages=1, stream_k=True),
    "both transposed": Parameters(
        trans_a=True, trans_b=True, columns=64, thread_columns=8, lane_rows=8, stream_k=True
    ),
}  # fmt: skip
KERNELS: dict[str, tuple[Card, CompiledKernel]] = {}


# Each is translated for the simulator, which takes seconds.
QUICK, *LATER = VARIANTS


@pytest.fixture(params=[QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LATER)])
def variant(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name not in KERNELS:
        card = Card(baseline=True)
        KERNELS[name] = card, card.load(image(VARIANTS[name])).kernels[NAME]
    return name


# --- how work is split


def drawn(tiles: int, blocks: int, streamed: int, dealt: int, ranges: int) -> Work:
    streamed = min(tiles, streamed)
    return Work(
        Parameters(), tiles, tiles, blocks, streamed, dealt if streamed < tiles else 0, ranges if streamed else 0
    )


WORKS = st.builds(
    drawn, st.integers(1, 40), st.integers(1, 50), st.integers(0, 40), st.integers(1, 50), st.integers(1, 70)
)


@given(WORKS)
def test_each_k_block_of_each_tile_is_done_once(work: Work) -> None:
    done = [
        (tile, k)
        for i in range(work.groups)
        for tile, start, count in work.pieces(i)
        for k in range(start, start + count)
    ]
    assert sorted(done) == [(tile, k) for tile in range(work.tiles) for k in range(work.blocks)]


@given(WORKS)
def test_no_range_is_longer_than_a_chunk_and_pieces_are_the_parts_of_tiles(work: Work) -> None:
    pieces = {i: list(work.pieces(i)) for i in range(work.groups)}
    parts: dict[int, list[tuple[int, int]]] = {}
    slots = []
    for i, found in pieces.items():
        assert sum(count for tile, _, count in found if tile < work.streamed) <= work.chunk
        for tile, start, count in found:
            parts.setdefault(tile, []).append((start, count))
            slots.append(i - work.dealt + tile if count < work.blocks else None)
    assert parts == {tile: work.parts(tile) for tile in range(work.tiles)}
    used = [slot for slot in slots if slot is not None]
    assert len(used) == len(set(used))
    assert max(used, default=-1) < work.ranges + work.streamed


def test_what_full_rounds_leave_over_is_streamed() -> None:
    work = Work.filling(Parameters(), 4096, 4096, 4096, 96)
    assert (work.tiles, work.blocks, work.streamed, work.dealt, work.ranges) == (1024, 512, 64, 960, 192)
    assert work.grid[0] * work.grid[1] >= work.groups
    assert Work.filling(Parameters(), 3072, 3072, 3072, 96).streamed == 96, "a round at least half full"
    few = Work.filling(Parameters(), 128, 128, 80, 96)
    assert (few.streamed, few.ranges, few.chunk) == (1, 1, 10), "too short to be cut"
    assert Work.filling(Parameters(), 128, 128, 8 * 2048, 96).ranges == 22, "to add up takes time as well"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"streamed": 9}, "0 to 8"),
        ({"dealt": 0}, "1 or more"),
        ({"ranges": 0}, "1 or more"),
        ({"blocks": 2**30}, "0 to 1"),
        ({"blocks": 0}, "1 or more"),
        # Three workgroups of the grid have no range, and the last would begin where 32 bits end.
        ({"blocks": 2**29, "streamed": 3, "ranges": 1}, "chunk below 1073741824"),
    ],
)
def test_a_split_that_cannot_be_is_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(WorkError) as caught:
        dataclasses.replace(Work(Parameters(), 4, 8, 8, 4, 4, 4), **change)
    assert expected in str(caught.value)


def test_more_rows_of_workgroups_than_y_counts_stand_in_one() -> None:
    works = [Work.filling(Parameters(), 128 * rows, 256, 8, 96) for rows in (60_000, 70_000)]
    assert [work.grid for work in works] == [(2, 60_000, 1), (works[1].groups, 1, 1)]


def test_a_split_of_other_sizes_is_refused() -> None:
    work = Work.filling(Parameters(), 256, 384, 64, 96)
    assert len(work.arguments((256, 384, 64), 0)) == ARGUMENTS
    for sizes, said in (((256, 384, 65), "blocks = 9"), ((256, 385, 64), "across = 4"), ((257, 384, 64), "tiles = 9")):
        with pytest.raises(WorkError, match=said):
            work.arguments(sizes, 0)


# --- scalar arithmetic

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "s_mul_hi_u32": lambda x, y: x * y >> 32, "s_mul_i32": lambda x, y: x * y, "s_sub_u32": lambda x, y: x - y,
    "s_sub_i32": lambda x, y: x - y, "s_add_i32": lambda x, y: x + y, "s_lshr_b32": lambda x, y: x >> y,
}  # fmt: skip


def ran(lines: Iterable[str], values: dict[str, int]) -> dict[str, int]:
    """What a few scalar instructions leave in registers."""
    v, scc = dict(values), 0
    for line in lines:
        name, _, rest = line.partition(" ")
        target, *sources = rest.split(", ")
        x, y = ([v[s] if s in v else int(s, 0) for s in sources if "[" not in s] + [0, 0])[:2]
        if name == "s_cmp_ge_u32":
            scc = int(v[target] >= x)
        elif name == "s_cselect_b32":
            v[target] = x if scc else y
        elif name == "s_addc_u32":
            v[target] = x + y + scc
        elif name == "s_mov_b32":
            v[target] = x
        elif name == "s_lshr_b64":
            low, high = (str(SCALARS.t.sub(i)) for i in range(2))
            wide = (v[low] | v[high] << 32) >> int(sources[1])
            v[low], v[high] = wide & 0xFFFFFFFF, wide >> 32
        else:
            v[target] = OPERATIONS[name](x, y) & 0xFFFFFFFF
    return v


@given(st.integers(0, 2**31 - 1), st.integers(1, 2000))
def test_division_by_a_constant(number: int, divisor: int) -> None:
    from isa.gemm.stream_k import by_constant

    target, source = Reg("s", 1), Reg("s", 2)
    assert ran(by_constant(target, source, divisor, SCALARS.t), {"s2": number})["s1"] == number // divisor


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1) | st.integers(1, 100))
def test_division_by_a_number_whose_reciprocal_is_known(number: int, divisor: int) -> None:
    from isa.gemm.stream_k import divide, quotient

    q, rest, n, d, by, u = (Reg("s", i) for i in range(1, 7))
    values = {"s3": number, "s4": divisor, "s5": (2**32 - 1) // divisor}
    found = ran(divide(q, rest, n, d, by, u), values)
    assert (found["s1"], found["s2"]) == divmod(number, divisor)
    assert ran(quotient(q, rest, n, d, by, u), values)["s1"] == number // divisor


def test_all_divisions_of_12_bits() -> None:
    """What `divide` says of 32 bits holds of any width: the first quotient is right or one too small."""
    bits = 12
    number, divisor = np.arange(1 << bits)[:, None], np.arange(1, 1 << bits)
    short = number // divisor - (number * (((1 << bits) - 1) // divisor) >> bits)
    assert short.min() == 0
    assert short.max() == 1


# --- what it computes


def chain(a: Matrix, b: Matrix, ks: Iterable[int]) -> Matrix:
    """One chain of FMAs: products are exact in a long double, and each sum is rounded to fp32."""
    found = np.zeros((a.shape[0], b.shape[1]), np.float32)
    wide_a, wide_b = a.astype(np.longdouble), b.astype(np.longdouble)
    for k in ks:
        found = (np.outer(wide_a[:, k], wide_b[k]) + found).astype(np.float32)
    return found


def in_order(work: Work, a: Matrix, b: Matrix, c: Matrix, alpha: float, beta: float) -> Matrix:
    """What the split says: a chain for each part of a tile, the chains added up in ascending k."""
    p, k = work.p, a.shape[1]
    leftover = k % p.depth or p.depth
    found = np.empty_like(c)
    for tile in range(work.tiles):
        row, column = divmod(tile, -(-c.shape[1] // p.columns))
        rows = slice(row * p.rows, (row + 1) * p.rows)
        columns = slice(column * p.columns, (column + 1) * p.columns)

        def step(block: int) -> int:
            return 0 if block == 0 else min(k, leftover + (block - 1) * p.depth)

        chains = [
            chain(a[rows], b[:, columns], range(step(start), step(start + count))) for start, count in work.parts(tile)
        ]
        total = chains[0]
        for other in chains[1:]:
            total = total + other
        scaled = np.float32(alpha) * total
        if beta:
            added = (np.float32(beta) * c[rows, columns]).astype(np.longdouble)
            scaled = (np.longdouble(alpha) * total + added).astype(np.float32)
        found[rows, columns] = scaled
    return found


def launched(
    name: str, work: Work, m: int, n: int, k: int, alpha: float, beta: float, order: str, launches: int = 1
) -> tuple[Matrix, Matrix]:
    """(C, what the split says). Matrices stand at the end of their allocations."""
    card, kernel = KERNELS[name]
    p = work.p
    rng = np.random.default_rng(m * 1009 + n * 31 + k)
    a, b, c = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    if not beta:
        c[:] = np.nan
    stored = a.T if p.trans_a else a, b.T if p.trans_b else b, c

    def arguments(addresses: Sequence[int], workspace: int) -> bytes:
        kernarg = struct.pack("<QQQiiiff", *addresses, m, n, k, alpha, beta)
        return kernarg + work.arguments((m, n, k), workspace)

    got = launch_split(card, kernel, work, stored, arguments, order=order, launches=launches)
    return got, in_order(work, a, b, c, alpha, beta)


@pytest.mark.parametrize("order", ORDERS)
def test_any_split_gives_its_sums_in_any_order_of_workgroups(variant: str, order: str) -> None:
    p = VARIANTS[variant]
    for m, n, k, scalars in ((256, 130, 37, (1.0, 0.0)), (70, 5, 130, (1.5, -0.5))):
        tiles = -(-m // p.rows) * -(-n // p.columns)
        for groups, streamed in ((1, tiles), (3, tiles // 2), (7, tiles), (4 * tiles, tiles), (2, 0)):
            work = Work.of(p, m, n, k, groups, streamed)
            got, expected = launched(variant, work, m, n, k, *scalars, order)
            assert got.tobytes() == expected.tobytes(), (m, n, k, groups, streamed)


def test_sizes_of_one_and_no_k(variant: str) -> None:
    for m, n, k in ((1, 1, 1), (1, 129, 8), (3, 2, 0)):
        work = Work.of(VARIANTS[variant], m, n, k, 4, 1)
        for scalars in ((2.0, 0.0), (2.0, 0.5)):
            got, expected = launched(variant, work, m, n, k, *scalars, "side by side")
            assert got.tobytes() == expected.tobytes(), (m, n, k, scalars)


def test_a_workspace_serves_launch_after_launch(variant: str) -> None:
    work = Work.of(VARIANTS[variant], 130, 130, 100, 5, 2)
    got, expected = launched(variant, work, 130, 130, 100, 1.0, 0.0, "backward", launches=3)
    assert got.tobytes() == expected.tobytes()


# --- what it is like


@pytest.mark.parametrize("name", VARIANTS)
def test_lint_finds_nothing_and_the_main_loop_is_that_of_the_plain_kernel(name: str) -> None:
    p = VARIANTS[name]
    program = generate(p, "gemm")
    assert lint.lint_program(program) == []
    control, plain = (
        flow_graph.of_kernel(made.kernel("gemm"))
        for made in (program, generate(dataclasses.replace(p, stream_k=False), "gemm"))
    )
    main, of_plain = inner.main_loop(control), inner.main_loop(plain)
    assert main is not None
    assert of_plain is not None
    assert list(map(str, inner.body(control, main))) == list(map(str, inner.body(plain, of_plain)))
