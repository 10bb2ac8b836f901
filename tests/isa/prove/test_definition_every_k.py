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
                "gemm_128x128x8_8x16_l4_g2_s2_nn",
                "gemm_16x32x32_4x4_l4_g2_s2_widtha4_widthb4_nn",
                "gemm_16x32x16_4x4_l4_g2_s2_widtha4_widthb4_tn",
                "gemm_128x64x16_8x8_l4_g4_s1_nt",
                "gemm_4x128x8_4x4_l1_g8_s2_nn",
                "gemm_64x64x4_8x8_l4_g1_s2_nn",
            )
        ),
    ],
)
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


# What only goes wrong later. `bad`: a K at which it does, None where that is too large to be run.
STEP = r"\ts_add_u32 s4, s4, 32\n"
LATER = {
    "a row's offset in 24 bits": (
        r"v_mul_lo_u32 (v\d+), (v\d+), s24",
        r"v_mul_u32_u24_e32 \1, s24, \2",
        True,
        None,
        "product of 24 bits, of which a factor has more for some K",
    ),
    "K blocks counted in 5 bits": (
        r"(s_lshr_b32 s19, s19, 3\n)",
        r"\1\ts_and_b32 s19, s19, 31\n",
        False,
        40 * 8,
        "s_and_b32 s19, s19, 31 .* masks bits that depend on K",
    ),
    "no more than 20 K blocks": (
        r"(s_lshr_b32 s19, s19, 3\n)",
        r"\1\ts_min_u32 s19, s19, 20\n",
        False,
        30 * 8,
        "s_min_u32 s19, s19, 20",
    ),
    "A stands still once, where 7 K blocks are left": (
        r"(fetched_0\n(?:.*\n)*?)" + STEP,
        r"\1\ts_cmp_eq_u32 s19, 7\n\ts_cselect_b32 s60, 0, 32\n\ts_add_u32 s4, s4, s60\n",
        False,
        10 * 8,
        r"s_cmp_eq_u32 s19, 7 .* holds for some K only",
    ),
    "A stands still from the fifth iteration on": (
        r"(\.Lgemm_loop:\n(?:.*\n)*?)" + STEP,
        r"\1\ts_add_u32 s60, s60, 1\n\ts_cmp_lt_u32 s60, 5\n\ts_cselect_b32 s61, 32, 0\n\ts_add_u32 s4, s4, s61\n",
        False,
        12 * 8,
        "s60 depends on what is not known for every K",
    ),
    "the other LDS buffer, while more than 9 K blocks are left": (
        r"(\.Lgemm_loop:\n)(\tds_load_b64 \S+ (v\d+)\n)",
        r"\1\ts_cmp_gt_u32 s19, 9\n\ts_cselect_b32 s60, 1536, 0\n\tv_add_nc_u32_e32 \3, s60, \3\n\2"
        r"\tv_subrev_nc_u32_e32 \3, s60, \3\n",
        False,
        14 * 8,
        "s_cmp_gt_u32 s19, 9 .* holds for some K only",
    ),
    "B's offsets go on, of 32 bits, instead of its base of 64": (
        r"\ts_add_u32 s6, s6, s22\n\ts_addc_u32 s7, s7, s23\n(?=\.L)",
        "".join(f"\tv_add_nc_u32_e32 v{i}, s22, v{i}\n" for i in range(1000, 1004)),
        True,
        None,
        "it would have more than 32 bits for some K",
    ),
}  # fmt: skip


def _offsets_of_b(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"global_load_b32 v\d+, (v\d+), s\[6:7\]", text)))


@pytest.mark.parametrize("name", LATER)
def test_what_goes_wrong_later_is_not_shown(name: str) -> None:
    pattern, new, every, bad, says = LATER[name]
    for i, register in enumerate(_offsets_of_b(TEXT)):
        new = new.replace(f"v{1000 + i}", register)
    text = changed(pattern, new, every=every)
    if "s60, s60" in text:
        text = text.replace("gemm:\n", "gemm:\n\ts_mov_b32 s60, 0\n", 1)
    proof = proof_of(text)
    assert proof.verdict == "unproven", str(proof)
    assert "nothing is wrong at 8 sizes up to 39 x 98 x 32, which says nothing of other K" in proof.statement
    assert re.search(says, proof.statement), proof.statement
    if bad is not None:
        assert at(text, bad).verdict == "different"


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
