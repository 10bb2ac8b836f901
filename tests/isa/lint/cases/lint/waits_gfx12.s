; RDNA4: a counter for each kind of memory; a barrier in two halves.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
f:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_wait_dscnt 0x0
	global_load_b32 v2, v1, s[4:5]
	s_wait_kmcnt 0x0
	global_load_b32 v3, v1, s[4:5]
	ds_load_b32 v4, v1
	s_wait_loadcnt 0x1
	v_add_nc_u32_e32 v2, v2, v3
	s_wait_loadcnt_dscnt 0x0
	v_add_nc_u32_e32 v2, v2, v4
	ds_store_b32 v1, v2
	s_barrier_signal -1
	s_wait_dscnt 0x0
	s_barrier_wait -1
	ds_load_b32 v4, v1
	s_wait_storecnt_dscnt 0x0
	global_store_b32 v1, v4, s[4:5]
	s_endpgm
;; expect
note: case.s:6:2: nothing that it could wait for is in flight [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_wait_dscnt 0x0
    	^
  help: leave it out
case.s:7:2: global_load_b32 reads s4 while s_load_b64 s[4:5], s[0:1], 0x0 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	global_load_b32 v2, v1, s[4:5]
    	^
  expected: s_wait_kmcnt 0x0 or less on every path from the load (line 4)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:12:2: v_add_nc_u32_e32 reads v3 while global_load_b32 v3, v1, s[4:5] may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_add_nc_u32_e32 v2, v2, v3
    	^
  expected: s_wait_loadcnt 0x0 or less on every path from the load (line 9)
  found: loadcnt(1)
  help: put the wait before this instruction, or this instruction after the wait
note: case.s:13:2: no instruction needs what loadcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_wait_loadcnt_dscnt 0x0
    	^
  help: leave it out
case.s:16:2: ds_store_b32 v1, v2 (line 15) may still be in flight when the wave arrives [WAIT002 LDS store not covered before a barrier; LLVM AMDGPUUsage, memory model]
    	s_barrier_signal -1
    	^
  expected: s_wait_dscnt 0x0 between the store and the barrier
  help: a barrier does not wait for memory: another wave may read the old value after it
