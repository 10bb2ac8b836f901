;; LOOP_THAT_READS

v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 0
s_mov_b32 s6, 100
.Lagain:
ds_load_b32 v3, v1 offset:64
global_load_b32 v4, v1, s[4:5]
v_fmac_f32 v2, v3, v4
v_add_nc_u32 v1, 4, v1
s_sub_u32 s6, s6, 1
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lagain

;; LOOP_WITH_A_POINTER

v_and_b32 v1, 15, v0
v_lshrrev_b32 v2, 4, v0
v_mov_b32 v3, 0
v_lshlrev_b64 v[3:4], 2, v[2:3]
s_mov_b32 s6, 100
.Lagain:
v_ashrrev_i32_e32 v2, 31, v1
v_lshlrev_b64 v[7:8], 2, v[1:2]
v_add_co_u32 v7, vcc_lo, s10, v7
v_add_co_ci_u32_e64 v8, null, s11, v8, vcc_lo
global_load_b32 v2, v[3:4], off
global_load_b32 v7, v[7:8], off
v_add_co_u32 v3, vcc_lo, v3, 4
v_add_co_ci_u32_e64 v4, null, 0, v4, vcc_lo
v_fmac_f32 v6, v2, v7
v_add_nc_u32 v1, s5, v1
s_sub_u32 s6, s6, 1
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lagain
s_endpgm

;; DIVISION

v_cvt_f32_u32 v1, v0
v_add_f32 v2, 0x40490fdb, v1
v_div_scale_f32 v3, null, v2, v2, v1
v_div_scale_f32 v4, vcc_lo, v1, v2, v1
v_rcp_f32 v5, v3
v_fma_f32 v6, -v3, v5, 1.0
v_fmac_f32 v5, v6, v5
v_mul_f32 v6, v4, v5
v_fma_f32 v7, -v3, v6, v4
v_div_fmas_f32 v7, v7, v5, v6
v_div_fixup_f32 v4, v7, v2, v1
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
s_mul_i32 s2, s2, 128
v_add_nc_u32 v1, s2, v1
global_store_b32 v1, v4, s[4:5]
s_endpgm

;; ACROSS

v_mov_b32 v1, v0
v_readlane_b32 s6, v1, 5
v_mul_lo_u32 v1, v1, v1
v_readlane_b32 s7, v1, 5
v_mul_lo_u32 v1, v1, v1
v_readlane_b32 s8, v1, 5
s_add_i32 s6, s6, s7
s_add_i32 s6, s6, s8
s_mul_i32 s6, s6, 3
v_mov_b32 v2, s6
s_branch .Lstore
.Lstore:
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
s_mul_i32 s2, s2, 128
v_add_nc_u32 v1, s2, v1
global_store_b32 v1, v2, s[4:5]
s_endpgm

