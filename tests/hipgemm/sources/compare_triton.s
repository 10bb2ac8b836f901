; What Triton 3.5.1 makes of this for a gfx1100, 8 waves:
; @triton.jit
; def layout(y, x, n, BLOCK: tl.constexpr):
; 	i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
;	s = tl.zeros([BLOCK], tl.float32)
;	for k in range(256):
;		s += tl.load(x + i * n + k) * tl.load(x + k)
;	tl.store(y + i, s)
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl layout
	.type layout,@function
layout:
	s_clause  0x1
	s_load_b32  s2, s[0:1], 0x10
	s_load_b128  s[16:19], s[0:1], 0x0
	v_lshl_or_b32  v0, s15, 8, v0
	s_mov_b64  s[20:21], 0
	s_waitcnt  lgkmcnt(0)
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mul_lo_u32  v1, s2, v0
	v_ashrrev_i32_e32  v2, 31, v1
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b64  v[1:2], 2, v[1:2]
	v_add_co_u32  v1, vcc_lo, s18, v1
	s_delay_alu  instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64  v3, null, s19, v2, vcc_lo
	v_mov_b32_e32  v2, 0
	s_set_inst_prefetch_distance  0x1
.LBB0_1:
	s_delay_alu  instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32  v16, vcc_lo, v1, s20
	v_add_co_ci_u32_e64  v17, null, s21, v3, vcc_lo
	s_add_u32  s0, s18, s20
	s_addc_u32  s1, s19, s21
	s_add_u32  s20, s20, 64
	s_clause  0x3
	global_load_b128  v[4:7], v[16:17], off
	global_load_b128  v[8:11], v[16:17], off offset:16
	global_load_b128  v[12:15], v[16:17], off offset:32
	global_load_b128  v[16:19], v[16:17], off offset:48
	s_load_b512  s[0:15], s[0:1], 0x0
	s_addc_u32  s21, s21, 0
	s_cmpk_lg_i32  s20, 0x400
	s_waitcnt  vmcnt(3) lgkmcnt(0)
	v_fmac_f32_e32  v2, s0, v4
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s1, v5
	v_fmac_f32_e32  v2, s2, v6
	s_delay_alu  instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s3, v7
	s_waitcnt  vmcnt(2)
	v_fmac_f32_e32  v2, s4, v8
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s5, v9
	v_fmac_f32_e32  v2, s6, v10
	s_delay_alu  instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s7, v11
	s_waitcnt  vmcnt(1)
	v_fmac_f32_e32  v2, s8, v12
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s9, v13
	v_fmac_f32_e32  v2, s10, v14
	s_delay_alu  instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s11, v15
	s_waitcnt  vmcnt(0)
	v_fmac_f32_e32  v2, s12, v16
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fmac_f32_e32  v2, s13, v17
	v_fmac_f32_e32  v2, s14, v18
	s_delay_alu  instid0(VALU_DEP_1)
	v_fmac_f32_e32  v2, s15, v19
	s_cbranch_scc1  .LBB0_1
	s_set_inst_prefetch_distance  0x2
	v_ashrrev_i32_e32  v1, 31, v0
	s_delay_alu  instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_lshlrev_b64  v[0:1], 2, v[0:1]
	v_add_co_u32  v0, vcc_lo, s16, v0
	s_delay_alu  instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64  v1, null, s17, v1, vcc_lo
	global_store_b32  v[0:1], v2, off
	s_endpgm
.Lfunc_end0:
	.size layout, .Lfunc_end0-layout
	.section .rodata,"a",@progbits
	.amdhsa_kernel layout
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_count 15
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 20
		.amdhsa_next_free_sgpr 22
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: layout, .symbol: layout.kd, .kernarg_segment_size: 40, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 24, .vgpr_count: 20, .max_flat_workgroup_size: 256,
     .args: [
      {.name: y, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global},
      {.name: x, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global},
      {.name: n, .offset: 16, .size: 4, .value_kind: by_value},
      {.name: s, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global},
      {.name: t, .offset: 32, .size: 8, .value_kind: global_buffer, .address_space: global}]}
...
	.end_amdgpu_metadata
