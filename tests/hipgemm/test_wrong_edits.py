"""Edits by hand that change what a kernel does, each of another kind: none is proved; each original is."""

from pathlib import Path

import pytest

from hipgemm.judge import proving
from hipgemm.kernels.files import read_kernel
from isa.asm.parse import parse
from isa.asm.program import Program

FRAME = (Path(__file__).parents[1] / "isa" / "lint" / "cases" / "assumed.s").read_text()
SIZES = (
    ("next_free_vgpr 2", "next_free_vgpr 32"), (".vgpr_count: 2", ".vgpr_count: 32"), ("sgpr 16", "sgpr 32"),
    (".sgpr_count: 18", ".sgpr_count: 34"), ("kernarg_size 12", "kernarg_size 24"),
    ("segment_size: 12", "segment_size: 24"),
    ("group_segment_fixed_size: 0", "group_segment_fixed_size: 4096"),
    (".amdhsa_kernarg", ".amdhsa_group_segment_fixed_size 4096\n\t\t.amdhsa_kernarg"),
    (".offset: 8\n        .size: 4", ".offset: 16\n        .size: 4"),
    ("      - .name: K", "      - .offset: 8\n        .size: 8\n        .value_kind: global_buffer\n      - .name: K"),
)  # fmt: skip
BEFORE = """\
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b32 s8, s[0:1], 0x10
v_lshlrev_b32_e32 v1, 2, v0
s_waitcnt lgkmcnt(0)
global_load_b32 v2, v1, s[4:5]
s_waitcnt vmcnt(0)
"""
"""v2: an element of a; v1: four times the work-item's number; s[6:7]: b; s8: K."""
AFTER = "global_store_b32 v1, v2, s[6:7]\ns_endpgm\n"
SOME = "v_cmp_gt_u32_e32 vcc_lo, 7, v0\ns_and_saveexec_b32 s9, vcc_lo\nv_add_f32_e32 v2, 1.0, v2\n"
POLL = ".LX:\nglobal_load_b32 v3, v1, s[6:7] glc\ns_waitcnt vmcnt(0)\nbuffer_gl1_inv\nbuffer_gl0_inv\n"
AGAIN = "v_cmp_eq_u32_e32 vcc_lo, 0, v3\ns_cbranch_vccnz .LX\n"
SHARED = "ds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\nbuffer_gl0_inv\nv_xor_b32_e32 v3, 0x80, v1\n"
THEN = "ds_load_b32 v2, v3\ns_waitcnt lgkmcnt(0)\n"
DPP = "v_mov_b32_e32 v3, 1.0\nv_mov_b32_dpp v3, v2 row_ror:1 row_mask:0xf bank_mask:0xf\nv_mov_b32_e32 v2, v3\n"
ONE = "v_add_f32_e32 v2, 1.0, v2\n"
EDITS = {
    "rounding": (ONE, "s_round_mode 0x3\n" + ONE),
    "denormals": (ONE, "s_denorm_mode 0x0\n" + ONE),
    "clamp": ("v_add_f32_e64 v2, v2, v2\n", "v_add_f32_e64 v2, v2, v2 clamp\n"),
    "lanes that do not exist": (SOME + "s_or_b32 exec_lo, exec_lo, s9\n", SOME + "s_mov_b32 exec_lo, -1\n"),
    "lanes lost": (SOME + "s_or_b32 exec_lo, exec_lo, s9\n", SOME),
    "EXEC as a number": ("v_mov_b32_e32 v3, exec_lo\nv_add_nc_u32_e32 v2, v2, v3\n", "v_add_nc_u32_e32 v2, -1, v2\n"),
    "one lane alone": ("s_and_not1_b32 vcc_lo, exec_lo, 1\ns_cbranch_vccz .LX\n" + ONE + ".LX:\n", ONE),
    "first lane": ("s_ff1_i32_b32 s9, exec_lo\nv_add_nc_u32_e32 v2, s9, v2\n", ""),
    "a barrier that some waves pass": (
        SHARED + THEN,
        SHARED.replace("s_barrier\n", "s_cmp_eq_u32 s8, 0\ns_cbranch_scc1 .LX\ns_barrier\n.LX:\n") + THEN,
    ),
    "a wait behind its barrier": (
        SHARED + THEN, SHARED.replace("s_waitcnt lgkmcnt(0)\ns_barrier\n", "s_barrier\ns_waitcnt lgkmcnt(0)\n") + THEN,
    ),
    "a row of DPP": (DPP, DPP.replace("row_mask:0xf", "row_mask:0x1")),
    "half a register": (
        "ds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_load_u16_d16 v2, v1\ns_waitcnt lgkmcnt(0)\n",
        "ds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_load_u16 v2, v1\ns_waitcnt lgkmcnt(0)\n",
    ),
    "a loop that never ends": (ONE, ONE + "s_cmp_eq_u32 s8, 77\n.LX:\ns_cbranch_scc1 .LX\n"),
    "a look that is not repeated": (POLL + AGAIN, POLL.replace(".LX:\n", "") + ".LX:\n" + AGAIN),
    "a trap": (ONE, "s_cmp_eq_u32 s8, 77\ns_cbranch_scc0 .LX\ns_trap 2\n.LX:\n" + ONE),
    "an end": (ONE, ONE + "s_cmp_eq_u32 s8, 77\ns_cbranch_scc0 .LX\ns_endpgm\n.LX:\n"),
    "stores that may meet": (
        "global_store_b32 v1, v0, s[4:5]\n", AFTER.replace("s_endpgm", "global_store_b32 v1, v0, s[4:5]")),
    "an atomic twice": ("global_atomic_add_u32 v1, v2, s[6:7]\n", 2 * "global_atomic_add_u32 v1, v2, s[6:7]\n"),
    "SCC overwritten": (
        "s_cmp_eq_u32 s8, 3\ns_cselect_b32 s9, 1.0, 2.0\nv_add_f32_e32 v2, s9, v2\n",
        "s_cmp_eq_u32 s8, 3\ns_and_b32 s10, s8, 7\ns_cselect_b32 s9, 1.0, 2.0\nv_add_f32_e32 v2, s9, v2\n",
    ),
    "the sign of a short": ("s_mov_b32 s9, 0x8000\nv_add_nc_u32_e32 v2, s9, v2\n",
                            "s_movk_i32 s9, 0x8000\nv_add_nc_u32_e32 v2, s9, v2\n"),
    "registers given back": ("", "s_nop 0\ns_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n"),
    "minus zero": ("v_add_f32_e32 v2, 0, v2\n", ""),
    "scratch that is not there": ("", "scratch_store_b32 off, v2, off\n"),
}  # fmt: skip


def _program(body: str, file: str) -> Program:
    head, tail = FRAME.split("f:\n", 1)[0], FRAME[FRAME.index(".Lfunc_end0:") :]
    for old, new in SIZES:
        assert old in tail, old
        tail = tail.replace(old, new)
    return parse(f"{head}f:\n{BEFORE}{body}{AFTER}{tail}", file)


@pytest.mark.parametrize("what", EDITS)
def test_a_wrong_edit_is_not_proved(what: str) -> None:
    original, edited = (_program(body, f"{name}.s") for name, body in zip("ab", EDITS[what], strict=True))
    kernel = read_kernel("\n".join(line.text for line in original.lines), "f")
    assert proving.held(kernel, original, original, "f", "f").proved
    assert not proving.held(kernel, original, edited, "f", "f").proved
