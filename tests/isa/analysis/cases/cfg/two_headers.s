; A cycle with two entries is no natural loop: neither block dominates the other.
	s_cbranch_scc1 second
first:
	s_nop 1
second:
	s_nop 2
	s_cbranch_scc0 first
	s_endpgm
;; expect
block 0: 0..0 -> [1, 2] idom None
block 1: 1..1 -> [2] idom 0
block 2: 2..3 -> [3, 1] idom 0
block 3: 4..4 -> [] idom 2
calls [] indirect jumps []
