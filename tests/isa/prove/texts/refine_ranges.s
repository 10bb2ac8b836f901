;; PATTERNS

v_add_nc_u32_e64 T, A, V
v_sub_nc_u32_e64 T, V, A
v_mul_lo_u32 T, V, S
v_mul_hi_u32 T, V, S
v_mul_u32_u24_e64 T, V, A
v_lshlrev_b32_e32 T, H, V
v_lshrrev_b32_e32 T, H, V
v_ashrrev_i32_e32 T, H, V
v_and_b32_e64 T, A, V
v_or_b32_e64 T, A, V
v_xor_b32_e64 T, A, V
v_and_or_b32 T, V, H, V
v_lshl_or_b32 T, V, H, A
v_lshl_add_u32 T, V, H, A
v_add3_u32 T, V, A, V
v_bfe_u32 T, V, H, H
v_min_u32_e64 T, A, V
v_xor_b32_e64 T, 0x80000000, V
v_mov_b16_e32 v1.h, v0.l
v_mov_b16_e32 v2.l, v1.h
v_mov_b16_e32 v3.h, v2.h
v_add_nc_u16 v1, v0, v2
v_sub_nc_u16 v4, v2, v1 op_sel:[1,0,1]
v_lshlrev_b16 v2, 3, v0
v_lshrrev_b16 v3, 2, v1
v_pk_add_u16 T, V, V op_sel:[0,1] op_sel_hi:[1,0]
v_pk_mul_lo_u16 T, V, V
v_not_b32_e32 T, V
v_cndmask_b32_e64 T, -v0, |v1|, vcc_lo
v_cndmask_b32_e64 T, -|v2|, v3, vcc_lo
v_mov_b32_dpp T, V quad_perm:[0,1,2,3] row_mask:0xf
v_cmp_lt_u32_e64 vcc_lo, A, V
v_cmp_gt_i32_e64 vcc_lo, A, V
v_cmp_eq_u32_e64 vcc_lo, A, V
v_cndmask_b32_e64 T, A, V, vcc_lo
v_mad_u64_u32 P, null, V, S, P
v_lshlrev_b64 P, H, P
v_lshrrev_b64 P, H, P
v_ashrrev_i32_e32 v9, 31, v8
v_add_co_u32 v8, vcc_lo, s6, V
v_add_co_ci_u32_e64 v9, null, s7, v9, vcc_lo
v_add_co_u32 v8, vcc_lo, v8, A
v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
v_sub_co_u32 T, vcc_lo, V, A
s_add_u32 W, S, B
s_addc_u32 W, S, B
s_sub_u32 W, S, B
s_add_i32 W, S, B
s_mul_i32 W, S, B
s_mul_hi_u32 W, S, S
s_lshl_b32 W, S, H
s_lshr_b32 W, S, H
s_ashr_i32 W, S, H
s_and_b32 W, S, B
s_or_b32 W, S, B
s_lshl_b64 s[8:9], s[10:11], H
s_cmp_lt_u32 S, B
s_cmp_ge_i32 S, B
s_cmp_lg_u32 S, B
s_cselect_b32 W, S, B
v_mov_b32_e32 v8, A
v_mov_b32_e32 v9, 0
s_mov_b64 s[10:11], s[6:7]

