;; CLOCKS

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    s_mov_b32 s9, 5
    s_mov_b32 s10, 0
    s_getreg_b32 s6, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
    s_mov_b32 s8, s6
.Lagain:
    s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
    s_cmp_gt_u32 s7, s8
    s_cselect_b32 s11, 1, 0
    s_add_u32 s10, s10, s11
    s_mov_b32 s8, s7
    s_cmp_lg_u32 s9, 4
    s_cbranch_scc1 .Lwhole
    v_mov_b32_e32 v3, 0
    v_cmp_gt_u32_e32 vcc_lo, 8, v0
    s_and_saveexec_b32 s12, vcc_lo
    v_add_nc_u32_e32 v3, 1, v3
    s_or_b32 exec_lo, exec_lo, s12
.Lwhole:
    s_add_u32 s9, s9, -1
    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 .Lagain
    s_waitcnt lgkmcnt(0)
    s_sendmsg_rtn_b64 s[12:13], sendmsg(MSG_RTN_GET_REALTIME)
    s_waitcnt lgkmcnt(0)
    s_sub_u32 s7, s7, s6
    v_mov_b32_e32 v2, s10
    v_mov_b32_e32 v4, 0
    global_store_b32 v4, v2, s[4:5]
    v_mov_b32_e32 v2, s7
    global_store_b32 v4, v2, s[4:5] offset:4
    v_mov_b32_e32 v2, s12
    global_store_b32 v4, v2, s[4:5] offset:8
    v_mov_b32_e32 v2, s13
    global_store_b32 v4, v2, s[4:5] offset:12
    s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 2, 3)
    v_mov_b32_e32 v2, s7
    global_store_b32 v4, v2, s[4:5] offset:16
    s_endpgm

;; WIDENED

    s_load_b64 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    {load}
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, s{first}
    s_mov_b32 exec_lo, 1
    global_store_b32 v1, v2, s[4:5]
    s_endpgm

;; FUNCTIONS

.globl small
.hidden small
.type small,@function
small:
    v_mov_b32_e32 v3, 5
    s_setpc_b64 s[30:31]
.Lend_small:
.size small, .Lend_small-small
.globl large
.hidden large
.type large,@function
large:
    v_mov_b32_e32 v43, v0
    s_setpc_b64 s[30:31]
.Lend_large:
.size large, .Lend_large-large

;; PLACES

    s_load_b64 s[4:5], s[0:1], 0x0
    s_getreg_b32 s6, hwreg(HW_REG_HW_ID1)
    s_getreg_b32 s7, hwreg(HW_REG_HW_ID2)
    v_mov_b32_e32 v1, s6
    v_and_b32_e32 v0, 0x3ff, v0
    s_lshl_b32 s8, s2, 8
    v_lshl_add_u32 v0, v0, 2, s8
    s_waitcnt lgkmcnt(0)
    global_store_b32 v0, v1, s[4:5]
    s_endpgm
    
;; NUMBERS

    s_load_b64 s[4:5], s[0:1], 0x0
    v_and_b32_e32 v1, 0x3ff, v0
    v_lshrrev_b32_e32 v2, 10, v0
    s_mul_i32 s6, s3, 3
    s_add_u32 s6, s6, s2
    v_lshl_add_u32 v3, v2, 3, v1
    s_mul_i32 s6, s6, 40
    v_add_nc_u32_e32 v3, s6, v3
    v_lshlrev_b32_e32 v3, 2, v3
    v_lshl_or_b32 v4, v2, 8, v1
    v_lshl_or_b32 v4, s2, 16, v4
    v_lshl_or_b32 v4, s3, 24, v4
    s_waitcnt lgkmcnt(0)
    global_store_b32 v3, v4, s[4:5]
    s_endpgm
    

;; SHAPES

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mov_b32_e32 v5, 1
    v_mov_b32_e32 v6, 0
    ds_add_u32 v6, v5
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_load_b32 v7, v6
    v_and_b32_e32 v1, 0x3ff, v0
    v_lshrrev_b32_e32 v2, 10, v0
    s_mul_i32 s6, s2, 40
    s_mul_i32 s7, s3, 3
    v_add_nc_u32_e32 v1, s6, v1
    v_add_nc_u32_e32 v2, s7, v2
    v_mul_u32_u24_e32 v3, 97, v2
    v_add_lshl_u32 v3, v3, v1, 2
    s_waitcnt lgkmcnt(0)
    global_store_b32 v3, v7, s[4:5]
    s_endpgm
