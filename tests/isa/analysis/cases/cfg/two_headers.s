; A cycle with two entries is no natural loop: neither block dominates the other.
	s_cbranch_scc1 second
first:
	s_nop 1
second:
	s_nop 2
	s_cbranch_scc0 first
	s_endpgm
