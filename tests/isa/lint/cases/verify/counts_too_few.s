; The metadata counts fewer VGPRs than the code uses.
k:
	v_mov_b32_e32 v11, 0
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 97
		.amdhsa_next_free_sgpr 4
		.amdhsa_reserve_vcc 0
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
    .name:           k
    .sgpr_count:     4
    .vgpr_count:     11
...
	.end_amdgpu_metadata
;; expect
note: case.s:22:5: .vgpr_count disagrees with the descriptor [CNT004 counts that differ; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
        .vgpr_count:     11
        ^
  expected: 97 (.amdhsa_next_free_vgpr 97)
  found: 11
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
