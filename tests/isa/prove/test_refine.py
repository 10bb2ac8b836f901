"""Translation validation: what a small kernel may be made into, and what not.

One kernel has a loop that lanes leave one by one, LDS with a barrier, a dual instruction, DPP and an atomic. Each case
changes a line or some. What is wrong must not be proved; that it is wrong follows from what is said beside it.
"""

from collections import Counter

import pytest

from isa.algebra import truth
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.prove.refine import validate
from tools.mutation.mutants import mutants
from tools.validation_study import KINDS

KERNEL = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_and_b32_e32 v2, 15, v0
	s_mov_b32 s8, 0
	v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v4, 1.0
	s_waitcnt lgkmcnt(0)
.Lloop:
	global_load_b32 v5, v1, s[4:5]
	global_load_b32 v6, v1, s[4:5] offset:4
	v_add_nc_u32_e32 v1, 8, v1
	v_add_nc_u32_e32 v2, -1, v2
	s_waitcnt vmcnt(0)
	v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
	v_cmp_gt_i32_e32 vcc_lo, 1, v2
	s_or_b32 s8, vcc_lo, s8
	s_and_not1_b32 exec_lo, exec_lo, s8
	s_cbranch_execnz .Lloop
	s_or_b32 exec_lo, exec_lo, s8
	v_lshlrev_b32_e32 v7, 3, v0
	v_add_f32_dpp v3, v3, v3 row_shr:1 row_mask:0xf bank_mask:0xf
	ds_store_b32 v7, v3
	ds_store_b32 v7, v4 offset:4
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	v_xor_b32_e32 v8, 64, v7
	ds_load_b32 v9, v8
	ds_load_b32 v10, v8 offset:4
	v_cmp_ne_u32_e64 s9, 0, v0
	s_waitcnt lgkmcnt(0)
	s_and_saveexec_b32 s10, s9
	s_cbranch_execz .Ljoin
	v_sub_f32_e32 v9, v9, v10
	global_atomic_add_u32 v7, v9, s[6:7]
