; RDNA4 extends the high half of where code lies by its sign; waits stand between.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
	.text
	.type	twice,@function
twice:
	v_add_nc_u32_e32 v0, v0, v0
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.size	twice, .Lfunc_end1-twice
	.type	k,@function
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_getpc_b64 s[6:7]
	s_wait_alu depctr_sa_sdst(0)
	s_sext_i32_i16 s7, s7
	s_add_co_u32 s6, s6, twice@rel32@lo+12
	s_wait_alu depctr_sa_sdst(0)
	s_add_co_ci_u32 s7, s7, twice@rel32@hi+24
	s_wait_alu depctr_sa_sdst(0)
	s_swappc_b64 s[30:31], s[6:7]
	s_wait_kmcnt 0x0
	global_store_b32 v1, v0, s[4:5]
	s_endpgm
;; proved: itself
;; proved: other registers
-s_getpc_b64 s[6:7]
+s_getpc_b64 s[8:9]
-s_sext_i32_i16 s7, s7
+s_sext_i32_i16 s9, s9
-s_add_co_u32 s6, s6, t
+s_add_co_u32 s8, s8, t
-s_add_co_ci_u32 s7, s7, t
+s_add_co_ci_u32 s9, s9, t
-s[30:31], s[6:7]
+s[30:31], s[8:9]
;; refused: another function's result
-v_add_nc_u32_e32 v0, v0, v0
+v_add_nc_u32_e32 v0, v0, v0
+v_add_nc_u32_e32 v0, v0, v0
;; refused: the low half extended
-s_sext_i32_i16 s7, s7
+s_sext_i32_i16 s7, s6
;; refused: it goes past the function's first instruction
-twice@rel32@lo+12
+twice@rel32@lo+16
;; refused: bytes that nobody counts
-s_sext_i32_i16 s7, s7
+s_sext_i32_i16 s7, s7
+s_nop 0
