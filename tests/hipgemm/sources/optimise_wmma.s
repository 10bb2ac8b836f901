k:
	s_load_b64 s[0:1], s[0:1], 0x0
	v_mov_b32_e32 v1, 0
	s_movk_i32 s2, 0x100
	s_waitcnt lgkmcnt(0)
.Lloop:
	ds_load_b128 v[8:11], v1
	ds_load_b128 v[12:15], v1 offset:16
	ds_load_b128 v[16:19], v1 offset:32
	ds_load_b128 v[20:23], v1 offset:48
	s_addk_i32 s2, 0xffff
	s_cmp_lg_u32 s2, 0
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
	v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
	v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
	v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
	s_cbranch_scc1 .Lloop
	global_store_b128 v0, v[24:27], s[0:1]
	global_store_b128 v0, v[28:31], s[0:1] offset:16
	s_endpgm
