;; EACH_HALF
;;   One load of both waves: one's tile goes to the right, the other's down. Behind the loop a store.

v_lshlrev_b32 v1, 2, v0
v_readfirstlane_b32 s6, v0
s_cmp_lg_u32 s6, 0
s_cselect_b32 s7, s5, s4
v_add_nc_u32 v1, s7, v1
s_mov_b32 s8, 0
.Lloop:
global_load_b32 v2, v1, s[0:1]
v_add_nc_u32 v1, 0x10000, v1
s_add_i32 s8, s8, 1
s_cmp_lg_u32 s8, 20
s_cbranch_scc1 .Lloop
s_add_i32 s9, s4, s5
v_lshl_add_u32 v3, v0, 2, s9
s_lshl_b32 s10, s8, 20
v_add_nc_u32 v3, s10, v3
global_store_b32 v3, v2, s[0:1]
s_endpgm

