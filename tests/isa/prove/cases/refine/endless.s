; The counter steps over the number that it waits for: an odd one never becomes 64 by steps of 4.
original:
	s_mov_b32 s5, 0
.LBB0_1:
	s_add_i32 s5, s5, 4
	s_cmp_lg_u32 s5, 64
	s_cbranch_scc1 .LBB0_1
	s_endpgm
rewritten:
	s_mov_b32 s5, 1
.LBB1_1:
	s_add_i32 s5, s5, 4
	s_cmp_lg_u32 s5, 64
	s_cbranch_scc1 .LBB1_1
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  two branches whose conditions were not found equal
      original: case.s:7: s_cbranch_scc1 .LBB0_1
          ite(zero((4*word(t) + -60)), 0, 1)
      rewritten: case.s:15: s_cbranch_scc1 .LBB1_1
          1