.Ljoin:
	s_or_b32 exec_lo, exec_lo, s10
	v_mul_f32_e32 v11, v9, v10
	s_mov_b32 s11, 0x40000000
	v_max_f32_e32 v12, s11, v11
	global_store_b32 v7, v11, s[6:7] offset:16
	global_store_b32 v7, v12, s[6:7] offset:20
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
"""
PROGRAM = parse(KERNEL, "old.s")
BODY = KERNEL.partition(".Lloop:\n")[2].partition("\ts_cbranch_execnz")[0]


def changed(*edits: tuple[str, str]) -> str:
    text = KERNEL
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def verdict(text: str) -> str:
    proof = validate(PROGRAM.kernel(), parse(text, "new.s").kernel())
    assert proof.proved == (proof.difference is None) or "follow" in proof.statement
    return proof.verdict


RIGHT = {
    "itself": (),
    "a hint more": (("s_mov_b32 s8, 0", "s_delay_alu instid0(VALU_DEP_1)\n\ts_mov_b32 s8, 0"),),
    "a dual instruction split": (
        (
            "v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4",
            "v_add_f32_e32 v4, v6, v4\n\tv_fma_f32 v3, v6, v5, v3",
        ),
    ),
    "two made one": (
        ("\tv_lshlrev_b32_e32 v1, 2, v0\n\tv_and_b32_e32 v2, 15, v0\n",
         "\tv_and_b32_e32 v2, 15, v0\n\tv_mul_u32_u24_e32 v1, 4, v0\n"),
    ),
    "two loads made one": (
        ("global_load_b32 v5, v1, s[4:5]\n", "global_load_b64 v[20:21], v1, s[4:5]\n"),
        ("\tglobal_load_b32 v6, v1, s[4:5] offset:4\n", ""),
        ("v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4",
         "v_dual_fmac_f32 v3, v20, v21 :: v_dual_add_f32 v4, v21, v4"),
    ),
    "two stores made one": (
        ("ds_store_b32 v7, v3\n", "ds_store_2addr_b32 v7, v3, v4 offset1:1\n"),
        ("\tds_store_b32 v7, v4 offset:4\n", ""),
    ),
    "a wait loosened and another put in": (
        ("s_waitcnt vmcnt(0)\n", "s_waitcnt vmcnt(1)\n\tv_nop\n\ts_waitcnt vmcnt(0)\n"),
    ),
    "stores of different places exchanged": (
        ("\tglobal_store_b32 v7, v11, s[6:7] offset:16\n", ""),
        ("v12, s[6:7] offset:20\n", "v12, s[6:7] offset:20\n\tglobal_store_b32 v7, v11, s[6:7] offset:16\n"),
    ),
    "an offset moved into a scalar address": (
        ("\tglobal_store_b32 v7, v11, s[6:7] offset:16\n",
         "\ts_add_u32 s12, s6, 16\n\ts_addc_u32 s13, s7, 0\n\tglobal_store_b32 v7, v11, s[12:13]\n"),
        ("v7, v12, s[6:7] offset:20", "v7, v12, s[12:13] offset:4"),
    ),
    "an address added up in VGPRs": (
        ("\tglobal_store_b32 v7, v11, s[6:7] offset:16\n",
         "\tv_add_co_u32 v20, vcc_lo, s6, v7\n\tv_add_co_ci_u32_e64 v21, null, s7, 0, vcc_lo\n"
         "\tglobal_store_b32 v[20:21], v11, off offset:16\n"),
    ),
    "registers renamed where lanes are off": (
        ("v_sub_f32_e32 v9, v9, v10\n", "v_sub_f32_e32 v22, v9, v10\n"),
        ("global_atomic_add_u32 v7, v9, s[6:7]\n", "global_atomic_add_u32 v7, v22, s[6:7]\n\tv_mov_b32_e32 v9, v22\n"),
    ),
    "the opposite branch": (
        ("\ts_cbranch_execz .Ljoin\n", "\ts_cbranch_execz .Ljoin\n\ts_nop 0\n"),
    ),
    "a loop unrolled with its test": (
        ("\ts_cbranch_execnz .Lloop\n",
         "\ts_cbranch_execz .Lout\n" + BODY.replace("v5", "v23") + "\ts_cbranch_execnz .Lloop\n.Lout:\n"),
    ),
}  # fmt: skip
WRONG = {
    "another register": (("v_mul_f32_e32 v11, v9, v10", "v_mul_f32_e32 v11, v9, v4"),),
    "another immediate": (("v_and_b32_e32 v2, 15, v0", "v_and_b32_e32 v2, 14, v0"),),
    "a number of a float": (("v_dual_mov_b32 v4, 1.0", "v_dual_mov_b32 v4, 2.0"),),
    "sources of a difference exchanged": (("v_sub_f32_e32 v9, v9, v10", "v_sub_f32_e32 v9, v10, v9"),),
    "a wait dropped": (("s_waitcnt vmcnt(0)\n", "s_nop 0\n"),),
    "a wait too loose": (("s_waitcnt vmcnt(0)\n", "s_waitcnt vmcnt(1)\n"),),
    "LDS stores not waited for at the barrier": (("\ts_waitcnt lgkmcnt(0)\n\ts_barrier", "\ts_barrier"),),
    "a barrier dropped": (("\ts_barrier\n", ""),),
    "a cache not invalidated": (("\tbuffer_gl0_inv\n", ""),),
    "a load before the barrier": (
        ("\tds_load_b32 v9, v8\n", ""),
        ("\ts_waitcnt lgkmcnt(0)\n\ts_barrier\n",
         "\tv_xor_b32_e32 v8, 64, v7\n\tds_load_b32 v9, v8\n\ts_waitcnt lgkmcnt(0)\n\ts_barrier\n"),
    ),
    "a store moved across the atomic": (
        ("\tglobal_store_b32 v7, v11, s[6:7] offset:16\n", ""),
        (".Ljoin:\n", "\tglobal_store_b32 v7, v11, s[6:7] offset:16\n.Ljoin:\n"),
    ),
    "a load moved before a store that it may overlap": (
        ("\tds_store_b32 v7, v4 offset:4\n", "\tds_load_b32 v9, v7 offset:8\n\tds_store_b32 v7, v4 offset:4\n"),
        ("\tds_load_b32 v9, v8\n", ""),
    ),
    "EXEC not narrowed": (("s_and_saveexec_b32 s10, s9", "s_mov_b32 s10, exec_lo"),),
    "EXEC not restored": (("\ts_or_b32 exec_lo, exec_lo, s10\n", ""),),
    "lanes that left the loop stay off": (("\ts_or_b32 exec_lo, exec_lo, s8\n", ""),),
    "another lane": (("row_shr:1", "row_shr:2"),),
    "another row mask": (("row_mask:0xf", "row_mask:0x1"),),
    "an offset": (("ds_load_b32 v10, v8 offset:4", "ds_load_b32 v10, v8 offset:8"),),
    "an offset of a store": (("s[6:7] offset:20", "s[6:7] offset:24"),),
    "stores of one place in another order": (
        ("v7, v12, s[6:7] offset:20", "v7, v12, s[6:7] offset:16"),
    ),
    "another branch": (("s_cbranch_execnz .Lloop", "s_cbranch_vccnz .Lloop"),),
    "a loop that ends early": (("v_cmp_gt_i32_e32 vcc_lo, 1, v2", "v_cmp_gt_i32_e32 vcc_lo, 2, v2"),),
    "an atomic of another kind": (("global_atomic_add_u32", "global_atomic_or_b32"),),
    "another scope": (("global_atomic_add_u32 v7, v9, s[6:7]", "global_atomic_add_u32 v7, v9, s[6:7] slc"),),
    "another rounding": (("\tv_mul_f32_e32 v11", "\ts_round_mode 1\n\tv_mul_f32_e32 v11"),),
    "a clamp": (("v_mul_f32_e32 v11, v9, v10", "v_mul_f32_e64 v11, v9, v10 clamp"),),
    "a register that is still in use": (("v_cmp_ne_u32_e64 s9", "v_mov_b32_e32 v7, v4\n\tv_cmp_ne_u32_e64 s9"),),
    "more registers than the descriptor gives": (("s_mov_b32 s8, 0", "s_mov_b32 s8, 0\n\tv_mov_b32_e32 v60, 0"),),
    "a carry of which nothing is known": (("s_mov_b32 s8, 0", "s_addc_u32 s8, 0, 0"),),
    "less LDS": (("fixed_size 8192", "fixed_size 4096"),),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_does_the_same_is_proved(name: str) -> None:
    proof = validate(PROGRAM.kernel(), parse(changed(*RIGHT[name]), "new.s").kernel())
    assert proof.proved, proof


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_is_not(name: str) -> None:
    assert verdict(changed(*WRONG[name])) != "proved"


def test_a_place_in_both_texts_is_named() -> None:
    said = str(validate(PROGRAM.kernel(), parse(changed(*WRONG["another immediate"]), "new.s").kernel()))
    assert "old.s:" in said
    assert "new.s:" in said


def test_commuted_operands_are_an_assumption() -> None:
    text = changed(("v_mul_f32_e32 v11, v9, v10", "v_mul_f32_e32 v11, v10, v9"))
    exact, commuted = (validate(PROGRAM.kernel(), parse(t, "new.s").kernel()) for t in (KERNEL, text))
    assert exact.proved
    assert commuted.proved
    assert len(commuted.assumptions) == len(exact.assumptions) + 1
    assert "NaN" in str(commuted)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_that_do_the_same_by_construction(kind: str) -> None:
    for seed in (1, 2):
        proof = validate(PROGRAM.kernel(), KINDS[kind](PROGRAM.kernel(), seed).kernel())
        assert proof.proved, proof


DUAL = "v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4"
SAME = {  # mutants that do the same
    ".amdhsa_next_free_vgpr 40 -> .amdhsa_next_free_vgpr 39",
    ".amdhsa_next_free_sgpr 16 -> .amdhsa_next_free_sgpr 15",
    f"{DUAL} -> {DUAL.replace('v5, v6', 'v6, v5')}",
    f"{DUAL} -> {DUAL.replace('v6, v4', 'v4, v6')}",
}


def test_mutants_are_not_proved() -> None:
    kernel, found = PROGRAM.kernel(), Counter[str]()
    for mutant in list(mutants(PROGRAM))[::3]:
        try:
            proof = validate(kernel, mutant.program.kernel())
        except IsaError:
            continue
        found[proof.verdict] += 1
        assert not proof.proved or mutant.what in SAME, (mutant.kind, mutant.what)
    assert found["unproven"] > 30


EXCHANGE = """k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 7
	s_waitcnt lgkmcnt(0)
	v_cmpx_gt_u32_e32 16, v0
	v_xor_b32_e32 v2, 4, v1
	ds_bpermute_b32 v3, v2, v1
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5]
	s_endpgm
