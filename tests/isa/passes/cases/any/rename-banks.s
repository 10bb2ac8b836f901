; A, B and C of the product begin on bank 0; the loop keeps its registers' order, the kernel's own v0 stays.
; rename-banks
	v_lshlrev_b32_e32 v1, 4, v0
	ds_load_b128 v[8:11], v1
	ds_load_b128 v[12:15], v1 offset:16
	ds_load_b128 v[16:19], v1 offset:32
	ds_load_b128 v[20:23], v1 offset:48
	v_mov_b32_e32 v24, 0
	v_mov_b32_e32 v25, 0
	v_mov_b32_e32 v26, 0
	v_mov_b32_e32 v27, 0
	v_mov_b32_e32 v28, 0
	v_mov_b32_e32 v29, 0
	v_mov_b32_e32 v30, 0
	v_mov_b32_e32 v31, 0
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
	global_store_b128 v0, v[24:27], s[0:1]
	global_store_b128 v0, v[28:31], s[0:1] offset:16
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v1, 4, v0
	ds_load_b128 v[5:8], v1
	ds_load_b128 v[9:12], v1 offset:16
	ds_load_b128 v[16:19], v1 offset:32
	ds_load_b128 v[20:23], v1 offset:48
	v_mov_b32_e32 v24, 0
	v_mov_b32_e32 v25, 0
	v_mov_b32_e32 v26, 0
	v_mov_b32_e32 v27, 0
	v_mov_b32_e32 v28, 0
	v_mov_b32_e32 v29, 0
	v_mov_b32_e32 v30, 0
	v_mov_b32_e32 v31, 0
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[24:31], v[5:12], v[16:23], v[24:31]
	global_store_b128 v0, v[24:27], s[0:1]
	global_store_b128 v0, v[28:31], s[0:1] offset:16
	s_endpgm
