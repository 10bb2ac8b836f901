"""Faults on purpose: what is changed, one line at a time, and what becomes of each mutant of a small kernel."""

from collections import Counter

from isa.check.equivalence import Argument, Facts, prove
from isa.check.mutate import KINDS, Judge, mutants
from isa.parse import parse

SOURCE = """
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 3, v0
	v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	s_waitcnt vmcnt(1)
	s_waitcnt vmcnt(0)
	ds_store_2addr_b32 v1, v2, v3 offset1:1
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b128 v[8:11], v1 offset:16
	s_waitcnt lgkmcnt(0)
	v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11
	v_xor_b32_e32 v6, 0x3f8, v1
	global_store_b64 v6, v[4:5], s[6:7]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
"""
FACTS = Facts(arguments=(Argument("A", 0, 8), Argument("C", 8, 8)), block=128)


def test_each_mutant_changes_one_line() -> None:
    program = parse(SOURCE, "k.s")
    all_ = list(mutants(program))
    assert Counter(m.kind for m in all_) == {
        "wait removed": 5,
        "wait weakened": 5,
        "barrier removed": 1,
        "VOPD sources swapped": 4,
        "LDS offset": 3,
        "LDS stride": 1,
        "global stride": 2,
        "count shrunk": 4,
    }
    assert [k for k in KINDS if k in {m.kind for m in all_}] == list(dict.fromkeys(m.kind for m in all_))
    for mutant in all_:
        pairs = zip(program.lines, mutant.program.lines, strict=True)
        assert [i for i, (a, b) in enumerate(pairs) if a.text != b.text] == [mutant.line], mutant.what


def test_what_becomes_of_them() -> None:
    program = parse(SOURCE, "k.s")
    assert prove(program, program, facts=FACTS).proved
    judge = Judge.against(program, program, "k", FACTS)
    left = {m.what: j for m in mutants(program) if (j := judge(m)).verdict != "found"}
    assert {what: j.verdict for what, j in left.items()} == {
        "s_waitcnt vmcnt(1) -> removed": "equivalent",
        "s_waitcnt vmcnt(1) -> s_waitcnt vmcnt(2)": "equivalent",
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11 -> "
        "v_dual_fmac_f32 v4, v10, v8 :: v_dual_fmac_f32 v5, v9, v11": "equivalent",
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v9, v11 -> "
        "v_dual_fmac_f32 v4, v8, v10 :: v_dual_fmac_f32 v5, v11, v9": "equivalent",
    }
    assert {j.reason.split(" ")[0] for j in left.values()} == {"on", "only"}
