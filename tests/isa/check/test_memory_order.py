"""Memory order is part of what a kernel does: without a wait before a release, or an invalidation after an acquire, it
is not proved to do the same; in another order of what the model leaves free it is.

The model is that of LLVM AMDGPUUsage, "Memory Model gfx10-gfx11"."""

import re

import pytest

from isa.asm.parse import parse
from isa.check.equivalence import Facts, prove
from isa.check.validation import validate

HEAD = """k:
	s_load_b128 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v9, 0
	s_waitcnt lgkmcnt(0)
"""
FOOT = """	s_endpgm
.amdhsa_kernel k
	.amdhsa_next_free_vgpr 10
	.amdhsa_next_free_sgpr 4
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
"""
ORDERED = {
    "a message and its flag": """
	global_store_b32 v1, v0, s[0:1]
	s_waitcnt_vscnt null, 0x0 ; !
	global_store_b32 v9, v0, s[2:3]
""",
    "a value that is read before the lock is given back": """
	global_load_b32 v2, v1, s[0:1]
	s_waitcnt vmcnt(0) ; !
	global_store_b32 v9, v9, s[2:3]
	v_add_f32_e32 v2, 1.0, v2
	global_store_b32 v1, v2, s[0:1] offset:512
""",
    "a flag, then what it guards": """
	global_load_b32 v2, v9, s[2:3] glc
	s_waitcnt vmcnt(0) ; !
	buffer_gl1_inv ; !
	buffer_gl0_inv ; !
	global_load_b32 v3, v1, s[0:1]
	s_waitcnt vmcnt(0) ; !
	v_add_nc_u32_e32 v3, v2, v3
	global_store_b32 v1, v3, s[0:1] offset:512
""",
    "an atomic that publishes": """
	global_store_b32 v1, v0, s[0:1]
	s_waitcnt_vscnt null, 0x0 ; !
	global_atomic_add_u32 v9, v0, s[2:3]
""",
    "LDS before a barrier": """
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0) ; !
	s_barrier ; !
	ds_load_b32 v2, v9
	s_waitcnt lgkmcnt(0) ; !
	global_store_b32 v1, v2, s[0:1]
""",
    "a message in a loop": """
	s_mov_b32 s0, s0
.Lagain:
	global_store_b32 v1, v0, s[0:1]
	v_add_nc_u32_e32 v0, 1, v0
	s_waitcnt_vscnt null, 0x0 ; !
	global_store_b32 v9, v0, s[2:3]
	v_cmp_gt_u32_e32 vcc_lo, 100, v0
	s_cbranch_vccnz .Lagain
""",
}
FREE = {
    "independent loads": (
        """
	global_load_b32 v2, v1, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, 1.0, v2
	global_load_b32 v3, v1, s[0:1] offset:256
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v2, v3
	global_store_b32 v1, v3, s[2:3]
""",
        """
	global_load_b32 v2, v1, s[0:1]
	global_load_b32 v3, v1, s[0:1] offset:256
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v2, 1.0, v2
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v3, v2, v3
	global_store_b32 v1, v3, s[2:3]
""",
    ),
    "a wait that covers more": (
        """
	global_store_b32 v1, v0, s[0:1]
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v9, v0, s[2:3]
""",
        """
	global_store_b32 v1, v0, s[0:1]
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v9, v0, s[2:3]
""",
    ),
}


def proved(old: str, new: str) -> bool:
    """By either judge."""
    programs = [parse(HEAD + body.replace(" ; !", "") + FOOT, name) for body, name in ((old, "old.s"), (new, "new.s"))]
    kernels = [program.kernel() for program in programs]
    return validate(*kernels).proved or prove(*programs, facts=Facts(block=64)).proved


@pytest.mark.parametrize("name", ORDERED)
def test_what_orders_memory_may_not_be_missing(name: str) -> None:
    body = ORDERED[name]
    lines = body.splitlines(keepends=True)
    marked = [i for i, line in enumerate(lines) if line.endswith("; !\n")]
    assert marked
    assert proved(body, body)
    for i in marked:
        assert not proved(body, "".join(lines[:i] + lines[i + 1 :])), lines[i]
        weaker = re.sub(r"(vmcnt|lgkmcnt)\(0\)|null, 0x0", lambda m: f"{m[1]}(1)" if m[1] else "null, 0x1", lines[i])
        if weaker != lines[i]:
            assert not proved(body, "".join([*lines[:i], weaker, *lines[i + 1 :]])), weaker


def test_cache_bits_belong_to_an_access() -> None:
    body = ORDERED["a flag, then what it guards"]
    assert not proved(body, body.replace(" glc", ""))
    assert not proved(body, body.replace(" glc", " glc dlc"))
    message = ORDERED["a message and its flag"]
    assert not proved(message, message.replace("v9, v0, s[2:3]", "v9, v0, s[2:3] glc"))


def test_ordered_stores_keep_their_order() -> None:
    one, wait, two = ORDERED["a message and its flag"].lstrip("\n").splitlines(keepends=True)
    assert not proved(one + wait + two, two + wait + one)


@pytest.mark.parametrize("name", FREE)
def test_what_the_model_leaves_free_is_proved(name: str) -> None:
    assert proved(*FREE[name])
