; What another lane has, of a lane one farther on.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
	ds_store_b32 v1, v3
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_dpp v3, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1
	ds_store_b32 v1, v3
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  what is stored was not found equal
      original: case.s:8: ds_store_b32 v1, v3
          value: select(ite(zero((v0[3:0])), 0, 1), shuffle(to((v0)), and((v0[4:0] + 31), 31)), 0)
      rewritten: case.s:17: ds_store_b32 v1, v3
          value: select(ult(1, (v0[3:0])), shuffle(to((v0)), and((v0[4:0] + 30), 31)), 0)
