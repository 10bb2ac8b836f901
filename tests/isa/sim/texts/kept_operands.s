;; TEXT
;;   Word i of LDS is f(i); lane l reads 8 words at 16 (l & 7) + 256 ((l >> 3) & mode), and adds up an outer product.

s_load_b64 s[4:5], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_load_b64 s[6:7], s[4:5], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 s8, 0
v_cvt_f32_u32 v2, v0
v_add_f32 v2, 0.5, v2
v_mov_b32 v3, v1
.Lfill:
ds_store_b32 v3, v2
v_mul_f32 v2, 0xbf8ccccd, v2
v_add_nc_u32 v3, 128, v3
s_add_u32 s8, s8, 1
s_cmp_lg_u32 s8, 12
s_cbranch_scc1 .Lfill
v_mov_b32 v3, s7
ds_store_b32 v1, v3 offset:128
s_waitcnt lgkmcnt(0)
s_barrier
v_lshrrev_b32 v4, 3, v0
v_and_b32 v4, s6, v4
v_lshlrev_b32 v4, 8, v4
v_and_b32 v5, 7, v0
v_lshlrev_b32 v5, 4, v5
v_add_nc_u32 v5, v5, v4
v_lshlrev_b32 v6, 2, v4
v_cvt_f32_u32 v16, v0
v_mov_b32 v17, 0x3f9d70a4
{zeros}
s_mov_b32 s8, 2
.Lsums:
ds_load_b128 v[8:11], v5
ds_load_b128 v[12:15], v5 offset:128
s_waitcnt lgkmcnt(0)
{sums}
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lsums
v_lshlrev_b32 v1, 2, v0
{stores}
s_endpgm

