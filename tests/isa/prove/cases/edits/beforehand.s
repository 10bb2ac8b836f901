; A loop without the tests that were made beforehand.
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s7, s[0:1], 0x44
	s_load_b32 s5, s[0:1], 0x48
	s_waitcnt lgkmcnt(0)
.Lloop:
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, 3
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lt_i32 s6, s7
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
	s_load_b32 s7, s[0:1], 0x44
	s_load_b32 s5, s[0:1], 0x48
	s_waitcnt lgkmcnt(0)
.Lloop:
	s_add_i32 s2, s6, 3
	s_cmp_lt_i32 s2, s7
	s_cbranch_scc0 .Lrest
	s_add_i32 s2, s6, 6
	s_cmp_lt_i32 s2, s7
	s_cbranch_scc0 .Lrest
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, 3
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, 3
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, 3
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lt_i32 s6, s7
	s_cbranch_scc1 .Lloop
	s_branch .Lend
.Lrest:
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, 3
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lt_i32 s6, s7
	s_cbranch_scc1 .Lloop
.Lend:
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; proved: two tests ahead of three rounds
;; proved: the counter begins at 0
<s_load_b32 s7, s[0:1], 0x44
>s_mov_b32 s6, 0
>s_load_b32 s7, s[0:1], 0x44
;; refused: a round that was not asked about
-s_add_i32 s2, s6, 6
+s_add_i32 s2, s6, 3
;; refused: a round too many
-.Lrest:
+.Lrest:
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, 3
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
;; refused: another comparison
-s_cmp_lt_i32 s2
+s_cmp_lt_u32 s2
;; refused: another limit
-s_cmp_lt_i32 s2, s7
+s_cmp_lt_i32 s2, s5
;; refused: the other way
-scc0 .Lrest
+scc1 .Lrest
;; refused: back behind a test
-s_cbranch_scc1 .Lloop
-s_branch
+s_cbranch_scc1 .Lthree
+s_branch
-s_cmp_lt_i32 s2, s7
-s_cbranch_scc0 .Lrest
-global
+s_cmp_lt_i32 s2, s7
+s_cbranch_scc0 .Lrest
+.Lthree:
+global
