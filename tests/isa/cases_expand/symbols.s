	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
/* names of registers, as Tensile's kernels
   have them */
.set NUM_VGPRS, 16
.set vgprTid, 0
vgprOff = 1                 // '=' sets, too
.equ vgprX, vgprOff+1
.set sgprArgs, 0
.set sgprOut, 4
.set sgprIn, sgprOut+2
.macro load dst:req, off=vgprOff, where
	global_load_b32 v[\dst], v[\off], s[\where:\where+1]
.endm
k: s_load_b128 s[sgprOut:sgprOut+3], s[sgprArgs:sgprArgs+1], 0x0
	v_lshlrev_b32 v[vgprOff], 2, v[vgprTid] // bytes
	s_waitcnt lgkmcnt(0)
	load vgprX, , sgprIn
	load dst=vgprX+1, where=sgprIn
	s_waitcnt vmcnt(0) /* both */
	v_add_f32 v[vgprX], v[vgprX], v[vgprX+1]
	global_store_b32 v[vgprOff], v[vgprX], s[sgprOut:sgprOut+1] offset:4*(NUM_VGPRS-16)
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
k:                                                       k.s:18: k: s_load_b128 s[sgprOut:sgprOut+3], s[sgprArgs:sgprArgs+1], 0x0
s_load_b128 s[4:7], s[0:1], 0x0                          k.s:18: k: s_load_b128 s[sgprOut:sgprOut+3], s[sgprArgs:sgprArgs+1], 0x0
v_lshlrev_b32_e32 v1, 2, v0                              k.s:19: v_lshlrev_b32 v[vgprOff], 2, v[vgprTid] // bytes
s_waitcnt lgkmcnt(0)                                     k.s:20: s_waitcnt lgkmcnt(0)
global_load_b32 v2, v1, s[6:7]                           k.s:16: global_load_b32 v[\dst], v[\off], s[\where:\where+1], in expansion of macro load at k.s:21: load vgprX, , sgprIn
global_load_b32 v3, v1, s[6:7]                           k.s:16: global_load_b32 v[\dst], v[\off], s[\where:\where+1], in expansion of macro load at k.s:22: load dst=vgprX+1, where=sgprIn
s_waitcnt vmcnt(0)                                       k.s:23: s_waitcnt vmcnt(0) /* both */
v_add_f32_e32 v2, v2, v3                                 k.s:24: v_add_f32 v[vgprX], v[vgprX], v[vgprX+1]
global_store_b32 v1, v2, s[4:5]                          k.s:25: global_store_b32 v[vgprOff], v[vgprX], s[sgprOut:sgprOut+1] offset:4*(NUM_VGPRS-16)
s_endpgm                                                 k.s:26: s_endpgm
.Ltmp0:                                                  k.s:27: .size	k, .-k
