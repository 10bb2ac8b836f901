; A loop leaves what nothing reads in lanes that have left it: one side of a branch uses v7 up, so that lanes which have
; left may hold either; those that go on write it anew. What is read of v2 afterwards is of the round in which each left.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	s_mov_b32 s10, exec_lo
	s_mov_b32 s8, 0
	s_waitcnt lgkmcnt(0)
	v_cmpx_gt_u32_e32 20, v0
	s_cbranch_execz .Lend
	v_mov_b32_e32 v7, v0
.Lloop:
	s_mov_b32 s3, exec_lo
	v_cmpx_lt_u32_e32 7, v7
	s_xor_b32 s6, exec_lo, s3
	s_cbranch_execz .Lother
	v_mul_lo_u32 v7, v7, v7
	v_add_nc_u32_e32 v3, 3, v7
.Lother:
	s_and_not1_saveexec_b32 s9, s6
	s_cbranch_execz .Ljoin
	v_add_nc_u32_e32 v3, 1, v2
.Ljoin:
	s_or_b32 exec_lo, exec_lo, s9
	v_lshrrev_b32_e32 v7, 3, v3
	v_add_nc_u32_e32 v2, v2, v7
	v_cmp_eq_u32_e32 vcc_lo, 0, v7
	s_or_b32 s8, vcc_lo, s8
	s_and_not1_b32 exec_lo, exec_lo, s8
	s_cbranch_execnz .Lloop
	s_or_b32 exec_lo, exec_lo, s8
.Lend:
	s_or_b32 exec_lo, exec_lo, s10
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
;; proved: itself
;; proved: the product elsewhere
-v_mul_lo_u32 v7, v7, v7
+v_mul_lo_u32 v5, v7, v7
-v3, 3, v7
+v3, 3, v5
;; refused: nobody reads the product
-v_mul_lo_u32 v7, v7, v7
+v_mul_lo_u32 v5, v7, v7
;; refused: v7 is stored
-global_store_b32 v1, v2
+global_store_b32 v1, v7
;; refused: v3 is stored
-global_store_b32 v1, v2
+global_store_b32 v1, v3
;; refused: another sum
-v_add_nc_u32_e32 v2, v2, v7
+v_add_nc_u32_e32 v2, v2, v3
;; refused: EXEC not restored
-s_or_b32 exec_lo, exec_lo, s9
+
;; refused: the other side has the same lanes
-s_and_not1_saveexec_b32 s9, s6
+s_and_saveexec_b32 s9, s6
