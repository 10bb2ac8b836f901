;; FORMS
v_add_nc_u32_e32 D, A, B
v_sub_nc_u32_e32 D, A, B
v_subrev_nc_u32_e32 D, 3, B
v_and_b32_e32 D, N, B
v_or_b32_e32 D, A, B
v_xor_b32_e32 D, A, B
v_lshlrev_b32_e32 D, S, B
v_lshrrev_b32_e32 D, S, B
v_lshl_add_u32 D, A, S, B
v_lshl_or_b32 D, A, S, B
v_add_lshl_u32 D, A, B, S
v_and_or_b32 D, A, B, C
v_bfe_u32 D, A, S, 10
v_mul_lo_u32 D, A, B
v_mul_u32_u24_e32 D, A, B
v_mul_i32_i24_e32 D, A, B
v_mad_u32_u24 D, A, B, C
v_mad_i32_i24 D, A, 12, C
v_add3_u32 D, A, B, C
v_or3_b32 D, A, B, C
v_xad_u32 D, A, B, C
v_bfi_b32 D, A, B, C
v_bfe_i32 D, A, S, 10
v_alignbit_b32 D, A, B, S
v_ashrrev_i32_e32 D, S, B
v_not_b32_e32 D, B
v_min_u32_e32 D, A, B
v_max_i32_e32 D, A, B
v_mul_hi_u32 D, A, B
v_perm_b32 D, A, B, N
v_pk_add_u16 D, A, B
v_cvt_f32_u32_e32 D, B
v_add_nc_u16 D.l, A.l, B.h
v_bcnt_u32_b32 D, A, B
v_mov_b32_dpp D, A row_shr:1 row_mask:0xf bank_mask:0x5
v_mov_b32_e32 D, N
