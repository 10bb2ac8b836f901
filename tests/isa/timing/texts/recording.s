;; THROUGH_MEMORY

s_load_b64 s[4:5], s[0:1], null
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
scratch_store_b32 off, v1, off
v_mov_b32 v2, 0
s_mov_b64 s[8:9], src_private_base
v_mov_b32 v3, s9
s_waitcnt vmcnt(0)
flat_load_b32 v4, v[2:3]
s_waitcnt vmcnt(0) lgkmcnt(0)
global_load_b32 v5, v4, s[4:5]
s_mov_b64 s[8:9], src_shared_base
v_mov_b32 v5, s9
flat_load_b32 v6, v[4:5]
s_endpgm

;; START

s_load_b64 s[4:5], s[0:1], null
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v4, v1
s_mov_b32 s9, 2
v_cmp_gt_u32 vcc_lo, 16, v0
s_waitcnt lgkmcnt(0)

;; IF_ELSE

s_and_saveexec_b32 s8, vcc_lo
s_xor_b32 s8, exec_lo, s8
s_cbranch_execz .Lelse
global_load_b32 v4, v1, s[4:5]
s_waitcnt vmcnt(0)
global_store_b32 v1, v4, s[4:5]
.Lelse:
s_and_not1_saveexec_b32 s8, s8
s_cbranch_execz .Lend
global_load_b32 v5, v4, s[4:5]
s_waitcnt vmcnt(0)
.Lend:
s_or_b32 exec_lo, exec_lo, s8

;; ONE_PATH
;;   A load on one path, and a test which says that the path was another.

s_cmp_eq_u32 s2, 1
s_cbranch_scc1 .Lother
global_load_b32 v6, v1, s[4:5]
s_mov_b32 s10, -1
s_waitcnt vmcnt(0)
s_branch .Lmeet
.Lother:
v_lshlrev_b32 v6, 3, v0
s_mov_b32 s10, 0
.Lmeet:
s_and_b32 vcc_lo, exec_lo, s10
s_cbranch_vccnz .Lskip
global_load_b32 v7, v6, s[4:5]
.Lskip:

;; SPACES

s_load_b64 s[4:5], s[0:1], null
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
s_lshl_b32 s6, s2, 8
v_add_nc_u32 v2, s6, v1
ds_store_b32 v1, v0
s_waitcnt lgkmcnt(0)
s_barrier
ds_load_2addr_b32 v[4:5], v1 offset1:3
scratch_store_b64 off, v[4:5], off offset:8
s_mov_b32 s7, 3
.Lagain:
v_mul_u32_u24 v3, 12, v0
ds_load_b32 v6, v3
global_load_b32 v7, v2, s[4:5]
s_add_i32 s7, s7, -1
s_cmp_lg_u32 s7, 0
s_cbranch_scc1 .Lagain
v_cmpx_gt_u32 8, v0
global_store_b32 v2, v0, s[4:5] offset:4
s_endpgm

