; Divergence is beyond the prover, and it says so.
original:
	v_cmpx_gt_u32_e32 5, v0
	s_endpgm
rewritten:
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 0 stores, 0 barriers and the like, 1 pair of blocks, 0 loops
