;; SHUFFLED

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 4, v0
    v_mul_lo_u32 v2, v0, 0x9e3779b1
    v_not_b32 v3, v2
    v_mul_lo_u32 v4, v2, v2
    v_add_nc_u32 v5, v4, v0
    s_waitcnt lgkmcnt(0)
    global_store_b128 v1, v[2:5], s[4:5]
    global_store_b128 v1, v[4:7], s[4:5] offset:512
    v_mul_lo_u32 v6, v0, {factor}
    v_and_b32 v6, 31, v6
    v_lshlrev_b32 v6, 4, v6
    s_mov_b32 s6, 0
    s_waitcnt_vscnt null, 0
.Lround:
    global_load_b128 v[8:11], v6, s[4:5]
    global_load_b64 v[12:13], v6, s[4:5] offset:4
    global_load_b32 v14, v6, s[4:5] offset:12
    s_waitcnt vmcnt(0)
    ds_store_b128 v6, v[8:11]
    ds_store_b64 v6, v[12:13] offset:1024
    ds_store_b32 v6, v14 offset:2048
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32 v7, 0x50, v6
    ds_load_b128 v[16:19], v7
    ds_load_b64 v[20:21], v7 offset:1024
    ds_load_b32 v22, v7 offset:2048
    s_waitcnt lgkmcnt(0)
    v_xor_b32 v16, v16, v22
    global_store_b64 v6, v[16:17], s[4:5] offset:1024
    global_store_b32 v6, v20, s[4:5] offset:1032
    global_store_b128 v6, v[18:21], s[4:5] offset:2048
    v_add_nc_u32 v6, {step}, v6
    s_add_u32 s6, s6, 1
    s_barrier
    s_cmp_lt_u32 s6, 3
    s_cbranch_scc1 .Lround
    s_endpgm

;; APART

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mul_lo_u32 v1, v0, 0x9e3779b1
    v_and_b32 v1, 0x7c, v1
    v_lshrrev_b32 v2, 5, v0
    v_lshl_add_u32 v1, v2, 12, v1
    s_mov_b32 s6, 0
    v_mov_b32 v3, 0
    s_waitcnt lgkmcnt(0)
.Lround:
    global_load_b32 v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v3, v3, v4
    s_add_u32 s6, s6, 1
    s_barrier
    s_cmp_lt_u32 s6, 4
    s_cbranch_scc1 .Lround
    v_lshlrev_b32 v5, 2, v0
    global_store_b32 v5, v3, s[4:5] offset:2048
    s_endpgm

;; BUFFER

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mul_lo_u32 v1, v0, 0x9e3779b1
    v_lshlrev_b32 v2, 4, v0
    v_mul_lo_u32 v3, v0, {factor}
    v_and_b32 v3, 31, v3
    v_lshlrev_b32 v3, 4, v3
    s_movk_i32 s6, 0x1f8
    s_mov_b32 s7, 0x30000000
    s_mov_b32 s8, 0
    s_waitcnt lgkmcnt(0)
    global_store_b32 v2, v1, s[4:5]
    global_store_b32 v2, v1, s[4:5] offset:8
    s_waitcnt_vscnt null, 0
.Lround:
    buffer_load_b128 v[8:11], v3, s[4:7], 0 offen
    buffer_load_b32 v12, v3, s[4:7], 0 offen offset:8
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v8, v8, v12
    global_store_b128 v2, v[8:11], s[4:5] offset:512
    v_xor_b32 v10, v10, v11
    s_barrier
    buffer_store_b64 v[9:10], v3, s[4:7], 0 offen
    v_add_nc_u32 v3, {step}, v3
    s_add_u32 s8, s8, 1
    s_barrier
    s_cmp_lt_u32 s8, 3
    s_cbranch_scc1 .Lround
    s_endpgm
