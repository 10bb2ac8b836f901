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
unproven: rewritten against original: could be shown neither equal nor different: two stores that may overlap changed places before the first loop, after 0 barriers
  two stores that may overlap changed places before the first loop, after 0 barriers
      original: case.s:5: ds_store_b32 v1, v0
          address 4*tid
      rewritten: case.s:6: ds_store_b32 v2, v1 offset:256
          address 8*tid + 256
