; A load under a mask, and a sum of 64 bits, whose carry is a mask of lanes that are on: both stay.
; if-convert
	v_and_b32_e32 v0, 15, v0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 0
	s_mov_b32 s2, exec_lo
	v_cmpx_gt_u32_e32 3, v0
	global_load_b32 v4, v1, s[0:1]
	s_or_b32 exec_lo, exec_lo, s2
	s_mov_b32 s2, exec_lo
	v_cmpx_gt_u32_e32 2, v0
	v_add_co_u32 v2, vcc_lo, v0, v1
	v_add_co_ci_u32_e32 v0, vcc_lo, 0, v1, vcc_lo
	s_or_b32 exec_lo, exec_lo, s2
	v_xor_b32_e32 v5, v0, v2
	s_waitcnt vmcnt(0)
	global_store_b64 v1, v[4:5], s[0:1] offset:64
	s_endpgm
;; expect
	v_and_b32_e32 v0, 15, v0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 0
	s_mov_b32 s2, exec_lo
	v_cmpx_gt_u32_e32 3, v0
	global_load_b32 v4, v1, s[0:1]
	s_or_b32 exec_lo, exec_lo, s2
	s_mov_b32 s2, exec_lo
	v_cmpx_gt_u32_e32 2, v0
	v_add_co_u32 v2, vcc_lo, v0, v1
	v_add_co_ci_u32_e32 v0, vcc_lo, 0, v1, vcc_lo
	s_or_b32 exec_lo, exec_lo, s2
	v_xor_b32_e32 v5, v0, v2
	s_waitcnt vmcnt(0)
	global_store_b64 v1, v[4:5], s[0:1] offset:64
	s_endpgm
