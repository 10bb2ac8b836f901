; Scratch stores in flight at the message that gives VGPRs and scratch back: on some path, around a loop, by flat
; instructions where the code makes pointers to scratch. Stores to memory may be in flight, and so may what is waited for.
straight:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	scratch_store_b32 off, v0, off offset:4
	scratch_store_b32 off, v1, off offset:8
	global_store_b32 v[2:3], v0, off
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
.Lfunc_end0:
	.type straight,@function
waited:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	scratch_store_b32 off, v0, off offset:4
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v[2:3], v0, off
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
.Lfunc_end1:
	.type waited,@function
looped:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s4, 0
again:
	s_waitcnt_vscnt null, 0x0
	s_cmp_eq_u32 s4, 1
	s_cbranch_scc1 skip
	scratch_store_b32 off, v0, off
skip:
	s_add_i32 s4, s4, 1
	s_cmp_lt_u32 s4, 8
	s_cbranch_scc1 again
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
.Lfunc_end2:
	.type looped,@function
too_weak:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	scratch_store_b32 off, v0, off
	global_store_b32 v[2:3], v0, off
	s_waitcnt_vscnt null, 0x2
	s_nop 0
	s_sendmsg 3
	s_endpgm
.Lfunc_end3:
	.type too_weak,@function
strong_enough:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	scratch_store_b32 off, v0, off
	global_store_b32 v[2:3], v0, off
	s_waitcnt_vscnt null, 0x1
	s_nop 0
	s_sendmsg 3
	s_endpgm
.Lfunc_end4:
	.type strong_enough,@function
generic:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[4:5], src_private_base
	v_mov_b32_e32 v2, 4
	v_mov_b32_e32 v3, s5
	flat_store_b32 v[2:3], v0
	s_waitcnt lgkmcnt(0)
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
.Lfunc_end5:
	.type generic,@function
to_memory:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	flat_store_b32 v[2:3], v0
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
.Lfunc_end6:
	.type to_memory,@function
;; expect
case.s:9:2: scratch_store_b32 off, v0, off offset:4 (line 5) may be in flight at the message, which gives its scratch memory back; 1 more with this cause [HAZ007 scratch given back while stored to; LLVM SIInsertWaitcnts.cpp, pull request 178401]
    	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    	^
  expected: s_waitcnt_vscnt null, 0x0 before the message fixes all
  help: insert it, or leave the message out: it only frees registers earlier
  also: line 9
case.s:36:2: scratch_store_b32 off, v0, off (line 30) may be in flight at the message, which gives its scratch memory back [HAZ007 scratch given back while stored to; LLVM SIInsertWaitcnts.cpp, pull request 178401]
    	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    	^
  expected: s_waitcnt_vscnt null, 0x0 before the message
  help: insert it, or leave the message out: it only frees registers earlier
note: case.s:44:2: nothing that it could wait for is in flight [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt_vscnt null, 0x2
    	^
  help: leave it out
case.s:46:2: scratch_store_b32 off, v0, off (line 42) may be in flight at the message, which gives its scratch memory back [HAZ007 scratch given back while stored to; LLVM SIInsertWaitcnts.cpp, pull request 178401]
    	s_sendmsg 3
    	^
  expected: s_waitcnt_vscnt null, 0x0 before the message
  help: insert it, or leave the message out: it only frees registers earlier
note: case.s:66:2: no instruction needs what lgkmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  help: leave it out
case.s:68:2: flat_store_b32 v[2:3], v0 (line 65) may be in flight at the message, which gives its scratch memory back [HAZ007 scratch given back while stored to; LLVM SIInsertWaitcnts.cpp, pull request 178401]
    	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    	^
  expected: s_waitcnt_vscnt null, 0x0 before the message
  help: insert it, or leave the message out: it only frees registers earlier
