; A call comes back; a jump through a register ends what is known.
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, f@rel32@lo+4
	s_addc_u32 s5, s5, f@rel32@hi+12
	s_swappc_b64 s[30:31], s[4:5]
	s_cbranch_scc1 back
	s_nop 0
back:
	s_setpc_b64 s[30:31]
;; expect
block 0: 0..3 -> [1] idom None
block 1: 4..4 -> [2, 3] idom 0
block 2: 5..5 -> [3] idom 1
block 3: 6..6 -> [] idom 1
calls [3] indirect jumps [6]
