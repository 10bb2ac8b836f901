; A pointer of 4 bytes; numbers that are called pointers; a pointer that is called a number; hidden arguments of another
; size. An address that is passed as a number, with no address space, is none of these, nor is a pointer into LDS.
k:
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_kernarg_size 64
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 2
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - { .offset: 0, .size: 4, .value_kind: global_buffer, .address_space: global, .name: a }
      - { .offset: 8, .size: 8, .value_kind: by_value, .address_space: global, .name: b }
      - { .offset: 16, .size: 8, .value_kind: by_value, .name: c }
      - { .offset: 24, .size: 4, .value_kind: dynamic_shared_pointer, .address_space: local, .pointee_align: 4 }
      - { .offset: 28, .size: 2, .value_kind: global_buffer, .name: d }
      - { .offset: 32, .size: 4, .value_kind: hidden_block_count_x }
      - { .offset: 36, .size: 2, .value_kind: hidden_group_size_x }
      - { .offset: 40, .size: 4, .value_kind: hidden_hostcall_buffer }
      - { .offset: 48, .size: 16, .value_kind: global_buffer, .name: e }
    .kernarg_segment_align: 16
    .kernarg_segment_size: 64
    .name:           k
    .symbol:         k.kd
...
	.end_amdgpu_metadata
;; expect
case.s:15:11: argument a (4 bytes at 0) has the wrong size for its kind [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 0, .size: 4, .value_kind: global_buffer, .address_space: global, .name: a }
              ^
  expected: 8 bytes for global_buffer
  found: 4
  help: correct .size, or .value_kind where the kernel takes a number
case.s:16:11: argument b (8 bytes at 8) is not a pointer but has an address space [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 8, .size: 8, .value_kind: by_value, .address_space: global, .name: b }
              ^
  expected: global_buffer or dynamic_shared_pointer
  found: by_value
  help: correct .value_kind, or leave .address_space out
case.s:19:11: argument d (2 bytes at 28) has the wrong size for its kind [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 28, .size: 2, .value_kind: global_buffer, .name: d }
              ^
  expected: 8 bytes for global_buffer
  found: 2
  help: correct .size, or .value_kind where the kernel takes a number
case.s:22:11: argument hidden_hostcall_buffer (4 bytes at 40) has the wrong size for its kind [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 40, .size: 4, .value_kind: hidden_hostcall_buffer }
              ^
  expected: 8 bytes for hidden_hostcall_buffer
  found: 4
  help: correct .size, or .value_kind where the kernel takes a number
case.s:23:11: argument e (16 bytes at 48) has the wrong size for its kind [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 48, .size: 16, .value_kind: global_buffer, .name: e }
              ^
  expected: 8 bytes for global_buffer
  found: 16
  help: correct .size, or .value_kind where the kernel takes a number
