; Arguments that lack what the format requires, in both layouts of YAML, or say it in no number.
k:
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_kernarg_size 32
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 2
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .size:           8
        .value_kind:     global_buffer
      - { .offset: 8, .size: many, .value_kind: by_value }
      - .offset:         16
        .size:           4
      - .offset:         24
        .size:           8
        .value_kind:     by_value
    .kernarg_segment_align: 8
    .kernarg_segment_size: 32
    .name:           k
    .symbol:         k.kd
...
	.end_amdgpu_metadata
;; expect
case.s:14:7: an argument has no .offset [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - .address_space:  global
          ^
  expected: .offset, .size, .value_kind
  help: assemblers refuse such metadata, and no runtime knows where it goes
case.s:17:11: an argument has no .size [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - { .offset: 8, .size: many, .value_kind: by_value }
              ^
  expected: .offset, .size, .value_kind
  help: assemblers refuse such metadata, and no runtime knows where it goes
case.s:18:9: an argument has no .value_kind [CNT003 kernel arguments; LLVM AMDGPUUsage, Code Object V5 Metadata]
          - .offset:         16
            ^
  expected: .offset, .size, .value_kind
  help: assemblers refuse such metadata, and no runtime knows where it goes
