"""Kernels drawn from all over the parameters: lint has nothing to say, and each computes, bit for bit, the chain of
float32 FMAs in ascending k at sizes that leave something over, in all four transpositions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from launching import assert_right, draw, image, in_order, launch, program
from plan import examples

from isa.gemm.vector.parameters import ParameterError, Parameters
from isa.gemm.vector.registers import Registers
from isa.lint import lint
from isa.object.code_object import load

_CHOICES: dict[str, list[Any]] = {
    "rows": [4, 8, 16, 32, 64, 96, 128, 256], "columns": [4, 16, 32, 64, 96, 128, 256], "depth": [4, 8, 12, 16, 32],
    "thread_rows": [4, 6, 8, 12, 16], "thread_columns": [4, 8, 12, 16], "lane_rows": [1, 2, 3, 4, 8, 16, 32],
    "group": [1, 2, 3, 4, 8], "stages": [1, 2, 3], "trans_a": [False, True], "trans_b": [False, True],
    "width_a": [1, 2, 3, 4], "width_b": [1, 2, 4],
}  # fmt: skip
_GRID = 64


def _drawn() -> list[Parameters]:
    """Parameters of kernels that there are, always the same ones: small ones first, each transposition in turn."""
    rng = random.Random(1)
    found: list[Parameters] = []
    while len(found) < _GRID:
        # Tiles that are whole waves, else few are kernels. Small thread tiles, which the simulator compiles in seconds.
        lanes, thread = rng.choice([1, 2, 4, 8, 16, 32]), (rng.choice([4, 8, 12]), rng.choice([4, 8, 12]))
        waves = rng.choice([1, 2, 4]), rng.choice([1, 2, 4])
        chosen = {name: rng.choice(_CHOICES[name]) for name in ("depth", "group", "stages", "width_a", "width_b")}
        chosen |= {"trans_a": bool(len(found) & 1), "trans_b": bool(len(found) & 2)}
        tile = lanes * thread[0] * waves[0], 32 // lanes * thread[1] * waves[1]
        try:
            p = Parameters(*tile, lane_rows=lanes, thread_rows=thread[0], thread_columns=thread[1], **chosen)
            Registers.of(p)
        except ParameterError:
            continue
        if p not in found and p.rows * p.columns <= 128 * 128:
            found.append(p)
    return sorted(found, key=lambda p: p.thread_rows * p.thread_columns * p.depth * p.stages)


_KERNELS = _drawn()


def _sample() -> list[Parameters]:
    """The smallest of each transposition."""
    return [next(p for p in _KERNELS if (p.trans_a, p.trans_b) == (a, b)) for a in (False, True) for b in (False, True)]


@pytest.mark.parametrize(
    "p", [p if p in _sample() else pytest.param(p, marks=pytest.mark.slow) for p in _KERNELS], ids=str
)
def test_bit_for_bit_at_odd_sizes(p: Parameters) -> None:
    rng = random.Random(repr(p))
    assert lint.lint_program(program(p)) == []
    assert_right(p, p.rows, p.columns, 2 * p.depth, 1.0, 0.0)
    for alpha, beta in ((1.0, 0.0), (1.5, -0.5)):
        m, n = rng.randint(1, p.rows + 9), rng.randint(1, p.columns + 9)
        assert_right(p, m, n, rng.randint(0, 3 * p.depth), alpha, beta)


@pytest.mark.slow
@pytest.mark.parametrize("p", _sample(), ids=str)
def test_observers_find_nothing(p: Parameters) -> None:
    """Registers in flight, races in LDS, reads of what nobody wrote, accesses outside: `isa.sanitize`."""
    a, b, c = draw(p.rows + 3, p.columns + 1, 2 * p.depth + 3)
    np.testing.assert_array_equal(launch(p, a, b, c, 1.5, -0.5, check=True), in_order(a, b, c, 1.5, -0.5))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31, 32, 33])
@pytest.mark.parametrize("trans_a", [False, True])
def test_loads_of_four_elements_end_inside_the_matrix(trans_a: bool, n: int) -> None:
    """Matrices end where their allocations do: a lane that reads on is caught."""
    p = Parameters(
        32, 32, 8, thread_rows=4, thread_columns=8, lane_rows=8, trans_a=trans_a, width_a=4, width_b=4, stages=1
    )
    assert_right(p, 34 - n, n, 11, 1.0, 0.0)


def test_skinny_tiles() -> None:
    """One row of A and many columns of B, as a transformer's decoder has it: a tile of 4 rows."""
    p = Parameters(4, 128, 8, thread_rows=4, thread_columns=4, lane_rows=1, group=2, width_b=4)
    assert_right(p, 1, 257, 70, 1.0, 0.0)


@pytest.mark.parametrize("stream_k", [False, pytest.param(True, marks=pytest.mark.slow)])
@given(chosen=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in _CHOICES.items()}))
@settings(max_examples=examples(200))
def test_parameters_make_a_clean_kernel_or_are_refused_by_name(chosen: dict[str, Any], stream_k: bool) -> None:
    refusal = ""
    try:
        assert lint.lint_program(program(Parameters(**chosen, stream_k=stream_k))) == []
    except ParameterError as refused:
        refusal = str(refused)
    assert not refusal or any(name in refusal for name in (*_CHOICES, "waves", "LDS", "VGPRs"))


def test_what_the_descriptor_says_is_what_the_registers_are() -> None:
    for p in _KERNELS[::7]:
        r = Registers.of(p)
        kernel = load(image(p), "gfx1100").kernel("gemm")
        assert (kernel.vgprs, kernel.descriptor.lds_bytes) == (r.count, p.lds_bytes)