.Lfunc_end0:
"""


@pytest.mark.parametrize("lanes", ["off", "on"])
def test_what_lanes_that_are_off_would_send_does_not_matter(lanes: str) -> None:
    """Of a permutation, address and data of lanes that are off; what lanes that are on read does, and v_readlane_b32
    looks at all."""
    footer = KERNEL.partition(".Lfunc_end0:\n")[2]
    other = EXCHANGE.replace("v2, 7", "v2, 9")
    if lanes == "on":
        other = other.replace("v_xor_b32_e32 v2, 4, v1", "v_readlane_b32 s8, v2, 20\n\tv_xor_b32_e32 v2, s8, v1")
    old = EXCHANGE if lanes == "off" else other.replace("v2, 9", "v2, 7")
    proof = validate(parse(old + footer, "old.s").kernel(), parse(other + footer, "new.s").kernel())
    assert proof.proved == (lanes == "off")


TWICE = """k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 1.0
	v_mov_b32_e32 v3, 2.0
	v_mov_b32_e32 v4, 4.0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v8, 0
	global_store_b32 v1, v2, s[4:5]
	s_nop 0
	global_store_b32 v1, v3, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v8, s[4:5] offset:4096
	s_endpgm
.Lfunc_end0:
"""
FIRST, LAST = "	global_store_b32 v1, v2, s[4:5]\n", "	global_store_b32 v1, v3, s[4:5]\n"


@pytest.mark.parametrize(
    ("between", "proved"),
    [
        ("s_nop 0", True),
        ("global_store_b32 v1, v4, s[4:5] offset:4096", True),
        ("global_load_b32 v8, v1, s[4:5]", False),  # in the same lane
        ("global_load_b32 v8, v1, s[4:5] offset:64", False),  # in another one
        ("global_store_b32 v1, v4, s[4:5] offset:64", False),
        ("s_barrier", False),
        ("global_atomic_add_u32 v1, v4, s[4:5] offset:4096", False),
        ("global_load_b32 v8, v1, s[4:5] offset:4096 glc", False),
        ("v_cmpx_gt_u32_e32 16, v0", False),  # fewer lanes
        ("v_add_nc_u32_e32 v1, 4, v1", False),
        ("v_mov_b32_e32 v1, v4", False),
    ],
)
def test_a_store_that_another_one_overwrites_is_dead(between: str, proved: bool) -> None:
    """Unless something may have read it, or not all of it is overwritten; the one that stays is the last."""
    footer = KERNEL.partition(".Lfunc_end0:\n")[2]
    text = TWICE.replace("s_nop 0", between) + footer

    def verdict_of(*edits: tuple[str, str], old: str = text) -> str:
        new = text
        for had, has in edits:
            assert had in new
            new = new.replace(had, has)
        return validate(parse(old, "old.s").kernel(), parse(new, "new.s").kernel()).verdict

    assert verdict_of() == "proved"
    assert (verdict_of((FIRST, "")) == "proved") == proved
    assert (verdict_of(("v2, 1.0", "v2, 3.0")) == "proved") == proved
    assert verdict_of((LAST, "")) != "proved"
    assert verdict_of(("v2, 1.0", "v2, 2.0"), ("v3, 2.0", "v3, 1.0")) != "proved"
    assert verdict_of(("v3, 2.0", "v3, 3.0")) != "proved"
    hints = text.replace(FIRST, FIRST.replace("\n", " dlc\n"))
    assert verdict_of((FIRST, ""), old=hints) != "proved"


CHOSEN = """k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 7
	v_mov_b32_e32 v3, 9
	s_waitcnt lgkmcnt(0)
	s_and_b32 m0, s15, 1
	v_movrels_b32_e32 v4, v2
	v_movreld_b32_e32 v2, v0
	v_add_nc_u32_e32 v4, v4, v3
	global_store_b32 v1, v4, s[4:5]
	s_endpgm
