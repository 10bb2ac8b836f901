; Arithmetic from which nothing follows goes: a chain from its end, a counter that only feeds itself, and half of a VOPD.
; What a store, a branch or a load's address reads stays.

k:
	v_mov_b32_e32 v1, 1
	v_add_nc_u32_e32 v2, v1, v1
	v_add_nc_u32_e32 v3, v2, v2
	s_mov_b32 s0, 0
	s_mov_b32 s1, 0
	v_dual_mov_b32 v4, 0 :: v_dual_add_nc_u32 v5, v1, v2
.L1:
	s_add_i32 s0, s0, 1
	s_add_i32 s1, s1, 1
	s_cmp_lg_u32 s0, 8
	s_cbranch_scc1 .L1
	global_store_b32 v4, v1, s[2:3]
	s_endpgm
; =>
;	v_mov_b32_e32 v1, 1
;	s_mov_b32 s0, 0
;	v_mov_b32_e32 v4, 0
;	s_add_i32 s0, s0, 1
;	s_cmp_lg_u32 s0, 8
;	s_cbranch_scc1 .L1
;	global_store_b32 v4, v1, s[2:3]
;	s_endpgm
