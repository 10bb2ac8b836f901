; s_nop before the message that gives VGPRs back: right before it, and not beyond a label. Other messages need none.
f:
	v_mov_b32_e32 v1, 0
	global_store_b32 v[2:3], v1, off
	s_cbranch_scc1 other
	s_cbranch_vccnz third
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
other:
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
	s_nop 0
third:
	s_sendmsg 3
	s_sendmsg sendmsg(MSG_INTERRUPT)
	s_endpgm
;; expect
case.s:11:2: there is no s_nop before the message [HAZ004 VGPRs given back without s_nop; LLVM GCNSubtarget.h, requiresNopBeforeDeallocVGPRs]
    	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    	^
  expected: s_nop 0 right before it
  help: insert one, or leave the message out: it only frees registers earlier
note: case.s:13:2: no path from the entry leads here (1 instruction) [VAL004 unreachable code; control flow]
    	s_nop 0
    	^
  help: remove it, or branch to it
case.s:15:2: there is no s_nop before the message [HAZ004 VGPRs given back without s_nop; LLVM GCNSubtarget.h, requiresNopBeforeDeallocVGPRs]
    	s_sendmsg 3
    	^
  expected: s_nop 0 right before it
  help: insert one, or leave the message out: it only frees registers earlier
