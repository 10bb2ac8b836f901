;; TEXT

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_mov_b32 s6, 40
    s_waitcnt lgkmcnt(0)
.Lloop:
    global_load_b32 v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_store_b32 v1, v2
    s_barrier
    ds_load_b128 v[4:7], v1
    s_waitcnt lgkmcnt(0)
    v_sqrt_f32 v8, v4
    v_fma_f32 v9, v8, v5, v6
    v_add_nc_u32 v1, 0x80, v1
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lloop
    global_store_b32 v1, v9, s[4:5]
    s_endpgm

;; DENSE

    s_mov_b32 s6, 30
.Lloop:
    ds_load_b64 v[20:21], v0
    ds_load_b64 v[22:23], v0 offset:256
    s_waitcnt lgkmcnt(1)
    v_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6
    v_dual_fmac_f32 v7, v2, v3 :: v_dual_fmac_f32 v8, v5, v6
    v_dual_fmac_f32 v9, v20, v3 :: v_dual_fmac_f32 v10, v5, v6
    v_fmac_f32 v9, v20, v21
    v_add_co_u32 v11, vcc_lo, v12, v13
    v_add_co_ci_u32 v14, vcc_lo, v15, v16, vcc_lo
    v_rcp_f32 v17, v9
    s_waitcnt lgkmcnt(0)
    s_delay_alu instid0(TRANS32_DEP_1)
    v_mul_f32 v18, v17, v22
    s_barrier
    v_mul_f32 v19, s6, v18
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lloop
    s_endpgm

