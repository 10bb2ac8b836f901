; Parity counts in src1 too; a mask and a literal go along.
	v_mul_f32_e32 v3, v0, v0
	v_dual_cndmask_b32 v6, s4, v3 :: v_dual_add_f32 v7, 0, v1
	v_mul_f32_e32 v2, v0, v0
	v_dual_fmaak_f32 v6, v2, v1, 0x41000000 :: v_dual_mov_b32 v7, v4
	s_endpgm
;; expect
	v_mul_f32_e32 v3, v0, v0
	v_cndmask_b32_e32 v6, s4, v3, vcc_lo
	v_add_f32_e32 v7, 0, v1
	v_mul_f32_e32 v2, v0, v0
	v_fmaak_f32 v6, v2, v1, 0x41000000
	v_mov_b32_e32 v7, v4
	s_endpgm
