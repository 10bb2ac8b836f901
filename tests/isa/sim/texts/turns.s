;; MEET
;;   Each workgroup of 2 waves stores at its place, counts itself, and waits until all have; then it reads its right
;;   neighbour's. The greatest waits for the smallest, which waits for the greatest. LOOK: what wave 0 sees of the
;;   counter.

    s_load_b64 s[4:5], s[0:1], 0x0
    s_add_i32 s7, s2, 1
    s_cmp_eq_u32 s7, GROUPS
    s_cselect_b32 s7, 0, s7
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_lshl_b32 s8, s2, 2
    s_lshl_b32 s7, s7, 2
    v_mov_b32 v3, s8
    v_mov_b32 v4, s7
    v_add_nc_u32 v5, s2, 100
    v_readfirstlane_b32 s9, v0
    s_waitcnt lgkmcnt(0)
    global_store_b32 v3, v5, s[4:5] offset:1024
    s_waitcnt_vscnt null, 0x0
    s_barrier
    s_mov_b32 s10, exec_lo
    s_mov_b32 exec_lo, 1
    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 .Lcounted
    global_atomic_add_u32 v1, v2, s[4:5]
.Lcounted:
    LOOK
    buffer_gl1_inv
    buffer_gl0_inv
    s_mov_b32 exec_lo, s10
    global_load_b32 v6, v4, s[4:5] offset:1024
    s_waitcnt vmcnt(0)
    global_store_b32 v3, v6, s[4:5] offset:2048
    s_endpgm

;; SPIN
;;   Wave 0 waits; the other at a barrier for it.

    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 .Lmet
.Lspin:
    s_sleep 1
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v6
    s_cmp_lt_u32 s11, GROUPS
    s_cbranch_scc1 .Lspin
.Lmet:
    s_barrier

;; VOTE
;;   Wave 0 looks, and all waves go round a loop with barriers.

.Lspin:
    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 .Ltold
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    ds_store_b32 v1, v6
    s_waitcnt lgkmcnt(0)
.Ltold:
    s_barrier
    ds_load_b32 v6, v1
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_readfirstlane_b32 s11, v6
    s_cmp_lt_u32 s11, GROUPS
    s_cbranch_scc1 .Lspin

;; CALLED

.Lagain:
    s_getpc_b64 s[12:13]
    s_add_u32 s12, s12, look@rel32@lo+4
    s_addc_u32 s13, s13, look@rel32@hi+12
    s_swappc_b64 s[30:31], s[12:13]
    v_readfirstlane_b32 s11, v6
    s_cmp_lt_u32 s11, GROUPS
    s_cbranch_scc1 .Lagain
    s_barrier

;; FUNCTION
;;   The look stands in a function, as all wrappers at -O0 do.

.type look,@function
look:
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    s_setpc_b64 s[30:31]
.Lend_look:
.size look, .Lend_look-look

;; BACKOFF
;;   It sleeps between looks, in a loop of its own that keeps its counter in memory.

    s_cmp_lg_u32 s9, 0
    s_cbranch_scc1 .Lmet
.Lspin:
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    s_mov_b32 s12, 0
.Lsleep:
    v_mov_b32 v7, s12
    ds_store_b32 v1, v7
    s_sleep 1
    ds_load_b32 v7, v1
    s_waitcnt lgkmcnt(0)
    s_add_i32 s12, s12, 1
    s_cmp_lt_u32 s12, 5
    s_cbranch_scc1 .Lsleep
    v_readfirstlane_b32 s11, v6
    s_cmp_lt_u32 s11, GROUPS
    s_cbranch_scc1 .Lspin
.Lmet:
    s_barrier

;; LATE
;;   A wave that polls what nobody sets, and one that computes for long before it sets it.

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 .Lsets
    s_mov_b32 exec_lo, 1
.Lspin:
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v6
    s_cmp_eq_u32 s11, 0
    s_cbranch_scc1 .Lspin
    s_endpgm
.Lsets:
    s_mov_b32 s6, 0x200000
.Lcomputes:
    s_sub_i32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 .Lcomputes
    global_store_b32 v1, v2, s[4:5]
    s_endpgm

;; TAKES
;;   Each wave takes work from a counter until it has all been taken: a loop with an atomic in which nobody waits.

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    s_mov_b32 exec_lo, 1
    s_waitcnt lgkmcnt(0)
.Ltake:
    v_mov_b32 v2, 1
    global_atomic_add_u32 v2, v1, v2, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s6, v2
    s_cmp_lt_u32 s6, 0x2000
    s_cbranch_scc1 .Ltake
    s_endpgm

;; BOUNDED
;;   It looks 20,000 times for what nobody stores, and then goes on. COUNT: says by SCC that it is enough.

    s_load_b64 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 7
    s_mov_b32 exec_lo, 1
    s_movk_i32 s6, 0x4e20
    s_waitcnt lgkmcnt(0)
.Lspin:
    COUNT
    s_cbranch_scc1 .Lgives_up
    global_load_b32 v6, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v6
    s_cmp_eq_u32 s11, 0
    s_cbranch_scc1 .Lspin
.Lgives_up:
    global_store_b32 v1, v2, s[4:5] offset:8
    s_endpgm

;; IN_REGISTER

    s_sub_i32 s6, s6, 1
    s_cmp_eq_u32 s6, 0

;; IN_MEMORY
;;   No register tells of it when it looks.

    global_load_b32 v7, v1, s[4:5] offset:4
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v7, v7, 1
    global_store_b32 v1, v7, s[4:5] offset:4
    v_readfirstlane_b32 s6, v7
    s_cmpk_eq_u32 s6, 0x4e20
    s_cselect_b32 s6, 1, 0
    v_mov_b32 v7, 0
    s_cmp_eq_u32 s6, 1
