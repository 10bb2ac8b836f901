; Kind, width, alignment, offsets, scalars, counters.
k:
	s_mov_b32 s1, v1
	v_add_f32_e32 v1, v2, s1
	v_mov_b32_e32 v[1:2], 0
	s_load_b128 s[2:5], s[0:1], 0x0
	global_load_b32 v1, v2, off
	global_load_b32 v1, v2, s[2:3] offset:4096
	ds_load_b32 v1, v0 offset:65536
	ds_load_2addr_b32 v[1:2], v0 offset0:1 offset1:256
	v_fma_f32 v1, s1, s2, s3
	v_fma_f32 v1, s1, 0x42280000, 0x42290000
	s_waitcnt vmcnt(64)
	s_waitcnt_vscnt null, 0x40
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
case.s:3:16: operand 2 of s_mov_b32 cannot be v1 [OPD001 operand kind; RDNA3 ISA guide 16]
    	s_mov_b32 s1, v1
    	              ^
  expected: SGPRs or a number
  found: v1
case.s:4:24: the second source of the 32-bit encoding is a VGPR [OPD007 second source of the 32-bit encoding; RDNA3 ISA guide 15.3]
    	v_add_f32_e32 v1, v2, s1
    	                      ^
  expected: a VGPR, or the _e64 encoding
  found: s1
case.s:5:16: operand 1 of v_mov_b32_e32 takes 1 register [OPD002 operand width; RDNA3 ISA guide 16]
    	v_mov_b32_e32 v[1:2], 0
    	              ^
  expected: v1
  found: v[1:2]
case.s:6:14: a group of 4 SGPRs must start at a multiple of 4 [OPD003 SGPR alignment; RDNA3 ISA guide 3.4.1]
    	s_load_b128 s[2:5], s[0:1], 0x0
    	            ^
  expected: such as s[0:3]
  found: s[2:5]
case.s:7:22: operand 2 of global_load_b32 takes 2 registers [OPD002 operand width; RDNA3 ISA guide 16]
    	global_load_b32 v1, v2, off
    	                    ^
  expected: v[2:3]
  found: v2
case.s:8:2: the offset of global_load_b32 does not fit its field [OPD004 offset range; RDNA3 ISA guide 15]
    	global_load_b32 v1, v2, s[2:3] offset:4096
    	^
  expected: offset from -4096 to 4095
  found: 4096
  help: add the rest to the address register
case.s:9:2: the offset of ds_load_b32 does not fit its field [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_load_b32 v1, v0 offset:65536
    	^
  expected: offset from 0 to 65535
  found: 65536
  help: add the rest to the address register
case.s:10:2: the offset of ds_load_2addr_b32 does not fit its field [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_load_2addr_b32 v[1:2], v0 offset0:1 offset1:256
    	^
  expected: offset1 from 0 to 255
  found: 256
  help: add the rest to the address register
case.s:11:24: v_fma_f32 reads at most 2 scalar values [OPD005 scalar sources of a VALU instruction; RDNA3 ISA guide 7.2]
    	v_fma_f32 v1, s1, s2, s3
    	                      ^
  expected: 2 of SGPRs, VCC and literals
  found: s1, s2, s3
  help: move one of them to a VGPR first
case.s:12:32: an instruction can have one literal [OPD006 one literal; RDNA3 ISA guide 7.2]
    	v_fma_f32 v1, s1, 0x42280000, 0x42290000
    	                              ^
  expected: one
  found: 2
case.s:13:12: vmcnt does not fit its field [WAIT003 wait counter; RDNA3 ISA guide 5.6]
    	s_waitcnt vmcnt(64)
    	          ^
  expected: 0 to 63
  found: 64
case.s:14:24: vscnt does not fit its field [WAIT003 wait counter; RDNA3 ISA guide 5.6]
    	s_waitcnt_vscnt null, 0x40
    	                      ^
  expected: 0 to 63
  found: 64
