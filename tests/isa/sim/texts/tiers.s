;; LOOP

s_load_b64 s[4:5], s[0:1], 0x0
s_mov_b32 s6, {count}
v_lshlrev_b32 v1, 2, v0
v_cvt_f32_u32 v2, v0
v_mov_b32 v3, 1.0
.Lagain:
v_fma_f32 v3, v3, 0x3f7fff00, v2
{lane}
v_xor_b32 v4, v3, v4
s_sub_u32 s6, s6, 1
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lagain
s_waitcnt lgkmcnt(0)
s_mul_i32 s2, s2, 128
v_add_nc_u32 v1, s2, v1
global_store_b32 v1, v4, s[4:5]
s_endpgm

