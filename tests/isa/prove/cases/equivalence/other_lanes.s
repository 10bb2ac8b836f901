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
different: rewritten does not compute what original does
  another value stored to lds[4*tid] before the first loop, after 0 barriers
      original: case.s:7: v_mov_b32_dpp v3, v2 row_shr:1 row_mask:15 bank_mask:15 bound_ctrl:1
          (0 < tid[3:0])*shuffle(to f32(tid), and(31, tid - 1))
      rewritten: case.s:16: v_mov_b32_dpp v3, v2 row_shr:2 row_mask:15 bank_mask:15 bound_ctrl:1
          (1 < tid[3:0])*shuffle(to f32(tid), and(31, tid - 2))
