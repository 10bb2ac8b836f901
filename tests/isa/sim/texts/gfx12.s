;; PLACE

s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
s_and_b32 s6, ttmp7, 0xffff
s_lshr_b32 s7, ttmp7, 16
s_mul_i32 s8, s6, 3
s_add_co_u32 s8, s8, ttmp9
s_lshl_b32 s8, s8, 8
v_lshlrev_b32 v2, 2, v1
v_add_nc_u32 v2, s8, v2
s_lshl_b32 s9, ttmp9, 8
s_or_b32 s9, s9, s6
s_bfe_u32 s10, ttmp8, 0x50019
s_lshl_b32 s10, s10, 24
s_or_b32 s9, s9, s10
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


;; NARROW

s_load_b64 s[4:5], s[0:1], 0x0
s_mov_b32 s6, 7
s_mov_b32 s7, 0x31016000
s_mov_b32 s10, 0x00c0ff80
s_wait_kmcnt 0x0
v_mov_b32 v0, s10
v_mov_b32 v1, 0
global_store_b32 v1, v0, s[4:5] offset:4
s_wait_storecnt 0x0
s_buffer_load_i8 s11, s[4:7], 0x5
s_buffer_load_u16 s12, s[4:7], 0x4
s_buffer_load_u8 s13, s[4:7], 0x7
s_buffer_load_u16 s14, s[4:7], 0x6
s_wait_kmcnt 0x0
s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 10), 0x3f0
s_getreg_b32 s15, hwreg(HW_REG_WAVE_MODE, 0, 10)
s_getreg_b32 s16, hwreg(HW_REG_SHADER_CYCLES_HI)
v_mov_b32 v2, s11
v_mov_b32 v3, s12
v_mov_b32 v4, s13
v_mov_b32 v5, s14
global_store_b128 v1, v[2:5], s[4:5] offset:16
v_mov_b32 v2, s15
v_mov_b32 v3, s16
global_store_b64 v1, v[2:3], s[4:5] offset:32
s_endpgm


;; TRANSPOSED

s_load_b64 s[4:5], s[0:1], 0x0
v_mul_u32_u24 v1, 0x9e3779, v0
v_lshlrev_b32 v1, 3, v1
v_mul_u32_u24 v2, 0x7feb35, v0
v_xor_b32 v3, v1, v2
v_add_nc_u32 v4, v2, v3
v_lshlrev_b32 v5, 4, v0
s_wait_kmcnt 0x0
global_store_b128 v5, v[1:4], s[4:5]
s_wait_storecnt 0x0
s_mov_b32 exec_lo, 0x7fffffff
v_xor_b32 v6, 16, v5
global_load_tr_b128 v[8:11], v6, s[4:5]
v_lshlrev_b32 v7, 3, v0
global_load_tr_b64 v[12:13], v7, s[4:5] offset:8
s_wait_loadcnt 0x0
global_store_b128 v5, v[8:11], s[4:5] offset:512
global_store_b64 v7, v[12:13], s[4:5] offset:1024
s_endpgm
