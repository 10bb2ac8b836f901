"""What two kernels name is compared: tables, variables, relocations, sizes, alignment, functions."""

from __future__ import annotations

import pytest

from isa.asm.data import ProgramData
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.errors import IsaError
from isa.prove import named
from isa.prove.refine import validate

KERNEL = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	2
	.type	twice,@function
twice:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, 7, v0
	s_cbranch_vccz .LBB0_2
	v_add_nc_u32_e32 v0, v0, v0
.LBB0_2:
	v_add_nc_u32_e32 v0, 1, v0
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	twice, .Lfunc_end0-twice
	.globl	look
	.p2align	8
	.type	look,@function
look:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+8
	s_addc_u32 s5, s5, table@rel32@hi+16
	s_load_b64 s[0:1], s[0:1], 0x0
	s_load_b32 s6, s[4:5], 0x0
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, handlers@rel32@lo+4
	s_addc_u32 s9, s9, handlers@rel32@hi+12
	s_load_b64 s[8:9], s[8:9], 0x0
	v_mov_b32_e32 v1, 0
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v2, s6 :: v_dual_mov_b32 v3, s8
	global_store_b64 v1, v[2:3], s[0:1]
	s_endpgm
.Lfunc_end1:
	.size	look, .Lfunc_end1-look
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel look
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
	.end_amdhsa_kernel
	.type	table,@object
	.p2align	4
table:
	.long	5
	.byte	1, 2
	.short	0x304
	.ascii	"\\001b\\tz"
	.zero	4
	.float	1.5
	.size	table, 20
	.type	spare,@object
spare:
	.long	77
	.size	spare, 4
	.type	handlers,@object
	.section	.data.rel.ro,"aw",@progbits
	.p2align	3
handlers:
	.quad	twice
	.quad	limits+4
	.quad	SHAPE
	.quad	spare-table
	.quad	APART
	.size	handlers, 40
	.type	limits,@object
	.data
	.p2align	2
limits:
	.fill	2, 4, 9
	.size	limits, 8
	.type	count,@object
	.bss
	.p2align	2
count:
	.zero	4
	.size	count, 4
	.set SHAPE, 4*WIDE
	.set WIDE, 8
	.set APART, spare-table
