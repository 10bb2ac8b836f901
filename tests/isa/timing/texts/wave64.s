;; CASES

v_fma_f32 v0, v1, v2, v3                                  | 1 | 1 | 1  | 5
v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf | 2 | 1 | 2 | 6
v_add_nc_u32_e32 v0, v1, v2                               | 2 | 1 | 2  | 6
v_cmp_lt_u32_e32 vcc, v0, v1                              | 2 | 2 | 2  | 6
v_cmpx_lt_u32_e32 v0, v1                                  | 2 | 1 | 2  | 6
v_add_co_u32 v0, vcc, v1, v2                              | 2 | 2 | 2  | 6
v_readfirstlane_b32 s0, v1                                | 1 | 1 | 1  | 5
v_permlane64_b32 v0, v1                                   | 2 | 1 | 2  | 6
v_lshlrev_b64 v[0:1], 3, v[2:3]                           | 2 | 1 | 4  | 8
v_mul_lo_u32 v0, v1, v2                                   | 2 | 1 | 8  | 12
v_exp_f32_e32 v0, v1                                      | 2 | 1 | 5  | 14
v_cvt_f32_f64_e32 v0, v[2:3]                              | 2 | 1 | 32 | 38
v_fma_mix_f32 v0, v1, v2, v3                              | 2 | 1 | 2  | 6
v_fma_mix_f32 v0, v1, v2, v2                              | 1 | 1 | 1  | 5
v_fma_mix_f32 v0, v1, v2, v2 op_sel_hi:[0,0,1]            | 2 | 1 | 2  | 6
v_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[17:24], v[0:3] | 1 | 1 | 32 | 32
global_load_b32 v0, v1, s[2:3]                            | 2 | 1 | |
ds_load_b32 v0, v1                                        | 2 | 2 | |
buffer_gl0_inv                                            | 1 | 1 | |
s_and_b64 vcc, exec, vcc                                  | 1 | 1 | |

