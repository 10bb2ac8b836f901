; A register that is written and read where one condition holds is never read unwritten; where the condition may have
; changed, or is another one, it may be.
same:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	s_lshr_b32 s7, s6, 4
	s_cmp_eq_u32 s7, 0
	s_cbranch_scc1 none_same
	v_add_nc_u32_e32 v2, 1, v0
none_same:
	s_cmp_lt_u32 s7, 1
	s_cbranch_scc1 done_same
	global_store_b32 v1, v2, s[4:5]
done_same:
	s_endpgm
.Lfunc_end_same:
	.section	.rodata
	.amdhsa_kernel same
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
changed:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	s_lshr_b32 s7, s6, 4
	s_cmp_eq_u32 s7, 0
	s_cbranch_scc1 none_changed
	v_add_nc_u32_e32 v2, 1, v0
none_changed:
	s_sub_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 1
	s_cbranch_scc1 done_changed
	global_store_b32 v1, v2, s[4:5]
done_changed:
	s_endpgm
.Lfunc_end_changed:
	.section	.rodata
	.amdhsa_kernel changed
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
;; expect
note: case.s:39:2: global_store_b32 reads v2, which nothing has written on some path [VAL002 register uninitialized on some path; LLVM AMDGPUUsage, Initial Kernel Execution State]
    	global_store_b32 v1, v2, s[4:5]
    	^
  help: ignore this if that path is never taken
