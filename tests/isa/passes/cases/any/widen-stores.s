; Stores wait for the last of them. One stays where its own value is added to before that, where a load between may meet
; it, where EXEC is another, and where the addresses fall: lanes may meet.
; widen-loads
	v_lshlrev_b32_e32 v0, 4, v0
	v_add_f32_e32 v1, v0, v0
	v_mul_f32_e32 v3, v0, v0
	scratch_store_b32 off, v1, off offset:4
	v_mul_f32_e32 v5, v3, v3
	scratch_store_b32 off, v5, off offset:12
	scratch_store_b32 off, v3, off offset:8
	global_store_b32 v0, v1, s[0:1]
	v_fmac_f32_e32 v1, v1, v3
	global_store_b32 v0, v1, s[0:1] offset:4
	ds_store_b32 v0, v1 offset:4
	ds_store_b32 v0, v3
	ds_store_b32 v0, v3 offset:8
	scratch_load_b32 v4, off, off offset:4
	scratch_load_b32 v6, off, off offset:8
	v_cmp_gt_u32_e32 vcc_lo, 7, v0
	s_and_saveexec_b32 s2, vcc_lo
	scratch_load_b32 v7, off, off offset:12
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v4, v4, v6
	v_add_f32_e32 v4, v4, v7
	global_store_b32 v0, v4, s[0:1] offset:8
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v0, 4, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_f32_e32 v1, v0, v0
	v_mul_f32_e32 v2, v0, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_mul_f32_e32 v3, v2, v2
	s_clause 0x1
	scratch_store_b96 off, v[1:3], off offset:4
	global_store_b32 v0, v1, s[0:1]
	v_fmac_f32_e32 v1, v1, v2
	global_store_b32 v0, v1, s[0:1] offset:4
	ds_store_b32 v0, v1 offset:4
	ds_store_2addr_b32 v0, v2, v2 offset1:2
	scratch_load_b64 v[4:5], off, off offset:4
	v_cmp_gt_u32_e32 vcc_lo, 7, v0
	s_and_saveexec_b32 s2, vcc_lo
	scratch_load_b32 v7, off, off offset:12
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v4, v4, v5
	s_waitcnt vmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32_e32 v4, v4, v7
	global_store_b32 v0, v4, s[0:1] offset:8
	s_endpgm
