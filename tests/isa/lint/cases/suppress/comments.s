; On the line, on the line before (over other comments), by prefix, several; one rule of a line and not another.
k:
	global_load_b32 v1, v0, s[4:5]
	v_add_f32_e32 v2, v1, v1  ; hipgemm: ignore WAIT001 (not really)
	// hipgemm: ignore WAIT, VAL003

	; more words
	v_add_f32_e32 v3, v1, v1
	v_add_f32_e32 v4, v1, v1 // hipgemm: ignore VAL
	v_add_f32_e32 v4, v1, v1 ; hipgemm: ignore val003 WAIT001
	s_endpgm
;; expect
case.s:9:2: v_add_f32_e32 reads v1 while global_load_b32 v1, v0, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_f32_e32 v4, v1, v1 // hipgemm: ignore VAL
    	^
  expected: s_waitcnt vmcnt(0) before line 4 fixes all
  help: put the wait before this instruction, or this instruction after the wait
note: case.s:4:2: v2 is never read [VAL003 value never read; data flow]
    	v_add_f32_e32 v2, v1, v1  ; hipgemm: ignore WAIT001 (not really)
    	^
  help: remove it, or check which instruction was meant to read it
