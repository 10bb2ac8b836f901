; Loads that no path leaves in flight: a condition that is tested twice, with its opposite, in copies and in a loop. The
; same code where the register changes between the tests, or the condition is another one, is a fault; so is
; a load of one iteration that is in flight in the next.
	.type right,@function
right:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_load_b32 s6, s[0:1], 0x8
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	s_lshr_b32 s7, s6, 4
	s_cmp_eq_u32 s7, 0
	s_cbranch_scc1 .Lskip
	global_load_b32 v2, v1, s[4:5]
.Lskip:
	s_mov_b32 s8, s7
	s_cmp_lg_u32 s8, 0
	s_cbranch_scc1 .Lwait
	v_mov_b32_e32 v2, 1.0
	s_branch .Lnext
.Lwait:
	s_waitcnt vmcnt(0)
.Lnext:
	s_cmp_lt_u32 s7, 1
	s_cselect_b32 s9, 1, 0
	s_cmp_eq_u32 s9, 1
	s_cbranch_scc1 .Lloop
	global_load_b32 v3, v1, s[4:5]
.Lloop:
	s_add_i32 s10, s10, 1
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 .Lwaits
	v_mov_b32_e32 v3, 1.0
	s_branch .Lon
.Lwaits:
	s_waitcnt vmcnt(0)
.Lon:
	s_cmp_lg_u32 s10, 8
	s_cbranch_scc1 .Lloop
	v_add_f32_e32 v2, v2, v3
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
.Lfunc_end0:
	.size right, .Lfunc_end0-right
	.type changed,@function
changed:
	s_load_b64 s[4:5], s[0:1], 0x0
	s_load_b32 s6, s[0:1], 0x8
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	s_lshr_b32 s7, s6, 4
	s_cmp_eq_u32 s7, 0
	s_cbranch_scc1 .Lskip1
	global_load_b32 v2, v1, s[4:5]
.Lskip1:
	s_sub_u32 s7, s7, 1
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 .Lwait1
	v_mov_b32_e32 v2, 1.0
	s_branch .Lnext1
.Lwait1:
	s_waitcnt vmcnt(0)
.Lnext1:
	s_cmp_lt_u32 s6, 16
	s_cbranch_scc1 .Lloop1
	global_load_b32 v3, v1, s[4:5]
.Lloop1:
	s_load_b32 s7, s[0:1], 0xc
	s_add_i32 s10, s10, 1
	s_waitcnt lgkmcnt(0)
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 .Lon1
	v_add_f32_e32 v3, 1.0, v3
.Lon1:
	s_cmp_eq_u32 s7, 0
	s_cbranch_scc1 .Lagain1
	s_waitcnt vmcnt(0)
.Lagain1:
	s_cmp_lg_u32 s10, 8
	s_cbranch_scc1 .Lloop1
	v_add_f32_e32 v2, v2, v3
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
.Lfunc_end1:
	.size changed, .Lfunc_end1-changed
	.type odd,@function
odd:
	s_add_i32 s10, s10, 1
	s_and_b32 s7, s10, 1
	s_cbranch_scc0 .Leven
	v_mov_b32_e32 v2, 1.0
	s_branch .Lmore
.Leven:
	global_load_b32 v2, v1, s[4:5]
.Lmore:
	s_cmp_lg_u32 s10, 8
	s_cbranch_scc1 odd
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
.Lfunc_end2:
	.size odd, .Lfunc_end2-odd
;; expect
case.s:58:2: v_mov_b32_e32 writes v2 while global_load_b32 v2, v1, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_mov_b32_e32 v2, 1.0
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 53)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
case.s:72:2: v_add_f32_e32 reads v3 while global_load_b32 v3, v1, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v3, 1.0, v3
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 65)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
case.s:80:2: v_add_f32_e32 reads v2 while global_load_b32 v2, v1, s[4:5] may still be in flight; 2 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v2, v2, v3
    	^
  expected: s_waitcnt vmcnt(0) before line 80 fixes all
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
  also: lines 80, 81
case.s:90:2: v_mov_b32_e32 writes v2 while global_load_b32 v2, v1, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_mov_b32_e32 v2, 1.0
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 93)
  found: a path without one
  help: put the wait before this instruction, or this instruction after the wait
