; DPP that GFX11 does not have: scalar and constant sources, patterns of GFX9, numbers that do not fit, instructions
; without it. The second function is right.
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_add_f32_dpp v0, v1, s2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
	v_add_f32_e64_dpp v0, v1, 1.0 row_shr:1 row_mask:0xf bank_mask:0xf
	v_mov_b32_dpp v0, s1 dpp8:[0,1,2,3,4,5,6,7]
	v_add3_u32_e64_dpp v0, v1, v2, 0x12345 row_shr:1 row_mask:0xf bank_mask:0xf
	v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xf bank_mask:0xf
	v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf
	v_mov_b32_dpp v0, v1 row_shr:16 row_mask:0xf bank_mask:0xf
	v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,4] row_mask:0xf bank_mask:0xf
	v_mul_lo_u32_e64_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
	v_add_f64_e64_dpp v[2:3], v[2:3], v[0:1] row_shr:1 row_mask:0xf bank_mask:0xf
	v_add_f32_e32 v0, v0, v2
	v_add_f32_e32 v0, v0, v3
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type wrong,@function
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_fma_f32_e64_dpp v0, v1, v2, s3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
	v_add3_u32_e64_dpp v0, v0, v2, 4 row_xmask:15 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v0, -v0, |v2| row_ror:15 row_mask:0x3 bank_mask:0x5 bound_ctrl:1
	v_max_f32_dpp v0, v0, v0 dpp8:[7,6,5,4,3,2,1,0]
	v_min_f32_dpp v0, v0, v0 row_half_mirror row_mask:0xf bank_mask:0xf
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type right,@function
;; expect
case.s:5:24: source 1 of an instruction with DPP cannot be s2 [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_add_f32_dpp v0, v1, s2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
    	                      ^
  expected: a VGPR
  found: s2
case.s:6:28: source 1 of an instruction with DPP cannot be 1.0 [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_add_f32_e64_dpp v0, v1, 1.0 row_shr:1 row_mask:0xf bank_mask:0xf
    	                          ^
  expected: a VGPR
  found: 1.0
case.s:7:20: source 0 of an instruction with DPP cannot be s1 [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mov_b32_dpp v0, s1 dpp8:[0,1,2,3,4,5,6,7]
    	                  ^
  expected: a VGPR
  found: s1
case.s:8:33: source 2 of an instruction with DPP cannot be 0x12345 [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_add3_u32_e64_dpp v0, v1, v2, 0x12345 row_shr:1 row_mask:0xf bank_mask:0xf
    	                               ^
  expected: a register, or a constant that is no literal
  found: 0x12345
case.s:9:2: GFX11 has no row_bcast [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xf bank_mask:0xf
    	^
  expected: quad_perm, dpp8, row_shl, row_shr, row_ror, row_share, row_xmask, row_mirror, row_half_mirror
  found: row_bcast
  help: lanes of other rows: v_permlanex16_b32, v_readlane_b32, or ds_bpermute_b32
case.s:10:2: GFX11 has no wave_shr [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf
    	^
  expected: quad_perm, dpp8, row_shl, row_shr, row_ror, row_share, row_xmask, row_mirror, row_half_mirror
  found: wave_shr
  help: lanes of other rows: v_permlanex16_b32, v_readlane_b32, or ds_bpermute_b32
case.s:11:2: a number of row_shr does not fit [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mov_b32_dpp v0, v1 row_shr:16 row_mask:0xf bank_mask:0xf
    	^
  expected: 1 to 15
  found: 16
case.s:12:2: a number of quad_perm does not fit [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,4] row_mask:0xf bank_mask:0xf
    	^
  expected: 0 to 3
  found: 0, 1, 2, 4
case.s:13:2: v_mul_lo_u32 has no DPP [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_mul_lo_u32_e64_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
    	^
  expected: v_mov_b32_dpp before it
case.s:14:2: v_add_f64 has no DPP [OPD008 DPP; RDNA3 ISA guide 7.7]
    	v_add_f64_e64_dpp v[2:3], v[2:3], v[0:1] row_shr:1 row_mask:0xf bank_mask:0xf
    	^
  expected: v_mov_b32_dpp before it
