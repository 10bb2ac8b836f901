; v1 holds two values one after the other: they may part. What each instruction reads at once lies in two banks.
; rename-banks
	v_mov_b32_e32 v1, 1.0
	v_mov_b32_e32 v5, 2.0
	v_add_f32_e32 v2, v1, v5
	v_mov_b32_e32 v1, 4.0
	v_add_f32_e32 v3, v1, v2
	global_store_b64 v0, v[2:3], s[0:1]
	s_endpgm
;; expect
	v_mov_b32_e32 v2, 1.0
	v_mov_b32_e32 v5, 2.0
	v_add_f32_e32 v2, v2, v5
	v_mov_b32_e32 v1, 4.0
	v_add_f32_e32 v3, v1, v2
	global_store_b64 v0, v[2:3], s[0:1]
	s_endpgm
