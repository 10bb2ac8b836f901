	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
.set NUM_VGPRS, 16
.altmacro
.macro add dst, by
	v_add_nc_u32 v[dst], by, v[dst]
.endm
.noaltmacro
.macro part from, to
	.if \to - \from > 1
	part \from, (\from+\to)/2
	part (\from+\to)/2, \to
	.else
	v_mov_b32 v[\from], \from
	.endif
.endm
k:
	part 2, 6
	.altmacro
	add 2, %3*4
	.noaltmacro
	s_endpgm
	.size	k, .-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 15
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr NUM_VGPRS
		.amdhsa_next_free_sgpr 32
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - {.name: k, .symbol: k.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 34, .vgpr_count: 16,
     .max_flat_workgroup_size: 1024,
     .args: [{.name: out, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global},
             {.name: in, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}]}
...
	.end_amdgpu_metadata
;; expect
k:                                                       k.s:20: k:
v_mov_b32_e32 v2, 2                                      k.s:17: v_mov_b32 v[\from], \from, in expansion of macro part at k.s:14: part \from, (\from+\to)/2, in expansion of macro part at k.s:14: part \from, (\from+\to)/2, in expansion of macro part at k.s:21: part 2, 6
v_mov_b32_e32 v3, 3                                      k.s:17: v_mov_b32 v[\from], \from, in expansion of macro part at k.s:15: part (\from+\to)/2, \to, in expansion of macro part at k.s:14: part \from, (\from+\to)/2, in expansion of macro part at k.s:21: part 2, 6
v_mov_b32_e32 v4, 4                                      k.s:17: v_mov_b32 v[\from], \from, in expansion of macro part at k.s:14: part \from, (\from+\to)/2, in expansion of macro part at k.s:15: part (\from+\to)/2, \to, in expansion of macro part at k.s:21: part 2, 6
v_mov_b32_e32 v5, 5                                      k.s:17: v_mov_b32 v[\from], \from, in expansion of macro part at k.s:15: part (\from+\to)/2, \to, in expansion of macro part at k.s:15: part (\from+\to)/2, \to, in expansion of macro part at k.s:21: part 2, 6
v_add_nc_u32_e32 v2, 12, v2                              k.s:9: v_add_nc_u32 v[dst], by, v[dst], in expansion of macro add at k.s:23: add 2, %3*4
s_endpgm                                                 k.s:25: s_endpgm
.Ltmp0:                                                  k.s:26: .size	k, .-k
