;; CASES

v_add_f32 v0, v1, v2 | 1
v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5 | 2
v_mul_lo_u32 v0, v1, v2 | 1
v_exp_f32 v0, v1 | 1
v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7] | 1
v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[17:24], v[26:33] | 55.68
v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[17:24], v[26:33] | 41.6
v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[13:16], v[18:25] | 55.68
s_add_u32 s0, s1, s2 | 0
ds_load_b32 v0, v1 | 0

;; LOOP

    s_mov_b32 s2, {trips}
.Lloop:
{body}
    s_sub_u32 s2, s2, 1
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 .Lloop
    s_endpgm

