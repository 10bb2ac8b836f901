; A kernel of one SGPR that counts none.
k:
	s_mov_b32 s0, 1
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           k
    .sgpr_count:     0
    .vgpr_count:     0
...
	.end_amdgpu_metadata
;; expect
note: case.s:17:5: .sgpr_count disagrees with the descriptor [CNT004 counts that differ; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
        .sgpr_count:     0
        ^
  expected: 1 (.amdhsa_next_free_sgpr 1 + 0 for VCC)
  found: 0
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
