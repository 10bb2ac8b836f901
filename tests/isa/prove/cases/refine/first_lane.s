; A lane reads memory for all others, which get it from the first that is on: what else lies in its register is nobody's.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_mov_b32_e32 v3, 1.0
	v_cmp_gt_u32_e32 vcc_lo, 100, v0
	s_and_saveexec_b32 s6, vcc_lo
	s_cbranch_execz .Lend
	s_mov_b32 s7, exec_lo
	v_mov_b32_e32 v1, 0
	v_mbcnt_lo_u32_b32 v2, s7, 0
	s_mov_b32 s8, exec_lo
	s_waitcnt lgkmcnt(0)
	v_cmpx_eq_u32_e32 0, v2
	s_cbranch_execz .Lon
	global_load_b32 v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
.Lon:
	s_or_b32 exec_lo, exec_lo, s8
	v_readfirstlane_b32 s9, v3
	v_lshlrev_b32_e32 v4, 2, v0
	v_mov_b32_e32 v5, s9
	global_store_b32 v4, v5, s[4:5]
.Lend:
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_cmp_gt_u32_e32 vcc_lo, 100, v0
	s_and_saveexec_b32 s6, vcc_lo
	s_cbranch_execz .Lend2
	s_mov_b32 s7, exec_lo
	v_mov_b32_e32 v1, 0
	v_mbcnt_lo_u32_b32 v2, s7, 0
	s_mov_b32 s8, exec_lo
	s_waitcnt lgkmcnt(0)
	v_cmpx_eq_u32_e32 0, v2
	s_cbranch_execz .Lon2
	global_load_b32 v7, v1, s[4:5]
	s_waitcnt vmcnt(0)
.Lon2:
	s_or_b32 exec_lo, exec_lo, s8
	v_readfirstlane_b32 s9, v7
	v_lshlrev_b32_e32 v4, 2, v0
	v_mov_b32_e32 v5, s9
	global_store_b32 v4, v5, s[4:5]
.Lend2:
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 5 pairs of blocks, 0 loops