.Lfunc_end0:
"""


@pytest.mark.parametrize(
    ("old", "new", "proved"),
    [
        ("v_mov_b32_e32 v2, 7\n\tv_mov_b32_e32 v3, 9", "v_mov_b32_e32 v3, 9\n\tv_mov_b32_e32 v2, 7", True),
        ("v3, 9", "v3, 8", False),
        ("s_and_b32 m0, s15, 1", "s_and_b32 m0, s15, 3", False),
        ("next_free_vgpr 40", "next_free_vgpr 48", False),
        ("v_movreld_b32_e32 v2, v0", "v_movreld_b32_e32 v2, v1", False),
    ],
    ids=["order", "a register that may be chosen", "another choice", "another number of registers", "another value"],
)
def test_a_register_that_m0_chooses(old: str, new: str, proved: bool) -> None:
    text = CHOSEN + KERNEL.partition(".Lfunc_end0:\n")[2]
    proof = validate(parse(text, "old.s").kernel(), parse(text.replace(old, new), "new.s").kernel())
    assert proof.proved == proved


def array(writes: int = 12, slots: int = 8) -> str:
    """v32 and on as an array in registers: written, read and written again at indexes of which nothing is known."""
    lines = ["k:", "\ts_load_b64 s[4:5], s[0:1], 0x0", "\tv_lshlrev_b32_e32 v1, 2, v0", "\ts_waitcnt lgkmcnt(0)"]
    lines += [f"\tv_mov_b32_e32 v{k}, {k}" for k in range(32, 32 + slots)]
    for n in range(writes):
        lines += [f"\tglobal_load_b32 v{r}, v1, s[4:5] offset:{12 * n + 4 * i}" for i, r in enumerate((2, 3, 4))]
        lines += ["\ts_waitcnt vmcnt(0)"]
        lines += ["\tv_mov_b32_e32 v5, v32"]
        for k in range(slots):
            lines += [f"\tv_cmp_eq_u32_e32 vcc_lo, {k}, v2", f"\tv_cndmask_b32_e32 v5, v5, v{32 + k}, vcc_lo"]
        lines += ["\tv_add_nc_u32_e32 v4, v4, v5"]
        for k in range(slots):
            lines += [f"\tv_cmp_eq_u32_e32 vcc_lo, {k}, v3", f"\tv_cndmask_b32_e32 v{32 + k}, v{32 + k}, v4, vcc_lo"]
    lines += ["\tglobal_store_b32 v1, v4, s[4:5]", "\ts_endpgm", ".Lfunc_end0:"]
    return "\n".join(lines) + KERNEL.partition(".Lfunc_end0:")[2]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("v_add_nc_u32_e32 v4, v4, v5", "v_add_nc_u32_e32 v4, v5, v4", "proved"),
        ("v35, v35, v4, vcc_lo", "v35, v4, v35, vcc_lo", "unproven"),
    ],
)
def test_an_array_in_registers_does_not_grow_without_bound(old: str, new: str, expected: str) -> None:
    """Each write makes choices of choices, each read again: their normal form would double with every one."""
    text = array()
    other = text.replace(old, new, 1)
    assert other != text
    proof = validate(parse(text, "old.s").kernel(), parse(other, "new.s").kernel())
    assert proof.verdict == expected, str(proof)


def test_a_proof_has_so_many_choices_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heap sort of an array in registers makes new ones without an end in sight."""
    kernel = parse(array(), "old.s").kernel()
    monkeypatch.setattr(truth, "MOST_CHOICES", 100)
    proof = validate(kernel, kernel)
    assert proof.verdict == "unproven"
    assert "conditions that are too large" in proof.statement


