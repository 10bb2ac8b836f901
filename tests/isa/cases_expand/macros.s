	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
.set NUM_VGPRS, 16
.set vOff, 1
.set vX, 2
; a macro that calls another, with a label of its own and a repetition
.macro clear from, count
	.set .i, 0
	.rept \count
	v_mov_b32 v[\from+.i], 0
	.set .i, .i+1
	.endr
.endm
.macro twice dst, rest:vararg
	s_cbranch_execz .Lskip_\@
	clear \dst, 2
	max3 \dst, \rest
.Lskip_\@:
.endm
.macro max3 a, b, c=vX
	.ifnb \b
	v_max3_f32 v[\a], v[\b], v[\c], 1.0
	.else
	v_max_f32 v[\a], v[\a], v[\c]
	.endif
.endm
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32 v[vOff], 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v[vX], v[vOff], s[6:7]
	s_waitcnt vmcnt(0)
	twice 4, vX, 2
	twice 6
	.irp reg, 4, 6
	v_add_f32 v[vX], v[vX], v[\reg]
	.endr
	.irpc c, 57
	v_add_f32 v[vX], v[vX], v[\c]
	.endr
	.if NUM_VGPRS > 16
	s_nop 1
	.elseif NUM_VGPRS == 16
	s_nop 2
	.else
	s_nop 3
	.endif
	global_store_b32 v[vOff], v[vX], s[4:5]
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
k:                                                       k.s:30: k:
s_load_b128 s[4:7], s[0:1], 0x0                          k.s:31: s_load_b128 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0                              k.s:32: v_lshlrev_b32 v[vOff], 2, v0
s_waitcnt lgkmcnt(0)                                     k.s:33: s_waitcnt lgkmcnt(0)
global_load_b32 v2, v1, s[6:7]                           k.s:34: global_load_b32 v[vX], v[vOff], s[6:7]
s_waitcnt vmcnt(0)                                       k.s:35: s_waitcnt vmcnt(0)
s_cbranch_execz .Lskip_0                                 k.s:18: s_cbranch_execz .Lskip_\@, in expansion of macro twice at k.s:36: twice 4, vX, 2
v_mov_b32_e32 v4, 0                                      k.s:13: v_mov_b32 v[\from+.i], 0, in expansion of macro clear at k.s:19: clear \dst, 2, in expansion of macro twice at k.s:36: twice 4, vX, 2
v_mov_b32_e32 v5, 0                                      k.s:13: v_mov_b32 v[\from+.i], 0, in expansion of macro clear at k.s:19: clear \dst, 2, in expansion of macro twice at k.s:36: twice 4, vX, 2
v_max3_f32 v4, v2, v2, 1.0                               k.s:25: v_max3_f32 v[\a], v[\b], v[\c], 1.0, in expansion of macro max3 at k.s:20: max3 \dst, \rest, in expansion of macro twice at k.s:36: twice 4, vX, 2
.Lskip_0:                                                k.s:21: .Lskip_\@:, in expansion of macro twice at k.s:36: twice 4, vX, 2
s_cbranch_execz .Lskip_3                                 k.s:18: s_cbranch_execz .Lskip_\@, in expansion of macro twice at k.s:37: twice 6
v_mov_b32_e32 v6, 0                                      k.s:13: v_mov_b32 v[\from+.i], 0, in expansion of macro clear at k.s:19: clear \dst, 2, in expansion of macro twice at k.s:37: twice 6
v_mov_b32_e32 v7, 0                                      k.s:13: v_mov_b32 v[\from+.i], 0, in expansion of macro clear at k.s:19: clear \dst, 2, in expansion of macro twice at k.s:37: twice 6
v_max_f32_e32 v6, v6, v2                                 k.s:27: v_max_f32 v[\a], v[\a], v[\c], in expansion of macro max3 at k.s:20: max3 \dst, \rest, in expansion of macro twice at k.s:37: twice 6
.Lskip_3:                                                k.s:21: .Lskip_\@:, in expansion of macro twice at k.s:37: twice 6
v_add_f32_e32 v2, v2, v4                                 k.s:39: v_add_f32 v[vX], v[vX], v[\reg]
v_add_f32_e32 v2, v2, v6                                 k.s:39: v_add_f32 v[vX], v[vX], v[\reg]
v_add_f32_e32 v2, v2, v5                                 k.s:42: v_add_f32 v[vX], v[vX], v[\c]
v_add_f32_e32 v2, v2, v7                                 k.s:42: v_add_f32 v[vX], v[vX], v[\c]
s_nop 2                                                  k.s:47: s_nop 2
global_store_b32 v1, v2, s[4:5]                          k.s:51: global_store_b32 v[vOff], v[vX], s[4:5]
s_endpgm                                                 k.s:52: s_endpgm
.Ltmp0:                                                  k.s:53: .size	k, .-k
