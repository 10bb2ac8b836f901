; A clock is an input that differs from reading to reading.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_getreg_b32 s6, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
	s_mov_b32 s8, s6
	s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
	s_sub_u32 s6, s7, s8
	v_mov_b32_e32 v2, s6
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
;; proved: a nop
-v_mov_b32_e32 v2, s6
+v_mov_b32_e32 v2, s6
+s_nop 0
;; proved: by way of another register
-s_mov_b32 s8, s6
+s_mov_b32 s9, s6
+s_mov_b32 s8, s9
;; unproven: one reading for two
-s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_mov_b32 s7, s8
;; unproven: the first one again
-s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_mov_b32 s7, s6
;; unproven: a reading more
-s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
;; unproven: the difference the other way
-s_sub_u32 s6, s7, s8
+s_sub_u32 s6, s8, s7
;; unproven: of nothing
-s_sub_u32 s6, s7, s8
+s_sub_u32 s6, s7, s7
;; unproven: fewer bits
-s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 19)
;; unproven: another register of the hardware
-s_getreg_b32 s7, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
+s_getreg_b32 s7, hwreg(HW_REG_HW_ID1, 0, 20)
