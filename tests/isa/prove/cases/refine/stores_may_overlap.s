; Work-item 64 stores where work-item 0 does: nothing is claimed of stores that changed places.
original:
	v_lshlrev_b32_e32 v1, 2, v0
	v_lshlrev_b32_e32 v2, 3, v0
	ds_store_b32 v1, v0
	ds_store_b32 v2, v1 offset:256
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_endpgm
rewritten:
	v_lshlrev_b32_e32 v1, 2, v0
	v_lshlrev_b32_e32 v2, 3, v0
	ds_store_b32 v2, v1 offset:256
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  two stores whose addresses were not found equal
      original: case.s:5: ds_store_b32 v1, v0
          address: (4*v0)
      rewritten: case.s:14: ds_store_b32 v2, v1 offset:256
          address: (8*v0 + 256)
