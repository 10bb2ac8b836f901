;; LOOPS

    v_lshlrev_b32 v1, 4, v0
    s_mov_b32 s2, {outer}
.Louter:
    global_load_b128 v[4:7], v1, s[0:1]
    s_mov_b32 s3, {inner}
    s_waitcnt vmcnt(0)
    ds_store_b128 v1, v[4:7]
    s_waitcnt lgkmcnt(0)
    s_barrier
.Linner:
    ds_load_b128 v[8:11], v1
    v_fmac_f32 v12, v4, v5
    v_fmac_f32 v13, v4, v5
    s_waitcnt lgkmcnt(0)
    v_fmac_f32 v14, v8, v9
    s_sub_u32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Linner
    s_barrier
    v_add_nc_u32 v2, 0x2000, v2
    s_sub_u32 s2, s2, 1
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 .Louter
    global_store_b128 v1, v[12:15], s[0:1]
    s_endpgm

