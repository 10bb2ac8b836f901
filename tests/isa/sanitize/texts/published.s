;; HEAD

    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    s_lshl_b32 s7, s2, 8
    v_add_nc_u32_e32 v2, s7, v1
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 .Lconsumer

;; STORED_FLAG
;;   A name stands after each step that can be left out. v3: the flag at byte 2048, v1: this thread's datum.

    global_store_b32 v1, v0, s[4:5]
    s_waitcnt_vscnt null, 0x0                      ; stores
    s_barrier                                      ; producer's barrier
    v_cmp_eq_u32_e32 vcc_lo, 0, v0
    s_and_saveexec_b32 s6, vcc_lo
    global_store_b32 v3, v4, s[4:5] offset:2048 FLAG
    s_endpgm
.Lconsumer:
    v_cmp_gt_u32_e32 vcc_lo, 32, v0
    s_cbranch_vccz .Lsees
.Lspin:
    global_load_b32 v5, v3, s[4:5] offset:2048 glc ; look
    s_waitcnt vmcnt(0)                             ; wait
    v_cmp_eq_u32_e32 vcc_lo, 0, v5                 ; look
    s_cbranch_vccnz .Lspin                         ; look
    buffer_gl1_inv                                 ; L1
    buffer_gl0_inv                                 ; L0
.Lsees:
    s_barrier                                      ; consumer's barrier
    global_load_b32 v6, v1, s[4:5] COHERENT
    s_waitcnt vmcnt(0)
    global_store_b32 v2, v6, s[4:5] offset:1024
    s_endpgm

;; COUNTED
;;   The last of all workgroups to count itself reads what all stored.

.Lconsumer:
    global_store_b32 v2, v0, s[4:5]
    s_waitcnt_vscnt null, 0x0                      ; stores
    v_cmp_eq_u32_e32 vcc_lo, 0, v0
    s_and_saveexec_b32 s6, vcc_lo
    global_atomic_add_u32 v5, v3, v4, s[4:5] offset:2048 glc
    s_waitcnt vmcnt(0)                             ; wait
    buffer_gl1_inv                                 ; L1
    buffer_gl0_inv                                 ; L0
    v_readfirstlane_b32 s8, v5
    s_mov_b32 exec_lo, s6
    s_cmp_lg_u32 s8, 3
    s_cbranch_scc1 .Lend
    global_load_b32 v6, v1, s[4:5]
    global_load_b32 v7, v1, s[4:5] offset:256
    global_load_b32 v8, v1, s[4:5] offset:512
    global_load_b32 v9, v1, s[4:5] offset:768
    s_waitcnt vmcnt(0)
    global_store_b32 v3, v3, s[4:5] offset:2048
.Lend:
    s_endpgm

;; MET
;;   All workgroups count themselves by an atomic that returns nothing, and wait until all have; each then reads what
;;   its neighbour stored. TWICE stands for an atomic of no meaning in the same place.

.Lconsumer:
    global_store_b32 v2, v0, s[4:5]
    s_waitcnt_vscnt null, 0x0                      ; stores
    v_cmp_eq_u32_e32 vcc_lo, 0, v0
    s_and_saveexec_b32 s6, vcc_lo
    global_atomic_add_u32 v3, v4, s[4:5] offset:2048 ; count
    TWICE
    s_mov_b32 exec_lo, s6
.Lspin:
    global_load_b32 v5, v3, s[4:5] offset:2048 glc
    s_waitcnt vmcnt(0)                             ; wait
    v_readfirstlane_b32 s8, v5
    s_cmp_lt_u32 s8, 2                             ; count
    s_cbranch_scc1 .Lspin                          ; count
    buffer_gl1_inv                                 ; L1
    buffer_gl0_inv                                 ; L0
    v_xor_b32_e32 v2, 0x100, v2
    global_load_b32 v6, v2, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm

;; ROUNDS
;;   In each of 4096 rounds two workgroups store, and count themselves at a counter of the round's own; the second
;;   reads what the first stored. A round begins when both are counted, so they do so at the same moment.

    s_load_b64 s[4:5], s[0:1], 0x0
    s_lshl_b32 s7, s2, 7
    s_mov_b32 s9, 0x100000
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v4, 1
    s_waitcnt lgkmcnt(0)
.Lround:
    v_add_nc_u32_e32 v2, s7, v1
    v_mov_b32_e32 v3, s9
    global_store_b32 v2, v0, s[4:5]
    s_waitcnt_vscnt null, 0x0                      ; stores
    v_cmp_eq_u32_e32 vcc_lo, 0, v0
    s_and_saveexec_b32 s6, vcc_lo
    global_atomic_add_u32 v5, v3, v4, s[4:5] glc
    s_waitcnt vmcnt(0)
    buffer_gl1_inv
    buffer_gl0_inv
    v_readfirstlane_b32 s8, v5
    s_mov_b32 exec_lo, s6
    s_cmp_lg_u32 s8, 1
    s_cbranch_scc1 .Lmeet
    v_xor_b32_e32 v2, 0x80, v2
    global_load_b32 v7, v2, s[4:5]
.Lmeet:
    global_load_b32 v5, v3, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s8, v5
    s_cmp_lg_u32 s8, 2
    s_cbranch_scc1 .Lmeet
    s_addk_i32 s7, 0x100
    s_add_i32 s9, s9, 4
    s_bitcmp1_b32 s9, 14
    s_cbranch_scc0 .Lround
    s_endpgm

;; BETWEEN_WAVES
;;   Wave 1 tells wave 0 to go on, through memory or through LDS; wave 2 waits at a barrier meanwhile.

.Lconsumer:
    v_readfirstlane_b32 s8, v0
    s_cmp_eq_u32 s8, 64
    s_cbranch_scc1 .Lmeet
    s_cmp_eq_u32 s8, 32
    s_cbranch_scc1 .Ltell
.Lspin:
    LOOK
    v_cmp_eq_u32_e32 vcc_lo, 0, v5
    s_cbranch_vccnz .Lspin
    s_branch .Lmeet
.Ltell:
    TELL
.Lmeet:
    s_barrier
    s_endpgm

