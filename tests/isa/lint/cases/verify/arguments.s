; Arguments that overlap, also a later one after a larger; one that is not aligned; one that passes the segment's end; a
; segment that is aligned to less than its pointers. What is passed by value may stand at any offset.
k:
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_kernarg_size 48
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 2
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           a
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         4
        .size:           4
        .value_kind:     by_value
      - { .offset: 9, .size: 3, .value_kind: by_value }
      - { .offset: 12, .size: 8, .value_kind: global_buffer, .name: b }
      - .offset:         24
        .size:           16
        .value_kind:     by_value
      - .name:           c
        .offset:         26
        .size:           2
        .value_kind:     by_value
      - .offset:         38
        .size:           1
        .value_kind:     by_value
      - .offset:         44
        .size:           8
        .value_kind:     by_value
    .kernarg_segment_align: 4
    .kernarg_segment_size: 48
    .name:           k
    .symbol:         k.kd
...
	.end_amdgpu_metadata
;; expect
case.s:20:9: argument by_value (4 bytes at 4) begins within argument a (8 bytes at 0) [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - .offset:         4
            ^
  expected: offset 8 or more
  found: 4
  help: an argument begins where the one before it ends, aligned as its type asks
case.s:24:11: argument b (8 bytes at 12) is not aligned [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 12, .size: 8, .value_kind: global_buffer, .name: b }
              ^
  expected: a multiple of 8
  found: 12
  help: an argument begins where the one before it ends, aligned as its type asks
case.s:29:9: argument c (2 bytes at 26) begins within argument by_value (16 bytes at 24) [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
            .offset:         26
            ^
  expected: offset 40 or more
  found: 26
  help: an argument begins where the one before it ends, aligned as its type asks
case.s:32:9: argument by_value (1 byte at 38) begins within argument by_value (16 bytes at 24) [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - .offset:         38
            ^
  expected: offset 40 or more
  found: 38
  help: an argument begins where the one before it ends, aligned as its type asks
case.s:35:9: argument by_value (8 bytes at 44) ends after the segment [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - .offset:         44
            ^
  expected: within the 48 bytes of .kernarg_segment_size
  found: 52
  help: make .kernarg_segment_size and .amdhsa_kernarg_size larger, or move the argument
case.s:38:5: the segment is not aligned as its arguments require [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
        .kernarg_segment_align: 4
        ^
  expected: a power of two, 8 or more
  found: 4
  help: compilers write 8