def table(symbol: str = "t", low: int = 4, high: int = 12, before: str = "", between: str = "") -> str:
    """The kernel with a number of a table in memory, whose address it counts from where it stands."""
    return changed((
        "\ts_mov_b32 s11, 0x40000000\n",
        f"{before}\ts_getpc_b64 s[12:13]\n{between}\ts_add_u32 s12, s12, {symbol}@rel32@lo+{low}\n"
        f"\ts_addc_u32 s13, s13, {symbol}@rel32@hi+{high}\n\ts_load_b32 s11, s[12:13], 0x0\n\ts_waitcnt lgkmcnt(0)\n",
    ))  # fmt: skip


HINT = "\ts_delay_alu instid0(SALU_CYCLE_1)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (table(), "proved"),
        (table(before="\ts_nop 0\n"), "proved"),
        (table(between=HINT, low=8, high=16), "proved"),
        (table(between=HINT), "unproven"),
        (table(between=HINT, low=8), "unproven"),
        (table(low=8, high=16), "unproven"),
        (table(symbol="u"), "unproven"),
        (table().replace("s_add_u32 s12, s12, t", "s_add_u32 s12, s8, t"), "unproven"),
    ],
)
def test_an_address_is_counted_from_where_the_code_stands(text: str, expected: str) -> None:
    proof = validate(parse(table(), "old.s").kernel(), parse(text, "new.s").kernel())
    assert proof.verdict == expected, str(proof)