"""

DIFFERENT = {
    ("\t.long\t5\n", "\t.long\t6\n"): "byte 0 of table is 0x05, 0x06 in the rewritten program",
    ("1, 2\n", "1, 3\n"): "byte 5 of table is 0x02, 0x03 in the rewritten program",
    ("0x304", "0x404"): "byte 7 of table is 0x03, 0x04 in the rewritten program",
    ("\\001b\\tz", "\\001b\\nz"): "byte 10 of table is 0x09, 0x0a in the rewritten program",
    ("\t.zero\t4\n\t.float", "\t.long\t65536\n\t.float"): "byte 14 of table is 0x00, 0x01 in the rewritten program",
    ("1.5", "2.5"): "byte 18 of table is 0xc0, 0x20 in the rewritten program",
    ("\t.float\t1.5\n\t.size\ttable, 20", "\t.size\ttable, 16"): "table has 16 bytes, 20 in the original",
    ("\t.p2align\t4\ntable", "\t.p2align\t2\ntable"): "table is aligned to 4, to 16 in the original",
    ("\t.p2align\t8\n", "\t.p2align\t7\n"): "the kernel is aligned to 128 bytes, to 256 in the original",
    ("\t.quad\ttwice", "\t.quad\tlook"): "the function look differs",
    ("limits+4", "limits+8"): "byte 8 of handlers begins limits+4, limits+8 in the rewritten program",
    ("\t.quad\tlimits+4", "\t.quad\t4"): "byte 8 of handlers begins limits+4, a number in the rewritten program",
    ("2, 4, 9", "2, 4, 8"): "byte 0 of limits is 0x09, 0x08 in the rewritten program",
    ("WIDE, 8", "WIDE, 9"): "byte 16 of handlers is 0x20, 0x24 in the rewritten program",
    ("v_add_nc_u32_e32 v0, 1", "v_add_nc_u32_e32 v0, 2"): "the function twice differs",
    ("v_add_nc_u32_e32 v0, v0, v0\n.LBB0_2:", ".LBB0_2:\n\tv_add_nc_u32_e32 v0, v0, v0"): "the function twice differs",
    ("\tv_add_nc_u32_e32 v0, 1", "\t.long 0x7e000280\n\tv_add_nc_u32_e32 v0, 1"):
        "twice has numbers among its instructions",
    ("\t.long\t5\n", "\t.rept 1\n\t.long\t5\n\t.endr\n"): "what is assembled is not known, because of .rept",
    ("\t.float\t1.5\n\t.size\ttable, 20", "\t.size\ttable, 20\n\t.section .text"):
        "where the data of table end is not known",
    ("spare:\n", "\t.long\t1\nspare:\n"):
        "handlers is made of spare-table, which may be another number in the rewritten program",
    ("\t.section\t.data.rel.ro,\"aw\"", "\t.section\t.unseen,\"w\""):
        "handlers lies in section .unseen, which is not loaded",
    **{("\t.float\t1.5\n", f"\t{text}\n"): f"{text}: {what}" for text, what in {
        ".dcb.s 1, 1.5": "what it makes is not known here", ".dcb.d 1, 2.0": "what it makes is not known here",
        ".ds.d 1": "what it makes is not known here", ".ds.x 1": "what it makes is not known here",
        ".p2align -1": "is no alignment", ".fill ": "lacks its count",
    }.items()},
}  # fmt: skip
THE_SAME = [
    ("\t.long\t5\n", "\t.byte\t5, 0\n\t.2byte\t0\n"),
    ("\t.long\t77\n", "\t.long\t78\n"),
    ("\t.zero\t4\n\t.size\tcount", "\t.zero\t8\n\t.size\tcount"),
    ("WIDE, 8", "WIDE, 16/2"),
    (".LBB0_2", ".Lpast"),
    ("twice", "double"),
    ("\t.p2align\t4\ntable", "\t.p2align\t5\ntable"),
    ("\t.fill\t2, 4, 9\n", "\t.long\t9, 9\n"),
    ("table, 20", "table, .-table"),
]


def _edited(old: str, new: str) -> Program:
    assert old in KERNEL
    return parse(KERNEL.replace(old, new), "edited.s")


@pytest.fixture(scope="module")
def original() -> Program:
    return parse(KERNEL, "original.s")


@pytest.mark.parametrize(("edit", "what"), DIFFERENT.items(), ids=DIFFERENT.values())
def test_another_meaning_of_a_name_is_not_proved(original: Program, edit: tuple[str, str], what: str) -> None:
    proof = validate(original.kernel("look"), _edited(*edit).kernel("look"))
    assert proof.verdict == "unproven"
    assert what in str(proof)


@pytest.mark.parametrize("edit", THE_SAME)
def test_the_same_meaning_is_proved(original: Program, edit: tuple[str, str]) -> None:
    proof = validate(original.kernel("look"), _edited(*edit).kernel("look"))
    assert proof.proved, str(proof)


def test_all_differences(original: Program) -> None:
    edited = parse(KERNEL.replace("\t.long\t5\n", "\t.long\t6\n").replace("2, 4, 9", "2, 4, 8"), "edited.s")
    found = named.differences(original.kernel("look"), edited.kernel("look"))
    assert [d.what.split(" is")[0] for d in found] == ["byte 0 of table", "byte 0 of limits"]


def test_code_that_a_kernel_may_run(original: Program) -> None:
    assert [f.name for f in named.Names(original).functions("look")] == ["look", "twice"]


def test_what_no_file_has_is_an_assumption() -> None:
    program = parse(KERNEL.replace(".quad\ttwice", ".quad\telsewhere"), "original.s")
    kernel = program.kernel("look")
    assert any("elsewhere, which neither file defines" in text for text in named.assumed(kernel, kernel))


def test_contents() -> None:
    text = """\
	.section .rodata
a:	
	.string "x", "é"
	.octa 1
	.balign 8, 0xff
b:
	.quad 2, c-a
	.double -2
c:
	.comm shared, 32, 16
	.amdgpu_lds tile, 1024, 8
"""
    data = ProgramData(parse(text))
    a, b, tile = (data.contents(name) for name in ("a", "b", "tile"))
    assert a
    assert b
    assert tile
    assert [p.content for p in a.pieces][:4] == [b"x\0", b"\xc3\xa9\0", (1).to_bytes(16, "little"), b"\xff" * 3]
    assert [(p.at, p.content) for p in b.pieces] == [(0, b"\2" + bytes(7)), (8, "c-a"), (16, b"\0" * 7 + b"\xc0")]
    assert (b.align, tile.size, tile.align, tile.held) == (8, 1024, 8, False)


@pytest.mark.parametrize("directive", [".comm", ".lcomm", ".amdgpu_lds"])
def test_a_size_that_is_not_known_is_no_size(directive: str) -> None:
    data = ProgramData(parse(f"k:\n\ts_endpgm\n.Lend:\n\t{directive} x, .Lend-k+64, 4\n"))
    with pytest.raises(IsaError, match="how much there is of x is not known"):
        data.contents("x")
