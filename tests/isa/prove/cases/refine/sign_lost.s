; A factor's sign is lost.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e64 v3, -v2, s4
	ds_store_b32 v1, v3
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e64 v3, v2, s4
	ds_store_b32 v1, v3
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  what is stored was not found equal
      original: case.s:8: ds_store_b32 v1, v3
          value: xor(to((v0)), 0x80000000)
      rewritten: case.s:17: ds_store_b32 v1, v3
          value: to((v0))
