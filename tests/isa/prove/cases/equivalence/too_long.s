; The counter meets its end after 2863311552 rounds: too many to follow, and nothing is claimed.
original:
	s_mov_b32 s5, 0
.LBB0_1:
	s_add_i32 s5, s5, 4
	s_cmp_lg_u32 s5, 64
	s_cbranch_scc1 .LBB0_1
	s_endpgm
rewritten:
	s_mov_b32 s5, 0
.LBB1_1:
	s_add_i32 s5, s5, 3
	s_cmp_lg_u32 s5, 64
	s_cbranch_scc1 .LBB1_1
	s_endpgm
;; expect
unproven: rewritten against original: could be shown neither equal nor different: the rewritten runs more than 100000 instructions
  the rewritten runs more than 100000 instructions
      rewritten: case.s:15: s_cbranch_scc1 .LBB1_1
          is where it stopped
