; Divergence is beyond the prover, and it says so.
original:
	v_cmpx_gt_u32_e32 5, v0
	s_endpgm
rewritten:
	s_endpgm
;; expect
unproven: rewritten against original: the prover cannot follow v_cmpx_gt_u32_e32: it changes EXEC (case.s:3:2)
