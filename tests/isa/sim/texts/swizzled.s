;; TEXT

s_load_b64 s[4:5], s[0:1], 0x0
v_lshlrev_b32 v1, 4, v0
v_lshlrev_b32 v2, 2, v0
v_add_nc_u32 v3, 1, v2
v_add_nc_u32 v4, 2, v2
v_add_nc_u32 v5, 3, v2
ds_store_b128 v1, v[2:5]
s_waitcnt lgkmcnt(0)
s_barrier
v_xor_b32 v6, {turn}, v0
v_lshlrev_b32 v6, 4, v6
{move}
ds_load_{load}
s_waitcnt lgkmcnt(0)
v_lshl_or_b32 v7, v8, 8, v7
v_lshl_or_b32 v7, v9, 16, v7
v_lshl_or_b32 v7, v10, 24, v7
s_mul_i32 s2, s2, 128
v_lshlrev_b32 v1, 2, v0
v_add_nc_u32 v1, s2, v1
global_store_b32 v1, v7, s[4:5]
s_endpgm

