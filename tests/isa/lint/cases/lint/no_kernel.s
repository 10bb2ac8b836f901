; A file with functions and no kernel: each is looked into.
	.type	first,@function
first:
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v1, v0, s[4:5]
	v_add_nc_u32_e32 v0, v0, v1
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type	second,@function
second:
	v_dual_add_f32 v1, v2, v3 :: v_dual_add_f32 v3, v4, v5
	s_setpc_b64 s[30:31]
.Lfunc_end1:
;; expect
case.s:6:2: v_add_nc_u32_e32 reads v1 while global_load_b32 v1, v0, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_nc_u32_e32 v0, v0, v1
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 5)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:12:2: the destinations of X and Y must be one even, one odd [VOPD004 VOPD destinations; RDNA3 ISA guide 7.6]
    	v_dual_add_f32 v1, v2, v3 :: v_dual_add_f32 v3, v4, v5
    	^
  found: v1 and v3
  help: rename a register
