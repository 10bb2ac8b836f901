; Two nested loops with a block that nothing reaches, and a branch forward out of the inner one.
	s_mov_b32 s0, 0
outer:
	s_mov_b32 s1, 0
inner:
	s_add_i32 s1, s1, 1
	s_cmp_eq_u32 s1, s4
	s_cbranch_scc1 leave
	s_cmp_lg_u32 s1, 8
	s_cbranch_scc1 inner
	s_add_i32 s0, s0, 1
	s_cmp_lg_u32 s0, 8
	s_cbranch_scc1 outer
	s_branch leave
	s_nop 0
leave:
	s_endpgm
