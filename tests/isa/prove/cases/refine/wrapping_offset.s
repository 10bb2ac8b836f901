; The rewritten kernel multiplies the row by the row's bytes in 32 bits; for rows up to M*N <= 2^31 elements that wraps.
original:
	s_load_b128 s[4:7], s[0:1], 0x10
	s_lshl_b32 s3, s3, 7
	v_add_nc_u32_e32 v1, s3, v0
	s_waitcnt lgkmcnt(0)
	v_mad_u64_u32 v[2:3], null, v1, s7, 0
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	v_add_co_u32 v2, vcc_lo, s4, v2
	v_add_co_ci_u32_e64 v3, null, s5, v3, vcc_lo
	global_store_b32 v[2:3], v0, off
	s_endpgm
rewritten:
	s_load_b128 s[4:7], s[0:1], 0x10
	s_lshl_b32 s3, s3, 7
	v_add_nc_u32_e32 v1, s3, v0
	s_waitcnt lgkmcnt(0)
	s_lshl_b32 s7, s7, 2
	v_mul_lo_u32 v2, v1, s7
	global_store_b32 v2, v0, s[4:5]
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  two stores whose addresses were not found equal
      original: case.s:11: global_store_b32 v[2:3], v0, off
          address: (512*zext(v0)*zext((N/128)) + 65536*zext(s3)*zext(...) + 4294967296*... + ...)
      rewritten: case.s:21: global_store_b32 v2, v0, s[4:5]
          address: (4294967296*zext(global[(zext(s0) + 4294967296*zext(s1) + 20)]) + zext((512*v0*(N/128) + 65536*s3*(N/128))) + zext(global[(zext(s0) + 4294967296*zext(...) + 16)]))