LEFT_BY_LANES = """
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_mov_b32 s2, 4
	s_waitcnt lgkmcnt(0)
.Lloop:
	v_add_nc_u32_e32 v1, s2, v0
	s_mov_b32 s3, exec_lo
	s_cmp_lg_u32 s2, 2
	s_cbranch_scc1 .Lother
	v_cmpx_lt_u32_e32 5, v0
	s_branch .Ljoin
.Lother:
	v_cmpx_lt_u32_e32 7, v0
.Ljoin:
	global_store_b32 v1, v1, s[4:5]
	s_or_b32 exec_lo, exec_lo, s3
	s_add_i32 s2, s2, -1
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 .Lloop
	s_endpgm
""" + KERNEL.partition("s_endpgm\n")[2]


@pytest.mark.parametrize(
    ("edits", "proved"),
    [
        ((), True),
        ((("v1, s2, v0", "v3, s2, v0"), ("store_b32 v1, v1", "store_b32 v3, v3")), True),
        ((("v_cmpx_lt_u32_e32 7", "v_cmpx_lt_u32_e32 6"),), False),
        ((("\ts_or_b32 exec_lo, exec_lo, s3\n", ""),), False),
        ((("s_or_b32 exec_lo, exec_lo, s3", "s_mov_b32 exec_lo, -1"),), False),
    ],
)
def test_two_ways_may_leave_other_lanes_on(edits: tuple[tuple[str, str], ...], proved: bool) -> None:
    """Where they meet, EXEC stays within the lanes of both; so the loop's is what it was before they parted."""
    text = LEFT_BY_LANES
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    assert validate(parse(LEFT_BY_LANES, "old.s").kernel(), parse(text, "new.s").kernel()).proved == proved


LEAVES = """
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	s_mov_b32 s10, exec_lo
	s_mov_b32 s8, 0
	s_waitcnt lgkmcnt(0)
	v_cmpx_gt_u32_e32 20, v0
	s_cbranch_execz .Lend
	v_mov_b32_e32 v7, v0
.Lloop:
	s_mov_b32 s3, exec_lo
	v_cmpx_lt_u32_e32 7, v7
	s_xor_b32 s6, exec_lo, s3
	s_cbranch_execz .Lother
	v_mul_lo_u32 v7, v7, v7
	v_add_nc_u32_e32 v3, 3, v7
.Lother:
	s_and_not1_saveexec_b32 s9, s6
	s_cbranch_execz .Ljoin
	v_add_nc_u32_e32 v3, 1, v2
.Ljoin:
	s_or_b32 exec_lo, exec_lo, s9
	v_lshrrev_b32_e32 v7, 3, v3
	v_add_nc_u32_e32 v2, v2, v7
	v_cmp_eq_u32_e32 vcc_lo, 0, v7
	s_or_b32 s8, vcc_lo, s8
	s_and_not1_b32 exec_lo, exec_lo, s8
	s_cbranch_execnz .Lloop
	s_or_b32 exec_lo, exec_lo, s8
.Lend:
	s_or_b32 exec_lo, exec_lo, s10
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
""" + KERNEL.partition("s_endpgm\n")[2]


