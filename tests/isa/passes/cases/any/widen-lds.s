; LDS: b128 where the address is a multiple of 16, b64 of 8; else the two-address form, whose offsets count elements.
; v1 is v0 and a number, so what it points to has its place among the others.
; widen-loads
	v_lshlrev_b32_e32 v0, 4, v0
	v_lshl_add_u32 v8, v0, 1, 8
	v_mad_u32_u24 v9, v0, 3, 1
	v_lshlrev_b32_e32 v9, 2, v9
	ds_load_b32 v2, v0
	ds_load_b32 v3, v0 offset:8
	v_add_nc_u32_e32 v1, 4, v0
	ds_load_b32 v4, v1
	ds_load_b32 v5, v1 offset:8
	ds_load_b32 v6, v8
	ds_load_b32 v7, v8 offset:4
	ds_load_b32 v10, v9
	ds_load_b32 v11, v9 offset:4
	ds_load_b32 v13, v9 offset:768
	ds_load_b32 v12, v9 offset:256
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v2, v3
	v_add_f32_e32 v2, v2, v4
	v_add_f32_e32 v2, v2, v5
	v_add_f32_e32 v2, v2, v6
	v_add_f32_e32 v2, v2, v7
	v_add_f32_e32 v2, v2, v10
	v_add_f32_e32 v2, v2, v11
	v_add_f32_e32 v2, v2, v12
	v_sub_f32_e32 v2, v2, v13
	ds_store_b32 v0, v2 offset:2048
	ds_store_b32 v0, v4 offset:2056
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v0, 4, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_lshl_add_u32 v8, v0, 1, 8
	v_mad_u32_u24 v9, v0, 3, 1
	s_delay_alu instid0(VALU_DEP_1)
	v_lshlrev_b32_e32 v9, 2, v9
	ds_load_b128 v[2:5], v0
	v_add_nc_u32_e32 v1, 4, v0
	ds_load_b64 v[6:7], v8
	ds_load_2addr_b32 v[10:11], v9 offset1:1
	ds_load_2addr_b32 v[12:13], v9 offset0:64 offset1:192
	s_waitcnt lgkmcnt(3)
	v_add_f32_e32 v2, v2, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v3
	v_add_f32_e32 v2, v2, v5
	s_waitcnt lgkmcnt(2)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v6
	v_add_f32_e32 v2, v2, v7
	s_waitcnt lgkmcnt(1)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v10
	v_add_f32_e32 v2, v2, v11
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_f32_e32 v2, v2, v12
	v_sub_f32_e32 v2, v2, v13
	ds_store_b32 v0, v2 offset:2048
	ds_store_b32 v0, v3 offset:2056
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
