"""Wrong users of carries, flags, conditions, masks and M0: what stands between a by-product and its reader is found."""

import itertools
import re

import pytest

from isa.asm.parse import parse
from isa.lint.lint import lint_program
from isa.semantics.names import RENAMED

START = """s_mov_b32 s4, s17; s_mov_b32 s5, s18; s_mov_b32 s6, s16; v_mov_b32 v4, v2; v_mov_b32 v5, v3; v_mov_b32 v6, v3
    v_mov_b32 v7, v2"""
END = """v_mov_b32 v10, s4; v_mov_b32 v11, s5; v_mov_b32 v12, s6; global_store_b96 v[0:1], v[10:12], off
    global_store_b128 v[0:1], v[4:7], off offset:16; s_setpc_b64 s[30:31]"""
SUMS = ("s_add_u32 s4, s16, s17", "s_sub_u32 s4, s16, s17")
UPPER = ("s_addc_u32 s5, s18, s19", "s_subb_u32 s5, s18, 0")
SCC = """s_and_b32 s6, s16, s20 | s_lshl_b32 s6, s16, 3 | s_min_u32 s6, s16, s20 | s_add_i32 s6, s16, s20 |
    s_abs_i32 s6, s16 | s_bfe_u32 s6, s16, 0x80008 | s_bcnt1_i32_b32 s6, s16 | s_lshl2_add_u32 s6, s16, s20 |
    s_wqm_b32 s6, s16 | s_cmp_eq_u32 s16, s20 | s_add_u32 s6, s16, s20 |
    s_xor_b32 s6, s16, s20; s_sub_u32 s6, s6, s20""".split("|")
VCC = """v_cmp_eq_u32 vcc_lo, v2, v8 | v_add_co_u32 v7, vcc_lo, v2, v8 | s_mov_b32 vcc_lo, -1 |
    s_or_b32 vcc_lo, s16, s17 | v_readfirstlane_b32 vcc_lo, v2""".split("|")
MASK = """s_mov_b32 s9, s16 | s_mul_i32 s9, s16, s17 | s_and_b32 s9, s16, s17 | v_cmp_gt_u32_e64 s9, v2, v8 |
    v_readfirstlane_b32 s9, v2""".split("|")
KINDS = {
    "carry in SCC": (SUMS, SCC, UPPER),
    "carry of an upper half": (("s_add_u32 s3, s16, s17; s_addc_u32 s4, s18, s19",), SCC[:10], UPPER),
    "condition in SCC": (
        ("s_cmp_eq_u32 s16, s17", "s_bitcmp1_b32 s16, 3"), SCC,
        ("s_cselect_b32 s5, s18, s19", "s_cbranch_scc1 .L; s_mov_b32 s5, s18; .L:"),
    ),
    "carry in VCC": (
        ("v_add_co_u32 v4, vcc_lo, v2, v3", "v_sub_co_u32 v4, vcc_lo, v2, v3"), VCC,
        ("v_add_co_ci_u32 v5, vcc_lo, v2, v3, vcc_lo", "v_sub_co_ci_u32 v5, vcc_lo, v2, v3, vcc_lo"),
    ),
    "flag of a division": (("v_div_scale_f32 v4, vcc_lo, v2, v3, v2",), VCC, ("v_div_fmas_f32 v5, v2, v3, v4",)),
    "condition in VCC": (
        ("v_cmp_lt_f32 vcc_lo, v2, v3",), VCC,
        ("v_cndmask_b32 v5, v2, v3, vcc_lo", "s_cbranch_vccz .L; v_mov_b32 v5, v3; .L:", "s_and_b32 s5, s16, vcc_lo"),
    ),
    "saved EXEC": (
        ("v_cmp_eq_u32_e64 s8, v2, v3; s_and_saveexec_b32 s9, s8; v_add_f32 v6, v2, v3",
         "s_mov_b32 s9, exec_lo; v_cmpx_eq_u32 v2, v3; v_add_f32 v6, v2, v3"),
        MASK, ("s_or_b32 exec_lo, exec_lo, s9", "s_mov_b32 exec_lo, s9"),
    ),
    "index in M0": (
        ("s_mov_b32 m0, s16",), ("s_mov_b32 m0, s20", "s_add_i32 m0, s16, s20", "v_readfirstlane_b32 m0, v2"),
        ("v_movrels_b32 v4, v2", "s_movrels_b32 s4, s16", "v_movreld_b32 v4, v2", "s_sendmsg sendmsg(MSG_INTERRUPT)"),
    ),
}  # fmt: skip


def found(arch: str, *middle: str) -> list[str]:
    """The rules that the middle breaks, hazards apart, which depend on the target."""
    text = "\n".join("; ".join((START, *middle, END)).replace("\n", ";").split(";"))
    for new, old in RENAMED.items() if arch == "gfx1201" else ():
        text = re.sub(rf"\b{old}\b", new, text)
    program = parse(f'\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\nf:\n{text}\n', "f.s")
    first = 2 + START.count(";") + START.count("\n") + 1
    findings = lint_program(program, races=False)
    return [f.id for f in findings if f.span is not None and f.span.line > first and not f.id.startswith("HAZ")]


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_overwritten_before_its_reader_is_found(kind: str, arch: str) -> None:
    makers, others, readers = KINDS[kind]
    assert not [pair for pair in itertools.product(makers, readers) if found(arch, *pair)]
    assert not [three for three in itertools.product(makers, others, readers) if not found(arch, *three)]


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_a_condition_is_added_to_what_is_no_half_of_the_sum_before(arch: str) -> None:
    """As compilers write x + (y != 7) behind the end of a sum of 64 bits."""
    scalar = ("s_add_u32 s3, s16, s17; s_addc_u32 s4, s18, 0", "s_cmp_lg_u32 s20, 0", "s_addc_u32 s6, s19, s4")
    vector = (
        "v_add_co_u32 v6, vcc_lo, v2, v3; v_add_co_ci_u32 v4, vcc_lo, 0, v2, vcc_lo",
        "v_cmp_ne_u32 vcc_lo, 7, v8",
        "v_add_co_ci_u32 v7, vcc_lo, 0, v3, vcc_lo",
    )
    assert found(arch, *scalar) == found(arch, *vector) == []
