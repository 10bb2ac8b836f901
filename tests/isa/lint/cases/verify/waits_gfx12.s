; RDNA4: s_waitcnt, which assemblers take and which waits for no counter of the target.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
k:
	s_waitcnt vmcnt(3) lgkmcnt(0)
	s_waitcnt vmcnt(1)
	s_waitcnt 0xffff
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 1024
    .name:           k
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .vgpr_count:     8
...
	.end_amdgpu_metadata
;; expect
case.s:4:2: gfx1201 has no such counters [WAIT003 wait counter; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(3) lgkmcnt(0)
    	^
  expected: s_wait_loadcnt_dscnt 0x300 and s_wait_kmcnt 0x0
case.s:5:2: gfx1201 has no such counters [WAIT003 wait counter; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(1)
    	^
  expected: s_wait_loadcnt 0x1
case.s:6:2: gfx1201 has no such counters [WAIT003 wait counter; RDNA3 ISA guide 5.6]
    	s_waitcnt 0xffff
    	^
  expected: no wait
