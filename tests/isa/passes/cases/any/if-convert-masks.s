; One way within the other: the inner one is converted, under the mask of the outer one. A mask that is read later is 0 in
; lanes that are off, as it was.
; if-convert
	v_and_b32_e32 v0, 15, v0
	v_lshlrev_b32_e32 v1, 2, v0
	global_load_b32 v4, v1, s[0:1]
	v_mov_b32_e32 v3, 7
	v_cmp_gt_u32_e64 s5, 3, v0
	s_waitcnt vmcnt(0)
	s_and_saveexec_b32 s2, s5
	v_add_f32_e32 v4, 1.0, v4
	s_mov_b32 s3, exec_lo
	v_cmpx_gt_f32_e32 2.0, v4
	s_mov_b32 s4, exec_lo
	v_mov_b32_e32 v3, 5
	s_xor_b32 exec_lo, exec_lo, s3
	v_mov_b32_e32 v3, v0
	v_mov_b32_e32 v4, v0
	s_or_b32 exec_lo, exec_lo, s3
	s_or_b32 exec_lo, exec_lo, s2
	v_cndmask_b32_e64 v5, 0, 1, s4
	global_store_b96 v1, v[3:5], s[0:1] offset:64
	s_endpgm
;; expect
	v_and_b32_e32 v0, 15, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_lshlrev_b32_e32 v1, 2, v0
	global_load_b32 v4, v1, s[0:1]
	v_mov_b32_e32 v3, 7
	v_cmp_gt_u32_e64 s5, 3, v0
	s_waitcnt vmcnt(0)
	s_and_saveexec_b32 s2, s5
	v_add_f32_e32 v4, 1.0, v4
	v_cmp_gt_f32_e32 vcc_lo, 2.0, v4
	v_cndmask_b32_e64 v3, v0, 5, vcc_lo
	v_cndmask_b32_e32 v4, v0, v4, vcc_lo
	s_and_b32 s4, vcc_lo, exec_lo
	s_or_b32 exec_lo, exec_lo, s2
	v_cndmask_b32_e64 v5, 0, 1, s4
	global_store_b96 v1, v[3:5], s[0:1] offset:64
	s_endpgm
