; v_writelane_b32 writes one lane, a d16 load half of its register: both keep the rest, so the old value lives on.
	v_writelane_b32 v1, s0, 3
	global_load_d16_b16 v2, v[4:5], off
	s_waitcnt vmcnt(0)
	v_readlane_b32 s1, v1, 3
	v_mov_b32_e32 v3, s1
	global_store_b64 v[4:5], v[2:3], off
	s_endpgm
