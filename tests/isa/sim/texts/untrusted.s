;; MEMORY

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v9, 0
    s_mov_b32 s6, 4
    s_waitcnt lgkmcnt(0)
.Lround:
    ds_store_b64 v1, v[0:1]
    global_load_b128 v[2:5], v1, s[4:5]
    ds_load_b32 v6, v1 offset:8
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_dual_add_f32 v7, v2, v3 :: v_dual_mul_f32 v8, v4, v5
    global_store_b64 v1, v[7:8], s[4:5]
    scratch_store_b32 off, v6, off offset:4
    scratch_load_b32 v6, off, off offset:4
    global_atomic_add_u32 v9, v6, s[4:5]
    s_barrier
    s_sub_i32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lround
    s_endpgm

