; A result is no longer kept within 0 and 1.
original:
	s_load_b64 s[4:5], s[0:1], 0x24
	v_lshlrev_b32_e32 v1, 2, v0
	v_cvt_f32_u32_e32 v2, v0
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e64 v3, v2, s4 clamp
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
different: rewritten does not compute what original does
  another value stored to lds[4*tid] before the first loop, after 0 barriers
      original: case.s:7: v_mul_f32_e64 v3, v2, s4 clamp
          fmul(alpha, to f32(tid))*less(0, fmul(alpha, to f32(tid))) + 0x3f800000*less(0x3f800000, fmul(alpha, to f32(tid))) - fmul(alpha, to f32(tid))*less(0, fmul(alpha, to f32(tid)))*less(0x3f800000, fmul(alpha, to f32(tid)))
      rewritten: case.s:16: v_mul_f32_e64 v3, v2, s4
          fmul(alpha, to f32(tid))
