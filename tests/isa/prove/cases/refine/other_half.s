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
unproven: rewritten against original: could not be shown to do the same
  what is stored was not found equal
      original: case.s:9: ds_store_b32 v1, v3
          value: (v0)
      rewritten: case.s:19: ds_store_b32 v1, v3
          value: (65536*v0)