@pytest.mark.parametrize(
    ("edits", "proved"),
    [
        ((), True),
        ((("v_mul_lo_u32 v7, v7, v7", "v_mul_lo_u32 v5, v7, v7"), ("v3, 3, v7", "v3, 3, v5")), True),
        ((("v_mul_lo_u32 v7, v7, v7", "v_mul_lo_u32 v5, v7, v7"),), False),
        ((("global_store_b32 v1, v2", "global_store_b32 v1, v7"),), False),
        ((("global_store_b32 v1, v2", "global_store_b32 v1, v3"),), False),
        ((("v_add_nc_u32_e32 v2, v2, v7", "v_add_nc_u32_e32 v2, v2, v3"),), False),
        ((("\ts_or_b32 exec_lo, exec_lo, s9\n", ""),), False),
        ((("s_and_not1_saveexec_b32 s9, s6", "s_and_saveexec_b32 s9, s6"),), False),
    ],
)
def test_a_loop_leaves_what_nothing_reads_in_lanes_that_have_left_it(
    edits: tuple[tuple[str, str], ...], proved: bool
) -> None:
    """One side of a branch uses v7 up, so that lanes which have left may hold either; those that go on write it anew.
    What is read of v2 afterwards is of the round in which each left."""
    text = LEAVES
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    assert validate(parse(LEAVES, "old.s").kernel(), parse(text, "new.s").kernel()).proved == proved


PREFETCH = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v2
	s_barrier
	global_load_b32 v3, v1, s[4:5] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	ds_load_b32 v4, v1 offset:4
	s_waitcnt lgkmcnt(0)
	v_nop
	v_add_f32_e32 v4, v4, v3
	s_barrier
	global_store_b32 v1, v4, s[6:7]
	s_endpgm
""" + KERNEL.partition("s_endpgm\n")[2]
LATE = ("s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_barrier", "s_waitcnt lgkmcnt(0)\n\ts_barrier"), (
    "\tv_nop\n", "\ts_waitcnt vmcnt(0)\n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("also", "proved"),
    [
        (("v_nop", "v_nop"), True),
        (("\tv_add_f32_e32 v4, v4, v3\n", "\tv_add_f32_e32 v4, v4, v3\n\ts_barrier\n"), True),
        (("\tds_load_b32 v4", "\tglobal_store_b32 v1, v2, s[6:7] offset:8\n\tds_load_b32 v4"), False),
        (("\tglobal_load_b32 v3", "\tglobal_store_b32 v1, v2, s[6:7] offset:8\n\tglobal_load_b32 v3"), False),
        (("\tglobal_load_b32 v3", "\tglobal_atomic_add_u32 v1, v2, s[6:7] offset:8\n\tglobal_load_b32 v3"), False),
        (("\ts_barrier\n\tglobal_store", "\tglobal_store"), False),
        (("s_endpgm", "s_sleep 1\n\ts_endpgm"), False),
    ],
    ids=["quiet", "another", "a store behind", "a store before", "an atomic", "a store on the way", "speaking waves"],
)
def test_loads_may_be_in_flight_at_a_barrier_around_which_nothing_is_written(
    also: tuple[str, str], proved: bool
) -> None:
    """Another wave may write what is loaded only where something is written between the barriers next to this one."""
    text = PREFETCH
    for old, new in LATE:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    assert PREFETCH.count(also[0]) == 1, also
    proof = validate(*(parse(t.replace(*also), "k.s").kernel() for t in (PREFETCH, text)))
    assert proof.proved == proved, str(proof)
    assert not proved or "all waves of a workgroup meet at the same barriers" in proof.assumptions


HALF = """
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:512
	s_load_b32 s6, s[4:5], 0x400
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lother
	v_mov_b16_e32 v4.h, v2.h
	s_branch .Ljoin
