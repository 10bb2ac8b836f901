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
different: rewritten does not compute what original does
  a store that only the original makes before the first loop, after 0 barriers
      original: case.s:5: ds_store_b32 v1, v1 offset:512
          lds address 4*tid + 512
