"""Every K: the induction over the loop holds for generated kernels, and sees what no small size shows."""

from __future__ import annotations

import re

import pytest

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.names import parameters_of
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.prove.definition import Tiling, every_k, prove, tiled, usual
from isa.prove.proof import Proof

from .edits import faults

P = parameters_of("gemm_32x64x8_4x4_l4_g2_s2_nn")
"""Four waves; A along k, B across."""
TEXT = emit(generate(P, "gemm"))


def tiling(p: Parameters) -> Tiling:
    return Tiling(p.rows, p.columns, p.depth, p.threads, p.trans_a, p.trans_b)


def proof_of(text: str, p: Parameters = P) -> Proof:
    t = tiling(p)
    m, n, k = p.largest
    every = every_k(t, (m - m % p.rows, n - n % p.columns, k))
    return prove(parse(text, "gemm.s"), "gemm", usual(t), every=every)


def at(text: str, k: int) -> Proof:
    """One workgroup, beta 0."""
    return prove(parse(text, "gemm.s"), "gemm", [tiled(tiling(P), P.rows, P.columns, k, "0")], whole=False)


def changed(pattern: str, new: str, *, every: bool = False) -> str:
    """The kernel with the first match rewritten, or all."""
    put, count = re.subn(pattern, new, TEXT, count=0 if every else 1)
    assert count > (1 if every else 0)
    return put


@pytest.mark.parametrize(
    "name",
    [
        "gemm_32x64x8_4x4_l4_g2_s2_nn",
        "gemm_16x32x16_4x4_l4_g2_s1_widtha4_widthb2_tt",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "gemm_128x128x8_8x16_l4_g2_s2_nn", "gemm_16x32x32_4x4_l4_g2_s2_widtha4_widthb4_nn",
                "gemm_16x32x16_4x4_l4_g2_s2_widtha4_widthb4_tn", "gemm_128x64x16_8x8_l4_g4_s1_nt",
                "gemm_4x128x8_4x4_l1_g8_s2_nn", "gemm_64x64x4_8x8_l4_g1_s2_nn",
            )
        ),
    ],
)  # fmt: skip
def test_generated_kernels_are_proved_for_every_k(name: str) -> None:
    p = parameters_of(name)
    proof = proof_of(emit(generate(p, "gemm")), p)
    assert proof.proved
    assert f"for every K from 1 to {p.largest[2]} at M x N of {p.rows + 1} x {p.columns + 3}, " in proof.statement
    assert proof.counts["every_k_to"] == p.largest[2]


def test_every_k_at_all_edges() -> None:
    t = tiling(P)
    every = every_k(t, (32 * 1000, 64 * 1000, 1 << 20), thorough=True)
    proof = prove(parse(TEXT, "gemm.s"), "gemm", usual(t), every=every)
    assert proof.proved, str(proof)
    assert ", 1 to 32 rows and 1 to 64 columns at the edges of C (each number of rows, each of columns) and in" in str(
        proof
    )


LATER = faults("definition/later")


def _offsets_of_b(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"global_load_b32 v\d+, (v\d+), s\[6:7\]", text)))


@pytest.mark.parametrize("name", LATER)
def test_what_goes_wrong_later_is_not_shown(name: str) -> None:
    where, says, pattern, new = LATER[name]
    every, bad = where.split()
    for i, register in enumerate(_offsets_of_b(TEXT)):
        new = new.replace(f"O{i}", register)
    text = changed(pattern, new, every=every == "all")
    if "s60, s60" in text:
        text = text.replace("gemm:\n", "gemm:\n\ts_mov_b32 s60, 0\n", 1)
    proof = proof_of(text)
    assert proof.verdict == "unproven", str(proof)
    assert "nothing is wrong at 8 sizes up to 39 x 98 x 32, which says nothing of other K" in proof.statement
    assert re.search(says, proof.statement), proof.statement
    if bad != "-":
        assert at(text, int(bad)).verdict == "different"


SAME = {
    "A's offsets go on instead of its base: 32 bits do, by the bound of K": (
        r"\ts_add_u32 s4, s4, 32\n\ts_addc_u32 s5, s5, 0\n(\ts_add_u32 s6, s6, s22\n\ts_addc_u32 s7, s7, s23\n\.L)",
        r"\tv_add_nc_u32_e32 A0, 32, A0\n\tv_add_nc_u32_e32 A1, 32, A1\n\1",
        True,
    ),
    "another comparison": (
        r"s_cmp_eq_u32 s19, 0\n(\ts_cbranch_scc1 .Lgemm_(?:fet|sto))",
        r"s_cmp_lt_u32 s19, 1\n\1",
        True,
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_right_is_shown_however_it_is_written(name: str) -> None:
    pattern, new, every = SAME[name]
    for i, register in enumerate(dict.fromkeys(re.findall(r"global_load_b32 v\d+, (v\d+), s\[4:5\]", TEXT))):
        new = new.replace(f"A{i}", register)
    proof = proof_of(changed(pattern, new, every=every))
    assert proof.proved
    assert "for every K from 1 to" in proof.statement, proof.statement
