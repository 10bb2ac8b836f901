; Instructions that are written as numbers, a literal among them that would not need to be one, and branches that say
; how far they go; a table after the code stays what it is.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
.macro add_lit dst, number
	.long 0x4a0000ff | (\dst << 17) | (\dst << 9)
	.long \number
.endm
k:
	s_cmp_eq_u32 s4, 0
	s_cbranch_scc1 3
	add_lit 2, 4
	s_branch 2
	.long 0xd7006a03, 0x00020702
	v_mov_b32 v4, v3
	s_endpgm
	.long 0x7e000280
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
	.end_amdhsa_kernel
;; expect
k:                                                       k.s:12: k:
s_cmp_eq_u32 s4, 0                                       k.s:13: s_cmp_eq_u32 s4, 0
s_cbranch_scc1 3                                         k.s:14: s_cbranch_scc1 3
v_add_nc_u32_e32 v2, lit(0x4), v2                        k.s:9: .long 0x4a0000ff | (\dst << 17) | (\dst << 9), in expansion of macro add_lit at k.s:15: add_lit 2, 4
s_branch 2                                               k.s:16: s_branch 2
v_add_co_u32 v3, vcc_lo, v2, v3                          k.s:17: .long 0xd7006a03, 0x00020702
v_mov_b32_e32 v4, v3                                     k.s:18: v_mov_b32 v4, v3
s_endpgm                                                 k.s:19: s_endpgm
