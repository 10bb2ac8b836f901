; One kernel with a loop that lanes leave one by one, LDS with a barrier, a dual instruction, DPP and an atomic.
; What is wrong must not be proved; that it is wrong follows from what is said beside it.
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
	s_mov_b32 s11, 0x40000000
	v_max_f32_e32 v12, s11, v11
	global_store_b32 v7, v11, s[6:7] offset:16
	global_store_b32 v7, v12, s[6:7] offset:20
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
;; proved: a hint more
-s_mov_b32 s8, 0
+s_delay_alu instid0(VALU_DEP_1)
+s_mov_b32 s8, 0
;; proved: a dual instruction as it is, in halves
-v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
+v_fmac_f32_e32 v3, v5, v6
+v_add_f32_e32 v4, v6, v4
;; refused: in halves, one of which reads what the other left
-v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
+v_fmac_f32_e32 v3, v5, v6
+v_add_f32_e32 v4, v3, v4
;; proved: a dual instruction split
-v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
+v_add_f32_e32 v4, v6, v4
+v_fma_f32 v3, v6, v5, v3
;; proved: two made one
-v_lshlrev_b32_e32 v1, 2, v0
-v_and_b32_e32 v2, 15, v0
+v_and_b32_e32 v2, 15, v0
+v_mul_u32_u24_e32 v1, 4, v0
;; proved: two loads made one
-global_load_b32 v5, v1, s[4:5]
+global_load_b64 v[20:21], v1, s[4:5]
-global_load_b32 v6, v1, s[4:5] offset:4
+
-v_dual_fmac_f32 v3, v5, v6 :: v_dual_add_f32 v4, v6, v4
+v_dual_fmac_f32 v3, v20, v21 :: v_dual_add_f32 v4, v21, v4
;; proved: two stores made one
-ds_store_b32 v7, v3
+ds_store_2addr_b32 v7, v3, v4 offset1:1
-ds_store_b32 v7, v4 offset:4
+
;; proved: a wait loosened and another put in
-s_waitcnt vmcnt(0)
+s_waitcnt vmcnt(1)
+v_nop
+s_waitcnt vmcnt(0)
;; proved: stores of different places exchanged
-global_store_b32 v7, v11, s[6:7] offset:16
+
-v12, s[6:7] offset:20
+v12, s[6:7] offset:20
+global_store_b32 v7, v11, s[6:7] offset:16
;; proved: an offset moved into a scalar address
-global_store_b32 v7, v11, s[6:7] offset:16
+s_add_u32 s12, s6, 16
+s_addc_u32 s13, s7, 0
+global_store_b32 v7, v11, s[12:13]
-v7, v12, s[6:7] offset:20
+v7, v12, s[12:13] offset:4
;; proved: an address added up in VGPRs
-global_store_b32 v7, v11, s[6:7] offset:16
+v_add_co_u32 v20, vcc_lo, s6, v7
+v_add_co_ci_u32_e64 v21, null, s7, 0, vcc_lo
+global_store_b32 v[20:21], v11, off offset:16
;; proved: registers renamed where lanes are off
-v_sub_f32_e32 v9, v9, v10
+v_sub_f32_e32 v22, v9, v10
-global_atomic_add_u32 v7, v9, s[6:7]
+global_atomic_add_u32 v7, v22, s[6:7]
+v_mov_b32_e32 v9, v22
;; proved: the opposite branch
-s_cbranch_execz .Ljoin
+s_cbranch_execz .Ljoin
+s_nop 0
;; proved: a loop unrolled with its test
-s_cbranch_execnz .Lloop
+s_cbranch_execz .Lout
+global_load_b32 v23, v1, s[4:5]
+global_load_b32 v6, v1, s[4:5] offset:4
+v_add_nc_u32_e32 v1, 8, v1
+v_add_nc_u32_e32 v2, -1, v2
+s_waitcnt vmcnt(0)
+v_dual_fmac_f32 v3, v23, v6 :: v_dual_add_f32 v4, v6, v4
+v_cmp_gt_i32_e32 vcc_lo, 1, v2
+s_or_b32 s8, vcc_lo, s8
+s_and_not1_b32 exec_lo, exec_lo, s8
+s_cbranch_execnz .Lloop
+.Lout:
;; proved: commuted operands, by an assumption | assuming .*NaN
-v_mul_f32_e32 v11, v9, v10
+v_mul_f32_e32 v11, v10, v9
;; refused: another register
-v_mul_f32_e32 v11, v9, v10
+v_mul_f32_e32 v11, v9, v4
;; refused: another immediate | old\.s:(.|\n)*new\.s:
-v_and_b32_e32 v2, 15, v0
+v_and_b32_e32 v2, 14, v0
;; refused: a number of a float
-v_dual_mov_b32 v4, 1.0
+v_dual_mov_b32 v4, 2.0
;; refused: sources of a difference exchanged
-v_sub_f32_e32 v9, v9, v10
+v_sub_f32_e32 v9, v10, v9
;; refused: a wait dropped
-s_waitcnt vmcnt(0)
+s_nop 0
;; refused: a wait too loose
-s_waitcnt vmcnt(0)
+s_waitcnt vmcnt(1)
;; refused: LDS stores not waited for at the barrier
-s_waitcnt lgkmcnt(0)
-s_barrier
+s_barrier
;; refused: a barrier dropped
-s_barrier
+
;; refused: a cache not invalidated
-buffer_gl0_inv
+
;; refused: a load before the barrier
-ds_load_b32 v9, v8
+
-s_waitcnt lgkmcnt(0)
-s_barrier
+v_xor_b32_e32 v8, 64, v7
+ds_load_b32 v9, v8
+s_waitcnt lgkmcnt(0)
+s_barrier
;; refused: a store moved across the atomic
-global_store_b32 v7, v11, s[6:7] offset:16
+
-.Ljoin:
+global_store_b32 v7, v11, s[6:7] offset:16
+.Ljoin:
;; refused: a load moved before a store that it may overlap
-ds_store_b32 v7, v4 offset:4
+ds_load_b32 v9, v7 offset:8
+ds_store_b32 v7, v4 offset:4
-ds_load_b32 v9, v8
+
;; refused: EXEC not narrowed
-s_and_saveexec_b32 s10, s9
+s_mov_b32 s10, exec_lo
;; refused: EXEC not restored
-s_or_b32 exec_lo, exec_lo, s10
+
;; refused: lanes that left the loop stay off
-s_or_b32 exec_lo, exec_lo, s8
+
;; refused: another lane
-row_shr:1
+row_shr:2
;; refused: another row mask
-row_mask:0xf
+row_mask:0x1
;; refused: an offset
-ds_load_b32 v10, v8 offset:4
+ds_load_b32 v10, v8 offset:8
;; refused: an offset of a store
-s[6:7] offset:20
+s[6:7] offset:24
;; refused: stores of one place in another order
-v7, v12, s[6:7] offset:20
+v7, v12, s[6:7] offset:16
;; refused: another branch
-s_cbranch_execnz .Lloop
+s_cbranch_vccnz .Lloop
;; refused: a loop that ends early
-v_cmp_gt_i32_e32 vcc_lo, 1, v2
+v_cmp_gt_i32_e32 vcc_lo, 2, v2
;; refused: an atomic of another kind
-global_atomic_add_u32
+global_atomic_or_b32
;; refused: another scope
-global_atomic_add_u32 v7, v9, s[6:7]
+global_atomic_add_u32 v7, v9, s[6:7] slc
;; refused: another rounding
-v_mul_f32_e32 v11
+s_round_mode 1
+v_mul_f32_e32 v11
;; refused: a clamp
-v_mul_f32_e32 v11, v9, v10
+v_mul_f32_e64 v11, v9, v10 clamp
;; refused: a register that is still in use
-v_cmp_ne_u32_e64 s9
+v_mov_b32_e32 v7, v4
+v_cmp_ne_u32_e64 s9
;; refused: more registers than the descriptor gives
-s_mov_b32 s8, 0
+s_mov_b32 s8, 0
+v_mov_b32_e32 v60, 0
;; refused: a carry of which nothing is known
-s_mov_b32 s8, 0
+s_addc_u32 s8, 0, 0
;; refused: less LDS
-fixed_size 8192
+fixed_size 4096
