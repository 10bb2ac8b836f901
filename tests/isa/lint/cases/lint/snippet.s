; Code without any directive is taken for one function; an LDS and a scalar load that nothing waits for.
	s_load_b32 s4, s[0:1], 0x0
	ds_load_b32 v1, v0
	v_add_nc_u32_e32 v1, s4, v1
	s_endpgm
;; expect
case.s:4:2: v_add_nc_u32_e32 reads s4 while s_load_b32 s4, s[0:1], 0x0 may still be in flight; 1 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_nc_u32_e32 v1, s4, v1
    	^
  expected: s_waitcnt lgkmcnt(0) before line 4 fixes all
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
  also: line 4
note: case.s:4:2: v1 is never read [VAL003 value never read; data flow]
    	v_add_nc_u32_e32 v1, s4, v1
    	^
  help: remove it, or check which instruction was meant to read it
