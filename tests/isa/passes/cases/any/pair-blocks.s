; Two blocks that could pair; it takes the second alone.
; pair{blocks=2}
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v12, v4, v8
	v_mul_f32_e32 v13, v5, v9
	s_branch .Lnext
.Lnext:
	v_mul_f32_e32 v14, v6, v10
	v_mul_f32_e32 v15, v7, v11
	global_store_b128 v0, v[12:15], s[0:1]
	s_endpgm
;; expect
	global_load_b128 v[4:7], v0, s[0:1]
	global_load_b128 v[8:11], v0, s[0:1] offset:16
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v12, v4, v8
	v_mul_f32_e32 v13, v5, v9
	s_branch .Lnext
	v_dual_mul_f32 v14, v6, v10 :: v_dual_mul_f32 v15, v7, v11
	global_store_b128 v0, v[12:15], s[0:1]
	s_endpgm
