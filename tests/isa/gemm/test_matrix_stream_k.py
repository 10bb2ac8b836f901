"""Stream-K kernels of the matrix units: every split gives the sums in the order that it states, bit for bit, in any
order of workgroups."""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Sequence

import numpy as np
import pytest
from launching import NAME, ORDERS, image, launch_split, program
from test_matrix import as_the_card_adds, draw, memory, numbers, tile_order, words

from isa.asm.emit import emit
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.registers import MatrixRegisters
from isa.gemm.vector.parameters import ParameterError
from isa.gemm.vector.work import Work
from isa.lint import lint
from isa.sim.run.card import Card, CompiledKernel

SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32, stream_k=True)
BYTES = dataclasses.replace(SMALL, depth=64, factor="i8", result="i32")
VARIANTS = {
    "f16 nt": dataclasses.replace(SMALL, trans_b=True),
    "f16 tn in groups": dataclasses.replace(SMALL, trans_a=True, group=2),
    "bf16 nn, f16 C, relu": dataclasses.replace(SMALL, factor="bf16", result="f16", activation="relu", stages=2),
    "i8 tt": dataclasses.replace(BYTES, trans_a=True, trans_b=True, stages=2),
    "i4 nn": dataclasses.replace(BYTES, factor="i4"),
    "i8 with bias": dataclasses.replace(BYTES, trans_b=True, result="f32", bias=True),
}
QUICK = "f16 tn in groups", "i8 with bias"
SOME = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS]
CARD = Card(baseline=True)
KERNELS: dict[str, CompiledKernel] = {}


def in_pieces(work: Work, p: MatrixParameters, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sums of the parts of each tile, added up in ascending k."""
    (m, k), n = a.shape, b.shape[1]
    found = np.empty((m, n), np.int32 if p.result == "i32" else np.float32)
    order = tile_order(-(-m // p.rows), work.across, p.group)
    leftover = k % p.depth or p.depth
    for tile, (row, column) in enumerate(order):
        rows, columns = (slice(i * size, (i + 1) * size) for i, size in ((row, p.rows), (column, p.columns)))
        total = None
        for start, count in work.parts(tile):
            first, end = (0 if i == 0 else min(k, leftover + (i - 1) * p.depth) for i in (start, start + count))
            sums = as_the_card_adds(dataclasses.replace(p, result="i32", bias=False) if p.integer else p,
                                    a[rows, first:end], b[first:end, columns])  # fmt: skip
            total = sums if total is None else total + sums
        found[rows, columns] = total
    return found


def launched(
    name: str, work: Work, m: int, n: int, k: int, beta: float, order: str, *, launches: int = 1, check: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(C, what the split says). Slots begin as NaN."""
    p = VARIANTS[name]
    if name not in KERNELS:
        KERNELS[name] = CARD.load(image(p)).kernels[NAME]
    a, b, c = draw(p, m, n, k)
    bias = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
    first, second = memory(p, a, b)
    stored = [first.T if p.trans_a else first, second.T if p.trans_b else second, c, *([bias] if p.bias else [])]
    scales = ("ii", 1, int(beta)) if p.result == "i32" else ("ff", 1.0, beta)

    def arguments(addresses: Sequence[int], workspace: int) -> bytes:
        kernarg = struct.pack(f"<QQQiii{scales[0]}", *addresses[:3], m, n, k, *scales[1:])
        more = work.arguments((m, n, k), workspace)
        return kernarg + (struct.pack("<4xQ", addresses[3]) + more[4:] if p.bias else more)

    got = launch_split(CARD, KERNELS[name], work, stored, arguments, order=order, launches=launches, check=check)
    sums = in_pieces(work, p, a, b)
    if p.result == "i32":
        return got, sums + int(beta) * c
    x = sums.astype(np.float32)
    if beta:
        product = np.float64(np.float32(beta)) * numbers(p.result, c)
        x = (np.float64(x) + (product if p.epilogue_text else product.astype(np.float32))).astype(np.float32)
    x = x + bias if p.bias else x
    return got, words(p.result, np.maximum(x, 0) if p.activation else x)


@pytest.mark.parametrize("name", SOME)
def test_any_split_gives_its_sums_in_any_order_of_workgroups(name: str) -> None:
    p = VARIANTS[name]
    for order in ORDERS:
        for m, n, k, beta in ((256, 130, 4 * p.depth + 6, 0.0), (70, 6, 7 * p.depth, -1.0)):
            tiles = -(-m // p.rows) * -(-n // p.columns)
            for groups, streamed in ((1, tiles), (3, tiles // 2), (3 * tiles, tiles), (2, 0)):
                work = Work.of(p, m, n, k, groups, streamed)
                got, expected = launched(name, work, m, n, k, beta, order)
                np.testing.assert_array_equal(got, expected, err_msg=f"{name}, {order}: {work}")


def test_sizes_of_one_and_no_k_and_a_workspace_that_serves_again() -> None:
    for m, n, k, launches in ((1, 1, 1, 1), (3, 2, 0, 1), (130, 130, 300, 3)):
        work = Work.of(VARIANTS[QUICK[0]], m, n, k, 5, 1)
        got, expected = launched(QUICK[0], work, m, n, k, 0.0, "backward", launches=launches)
        np.testing.assert_array_equal(got, expected)


def test_the_sanitizer_finds_nothing() -> None:
    """f16: its bytes are told apart, those of counters too."""
    work = Work.of(VARIANTS[QUICK[0]], 130, 66, 300, 9, 6)
    launched(QUICK[0], work, 130, 66, 300, 0.0, "side by side", check=True)


@pytest.mark.parametrize("name", VARIANTS)
def test_lint_finds_nothing_and_the_main_loop_is_that_of_the_plain_kernel(name: str) -> None:
    p = VARIANTS[name]
    assert lint.lint_program(program(p)) == []
    plain = program(dataclasses.replace(p, stream_k=False))
    loops = [re.split(r"_loop(?::|$)", emit(made), flags=re.MULTILINE)[1] for made in (program(p), plain)]
    assert loops[0].count("v_wmma") == p.stages * p.depth // 16 * len(MatrixRegisters.of(p).sums)
    assert loops[0] == loops[1]


def test_none_is_strided_too() -> None:
    with pytest.raises(ParameterError, match="no GEMM kernel has such stream_k"):
        dataclasses.replace(SMALL, strided=True)
