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
;; expect
block 0: 0..0 -> [1] idom None
block 1: 1..1 -> [2] idom 0
block 2: 2..4 -> [3, 7] idom 1
block 3: 5..6 -> [4, 2] idom 2
block 4: 7..9 -> [5, 1] idom 3
block 5: 10..10 -> [7] idom 4
block 6: 11..11 -> [7] unreachable
block 7: 12..12 -> [] idom 2
loop at 1: blocks [1, 2, 3, 4] latches [4] exits [(2, 7), (4, 5)] depth 1
loop at 2: blocks [2, 3] latches [3] exits [(2, 7), (3, 4)] depth 2
calls [] indirect jumps []
