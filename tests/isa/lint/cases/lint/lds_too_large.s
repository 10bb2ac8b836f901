; More LDS than a workgroup can have, as a damaged file says it.
k:
	v_lshlrev_b32_e32 v1, 2, v0
	ds_store_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	ds_load_b32 v2, v1
	s_waitcnt lgkmcnt(0)
	ds_store_b32 v1, v2
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1099511627776
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 1
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
;; expect
note: case.s:5:2: no instruction needs what lgkmcnt(0) waits for [WAIT004 redundant wait; RDNA3 ISA guide 5.6]
    	s_waitcnt lgkmcnt(0)
    	^
  help: leave it out
case.s:12:3: a workgroup has 64 KB of LDS [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_group_segment_fixed_size 1099511627776
    		^
  expected: 0 to 65536
  found: 1099511627776
