; 16 bits are written to the other half of a register.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, 0
	v_mov_b16_e32 v3.l, v0.l
	ds_store_b32 v1, v3
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, 0
	v_mov_b16_e32 v3.h, v0.l
	ds_store_b32 v1, v3
	s_endpgm
;; expect
different: rewritten does not compute what original does
  another value stored to lds[4*tid] before the first loop, after 0 barriers
      original: case.s:8: v_mov_b16_e32 v3.l, v0.l
          tid
      rewritten: case.s:18: v_mov_b16_e32 v3.h, v0.l
          0x10000*tid
