; A barrier has moved over a store: the LDS that others read is not the same.
original:
	v_lshlrev_b32_e32 v1, 2, v0
	ds_store_b32 v1, v0
	ds_store_b32 v1, v1 offset:512
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_endpgm
rewritten:
	v_lshlrev_b32_e32 v1, 2, v0
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_store_b32 v1, v1 offset:512
	s_waitcnt lgkmcnt(0)
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  what comes before a barrier, atomic or message was not found equal
      original: case.s:5: ds_store_b32 v1, v1 offset:512
      rewritten: case.s:14: s_barrier
