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
different: rewritten does not compute what original does
  the loop at .LBB1_1 never ends
      rewritten: case.s:13: s_add_i32 s5, s5, 4
          is reached again and again
