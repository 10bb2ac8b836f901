; A hint goes where what it speaks of changed, and only there. v9 is dead here, and goes.

k:
	v_mov_b32_e32 v1, 1
	v_mov_b32_e32 v9, 1
	s_delay_alu instid0(VALU_DEP_2)
	v_add_nc_u32_e32 v2, v1, v1
	s_delay_alu instid0(VALU_DEP_1)
	v_add_nc_u32_e32 v3, v2, v2
	s_clause 0x1
	global_load_b32 v4, v3, s[2:3]
	global_load_b32 v5, v3, s[2:3] offset:4
	s_waitcnt vmcnt(0)
	v_add_nc_u32_e32 v6, v4, v5
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v7, v6, v4
	v_mov_b32_e32 v9, v7
	v_add_nc_u32_e32 v8, v7, v5
	global_store_b32 v3, v8, s[2:3]
	s_endpgm
; =>
;	v_mov_b32_e32 v1, 1
;	v_add_nc_u32_e32 v2, v1, v1
;	s_delay_alu instid0(VALU_DEP_1)
;	v_add_nc_u32_e32 v3, v2, v2
;	s_clause 0x1
;	global_load_b32 v4, v3, s[2:3]
;	global_load_b32 v5, v3, s[2:3] offset:4
;	s_waitcnt vmcnt(0)
;	v_add_nc_u32_e32 v6, v4, v5
;	v_add_nc_u32_e32 v7, v6, v4
;	v_add_nc_u32_e32 v8, v7, v5
;	global_store_b32 v3, v8, s[2:3]
;	s_endpgm
