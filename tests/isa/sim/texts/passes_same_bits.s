;; LOADS
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 4, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v1, v0, s[0:1] offset:4
	global_load_b32 v3, v0, s[0:1]
	v_add_nc_u32_e32 v2, 8, v0
	s_waitcnt vmcnt(0)
	ds_store_b32 v0, v3
	ds_store_b32 v0, v1 offset:4
	scratch_store_b32 off, v3, off offset:12
	ds_store_b32 v2, v3
	v_add_f32_e32 v4, v1, v3
	scratch_store_b32 off, v4, off offset:8
	v_xor_b32_e32 v5, 0x90, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b32 v6, v5
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e32 v7, v6, v1
	ds_load_b32 v6, v5 offset:4
	s_waitcnt lgkmcnt(0)
	v_fmac_f32_e32 v7, v6, v3
	v_add_nc_u32_e32 v5, 8, v5
	ds_load_b32 v6, v5
	scratch_load_b32 v8, off, off offset:8
	scratch_load_b32 v9, off, off offset:12
	s_waitcnt vmcnt(1) lgkmcnt(0)
	v_fmac_f32_e32 v7, v6, v8
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v9, v9, v7
	global_store_b32 v0, v7, s[0:1]
	global_store_b32 v0, v9, s[0:1] offset:4
	s_endpgm

;; ROUNDS
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s4, s[0:1], 0x0
	v_mov_b32_e32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_bfe_u32 s4, s4, 0x40004
	s_or_b32 s4, s4, COUNT
.Lloop:
	global_load_b32 v1, v5, s[0:1]
	global_load_b32 v2, v5, s[0:1] offset:256
	s_add_i32 s4, s4, -1
	v_add_nc_u32_e32 v5, 4, v5
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_fma_f32 v4, v4, v1, v2
	s_cbranch_scc0 .Lloop
	s_barrier
	global_store_b32 v0, v4, s[0:1]
	s_endpgm

;; POINTERS
	s_load_b64 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v3, 0
	s_mov_b32 s4, 5
	s_movk_i32 s6, 0x100
	s_mov_b32 s7, 0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v1, vcc_lo, s0, v0
	v_add_co_ci_u32_e64 v2, null, s1, 0, vcc_lo
	s_mov_b32 s9, s0
	s_mov_b32 s10, s1
.Lloop:
	v_add_co_u32 v6, vcc_lo, s9, v0
	v_add_co_ci_u32_e64 v7, null, s10, 0, vcc_lo
	global_load_b32 v4, v[1:2], off offset:4
	global_load_b32 v5, v[6:7], off
	v_add_co_u32 v1, vcc_lo, v1, s6
	v_add_co_ci_u32_e64 v2, null, s7, v2, vcc_lo
	s_add_u32 s9, s9, 16
	s_addc_u32 s10, s10, 0
	s_add_i32 s4, s4, -1
	s_cmp_eq_u32 s4, 0
	s_waitcnt vmcnt(0)
	v_fma_f32 v3, v4, v5, v3
	s_cbranch_scc0 .Lloop
	s_barrier
	global_store_b32 v0, v3, s[0:1]
	s_endpgm

