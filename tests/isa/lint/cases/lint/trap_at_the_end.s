; Nothing comes after a trap: LLVM's RDNA4 code ends in one. The waves of `k` that trap race with none.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
f:
	s_cbranch_scc1 .Ltrap
	s_setpc_b64 s[30:31]
.Ltrap:
	s_trap 2
.Lfunc_end_f:
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshrrev_b32_e32 v1, 5, v0
	v_and_b32_e32 v2, 31, v0
	v_readfirstlane_b32 s2, v1
	v_lshlrev_b32_e32 v2, 2, v2
	s_cmp_eq_u32 s2, 0
	s_cbranch_scc0 .Lothers
	ds_store_b32 v2, v0
	v_xor_b32_e32 v3, 4, v2
	ds_load_b32 v4, v3
	s_wait_kmcnt 0x0
	s_wait_dscnt 0x0
	global_store_b32 v2, v4, s[0:1]
	s_endpgm
.Lothers:
	s_trap 2
.Lfunc_end_k:
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
;; expect
clean
