; Halves of a VGPR are filled and used by themselves; each pair of lines that is right has a wrong twin below.
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_d16_b16 v2, v[0:1], off
	global_load_d16_hi_b16 v2, v[0:1], off offset:2     ; the other half of the same register
	ds_load_u8_d16_hi v3, v4                            ; in no order with the next, which fills the other half
	global_load_d16_u8 v3, v[0:1], off
	s_waitcnt vmcnt(2)
	v_add_f16_e32 v8.l, v2.l, v2.l                      ; the lower half has landed
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_add_f32_e32 v5, v2, v3
	global_load_d16_hi_b16 v6, v[0:1], off
	global_store_b16 v[0:1], v6, off offset:4           ; stores the lower half
	s_waitcnt vmcnt(0)
	global_store_b32 v[0:1], v6, off
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_d16_b16 v2, v[0:1], off
	global_load_d16_hi_b16 v2, v[0:1], off offset:2
	ds_load_u8_d16 v3, v4
	global_load_d16_u8 v3, v[0:1], off                  ; the same half, and who comes last is not known
	s_waitcnt vmcnt(2)
	v_add_f16_e32 v5.l, v2.l, v2.h                      ; the upper half has not
	v_mov_b32_e32 v7, v2                                ; nor the whole
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_d16_hi_b16 v6, v[0:1], off
	global_store_d16_hi_b16 v[0:1], v6, off             ; stores the upper half
	s_waitcnt vmcnt(0)
	tbuffer_load_d16_format_xy v6, v1, s[4:7], 0 format:[BUF_FMT_16_16_FLOAT] offen
	v_cvt_f32_f16_e32 v8, v6.h                          ; the second of two components
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:23:2: global_load_d16_u8 writes v3 while ds_load_u8_d16 v3, v4 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	global_load_d16_u8 v3, v[0:1], off                  ; the same half, and who comes last is not known
    	^
  expected: s_waitcnt lgkmcnt(0) or less on every path from the load (line 22)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:25:2: v_add_f16_e32 reads v2 while global_load_d16_hi_b16 v2, v[0:1], off offset:2 may still be in flight; 1 more with this cause [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f16_e32 v5.l, v2.l, v2.h                      ; the upper half has not
    	^
  expected: s_waitcnt vmcnt(1) before line 25 fixes all
  found: vmcnt(2)
  help: put the wait before this instruction, or this instruction after the wait
  also: line 26
note: case.s:27:2: no instruction needs what vmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(0) lgkmcnt(0)
    	^
  help: leave it out
case.s:29:2: global_store_d16_hi_b16 reads v6 while global_load_d16_hi_b16 v6, v[0:1], off may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	global_store_d16_hi_b16 v[0:1], v6, off             ; stores the upper half
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 28)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:32:2: v_cvt_f32_f16_e32 reads v6 while tbuffer_load_d16_format_xy v6, v1, s[4:7], 0 format:[BUF_FMT_16_16_FLOAT] offen may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_cvt_f32_f16_e32 v8, v6.h                          ; the second of two components
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 31)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
