; The same, where what lanes left with is stored: the rewritten loop leaves them the number before.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_mov_b32_e32 v1, v0
	v_mov_b32_e32 v5, 0
	s_mov_b32 s6, 0
	s_waitcnt lgkmcnt(0)
.L1:
	v_add_nc_u32_e32 v2, -1, v1
	s_mov_b32 s7, exec_lo
	v_cmpx_lt_u32_e32 5, v2
	s_cbranch_execz .L10
	v_add_nc_u32_e32 v2, -1, v2
.L10:
	s_or_b32 exec_lo, exec_lo, s7
	v_add_nc_u32_e32 v5, v5, v2
	v_cmp_gt_i32_e32 vcc_lo, 1, v2
	s_or_b32 s6, vcc_lo, s6
	v_mov_b32_e32 v1, v2
	s_and_not1_b32 exec_lo, exec_lo, s6
	s_cbranch_execnz .L1
	s_or_b32 exec_lo, exec_lo, s6
	v_lshlrev_b32_e32 v4, 2, v0
	global_store_b32 v4, v1, s[4:5]
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_mov_b32_e32 v1, v0
	v_mov_b32_e32 v5, 0
	s_mov_b32 s6, 0
	s_waitcnt lgkmcnt(0)
.L2:
	v_add_nc_u32_e32 v2, -1, v1
	s_mov_b32 s7, exec_lo
	v_cmpx_lt_u32_e32 5, v2
	s_cbranch_execz .L20
	v_add_nc_u32_e32 v2, -1, v2
.L20:
	s_or_b32 exec_lo, exec_lo, s7
	v_add_nc_u32_e32 v5, v5, v2
	v_cmp_gt_i32_e32 vcc_lo, 1, v2
	s_or_b32 s6, vcc_lo, s6
	s_and_not1_b32 exec_lo, exec_lo, s6
	v_mov_b32_e32 v1, v2
	s_cbranch_execnz .L2
	s_or_b32 exec_lo, exec_lo, s6
	v_lshlrev_b32_e32 v4, 2, v0
	global_store_b32 v4, v1, s[4:5]
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  two branches whose conditions were not found equal
      original: case.s:12: s_cbranch_execz .L10
          zero(mask(ite(lanes(exec_lo of the original), ult(5, (v1 of the original + -1)), 0)))
      rewritten: case.s:37: s_cbranch_execz .L20
          zero(mask(ite(lanes(exec_lo of the original), ult(5, (v1 of the rewritten + -1)), 0)))
