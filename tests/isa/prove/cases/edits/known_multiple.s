; A known multiple of four rounds.
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s6, 32
.Lloop:
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lloop
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; rewritten
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s6, 32
.Lfour:
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lfour
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; proved: a multiple
;; refused: none
<s6, 32
>s6, 30
