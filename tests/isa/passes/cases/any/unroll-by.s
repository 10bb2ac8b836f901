; Where the counter is a multiple of 4 so many rounds are made without a test between; before that, rounds as they were.
; A loop that compares two registers stays.
; unroll{by=4}
	s_load_b32 s6, s[0:1], 0x40
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, 0
.Lsum:
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_cmp_lg_u32 s6, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cbranch_scc1 .Lsum
	s_movk_i32 s5, 0x100
	s_mov_b32 s4, 0
.Lother:
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 1
	s_cmp_lg_u32 s4, s5
	s_cbranch_scc1 .Lother
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; expect
	s_load_b32 s6, s[0:1], 0x40
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, 0
	s_and_b32 s2, s6, 0x3
	s_cbranch_scc0 .Lunrolled_0
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_cmp_lg_u32 s6, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cbranch_scc1 .Lsum
	s_branch .Lunrolled_1
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
	s_cmp_lg_u32 s6, 0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cbranch_scc1 .Lunrolled_0
	s_movk_i32 s5, 0x100
	s_mov_b32 s4, 0
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 1
	s_cmp_lg_u32 s4, s5
	s_cbranch_scc1 .Lother
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
