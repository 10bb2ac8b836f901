; What a loop writes that lanes leave, and is read after it: before the loop, where all lanes are on, it holds nothing.
; rename-banks
	v_lshlrev_b32_e32 v8, 2, v0
	v_mov_b32_e32 v4, 1
	s_mov_b32 s2, exec_lo
.Lloop:
	v_mov_b32_e32 v12, v0
	v_sub_nc_u32_e32 v0, v0, v4
	v_cmp_lt_i32_e32 vcc_lo, 0, v0
	s_and_b32 exec_lo, exec_lo, vcc_lo
	s_cbranch_execnz .Lloop
	s_mov_b32 exec_lo, s2
	v_fma_f32 v12, v12, v8, v4
	global_store_b32 v8, v12, s[0:1]
	s_endpgm
;; expect
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v4, 1
	s_mov_b32 s2, exec_lo
	v_mov_b32_e32 v12, v0
	v_sub_nc_u32_e32 v0, v0, v4
	v_cmp_lt_i32_e32 vcc_lo, 0, v0
	s_and_b32 exec_lo, exec_lo, vcc_lo
	s_cbranch_execnz .Lloop
	s_mov_b32 exec_lo, s2
	v_fma_f32 v12, v12, v1, v4
	global_store_b32 v1, v12, s[0:1]
	s_endpgm
