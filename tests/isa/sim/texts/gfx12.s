;; PLACE

s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
s_and_b32 s6, ttmp7, 0xffff
s_lshr_b32 s7, ttmp7, 16
s_mul_i32 s8, s6, 3
s_add_co_u32 s8, s8, ttmp9
s_lshl_b32 s8, s8, 7
v_lshlrev_b32 v2, 2, v1
v_add_nc_u32 v2, s8, v2
s_lshl_b32 s9, ttmp9, 8
s_or_b32 s9, s9, s6
v_lshl_or_b32 v3, v1, 16, s9
s_wait_kmcnt 0x0
global_store_b32 v2, v3, s[4:5]
s_endpgm

;; EXCHANGE

s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_mul_u32_u24 v3, v1, v1
ds_store_b32 v2, v3
s_wait_dscnt 0x0
s_barrier_signal -1
v_sub_nc_u32 v4, 63, v1
v_lshlrev_b32 v4, 2, v4
s_barrier_wait -1
ds_load_b32 v5, v4
s_wait_loadcnt_dscnt 0x0
s_wait_kmcnt 0x0
global_atomic_add_u32 v6, v2, v5, s[4:5] th:TH_ATOMIC_RETURN
s_wait_loadcnt 0x0
global_atomic_add_u32 v6, v2, v5, s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
s_wait_loadcnt 0x0
v_add_nc_u32 v6, v6, v5
global_store_b32 v2, v6, s[4:5]
s_endpgm

