; RDNA4: s_barrier_signal arrives, s_barrier_wait waits for the others.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
f:
	v_lshlrev_b32_e32 v1, 2, v0
	s_barrier_wait -1
	s_barrier_signal -1
	ds_store_b32 v1, v0
	s_wait_dscnt 0x0
	s_barrier_wait -1
	s_cmp_eq_u32 s2, 0
	s_cbranch_scc1 .Lother
	s_barrier_signal -1
.Lother:
	ds_store_b32 v1, v0 offset:4
	s_wait_dscnt 0x0
	s_barrier_signal -1
	s_barrier_wait -1
	s_endpgm
;; expect
case.s:5:2: the wave may not have arrived [BAR004 half of a barrier; RDNA4 ISA guide, S_BARRIER_WAIT]
    	s_barrier_wait -1
    	^
  expected: s_barrier_signal -1 before it
  help: it would wait for ever, or for another barrier
note: case.s:7:2: it may not be complete when other waves go on [BAR005 store between the halves of a barrier; RDNA4 ISA guide, S_BARRIER_WAIT]
    	ds_store_b32 v1, v0
    	^
  expected: it before s_barrier_signal -1
  found: it between the halves of a barrier
note: case.s:14:2: it may not be complete when other waves go on [BAR005 store between the halves of a barrier; RDNA4 ISA guide, S_BARRIER_WAIT]
    	ds_store_b32 v1, v0 offset:4
    	^
  expected: it before s_barrier_signal -1
  found: it between the halves of a barrier
case.s:16:2: the wave may have arrived before [BAR004 half of a barrier; RDNA4 ISA guide, S_BARRIER_WAIT]
    	s_barrier_signal -1
    	^
  expected: s_barrier_wait -1 before it
  help: it would count for a wave that has not come
