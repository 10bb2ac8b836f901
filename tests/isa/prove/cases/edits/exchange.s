; Lanes that are off are taken for 0 by what exchanges lanes; what is in them does not matter.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 4, v1
	v_mov_b32_e32 v3, 7
	v_mov_b32_e32 v4, 7
	v_mov_b32_e32 v5, 7
	s_mov_b32 s8, exec_lo
	s_waitcnt lgkmcnt(0)
	s_mov_b32 exec_lo, s2
	v_mov_b32_e32 v6, v0
	ds_bpermute_b32 v3, v2, v6
	ds_permute_b32 v4, v2, v6
	ds_swizzle_b32 v5, v6 offset:swizzle(SWAP,1)
	s_waitcnt lgkmcnt(0)
	s_mov_b32 exec_lo, s8
	global_store_b32 v1, v3, s[6:7]
	global_store_b32 v1, v4, s[6:7] offset:512
	global_store_b32 v1, v5, s[6:7] offset:1024
	s_endpgm
;; proved: itself
;; proved: lanes that are off hold another number
-s_mov_b32 exec_lo, s2
+v_mov_b32_e32 v6, v1
+s_mov_b32 exec_lo, s2
;; unproven: lanes that are off are asked, ds_bpermute_b32
-s_mov_b32 exec_lo, s2
-v_mov_b32_e32 v6, v0
-ds_bpermute_b32 v3, v2, v6
+v_mov_b32_e32 v6, v0
+ds_bpermute_b32 v9, v2, v6
+s_waitcnt lgkmcnt(0)
+s_mov_b32 exec_lo, s2
+v_mov_b32_e32 v3, v9
;; unproven: lanes that are off are asked, ds_permute_b32
-s_mov_b32 exec_lo, s2
-v_mov_b32_e32 v6, v0
+v_mov_b32_e32 v6, v0
+ds_permute_b32 v9, v2, v6
+s_waitcnt lgkmcnt(0)
+s_mov_b32 exec_lo, s2
-ds_permute_b32 v4, v2, v6
+v_mov_b32_e32 v4, v9
;; unproven: lanes that are off are asked, ds_swizzle_b32
-s_mov_b32 exec_lo, s2
-v_mov_b32_e32 v6, v0
+v_mov_b32_e32 v6, v0
+ds_swizzle_b32 v9, v6 offset:swizzle(SWAP,1)
+s_waitcnt lgkmcnt(0)
+s_mov_b32 exec_lo, s2
-ds_swizzle_b32 v5, v6 offset:swizzle(SWAP,1)
+v_mov_b32_e32 v5, v9