.Lother:
	v_mov_b16_e32 v4.h, v3.l
.Ljoin:
	v_cvt_f32_f16_e32 v5, v4.h
	global_store_b32 v1, v5, s[4:5] offset:1024
	s_endpgm
""" + KERNEL.partition("s_endpgm\n")[2]


@pytest.mark.parametrize(
    ("edits", "proved"),
    [
        ((), True),
        (("v_mov_b32_e32 v4, 0", "v_mov_b32_e32 v4, 1"), True),
        (("\ts_branch", "\tv_mov_b16_e32 v4.l, v3.h\n\ts_branch"), True),
        (("v_mov_b16_e32 v4.h, v3.l", "v_mov_b16_e32 v4.h, v3.h"), False),
        (("\ts_branch", "\tv_mov_b16_e32 v4.h, v3.h\n\ts_branch"), False),
    ],
)
def test_of_a_register_one_half_may_be_live(edits: tuple[str, ...], proved: bool) -> None:
    """Where two ways meet, what lies in the half that nothing reads may differ; where both halves are read, it may
    not."""
    assert not edits or HALF.count(edits[0]) == 1
    texts = [HALF, HALF.replace(*edits) if edits else HALF]
    whole = [text.replace("v_cvt_f32_f16_e32 v5, v4.h", "v_not_b32_e32 v5, v4") for text in texts]
    for pair, expected in ((texts, proved), (whole, not edits)):
        proof = validate(*(parse(text, "k.s").kernel() for text in pair))
        assert proof.proved == expected, str(proof)


def test_a_byte_is_stored_of_the_half_that_is_live() -> None:
    """Where some lanes are off, too, in which the other half differs."""
    text = HALF.replace("v4.h", "v4.l").replace("\ts_cmp", "\tv_cmpx_lt_u32_e32 5, v0\n\ts_cmp")
    text = text.replace("\tv_cvt_f32_f16_e32 v5, v4.l\n\tglobal_store_b32 v1, v5", "\tglobal_store_b8 v1, v4")
    other = text.replace("v_mov_b32_e32 v4, 0", "v_mov_b32_e32 v4, 0x10000")
    wrong = other.replace("v4.l, v3.l", "v4.l, v3.h")
    proofs = [validate(parse(text, "k.s").kernel(), parse(new, "k.s").kernel()) for new in (other, wrong)]
    assert [proof.proved for proof in proofs] == [True, False], str(proofs[0])


CLOCKS = """
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_getreg_b32 s6, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
	s_mov_b32 s8, s6
	s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
	s_sub_u32 s6, s7, s8
	v_mov_b32_e32 v2, s6
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
""" + KERNEL.partition("s_endpgm\n")[2]
READING = "\ts_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n"


@pytest.mark.parametrize(
    ("old", "new", "proved"),
    [
        ("v_mov_b32_e32 v2, s6", "v_mov_b32_e32 v2, s6\n\ts_nop 0", True),
        ("s_mov_b32 s8, s6", "s_mov_b32 s9, s6\n\ts_mov_b32 s8, s9", True),
        (READING, "\ts_mov_b32 s7, s8\n", False),  # two readings are two numbers
        (READING, "\ts_mov_b32 s7, s6\n", False),
        (READING, READING * 2, False),
        ("s_sub_u32 s6, s7, s8", "s_sub_u32 s6, s8, s7", False),
        ("s_sub_u32 s6, s7, s8", "s_sub_u32 s6, s7, s7", False),
        (READING, READING.replace("0, 20", "0, 19"), False),
        (READING, READING.replace("SHADER_CYCLES", "HW_ID1"), False),
    ],
)
def test_a_clock_is_an_input_that_differs_from_reading_to_reading(old: str, new: str, proved: bool) -> None:
    assert CLOCKS.count(old) == 1
    first, second = parse(CLOCKS, "old.s"), parse(CLOCKS.replace(old, new), "new.s")
    proof = validate(first.kernel(), second.kernel())
    assert proof.proved is proved, proof
    if not proved:
        assert proof.verdict == "unproven"
