; One missing wait, however many registers and uses; the number that it may leave in flight; a wait before the branches
; would serve both sides, which are separate, each with a wait of its own; around a loop; what a later wait covers.
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_b32 v1, v0, s[4:5]
	global_load_b32 v2, v0, s[4:5] offset:4
	global_load_b32 v3, v0, s[4:5] offset:8
	global_load_b32 v4, v0, s[4:5] offset:12
	v_add_f32_e32 v5, v1, v2
	v_add_f32_e32 v5, v5, v1
	v_add_f32_e32 v5, v5, v2
	v_mul_f32_e32 v1, v5, v5
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v5, v3, v4
	global_load_b32 v6, v0, s[4:5] offset:16
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 other
	v_add_f32_e32 v5, v5, v6
	v_add_f32_e32 v5, v5, v6
	s_branch join
other:
	v_mul_f32_e32 v5, v5, v6
join:
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v5, v5, v6
	ds_load_b32 v7, v0
	ds_load_b32 v8, v0 offset:4
again:
	v_add_f32_e32 v5, v5, v7
	v_add_f32_e32 v5, v5, v8
	ds_load_b32 v7, v0 offset:8
	ds_load_b32 v8, v0 offset:12
	s_add_i32 s6, s6, -1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 again
	v_add_f32_e32 v5, v5, v7
	global_store_b32 v0, v5, s[4:5]
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
;; expect
case.s:9:2: v_add_f32_e32 reads v1 while global_load_b32 v1, v0, s[4:5] may still be in flight; 4 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v5, v1, v2
    	^
  expected: s_waitcnt vmcnt(2) before line 9 fixes all
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
  also: lines 9, 10, 11, 12
case.s:18:2: v_add_f32_e32 reads v6 while global_load_b32 v6, v0, s[4:5] offset:16 may still be in flight; 1 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v5, v5, v6
    	^
  expected: s_waitcnt vmcnt(0) before line 18 fixes all
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
  also: line 19
case.s:22:2: v_mul_f32_e32 reads v6 while global_load_b32 v6, v0, s[4:5] offset:16 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_mul_f32_e32 v5, v5, v6
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 15)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
case.s:29:2: v_add_f32_e32 reads v7 while ds_load_b32 v7, v0 may still be in flight; 3 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v5, v5, v7
    	^
  expected: s_waitcnt lgkmcnt(0) before line 29 fixes all
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
  also: lines 29, 30
case.s:36:2: v_add_f32_e32 reads v7 while ds_load_b32 v7, v0 offset:8 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v5, v5, v7
    	^
  expected: s_waitcnt lgkmcnt(1) or less on every path from the load (line 31)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
