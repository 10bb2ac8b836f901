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

