"""Strided kernels of the matrix units: batches, and lines with gaps between them, against the dense kernel bit by bit;
what lies in the gaps is neither read nor written."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import programs
import pytest
from launching import NAME, image, launch, program

from isa.gemm.matrix.parameters import MatrixParameters
from isa.lint import lint
from isa.sanitize import observe
from isa.sim.run.card import Card

SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32, strided=True)
BYTES = dataclasses.replace(SMALL, depth=64, factor="i8", result="i32")
VARIANTS = {
    "f16 nn": SMALL,
    "bf16 nt, bf16 C": dataclasses.replace(SMALL, trans_b=True, factor="bf16", result="bf16"),
    "f16 tt in groups": dataclasses.replace(SMALL, trans_a=True, trans_b=True, group=2),
    "i8 tn": dataclasses.replace(BYTES, trans_a=True, stages=2),
    "i4 nt": dataclasses.replace(BYTES, trans_b=True, factor="i4"),
    "i4 tn": dataclasses.replace(BYTES, trans_a=True, depth=128, factor="i4"),
    "i8 with scales and bias": dataclasses.replace(BYTES, trans_b=True, result="f16", scales=True, bias=True),
}
TYPES = {"f16": np.uint16, "bf16": np.uint16, "i8": np.int8, "i4": np.int8, "f32": np.float32, "i32": np.int32}
QUICK = "f16 nn", "i4 nt"
SOME = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS]


def drawn(p: MatrixParameters, *shape: int, seed: int, factor: bool = True) -> np.ndarray:
    """Matrices as they lie in memory; f16 and bf16 between 1/16 and 2."""
    rng, kind = np.random.default_rng(seed), TYPES[p.factor if factor else p.result]
    if np.dtype(kind) == np.uint16:
        low, high = (0x2C00, 0x4000) if (p.factor if factor else p.result) == "f16" else (0x3D80, 0x4000)
        return rng.integers(low, high, shape).astype(kind)
    return rng.integers(-128, 128, shape).astype(kind)


def lying(x: np.ndarray, flip: bool, line: int, gap: int, shared: bool) -> tuple[np.ndarray, int]:
    """A batch in memory, lines and matrices apart, poison between; and the stride from matrix to matrix."""
    x = np.ascontiguousarray(x.swapaxes(1, 2)) if flip else x
    stride = (x.shape[1] - 1) * line + x.shape[2] + gap
    memory = np.full((0 if shared else (len(x) - 1) * stride) + stride - gap, 0x7F, x.dtype)
    for number, matrix in enumerate(x):
        view(memory, 0 if shared else number * stride, x.shape[1:], line)[...] = matrix
    return memory, 0 if shared else stride


def view(memory: np.ndarray, start: int, shape: tuple[int, ...], line: int) -> np.ndarray:
    size = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory[start:], shape, (line * size, size))


def strided(p: MatrixParameters, a: np.ndarray, b: np.ndarray, c: np.ndarray, beta: float,
            vectors: list[np.ndarray], *, check: bool) -> np.ndarray:  # fmt: skip
    """C, (batch, M, N), after the launch; b is one for all where it has one matrix."""
    (count, m, units), n = a.shape, b.shape[2]
    lines = (m if p.trans_a else units) + 6, (units if p.trans_b else n) + 2, n + 4
    made = [lying(a, p.trans_a, lines[0], 10, False), lying(b, p.trans_b, lines[1], 4, len(b) == 1),
            lying(c, False, lines[2], 14, False)]  # fmt: skip
    card = Card(baseline=True)
    addresses = programs.put(card, *(memory for memory, _ in made), *vectors)
    scales = "ii" if p.result == "i32" else "ff"
    kernarg = struct.pack(f"<QQQiii{scales}4x", *addresses[:3], m, n, units * p.pack, 1, beta)
    kernarg += struct.pack(f"<{len(vectors)}Q3Q3I", *addresses[3:], *(stride for _, stride in made), *lines)
    grid = -(-n // p.columns), -(-m // p.rows), count
    given = card.load(image(p)).kernels[NAME], grid, (p.threads, 1, 1), kernarg
    if check:
        assert observe(card, *given).findings == ()
    else:
        card.launch(*given)
    before, stride = made[2]
    got = programs.held(addresses[2], before)
    found = np.stack([view(got, i * stride, (m, n), lines[2]).copy() for i in range(count)])
    for i in range(count):
        view(got, i * stride, (m, n), lines[2])[...] = view(before, i * stride, (m, n), lines[2])
    np.testing.assert_array_equal(got, before, err_msg="what lies in the gaps")
    return found


@pytest.mark.parametrize("name", SOME)
def test_each_of_a_batch_is_what_the_dense_kernel_makes_of_it(name: str) -> None:
    p = VARIANTS[name]
    dense = dataclasses.replace(p, strided=False)
    for (m, n, k), shared, beta in (((70, 66, 2 * p.depth + 2), False, 0.0), ((3, 130, p.depth), True, 2.0)):
        units = k // p.pack
        a, b = drawn(p, 3, m, units, seed=m), drawn(p, 1 if shared else 3, units, n, seed=n)
        c = drawn(p, 3, m, n, seed=k, factor=False)
        vectors = [np.random.default_rng(i).uniform(0, 0.01, m if key == "row_scale" else n).astype(np.float32)
                   for i, key in enumerate(p.vectors)]  # fmt: skip
        got = strided(p, a, b, c, int(beta) if p.result == "i32" else beta, vectors, check=False)
        for i in range(3):
            one = int(beta) if p.result == "i32" else beta
            expected = launch(dense, a[i], b[0 if shared else i], c[i], 1, one, vectors=vectors)
            np.testing.assert_array_equal(got[i], expected, err_msg=f"{name}, matrix {i}")


@pytest.mark.parametrize("name", ["f16 nn", pytest.param("i8 tn", marks=pytest.mark.slow)])
def test_the_sanitizer_finds_nothing(name: str) -> None:
    p = VARIANTS[name]
    a, b, c = drawn(p, 2, 70, 40, seed=1), drawn(p, 2, 40, 66, seed=2), drawn(p, 2, 70, 66, seed=3, factor=False)
    strided(p, a, b, c, 1, [], check=True)


@pytest.mark.parametrize("name", VARIANTS)
def test_lint_finds_nothing(name: str) -> None:
    assert lint.lint_program(program(VARIANTS[name])) == []
