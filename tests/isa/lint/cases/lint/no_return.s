; A call may end a function only where what it calls never comes back: `stops` ends the wave, `loops` goes round for
; ever, `leaves` jumps to `stops`; `returns` may come back.
stops:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_endpgm
.Lfunc_end0:
loops:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
again:
	s_sleep 1
	s_branch again
.Lfunc_end1:
leaves:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, stops@rel32@lo+4
	s_addc_u32 s3, s3, stops@rel32@hi+12
	s_setpc_b64 s[2:3]
.Lfunc_end2:
returns:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_cbranch_scc1 out
	s_endpgm
out:
	s_setpc_b64 s[30:31]
.Lfunc_end3:
first:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_cbranch_scc1 second
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, leaves@rel32@lo+4
	s_addc_u32 s3, s3, leaves@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
second:
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, loops@rel32@lo+4
	s_addc_u32 s3, s3, loops@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
.Lfunc_end4:
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, returns@rel32@lo+4
	s_addc_u32 s3, s3, returns@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
.Lfunc_end5:
	.type	first,@function
	.type	wrong,@function
;; expect
case.s:45:2: returns can return, and there is no code after this call [CALL005 call at the end of the code; LLVM LangRef, noreturn]
    	s_swappc_b64 s[30:31], s[2:3]
    	^
  expected: s_endpgm, s_branch or s_setpc_b64 after it
  help: end the function after the call, or jump there by s_setpc_b64 with the return address still set
