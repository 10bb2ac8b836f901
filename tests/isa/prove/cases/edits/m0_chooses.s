; A register that M0 chooses.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 7
	v_mov_b32_e32 v3, 9
	s_waitcnt lgkmcnt(0)
	s_and_b32 m0, s15, 1
	v_movrels_b32_e32 v4, v2
	v_movreld_b32_e32 v2, v0
	v_add_nc_u32_e32 v4, v4, v3
	global_store_b32 v1, v4, s[4:5]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
;; proved: order
-v_mov_b32_e32 v2, 7
-v_mov_b32_e32 v3, 9
+v_mov_b32_e32 v3, 9
+v_mov_b32_e32 v2, 7
;; refused: a register that may be chosen
-v3, 9
+v3, 8
;; refused: another choice
-s_and_b32 m0, s15, 1
+s_and_b32 m0, s15, 3
;; refused: another number of registers
-next_free_vgpr 40
+next_free_vgpr 48
;; refused: another value
-v_movreld_b32_e32 v2, v0
+v_movreld_b32_e32 v2, v1
