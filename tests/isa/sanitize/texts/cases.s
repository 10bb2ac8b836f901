;; CAUSES

    ARG
    v_lshlrev_b32_e32 v1, 2, v0
    global_load_b64 v[2:3], v1, s[4:5]
    global_load_b32 v4, v1, s[4:5] offset:8
    v_add_f32_e32 v5, v2, v2
    v_add_f32_e32 v5, v5, v3
    v_add_f32_e32 v5, v5, v4
    s_waitcnt vmcnt(0)
    s_mov_b32 s6, 2
.Lround:
    v_xor_b32_e32 v8, 0x80, v1
    ds_store_b32 v1, v5
    ds_store_b32 v1, v5 offset:512
    s_waitcnt lgkmcnt(0)
    ds_load_b32 v10, v8
    ds_load_b32 v11, v8 offset:512
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_not_b32_e32 v10, v10
    v_not_b32_e32 v11, v11
    global_store_b32 v1, v10, s[4:5]
    global_store_b32 v1, v11, s[4:5]
    s_sub_i32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lround
    s_endpgm

;; LATE_FIRST

    ARG
    v_lshlrev_b32_e32 v1, 2, v0
    s_cmp_eq_u32 s2, 0
    s_cselect_b32 s6, 0x200000, 1
.Lround:
    s_sub_i32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lround
    global_load_b32 v2, v1, s[4:5]
    v_mov_b32_e32 v3, v2
    s_endpgm

;; SLICES

    ARG
    v_lshrrev_b32_e32 v1, 5, v0
    v_mov_b32_e32 v2, 0
    v_readfirstlane_b32 s6, v1
    s_lshl_b32 s7, s2, 2
    s_add_i32 s6, s6, 3
    s_add_i32 s3, s6, 5
.Lround:
    s_sub_i32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Lround
    ds_store_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_load_b32 v3, v2
    v_mov_b32_e32 v2, s7
    s_waitcnt lgkmcnt(0)
    global_store_b32 v2, v3, s[4:5]
    s_endpgm
    
