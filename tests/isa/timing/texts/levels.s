;; HALVES
;;   A wave reads 32 rows 2 kB apart, half of a line a trip, which L0 does not keep until the other half is wanted.

    v_lshlrev_b32 v1, 11, v0
    s_lshl_b32 s4, s15, 16
    s_add_u32 s0, s0, s4
    s_addc_u32 s1, s1, 0
    s_mov_b32 s3, 32
.Lloop:
    global_load_b128 v[4:7], v1, s[0:1]
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v1, 64, v1
    s_sub_u32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Lloop
    s_endpgm

;; ROWS
;;   Each workgroup of 512 reads 64 rows of its own, 8 work-items 32 bytes of one.

    v_lshrrev_b32 v1, 3, v0
    v_and_b32 v0, 7, v0
    v_mul_u32_u24 v1, {pitch}, v1
    v_lshl_add_u32 v1, v0, 2, v1
    s_mul_i32 s2, s15, {rows}
    v_add_nc_u32 v1, s2, v1
    global_load_b32 v2, v1, s[0:1]
    s_waitcnt vmcnt(0)
    s_endpgm

;; ROW_AGAIN
;;   A wave reads one word of each of 32 rows, again and again.

    v_mul_u32_u24 v1, {pitch}, v0
    s_mov_b32 s3, 9
.Lloop:
    global_load_b32 v2, v1, s[0:1]
    s_waitcnt vmcnt(0)
    s_sub_u32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Lloop
    s_endpgm

;; SPILLED
;;   A wave stores a register, and loads it.

    scratch_store_b32 off, v0, off
    s_waitcnt_vscnt null, 0x0
    scratch_load_b32 v1, off, off
    s_waitcnt vmcnt(0)
    s_endpgm
