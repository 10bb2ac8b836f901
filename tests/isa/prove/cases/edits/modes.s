; What an instruction computes by its modifiers, and by the MODE register that others before it have changed.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_load_b64 s[8:9], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:512
	s_waitcnt vmcnt(0)
	v_cvt_f16_f32_e32 v4, v2
	v_mov_b32_e32 v5, v3
	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf
	v_add_f32_e64 v6, v2, v3 clamp
	v_pk_add_f16 v7, v2, v3 neg_lo:[0,1]
	global_store_b32 v1, v4, s[6:7]
	global_store_b32 v1, v5, s[6:7] offset:512
	global_store_b32 v1, v6, s[6:7] offset:1024
	global_store_b32 v1, v7, s[6:7] offset:1536
	s_endpgm
;; proved: rounding that is changed behind all that rounds
-	global_store_b32 v1, v7, s[6:7] offset:1536
+	s_round_mode 0x1
+	global_store_b32 v1, v7, s[6:7] offset:1536
;; unproven: f16 that overflows to the greatest number | FP16_OVFL
-	s_waitcnt vmcnt(0)
+	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
+	s_waitcnt vmcnt(0)
;; unproven: exceptions trap | EXCP_EN
-	s_waitcnt vmcnt(0)
+	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 9), 1
+	s_waitcnt vmcnt(0)
;; proved: the same bit, as it is
-	s_waitcnt vmcnt(0)
+	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0
+	s_waitcnt vmcnt(0)
;; unproven: another rounding
-	s_waitcnt vmcnt(0)
+	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
+	s_waitcnt vmcnt(0)
;; unproven: denormals that are kept
-	s_waitcnt vmcnt(0)
+	s_denorm_mode 0xf
+	s_waitcnt vmcnt(0)
;; unproven: lanes without a neighbour get 0
-	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf
+	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
;; unproven: one row of two
-	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf
+	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0x1 bank_mask:0xf
;; unproven: three banks of four
-	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf
+	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0x7
;; unproven: a rotation
-	v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf
+	v_mov_b32_dpp v5, v2 row_ror:1 row_mask:0xf bank_mask:0xf
;; unproven: no clamp
-	v_add_f32_e64 v6, v2, v3 clamp
+	v_add_f32_e64 v6, v2, v3
;; unproven: the other half
-	v_pk_add_f16 v7, v2, v3 neg_lo:[0,1]
+	v_pk_add_f16 v7, v2, v3 neg_hi:[0,1]
;; unproven: a mode that no proof holds ends | begins with \.amdhsa_fp16_overflow, and MODE is written
<	s_endpgm
>	s_endpgm
>.Lfunc_end0:
>.amdhsa_kernel k
>.amdhsa_fp16_overflow 1
>.amdhsa_user_sgpr_count 2
>.amdhsa_user_sgpr_kernarg_segment_ptr 1
>.amdhsa_next_free_vgpr 40
>.amdhsa_next_free_sgpr 24
>.end_amdhsa_kernel
-	s_waitcnt vmcnt(0)
+	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0
+	s_waitcnt vmcnt(0)
