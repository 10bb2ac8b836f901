; Calls against copies of which the functions differ: followed where that can be, else named.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	2
	.type	twice,@function
twice:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, 7, v1
	s_cbranch_vccz .LBB0_2
	v_lshlrev_b32_e32 v2, 1, v1
	v_add_nc_u32_e32 v1, v2, v1
.LBB0_2:
	v_add_nc_u32_e32 v1, 3, v1
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	twice, .Lfunc_end0-twice
	.p2align	2
	.type	outer,@function
outer:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[20:21], s[30:31]
	v_xor_b32_e32 v1, 5, v1
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, twice@rel32@lo+4
	s_addc_u32 s7, s7, twice@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	s_setpc_b64 s[20:21]
.Lfunc_end1:
	.size	outer, .Lfunc_end1-outer
	.p2align	8
	.type	k,@function
k:
	s_load_b64 s[2:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, twice@rel32@lo+4
	s_addc_u32 s5, s5, twice@rel32@hi+12
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[2:3]
	s_swappc_b64 s[30:31], s[4:5]
	s_swappc_b64 s[30:31], s[4:5]
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, outer@rel32@lo+4
	s_addc_u32 s9, s9, outer@rel32@hi+12
	s_swappc_b64 s[30:31], s[8:9]
	global_store_b32 v0, v1, s[2:3]
	s_endpgm
.Lfunc_end2:
	.size	k, .Lfunc_end2-k
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
	.end_amdhsa_kernel
;; proved: other registers
-v_lshlrev_b32_e32 v2, 1, v1
+v_lshlrev_b32_e32 v3, 1, v1
-v1, v2, v1
+v1, v1, v3
;; proved: kept elsewhere
-s[20:21]
+s[22:23]
;; proved: a call at the end is a jump
-s_swappc_b64 s[30:31], s[6:7]
-s_setpc_b64 s[20:21]
+s_setpc_b64 s[6:7]
;; proved: another order
-v_xor_b32_e32 v1, 5, v1
+
-s_swappc_b64 s[30:31], s[6:7]
+v_xor_b32_e32 v1, 5, v1
+s_swappc_b64 s[30:31], s[6:7]
;; refused: another number | conditions were not found equal
-v1, 3, v1
+v1, 4, v1
;; refused: another condition | conditions were not found equal
-vcc_lo, 7, v1
+vcc_lo, 6, v1
;; refused: no wait | load
-twice:
-s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
+twice:
;; refused: the return address is not kept | a return
-s_mov_b64 s[20:21], s[30:31]
+
;; refused: it returns elsewhere | a return
-v1, 3, v1
+v1, 3, v1
+s_mov_b64 s[30:31], s[2:3]
;; refused: it writes the address of the next call | twice: s\[4:5\] may hold another address
-v1, 3, v1
+v1, 3, v1
+s_mov_b32 s4, 0
;; refused: a function that calls itself | cannot follow
<s6, twice
>s6, outer
<s7, twice
>s7, outer
;; refused: an address from memory | the address is not known
<s_add_u32 s8, s8, outer@rel32@lo+4
<s_addc_u32 s9, s9, outer@rel32@hi+12
>s_load_b64 s[8:9], s[2:3], 0x8
>s_waitcnt lgkmcnt(0)
;; proved: another address is stored
<global_store_b32 v0, v1, s[2:3]
>v_mov_b32_e32 v2, s2
>global_store_b64 v0, v[1:2], s[2:3]
-v_lshlrev_b32_e32 v2, 1, v1
+v_lshlrev_b32_e32 v3, 1, v1
-v1, v2, v1
+v1, v1, v3
;; refused: the address of a function that differs is stored
<global_store_b32 v0, v1, s[2:3]
>v_mov_b32_e32 v2, s4
>global_store_b64 v0, v[1:2], s[2:3]
-v_lshlrev_b32_e32 v2, 1, v1
+v_lshlrev_b32_e32 v3, 1, v1
-v1, v2, v1
+v1, v1, v3
