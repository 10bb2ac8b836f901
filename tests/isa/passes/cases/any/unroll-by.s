; Where the counter is a multiple of 4 so many rounds are made without a test between; before that, rounds as they were.
; Of another loop that counts the tests are made beforehand, and one whose test a round computes otherwise stays.
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
	s_load_b32 s5, s[0:1], 0x44
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s4, 0
.Lother:
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	s_cmp_lt_i32 s4, s5
	s_cbranch_scc1 .Lother
.Lstays:
	v_readfirstlane_b32 s4, v2
	v_add_f32_e32 v2, v2, v2
	s_cmp_lt_i32 s4, s5
	s_cbranch_scc1 .Lstays
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
	s_load_b32 s5, s[0:1], 0x44
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s4, 0
	s_add_i32 s2, s4, 3
	s_cmp_lt_i32 s2, s5
	s_cbranch_scc0 .Lunrolled_2
	s_add_i32 s2, s4, 6
	s_cmp_lt_i32 s2, s5
	s_cbranch_scc0 .Lunrolled_2
	s_add_i32 s2, s4, 9
	s_cmp_lt_i32 s2, s5
	s_cbranch_scc0 .Lunrolled_2
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	s_cmp_lt_i32 s4, s5
	s_cbranch_scc1 .Lother
	s_branch .Lunrolled_3
	v_add_f32_e32 v2, v2, v2
	s_add_i32 s4, s4, 3
	s_cmp_lt_i32 s4, s5
	s_cbranch_scc1 .Lother
	v_readfirstlane_b32 s4, v2
	v_add_f32_e32 v2, v2, v2
	s_cmp_lt_i32 s4, s5
	s_cbranch_scc1 .Lstays
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
