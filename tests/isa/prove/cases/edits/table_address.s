; A number of a table in memory, whose address is counted from where the code stands.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_and_b32_e32 v2, 15, v0
	s_mov_b32 s8, 0
	v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v4, 1.0
	s_waitcnt lgkmcnt(0)
.Lloop:
	global_load_b32 v5, v1, s[4:5]
	global_load_b32 v6, v1, s[4:5] offset:4
	v_add_nc_u32_e32 v1, 8, v1
	v_add_nc_u32_e32 v2, -1, v2
	s_waitcnt vmcnt(0)
	v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
	v_cmp_gt_i32_e32 vcc_lo, 1, v2
	s_or_b32 s8, vcc_lo, s8
	s_and_not1_b32 exec_lo, exec_lo, s8
	s_cbranch_execnz .Lloop
	s_or_b32 exec_lo, exec_lo, s8
	v_lshlrev_b32_e32 v7, 3, v0
	v_add_f32_dpp v3, v3, v3 row_shr:1 row_mask:0xf bank_mask:0xf
	ds_store_b32 v7, v3
	ds_store_b32 v7, v4 offset:4
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	v_xor_b32_e32 v8, 64, v7
	ds_load_b32 v9, v8
	ds_load_b32 v10, v8 offset:4
	v_cmp_ne_u32_e64 s9, 0, v0
	s_waitcnt lgkmcnt(0)
	s_and_saveexec_b32 s10, s9
	s_cbranch_execz .Ljoin
	v_sub_f32_e32 v9, v9, v10
	global_atomic_add_u32 v7, v9, s[6:7]
.Ljoin:
	s_or_b32 exec_lo, exec_lo, s10
	v_mul_f32_e32 v11, v9, v10
	s_getpc_b64 s[12:13]
	s_add_u32 s12, s12, t@rel32@lo+4
	s_addc_u32 s13, s13, t@rel32@hi+12
	s_load_b32 s11, s[12:13], 0x0
	s_waitcnt lgkmcnt(0)
	v_max_f32_e32 v12, s11, v11
	global_store_b32 v7, v11, s[6:7] offset:16
	global_store_b32 v7, v12, s[6:7] offset:20
	s_endpgm
;; proved: itself
;; proved: it begins elsewhere
-s_getpc_b64 s[12:13]
+s_nop 0
+s_getpc_b64 s[12:13]
;; proved: a hint more, and the numbers with it
-s_getpc_b64 s[12:13]
+s_getpc_b64 s[12:13]
+s_delay_alu instid0(SALU_CYCLE_1)
-t@rel32@lo+4
+t@rel32@lo+8
-t@rel32@hi+12
+t@rel32@hi+16
;; unproven: a hint more
-s_getpc_b64 s[12:13]
+s_getpc_b64 s[12:13]
+s_delay_alu instid0(SALU_CYCLE_1)
;; unproven: the high half as it was
-s_getpc_b64 s[12:13]
+s_getpc_b64 s[12:13]
+s_delay_alu instid0(SALU_CYCLE_1)
-t@rel32@lo+4
+t@rel32@lo+8
;; unproven: other numbers
-t@rel32@lo+4
+t@rel32@lo+8
-t@rel32@hi+12
+t@rel32@hi+16
;; unproven: another table
-t@rel32@lo+4
+u@rel32@lo+4
-t@rel32@hi+12
+u@rel32@hi+12
;; unproven: from another register
-s_add_u32 s12, s12, t
+s_add_u32 s12, s8, t
