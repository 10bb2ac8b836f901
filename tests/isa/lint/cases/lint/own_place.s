; Addresses counted from s_getpc_b64. The first two are as LLVM writes them, k and a slot of the table; in the third a
; hint has come between, in the fourth one between the halves; the last counts what stands between.
k:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+20
	s_addc_u32 s5, s5, table@rel32@hi+28
	s_load_b32 s8, s[4:5], 0x0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@gotpcrel32@lo+4
	s_addc_u32 s5, s5, table@gotpcrel32@hi+12
	s_load_b64 s[6:7], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s9, s[6:7], 0x0
	s_getpc_b64 s[6:7]
	s_delay_alu instid0(SALU_CYCLE_1)
	s_add_u32 s6, s6, table@rel32@lo+4
	s_addc_u32 s7, s7, table@rel32@hi+12
	s_load_b32 s10, s[6:7], 0x0
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, table@rel32@lo+4
	s_nop 0
	s_addc_u32 s7, s7, table@rel32@hi+12
	s_load_b32 s11, s[6:7], 0x0
	s_getpc_b64 s[6:7]
	s_nop 0
	s_add_u32 s6, s6, table@rel32@lo+8
	s_addc_u32 s7, s7, table@rel32@hi+16
	s_load_b32 s12, s[6:7], 0x0
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v1, s8 :: v_dual_mov_b32 v2, s9
	v_dual_mov_b32 v3, s10 :: v_dual_mov_b32 v4, s11
	v_mov_b32_e32 v5, s12
	global_store_b128 v0, v[1:4], s[0:1]
	global_store_b32 v0, v5, s[0:1] offset:16
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
;; expect
case.s:16:2: the literal is 8 bytes after s_getpc_b64, but its offset is that for 4 [ADDR001 PC-relative address out of place; LLVM AMDGPUUsage, Relocation Records]
    	s_add_u32 s6, s6, table@rel32@lo+4
    	^
  expected: +8
  found: +4
  help: move what is between them before s_getpc_b64, or add its size to the offset
case.s:22:2: the literal is 16 bytes after s_getpc_b64, but its offset is that for 12 [ADDR001 PC-relative address out of place; LLVM AMDGPUUsage, Relocation Records]
    	s_addc_u32 s7, s7, table@rel32@hi+12
    	^
  expected: +16
  found: +12
  help: move what is between them before s_getpc_b64, or add its size to the offset
