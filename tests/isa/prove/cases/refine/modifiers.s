; Signs, clamps, lanes and halves: the same by other instructions, in other registers.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_cvt_f32_u32_e32 v2, v0
	v_mul_f32_e64 v3, -v2, |s4|
	v_add_f32_e64 v4, -|v3|, s5 clamp
	v_mov_b32_dpp v5, v4 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_mov_b16_e32 v6.l, v0.l
	v_mov_b16_e32 v6.h, v1.l
	v_pk_add_u16 v7, v6, v5 op_sel:[1,0] op_sel_hi:[0,1]
	ds_store_b32 v1, v3
	ds_store_b32 v1, v5 offset:512
	ds_store_b32 v1, v6 offset:1024
	ds_store_b32 v1, v7 offset:1536
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_cvt_f32_u32_e32 v2, v0
	v_xor_b32_e32 v2, 0x80000000, v2
	s_bitset0_b32 s4, 31
	v_mul_f32_e64 v3, v2, s4
	v_add_f32_e64 v4, -|v3|, s5 clamp
	v_mov_b32_dpp v8, v4 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_lshl_or_b32 v6, v1, 16, v0
	v_alignbit_b32 v9, v6, v6, 16
	v_pk_add_u16 v7, v9, v8
	ds_store_b32 v1, v3
	ds_store_b32 v1, v8 offset:512
	ds_store_b32 v1, v6 offset:1024
	ds_store_b32 v1, v7 offset:1536
	s_endpgm
;; expect
proved: rewritten computes what original does, bit for bit; matched: 4 stores, 0 barriers and the like, 1 pair of blocks, 0 loops
