; The same on RDNA3.5, which has no such hazard.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1150"
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_rcp_f32_e32 v1, v0
	v_add_f32_e32 v2, v1, v1
	v_add_f32_e32 v2, v1, v2
	v_rcp_f64_e32 v[4:5], v[6:7]
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_nop
	v_add_f32_e32 v2, v5, v2
	v_sqrt_f32_e32 v1, v0
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_add_f32_e32 v2, v2, v2
	v_nop
	v_add_f32_e32 v2, v1, v2
	v_exp_f32_e32 v1, v0
	v_log_f32_e32 v3, v0
	v_add_f32_e32 v2, v1, v2
	v_exp_f32_e32 v1, v0
	v_sin_f32_e32 v3, v0
	v_cos_f32_e32 v8, v0
	v_add_f32_e32 v2, v1, v2
	v_rcp_f32_e32 v9, v0
	v_dual_mul_f32 v10, v2, v2 :: v_dual_mul_f32 v11, v9, v3
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr depctr_va_vdst(0)
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr 0xfff
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	ds_store_b32 v12, v2
	v_add_f32_e32 v2, v1, v2
	v_rsq_f32_e32 v1, v0
	s_waitcnt_depctr depctr_va_vdst(1)
	s_waitcnt_depctr depctr_sa_sdst(0)
	s_nop 7
	v_readfirstlane_b32 s6, v1
	v_rcp_f32_e32 v1, v0
	s_cmp_eq_u32 s6, 0
	ds_store_b32 v12, v1
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
;; expect
note: case.s:24:2: v3 is never read [VAL003 value never read; data flow]
    	v_log_f32_e32 v3, v0
    	^
  help: remove it, or check which instruction was meant to read it
