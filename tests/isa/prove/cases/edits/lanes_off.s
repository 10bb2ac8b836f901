; Of a permutation, address and data that lanes which are off would send do not matter; what lanes that are on read
; does, and v_readlane_b32 looks at all.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 7
	s_waitcnt lgkmcnt(0)
	v_cmpx_gt_u32_e32 16, v0
	v_xor_b32_e32 v2, 4, v1
	ds_bpermute_b32 v3, v2, v1
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5]
	s_endpgm
;; proved: of lanes that are off
-v2, 7
+v2, 9
;; refused: read by all
<v_xor_b32_e32 v2, 4, v1
>v_readlane_b32 s8, v2, 20
>v_xor_b32_e32 v2, s8, v1
-v2, 7
+v2, 9
