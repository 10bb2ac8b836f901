; RDNA4: s_barrier_signal_isfirst arrives, and SCC comes by kmcnt; named barriers are no halves of the workgroup's.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
f:
	s_barrier_signal_isfirst -1
	s_wait_kmcnt 0x0
	s_cselect_b32 s4, 1, 2
	s_barrier_wait -1
	s_barrier_signal_isfirst -1
	s_barrier_wait -1
	s_cselect_b32 s5, 1, 2
	s_barrier_signal 3
	s_barrier_wait 3
	s_get_barrier_state s6, -1
	s_wait_kmcnt 0x0
	s_add_co_i32 s4, s4, s5
	s_add_co_i32 s4, s4, s6
	v_mov_b32_e32 v1, s4
	ds_store_b32 v0, v1
	s_barrier_wait -1
	s_endpgm
;; expect
case.s:10:2: s_cselect_b32 reads src_scc while s_barrier_signal_isfirst -1 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	s_cselect_b32 s5, 1, 2
    	^
  expected: s_wait_kmcnt 0x0 or less on every path from the load (line 8)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:15:2: s_add_co_i32 reads s[4:5], which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	s_add_co_i32 s4, s4, s5
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:16:2: s_add_co_i32 reads s4, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	s_add_co_i32 s4, s4, s6
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:17:2: v_mov_b32_e32 reads s4, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_mov_b32_e32 v1, s4
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:19:2: the wave may not have arrived [BAR004 half of a barrier; RDNA4 ISA guide, S_BARRIER_WAIT]
    	s_barrier_wait -1
    	^
  expected: s_barrier_signal -1 before it
  help: it would wait for ever, or for another barrier
