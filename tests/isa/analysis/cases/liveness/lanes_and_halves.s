; v_writelane_b32 writes one lane, a d16 load half of its register: both keep the rest, so the old value lives on.
	v_writelane_b32 v1, s0, 3
	global_load_d16_b16 v2, v[4:5], off
	s_waitcnt vmcnt(0)
	v_readlane_b32 s1, v1, 3
	v_mov_b32_e32 v3, s1
	global_store_b64 v[4:5], v[2:3], off
	s_endpgm
;; expect
 0 full v_writelane_b32 v1, s0, 3                        v[1:2] v[4:5] s0
 1 full global_load_d16_b16 v2, v[4:5], off              v[1:2] v[4:5]
 2 full s_waitcnt vmcnt(0)                               v[1:2] v[4:5]
 3 full v_readlane_b32 s1, v1, 3                         v[1:2] v[4:5]
 4 full v_mov_b32_e32 v3, s1                             v2 v[4:5] s1
 5 full global_store_b64 v[4:5], v[2:3], off             v[2:5]
 6 full s_endpgm
