; A byte is stored of the half that is live; where some lanes are off, too, in which the other half differs.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:512
	s_load_b32 s6, s[4:5], 0x400
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_cmpx_lt_u32_e32 5, v0
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lother
	v_mov_b16_e32 v4.l, v2.h
	s_branch .Ljoin
.Lother:
	v_mov_b16_e32 v4.l, v3.l
.Ljoin:
	global_store_b8 v1, v4, s[4:5] offset:1024
	s_endpgm
;; proved: another high half
-v_mov_b32_e32 v4, 0
+v_mov_b32_e32 v4, 0x10000
;; refused: another low half
-v_mov_b32_e32 v4, 0
+v_mov_b32_e32 v4, 0x10000
-v4.l, v3.l
+v4.l, v3.h
