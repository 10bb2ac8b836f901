;; ADDRESSES

v_add_nc_u32_e64 T, A, V
v_sub_nc_u32_e64 T, V, A
v_lshlrev_b32_e32 T, H, V
v_lshrrev_b32_e32 T, H, V
v_ashrrev_i32_e32 T, H, V
v_lshl_add_u32 T, V, H, A
v_add3_u32 T, V, A, V
v_mul_u32_u24_e64 T, V, A
v_and_b32_e64 T, A, V
v_add_co_u32 v4, vcc_lo, s6, V
v_add_co_ci_u32_e64 v5, null, s7, v5, vcc_lo
v_add_co_u32 v4, vcc_lo, v4, A
v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
v_mad_u64_u32 v[4:5], null, V, S, v[4:5]
v_lshlrev_b64 v[4:5], H, v[4:5]
v_lshrrev_b64 v[4:5], H, v[4:5]
v_ashrrev_i32_e32 v5, 31, v4
s_add_u32 s4, s6, B
s_addc_u32 s5, s7, B
s_mul_i32 W, S, B
s_lshl_b64 s[4:5], s[6:7], H

;; BITS

v_and_b32_e64 T, A, V
v_or_b32_e64 T, A, V
v_xor_b32_e64 T, A, V
v_not_b32_e32 T, V
v_and_or_b32 T, V, H, V
v_lshl_or_b32 T, V, H, A
v_bfe_u32 T, V, H, H
v_lshlrev_b32_e32 T, H, V
v_lshrrev_b32_e32 T, H, V
v_mov_b16_e32 v1.h, v0.l
v_mov_b16_e32 v2.l, v1.h
v_add_nc_u16 v1, v0, v2
v_sub_nc_u16 v4, v2, v1 op_sel:[1,0,1]
v_lshrrev_b16 v3, 2, v1
v_pk_add_u16 T, V, V op_sel:[0,1] op_sel_hi:[1,0]
s_and_b32 W, S, B
s_or_b32 W, S, B
s_xor_b32 W, S, B
s_lshr_b32 W, S, H

;; MASKS

v_cmp_lt_u32_e64 W, A, V
v_cmp_gt_i32_e64 vcc_lo, A, V
v_cmp_eq_u32_e64 W, A, V
v_cndmask_b32_e64 T, A, V, W
v_cndmask_b32_e64 T, V, V, vcc_lo
s_and_saveexec_b32 W, W
s_or_b32 exec_lo, exec_lo, W
s_and_not1_b32 exec_lo, exec_lo, W
s_xor_b32 exec_lo, exec_lo, W
s_xor_b32 W, exec_lo, W
s_and_b32 W, vcc_lo, exec_lo
s_or_b32 W, vcc_lo, W
s_mov_b32 exec_lo, -1
v_add_nc_u32_e64 T, A, V
v_mov_b32_e32 T, V
v_add_co_u32 v4, vcc_lo, v4, V
v_add_co_ci_u32_e64 v5, null, 0, v5, vcc_lo
v_readfirstlane_b32 s4, V
v_mov_b32_dpp T, V quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_add_nc_u32_dpp T, V, V row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
s_cmp_lg_u32 S, B
s_cselect_b32 W, S, B

