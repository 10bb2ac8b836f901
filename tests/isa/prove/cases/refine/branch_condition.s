; beta != 0 is not beta > 0.
original:
	s_load_b32 s4, s[0:1], 0x28
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_cmp_neq_f32_e64 s5, s4, 0
	s_and_b32 vcc_lo, exec_lo, s5
	s_cbranch_vccnz .LBB0_1
	ds_store_b32 v1, v0
.LBB0_1:
	s_endpgm
rewritten:
	s_load_b32 s4, s[0:1], 0x28
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_cmp_lt_f32_e64 s5, 0, s4
	s_and_b32 vcc_lo, exec_lo, s5
	s_cbranch_vccnz .LBB1_1
	ds_store_b32 v1, v0
.LBB1_1:
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  two branches whose conditions were not found equal
      original: case.s:8: s_cbranch_vccnz .LBB0_1
          ite(equal(global[(zext(s0) + 4294967296*zext(s1) + 40)], 0), 0, 1)
      rewritten: case.s:19: s_cbranch_vccnz .LBB1_1
          less(0, global[(zext(s0) + 4294967296*zext(s1) + 40)])
