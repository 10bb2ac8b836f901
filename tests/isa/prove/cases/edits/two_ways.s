; Two ways may leave other lanes on: where they meet, EXEC stays within the lanes of both; so the loop's is what it was
; before they parted.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_mov_b32 s2, 4
	s_waitcnt lgkmcnt(0)
.Lloop:
	v_add_nc_u32_e32 v1, s2, v0
	s_mov_b32 s3, exec_lo
	s_cmp_lg_u32 s2, 2
	s_cbranch_scc1 .Lother
	v_cmpx_lt_u32_e32 5, v0
	s_branch .Ljoin
.Lother:
	v_cmpx_lt_u32_e32 7, v0
.Ljoin:
	global_store_b32 v1, v1, s[4:5]
	s_or_b32 exec_lo, exec_lo, s3
	s_add_i32 s2, s2, -1
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 .Lloop
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
;; proved: another register
-v1, s2, v0
+v3, s2, v0
-store_b32 v1, v1
+store_b32 v3, v3
;; refused: other lanes
-v_cmpx_lt_u32_e32 7
+v_cmpx_lt_u32_e32 6
;; refused: EXEC not restored
-s_or_b32 exec_lo, exec_lo, s3
+
;; refused: all lanes
-s_or_b32 exec_lo, exec_lo, s3
+s_mov_b32 exec_lo, -1
