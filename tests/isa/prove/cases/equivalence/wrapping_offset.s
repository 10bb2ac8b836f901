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
different: rewritten does not compute what original does
  a store to another address before the first loop, after 0 barriers
      original: case.s:11: global_store_b32 v[2:3], v0, off
          global address C + 512*N*group_y + 4*N*tid
      rewritten: case.s:21: global_store_b32 v2, v0, s[4:5]
          global address C + zext(512*N*group_y + 4*N*tid)
