;; LOOP

v_lshlrev_b32_e32 v1, 4, v0
s_mov_b32 s2, 3
.Lagain:
ds_load_b128 v[4:7], v1
global_load_b32 v8, v1, s[0:1]
v_fmac_f32_e32 v9, v4, v8
v_add_nc_u32_e32 v1, 0x200, v1
s_add_i32 s2, s2, -1
s_cmp_lg_u32 s2, 0
s_cbranch_scc1 .Lagain
global_store_b32 v1, v9, s[0:1]
s_endpgm

;; GUARD

v_lshlrev_b32_e32 v1, 2, v0
s_mov_b32 s2, 2
.Lagain:
global_load_b32 v2, v1, s[0:1]
s_mov_b32 s3, exec_lo
v_cmpx_gt_f32_e32 0, v2
s_cbranch_execz .Lskipped
v_mul_f32_e32 v3, v2, v2
global_store_b32 v1, v3, s[0:1]
.Lskipped:
s_or_b32 exec_lo, exec_lo, s3
s_add_i32 s2, s2, -1
v_add_nc_u32_e32 v1, 0x200, v1
s_cmp_lg_u32 s2, 0
s_cbranch_scc1 .Lagain
s_endpgm

;; WAITS

v_mov_b32_e32 v0, 0
s_branch .Llook
.Lasked:
v_cmp_eq_u32_e32 vcc_lo, 1, v1
s_cbranch_vccz .Lout
.Llook:
global_load_b32 v1, v0, s[0:1] glc
s_waitcnt vmcnt(0)
s_branch .Lasked
.Lout:
s_endpgm
