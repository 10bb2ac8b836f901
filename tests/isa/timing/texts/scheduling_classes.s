;; CASES

v_add_f32_e32 v0, v1, v2                                  | valu             | 1  | 5
v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf | valu_dpp     | 1  | 5
v_mov_b32_e32 v0, v1 row_shr:1                            | valu_dpp         | 1  | 5
v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4       | vopd             | 1  | 5
v_readfirstlane_b32 s0, v1                                | valu_lane        | 1  | 5
v_permlane16_b32 v0, v1, s2, s3                           | permlane         | 1  | 5
v_lshlrev_b64 v[0:1], 3, v[2:3]                           | valu_64          | 2  | 6
v_cmp_lt_u64_e32 vcc_lo, v[0:1], v[2:3]                   | valu_64          | 2  | 6
v_mul_lo_u32 v0, v1, v2                                   | int_quarter_rate | 4  | 8
v_pk_fma_f16 v0, v1, v2, v3                               | packed           | 1  | 5
v_dot2acc_f32_f16_e32 v0, v1, v2                          | dot              | 1  | 5
v_cmp_lt_f64_e32 vcc_lo, v[0:1], v[2:3]                   | f64              | 16 | 22
v_cvt_f32_f64_e32 v0, v[2:3]                              | f64              | 16 | 22
v_exp_f32_e32 v0, v1                                      | trans            | 1  | 10
v_rcp_f64_e32 v[0:1], v[2:3]                              | trans_f64        | 16 | 24
v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] | wmma_16bit       | 32 | 32
v_wmma_bf16_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7] | wmma_16bit     | 32 | 32
v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7] | wmma_iu8         | 32 | 32
v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]  | wmma_iu4         | 16 | 16

