; VGPRs are gone after the message, on every path; what names none may follow.
f:
	v_mov_b32_e32 v1, 0
	s_cbranch_scc1 early
	global_store_b32 v[2:3], v1, off
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_mov_b32 s4, 0
	s_endpgm
early:
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_cbranch_scc0 end
	v_add_f32_e32 v1, v1, v1
	global_store_b32 v[2:3], v1, off
end:
	s_endpgm
;; expect
note: case.s:8:2: s4 is never read [VAL003 value never read; data flow]
    	s_mov_b32 s4, 0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:14:2: v_add_f32_e32 names VGPRs, which the message (line 12) gives back; 1 more with this cause [HAZ008 VGPRs used after they were given back; RDNA3 ISA guide 16.5, S_SENDMSG]
    	v_add_f32_e32 v1, v1, v1
    	^
  expected: s_endpgm after the message, or no message, fixes all
  help: move the message behind it, or leave it out: it only frees registers earlier
  also: line 15
