"""The proof by definition: generated kernels are what they should be, and faults made by hand are named."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.prove.definition import SymbolicLaunch, Tiling, prove, usual
from isa.prove.proof import Proof

from .edits import assert_named, faults, replaced


def tiling(p: Parameters) -> Tiling:
    return Tiling(p.rows, p.columns, p.depth, p.threads, p.trans_a, p.trans_b)


P = Parameters()
TEXT = emit(generate(P, "gemm"))
LAUNCHES = usual(tiling(P))
SMALL = [launch for launch in LAUNCHES if launch.k == 2 * P.depth]
"""One whole workgroup, two whole K blocks."""

VARIANTS = {
    "one step, one buffer": Parameters(group=1, stages=1),
    "lanes 8 x 4": Parameters(lane_rows=8),
    "thread tile 16 x 8": Parameters(thread_rows=16, thread_columns=8),
    "two waves": Parameters(rows=64),
    "256 threads": Parameters(thread_rows=8, thread_columns=8),
    "columns before threads": Parameters(rows=64, columns=128, lane_rows=8),
    "sixteen steps of k": Parameters(depth=16),
    "A transposed": Parameters(trans_a=True),
    "B transposed": Parameters(trans_b=True),
    "both transposed": Parameters(rows=64, trans_a=True, trans_b=True),
}


def changed(pattern: str, new: str, number: int = 0) -> str:
    """The kernel with one match of a pattern rewritten."""
    return replaced(TEXT, pattern, new, number)


def proof_of(text: str, launches: Sequence[SymbolicLaunch] = LAUNCHES, *, whole: bool = True) -> Proof:
    return prove(parse(text, "gemm.s"), "gemm", launches, whole=whole)


def test_kernel9_is_proved() -> None:
    proof = proof_of(TEXT)
    assert proof.proved, str(proof)
    assert "135 x 194 x 32" in proof.statement
    assert "all branches went both ways" in proof.statement
    assert proof.counts["elements"] == sum(launch.m * launch.n for launch in LAUNCHES)


@pytest.mark.parametrize(
    "name",
    [name if name == "both transposed" else pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS],
)
def test_other_parameters_are_proved(name: str) -> None:
    p = VARIANTS[name]
    proof = prove(generate(p, "gemm"), "gemm", usual(tiling(p)))
    assert proof.proved, str(proof)


FMA = r"(v_dual_fmac_f32 v\d+), (v\d+), (v\d+) :: (v_dual_fmac_f32 v\d+), (v\d+), (v\d+)"


FAULTS = faults("definition/vector")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(name: str) -> None:
    assert_named(name, FAULTS, TEXT, LAUNCHES[:5])


def test_a_swapped_operand_shows_both_expressions_and_the_store() -> None:
    proof = proof_of(changed(FMA, r"\1, \5, \3 :: \4, \2, \6", 100), SMALL, whole=False)
    products = "beta * C[2,66] + alpha * (A[2,0] * B[0,66] + A[{},1] * B[1,66] + A[2,2] * B[2,66] + A[2,3] * B[3,66] + "
    store = "global_store_b128 v192, v[8:11], s[4:5] offset:256"
    assert re.sub(r"gemm.s:\d+", "gemm.s:LINE", str(proof)).splitlines()[1:] == [
        "  C[2,66] of 128 x 128 x 16, beta any: 256 of 16384 elements are wrong",
        f"      by definition: {products.format(2)}(12 more))",
        f"      the kernel: gemm.s:LINE: {store}",
        f"          {products.format(3)}(12 more))",
    ]


def test_the_factors_of_a_product_may_change_places() -> None:
    assert proof_of(changed(FMA, r"\1, \3, \2 :: \4, \5, \6", 100), SMALL, whole=False).proved


def test_a_sum_in_another_order_is_another_sum() -> None:
    """The first two steps change places: the same products."""
    lines = TEXT.splitlines()
    fmas = [i for i, line in enumerate(lines) if "v_dual_fmac" in line]
    assert fmas[127] - fmas[0] < 130
    first, second = fmas[0], fmas[64]
    lines[first], lines[second] = lines[second], lines[first]
    wait = next(i for i, line in enumerate(lines[: fmas[0]]) if i > fmas[0] - 3 and "lgkmcnt" in line)
    lines[wait] = "\ts_waitcnt lgkmcnt(0)"
    proof = proof_of("\n".join(lines) + "\n", SMALL, whole=False)
    assert proof.verdict == "different"


def test_sizes_that_miss_a_way_prove_nothing() -> None:
    proof = proof_of(TEXT, SMALL)
    assert proof.verdict == "unproven"
    assert "at 128 x 128 x 16" in proof.statement


@pytest.mark.parametrize(
    ("pattern", "new", "says"),
    [
        (r"v_min_u32_e32 (v\d+), s26, (v\d+)", r"v_min_u32_e32 \1, v34, \2", "v34 depends on nothing that was written"),
        (r"v_min_u32_e32 (v\d+), s26, (v\d+)", r"v_min_u32_e32 \1, s15, \2", "s15 depends on a matrix, alpha or beta"),
        (r"v_min_u32_e32 (v\d+), s26, (v\d+)", r"v_min_u32_e32 \1, s5, \2", "s5 depends on the address of A"),
        (r"v_mul_u32_u24_e32 (.*)", r"v_alignbit_b32 \1, 1", "does not know v_alignbit_b32"),
    ],
)
def test_what_it_cannot_follow_is_refused_by_name(pattern: str, new: str, says: str) -> None:
    proof = proof_of(changed(pattern, new), SMALL, whole=False)
    assert proof.verdict == "unproven"
    assert says in proof.statement
