"""The reader: what it takes, what it keeps, and where it points when it cannot."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import texts

from isa.asm.emit import emit, set_directives
from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.registers import EXEC_LO, s, v
from isa.semantics.instruction import Imm, Instruction, Modified, Special
from isa.targets import TARGETS

LINES = """
v_dual_fmac_f32 v5, v186, v184 :: v_dual_fmac_f32 v2, v187, v185
global_load_b32 v9, v[4:5], off
global_load_b32 v169, v203, s[24:25] offset:16 glc
ds_load_2addr_b32 v[2:3], v10 offset0:1 offset1:255
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
s_waitcnt vmcnt(0) lgkmcnt(1)
v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_fma_f32 v0, -|v1|, s2, 1.0 clamp mul:2
s_load_b128 s[4:7], s[0:1], 0x18
s_add_u32 s0, s0, f@rel32@lo+4
s_getreg_b32 s3, hwreg(HW_REG_MODE, 0, 4)
s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
s_cbranch_scc1 .LBB0_9
v_cvt_f32_f16_e32 v1, v2.h
scratch_store_b32 off, v1, s33 offset:-4
s_endpgm
""".strip().splitlines()


def test_a_space_may_follow_the_colon_of_a_modifier() -> None:
    """As LLVM's assembler takes it; people write `offset: 8`."""
    loose = parse_instruction("ds_load_b64 v[190:191], v183 offset: 8 gds")
    assert loose.modifiers == parse_instruction("ds_load_b64 v[190:191], v183 offset:8 gds").modifiers


@pytest.mark.parametrize("text", LINES)
def test_an_instruction_formats_as_it_was_written(text: str) -> None:
    assert str(parse_instruction(text)) == text.replace("_mask:0xf", "_mask:15")


def test_operands_are_typed() -> None:
    inst = parse_instruction("v_fma_f32 v0, -|v1|, s2, 1.0 clamp")
    assert inst.operands == (v(0), Modified(v(1), neg=True, abs=True), s(2), Imm(1.0, "1.0"))
    assert inst.has("clamp")
    assert parse_instruction("global_load_b32 v9, v[4:5], off").operands[2] == Special("off")


def test_a_vopd_has_two_halves_and_reads_and_writes_for_both() -> None:
    inst = parse_instruction("v_dual_mov_b32 v2, s14 :: v_dual_mov_b32 v3, s15")
    assert isinstance(inst.pair, Instruction)
    assert inst.reads() == {s(14), s(15), EXEC_LO}
    assert inst.writes() == {v(2), v(3)}


(SAMPLE,) = texts(__file__)


def test_a_kernel_is_found_with_its_counts_and_they_can_be_set() -> None:
    kernel = parse(SAMPLE).kernel()
    assert (kernel.name, kernel.directive("next_free_vgpr")) == ("k", 11)
    assert [i.mnemonic for _, i in kernel.instructions()] == ["v_mov_b32_e32", "s_endpgm"]
    changed = emit(set_directives(kernel, {"next_free_vgpr": 214}, {".vgpr_count": 214}))
    assert changed == SAMPLE.replace("vgpr 11", "vgpr 214").replace(":     11", ":     214")


OTHER = ["", "; only a comment", "\t.p2align 8", "lab:", "  \t"]


@given(st.lists(st.sampled_from(LINES + OTHER), max_size=20), st.booleans())
def test_emit_gives_the_bytes_back(lines: list[str], newline: bool) -> None:
    text = "\n".join(lines) + ("\n" if newline else "")
    assert emit(parse(text)) == text


@given(st.text(max_size=80))
def test_any_text_reads_or_is_refused(text: str) -> None:
    with contextlib.suppress(IsaError):
        assert emit(parse(text)) == text


ERRORS = {
    "v_mov_b32 v256, 0": (11, "not an operand"),
    "v_mov_b32 v0, 0 blub": (17, "not a modifier"),
    "v_mov_b32 v0,, 0": (14, "an operand is missing"),
    "%foo bar": (1, "not an instruction"),
    "lab: s_nop 0": (5, "shares its line"),
    "v_mov_b32 v[3:1], 0": (11, "not an operand"),
}


@pytest.mark.parametrize(("text", "column", "message"), [(t, *e) for t, e in ERRORS.items()])
def test_an_error_points_at_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(IsaError, match=message) as caught:
        parse(f"s_nop 0\n{text}\n", "k.s")
    assert f"k.s:2:{column}:" in str(caught.value)


def test_an_unknown_instruction_names_itself_and_the_nearest() -> None:
    with pytest.raises(IsaError, match="v_frobnicate_b32 is not described") as caught:
        parse_instruction("v_frobnicate_b32_e32 v0, v1", "k.s", 6).reads()
    assert "k.s:7:1" in str(caught.value)
    assert "did you mean v_fract_f32?" in str(caught.value)


@pytest.mark.parametrize("source", ["neg(0)", "neg(1)", "neg(0.5)", "neg(-1)", "-|v1|", "-v1", "|v1|"])
def test_a_sign_turned_over_is_written_as_it_was_read(source: str) -> None:
    """neg(0) is -0.0, which -0 is not."""
    inst = parse_instruction(f"\tv_add_f32_e64 v0, {source}, v2")
    assert parse_instruction(f"\t{inst}") == inst
    assert source in str(inst)


FIRST = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n'


@pytest.mark.parametrize("before", ["k:\n\ts_nop 0\n", f"{FIRST}k:\n\ts_nop 0\n", FIRST])
def test_another_target_than_before_is_refused(before: str) -> None:
    text = f'{before}\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"\n\ts_wait_loadcnt 0x0\n'
    with pytest.raises(IsaError, match="another target than before") as refused:
        parse(text, "x.s")
    assert str(refused.value).startswith(f"x.s:{text.count(chr(10)) - 1}:2")
    again = text.replace("gfx1201", "gfx1100").replace("s_wait_loadcnt 0x0", "s_nop 1")
    assert parse(again).target is TARGETS["gfx1100"]


def test_instructions_of_the_family_may_stand_before_the_target() -> None:
    program = parse('\ts_nop 0\n\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"\n')
    assert program.target is TARGETS["gfx1151"]
