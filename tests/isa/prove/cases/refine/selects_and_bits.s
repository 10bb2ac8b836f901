; The same number by other instructions: fields of the work-item id, disjoint or as add, a select as arithmetic.
original:
	s_load_b64 s[4:5], s[0:1], 0x1c
	v_and_b32_e32 v1, 7, v0
	v_lshrrev_b32_e32 v2, 3, v0
	v_mul_u32_u24_e32 v3, 0x210, v1
	v_lshl_add_u32 v3, v2, 2, v3
	v_lshrrev_b32_e32 v4, 1, v0
	v_and_b32_e32 v4, 12, v4
	v_and_b32_e32 v5, 0x60, v0
	v_or_b32_e32 v4, v5, v4
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s4, s5
	s_cselect_b32 s6, s4, s5
	v_add_nc_u32_e32 v4, s6, v4
	ds_store_b32 v3, v4
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x1c
	v_bfe_u32 v2, v0, 3, 4
	v_lshlrev_b32_e32 v3, 2, v2
	v_sub_nc_u32_e32 v1, v0, v3
	v_sub_nc_u32_e32 v1, v1, v3
	v_mad_u32_u24 v3, v1, 0x210, v3
	v_bfe_u32 v5, v0, 3, 2
	v_lshlrev_b32_e32 v5, 2, v5
	v_bfe_u32 v6, v0, 5, 2
	v_lshl_or_b32 v4, v6, 5, v5
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s4, s5
	s_cselect_b32 s6, -1, 0
	v_cndmask_b32_e64 v7, 0, s4, s6
	v_cndmask_b32_e64 v8, s5, 0, s6
	v_add3_u32 v4, v7, v8, v4
	ds_store_b32 v3, v4
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 1 store, 0 barriers and the like, 1 pair of blocks, 0 loops
