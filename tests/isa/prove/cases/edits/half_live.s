; Of a register one half may be live: where two ways meet, what lies in the half that nothing reads may differ; where both
; halves are read, it may not.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_load_b32 v3, v1, s[4:5] offset:512
	s_load_b32 s6, s[4:5], 0x400
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lother
	v_mov_b16_e32 v4.h, v2.h
	s_branch .Ljoin
.Lother:
	v_mov_b16_e32 v4.h, v3.l
.Ljoin:
	v_cvt_f32_f16_e32 v5, v4.h
	global_store_b32 v1, v5, s[4:5] offset:1024
	s_endpgm
;; proved: itself
;; proved: itself, both halves read
<v_cvt_f32_f16_e32 v5, v4.h
>v_not_b32_e32 v5, v4
;; proved: another start
-v_mov_b32_e32 v4, 0
+v_mov_b32_e32 v4, 1
;; refused: another start, both halves read
<v_cvt_f32_f16_e32 v5, v4.h
>v_not_b32_e32 v5, v4
-v_mov_b32_e32 v4, 0
+v_mov_b32_e32 v4, 1
;; proved: another low half on one way
-s_branch
+v_mov_b16_e32 v4.l, v3.h
+s_branch
;; refused: another low half on one way, both halves read
<v_cvt_f32_f16_e32 v5, v4.h
>v_not_b32_e32 v5, v4
-s_branch
+v_mov_b16_e32 v4.l, v3.h
+s_branch
;; refused: another high half on one way
-v_mov_b16_e32 v4.h, v3.l
+v_mov_b16_e32 v4.h, v3.h
;; refused: another high half on one way, both halves read
<v_cvt_f32_f16_e32 v5, v4.h
>v_not_b32_e32 v5, v4
-v_mov_b16_e32 v4.h, v3.l
+v_mov_b16_e32 v4.h, v3.h
;; refused: another high half behind
-s_branch
+v_mov_b16_e32 v4.h, v3.h
+s_branch
;; refused: another high half behind, both halves read
<v_cvt_f32_f16_e32 v5, v4.h
>v_not_b32_e32 v5, v4
-s_branch
+v_mov_b16_e32 v4.h, v3.h
+s_branch
