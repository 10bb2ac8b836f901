;; PERMUTED

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 31, v0
    v_mul_lo_u32 v2, v2, {factor}
    v_and_b32 v2, 31, v2
    v_lshlrev_b32 v2, 2, v2
    ds_store_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    ds_load_b32 v3, v1
    v_lshlrev_b32 v4, {shift}, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_store_b32 v3, v0
    ds_load_b32 v5, v4
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v5, s[4:5]
    s_endpgm

;; ROUNDS

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, 0
    s_mov_b32 s6, 0
    v_cvt_f32_u32 v2, v0
    ds_store_b32 v1, v2
    ds_store_b32 v1, v2 offset:128
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_mov_b32 v4, v1
.Lround:
    ds_load_b32 v5, v4
    v_add_nc_u32 v4, 4, v4
    s_add_u32 s6, s6, 1
    s_waitcnt lgkmcnt(0)
    v_fmac_f32 v3, v5, v5
    s_cmp_lt_u32 s6, {count}
    s_cbranch_scc1 .Lround
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v3, s[4:5]
    s_endpgm

;; ADVANCING

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_lshlrev_b32 v4, 2, v0
    v_mov_b32 v3, 1
    s_mov_b32 s6, 0
    s_movk_i32 s7, 0x80
    s_waitcnt lgkmcnt(0)
.Lround:
    global_load_b32 v5, v4, s[4:5]
    s_add_u32 s6, s6, 1
    v_add_nc_u32 v4, s7, v4
    s_waitcnt vmcnt(0)
    v_mad_u32_u24 v3, v3, 3, v5
    s_cmp_lt_u32 s6, {rounds}
    s_cbranch_scc1 .Lround
    global_store_b32 v1, v3, s[4:5]
    s_endpgm

;; LANE_OPERATIONS
v_add_nc_u32 {d}, {a}, {b}
v_sub_nc_u32 {d}, {a}, {b}
v_mul_lo_u32 {d}, {a}, {b}
v_xor_b32 {d}, {a}, {b}
v_lshl_add_u32 {d}, {a}, 3, {b}
v_alignbit_b32 {d}, {a}, {b}, 7
v_fmac_f32 {d}, {a}, {b}
v_add_f32 {d}, {a}, {b}
v_mul_f32 {d}, {a}, {b}
v_cvt_f32_i32 {d}, {a}
v_add_co_u32 {d}, vcc_lo, {a}, {b} ; v_add_co_ci_u32 {c}, vcc_lo, {a}, {c}, vcc_lo
v_cmp_lt_i32 vcc_lo, {a}, {b} ; v_cndmask_b32 {d}, {a}, {b}, vcc_lo
v_cmp_gt_u32 s20, {a}, {b} ; s_bcnt1_i32_b32 s21, s20 ; v_add_nc_u32 {d}, s21, {a}
v_dual_fmac_f32 v5, v1, v2 :: v_dual_mul_f32 v6, v3, v4
v_readlane_b32 s22, {a}, 5 ; v_add_nc_u32 {d}, s22, {b}
v_mov_b32_dpp {d}, {a} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_and_b32 v30, 0x7c, {a} ; ds_store_b32 v30, {b} ; ds_load_b32 {d}, v30 offset:64
v_lshlrev_b32 v30, 2, v0 ; ds_store_b32 v30, {b} offset:128 ; ds_load_b32 {d}, v30 offset:132
v_lshlrev_b32 v30, 4, v0 ; ds_load_b128 v[31:34], v30 ; v_add_nc_u32 {d}, v32, v34
v_and_b32 v30, 0x7c, {a} ; global_store_b32 v30, {b}, s[4:5] offset:2048 ; s_waitcnt_vscnt null, 0 ; global_load_b32 {d}, v30, s[4:5] offset:2112 ; s_waitcnt vmcnt(0)
v_lshlrev_b32 v30, 2, v0 ; global_store_b32 v30, {b}, s[4:5] offset:2560 ; s_waitcnt_vscnt null, 0 ; global_load_b64 v[31:32], v30, s[4:5] offset:2564 ; s_waitcnt vmcnt(0) ; v_xor_b32 {d}, v31, v32


;; WALKING

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, 0
    v_mov_b32 v8, 0
    s_mov_b32 s6, {count}
    s_movk_i32 s8, {step}
    s_ashr_i32 s9, s8, 31
    s_waitcnt lgkmcnt(0)
    v_add_co_u32 v4, vcc_lo, s4, v1
    v_add_co_ci_u32 v5, null, s5, 0, vcc_lo
    v_add_co_u32 v4, vcc_lo, {start}, v4
    v_add_co_ci_u32 v5, null, 0, v5, vcc_lo
    v_mov_b32 v6, v4
    v_mov_b32 v7, v5
.Lagain:
    global_load_b32 v2, v[4:5], off
    global_load_b32 v9, v[6:7], off
    v_add_co_u32 v4, vcc_lo, v4, s8
    v_add_co_ci_u32 v5, null, s9, v5, vcc_lo
    v_add_co_u32 v6, vcc_lo, v6, {step}
    v_add_co_ci_u32 v7, null, {sign}, v7, vcc_lo
    s_waitcnt vmcnt(0)
    v_lshl_add_u32 v3, v3, 1, v2
    v_add_nc_u32 v8, v8, v9
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lagain
    global_store_b32 v1, v3, s[4:5]
    global_store_b32 v1, v8, s[4:5] offset:128
    s_endpgm


;; STALE

    s_load_b64 s[4:5], s[0:1], 0x0
    s_lshl_b32 s6, s2, 8
    v_lshl_add_u32 v1, v0, 2, s6
    v_lshlrev_b32 v2, 2, v0
    v_cmp_gt_u32 vcc_lo, 20, v0
    s_and_saveexec_b32 s7, vcc_lo
    v_mov_b32 v5, 7
    s_mov_b32 exec_lo, s7
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v5, s[4:5]
    global_store_b32 v1, v6, s[4:5] offset:128
    v_mov_b32 v5, -1
    v_mov_b32 v6, -1
    s_barrier
    global_store_b32 v2, v5, s[4:5] offset:2048
    global_store_b32 v2, v6, s[4:5] offset:2176
    s_endpgm

;; DEEP

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_cvt_f32_u32 v2, v0
    v_mul_f32 v2, 0x3dcccccd, v2
    s_mov_b32 s6, 0
    s_mov_b32 s7, -1
    s_waitcnt lgkmcnt(0)
.Lround:
    v_exp_f32 v3, v2
    v_cmp_lt_f32 vcc_lo, {bound}, v3
    v_rcp_f32 v4, v3
    v_cmp_gt_f32 s8, v4, v2
    v_cndmask_b32 v2, v4, v2, vcc_lo
    v_add_f32 v2, v2, v0
    s_xor_b32 s7, s7, vcc_lo
    s_xor_b32 s7, s7, s8
    global_store_b32 v1, v2, s[4:5]
    s_add_u32 s6, s6, 1
    s_cmp_lt_u32 s6, 3
    s_cbranch_scc1 .Lround
    v_mov_b32 v3, s7
    global_store_b32 v1, v3, s[4:5] offset:128
    s_endpgm
