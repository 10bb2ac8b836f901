;; KERNEL
	.globl k
	.protected k
	.p2align 8
	.type k,@function
k:
	s_endpgm
	.size k, .-k
	.section .rodata,"a"
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 8
	.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .args:
      - .name: n
        .offset: 0
        .size: 4
        .value_kind: by_value
    .name: k
    .symbol: k.kd
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 1024
    .private_segment_fixed_size: 0
    .sgpr_count: 8
    .vgpr_count: 8
    .wavefront_size: 32
...
	.end_amdgpu_metadata

