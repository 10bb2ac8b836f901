; The code uses more than the descriptor gives, and the metadata says something else again.
k:
	v_mov_b32_e32 v11, s5
	scratch_load_b32 v1, off, off
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 65536
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 4
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
    .sgpr_count:     6
    .vgpr_count:     9
...
	.end_amdgpu_metadata
;; expect
case.s:10:3: the code uses 12 VGPRs, the descriptor gives 8 [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_next_free_vgpr 8
    		^
  expected: .amdhsa_next_free_vgpr 12 or more
  found: 8
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
note: case.s:27:5: .vgpr_count disagrees with the descriptor [CNT004 counts that differ; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
        .vgpr_count:     9
        ^
  expected: 8 (.amdhsa_next_free_vgpr 8)
  found: 9
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
note: case.s:11:3: the code uses 6 SGPRs, the descriptor gives 4 [CNT004 counts that differ; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    		.amdhsa_next_free_sgpr 4
    		^
  expected: .amdhsa_next_free_sgpr 6 or more
  found: 4
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
note: case.s:23:5: .group_segment_fixed_size disagrees with the descriptor [CNT004 counts that differ; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
        .group_segment_fixed_size: 1024
        ^
  expected: 65536 (.amdhsa_group_segment_fixed_size 65536)
  found: 1024
  help: set directive and metadata together; passes do it with isa.asm.emit.set_directives
case.s:4:2: the kernel has no scratch memory [CNT001 counts; LLVM AMDGPUUsage, Code Object Kernel Descriptor]
    	scratch_load_b32 v1, off, off
    	^
  expected: .amdhsa_private_segment_fixed_size above 0
  found: 0
