; A loop without the tests that the low bits of its counter decide.
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
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
.Lloop:
	s_and_b32 s2, s6, 3
	s_cbranch_scc0 .Lfour
	global_load_b32 v1, v0, s[0:1]
	s_add_i32 s6, s6, -1
	v_add_nc_u32_e32 v0, 4, v0
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v2, v2, v1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lloop
	s_branch .Lend
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
.Lend:
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; proved: rounds by four
;; refused: bits too few
-s6, 3
+s6, 1
;; refused: bits of others
-s6, 3
+s6, 6
;; refused: the other way
-scc0 .Lfour
+scc1 .Lfour
;; refused: a round too many
-.Lfour:
+.Lfour:
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
;; refused: a round too few
-.Lfour:
-global_load_b32 v1, v0, s[0:1]
-s_add_i32 s6, s6, -1
-v_add_nc_u32_e32 v0, 4, v0
-s_waitcnt vmcnt(0)
-v_add_f32_e32 v2, v2, v1
+.Lfour:
;; refused: a test too few
-global_load_b32 v1, v0, s[0:1]
-s_add_i32 s6, s6, -1
-v_add_nc_u32_e32 v0, 4, v0
-s_waitcnt vmcnt(0)
-v_add_f32_e32 v2, v2, v1
-s_cmp_lg_u32 s6, 0
-s_cbranch_scc1 .Lloop
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
+s_branch .Lloop
;; refused: another counter
-s_and_b32 s2, s6
+s_and_b32 s2, s3
;; refused: ends early
-scc1 .Lfour
+scc0 .Lfour
;; refused: stays for ever
-s_branch .Lend
+.Lspin:
+s_and_b32 s2, s6, 1
+s_cbranch_scc0 .Lspin
+s_branch .Lend
;; refused: a load of its own
-s_and_b32 s2,
+s_load_b32 s2, s[0:1], 0x80
+s_waitcnt lgkmcnt(0)
+s_and_b32 s2,
;; proved: by steps of 2 with a bit more
<s6, -1
>s6, -2
-s_and_b32 s2, s6, 3
+s_and_b32 s2, s6, 7
;; refused: by steps of 2
<s6, -1
>s6, -2
;; proved: rounds by two
-.Lfour:
-global_load_b32 v1, v0, s[0:1]
-s_add_i32 s6, s6, -1
-v_add_nc_u32_e32 v0, 4, v0
-s_waitcnt vmcnt(0)
-v_add_f32_e32 v2, v2, v1
-global_load_b32 v1, v0, s[0:1]
-s_add_i32 s6, s6, -1
-v_add_nc_u32_e32 v0, 4, v0
-s_waitcnt vmcnt(0)
-v_add_f32_e32 v2, v2, v1
+.Lfour:
-s6, 3
+s6, 1
;; proved: rounds by eight
-.Lfour:
+.Lfour:
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
+global_load_b32 v1, v0, s[0:1]
+s_add_i32 s6, s6, -1
+v_add_nc_u32_e32 v0, 4, v0
+s_waitcnt vmcnt(0)
+v_add_f32_e32 v2, v2, v1
-s6, 3
+s6, 7
