"""Memory order: what the validator says where a wait or an invalidation is missing, weaker or elsewhere."""

import pytest

from isa.asm.parse import parse
from isa.prove.refine import validate

FOOTER = """.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
"""
KERNEL = """k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v1, 1
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v0, s[4:5] offset:64
	global_store_b32 v0, v1, s[4:5]
	s_waitcnt vmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v0, v1, s[4:5] offset:4096
	s_nop 0
	global_store_b32 v0, v2, s[6:7]
	s_endpgm
"""
FLAG = "\tglobal_store_b32 v0, v1, s[4:5] offset:4096\n"
DATA = "\tglobal_store_b32 v0, v1, s[4:5]\n"
LOADED, STORED = "\ts_waitcnt vmcnt(0)\n", "\ts_waitcnt_vscnt null, 0x0\n"
RIGHT = {
    "itself": (),
    "a later wait": ((STORED, ""), (FLAG, STORED + FLAG)),
    "a stronger wait besides": (("\ts_nop 0\n", STORED),),
}
WRONG = {
    "no wait for the store": ((STORED, ""),),
    "a weaker one": ((STORED, STORED.replace("0x0", "0x1")),),
    "the load lands after the flag": ((LOADED, ""), ("\ts_nop 0\n", LOADED)),
    "the wait after the flag": ((STORED, ""), (FLAG, FLAG + STORED)),
    "the flag before the data": ((FLAG, ""), (DATA, FLAG + DATA)),
}


@pytest.mark.parametrize("case", [*RIGHT, *WRONG])
def test_a_release_keeps_its_order(case: str) -> None:
    text = KERNEL
    for old, new in {**RIGHT, **WRONG}[case]:
        assert old in text
        text = text.replace(old, new, 1)
    first, second = parse(KERNEL + FOOTER, "old.s"), parse(text + FOOTER, "new.s")
    assert validate(first.kernel(), second.kernel()).proved == (case in RIGHT)
