; Operands that are more than a register: halves, packed numbers, lanes, limits. What is not followed is new each time.

; a half: it is written beside the other one
	v_lshlrev_b32_e32 v2, 16, v0
	v_mov_b16_e32 v3.l, v2.h
	v_and_b32_e32 v3, 0xffff, v3
; => v3 = thread
	v_mov_b32_e32 v4, 5
	v_mov_b16_e32 v4.h, v0.l
; => v4 = 5 + 65536*thread
	v_add_nc_u16 v5, v0, 3
	v_and_b32_e32 v5, 0xffff, v5
; => v5 = wide((low(thread) + 3))
	v_add_nc_u16 v5, v0, 3
; => v5 = and(register(v5), 0xffff0000) + wide((low(thread) + 3))

; two numbers in a register
	v_mov_b32_e32 v1, 0x30002
	v_pk_add_u16 v2, v1, v1
; => v2 = 393220
	v_mov_b32_e32 v1, 0x30002
	v_pk_add_u16 v2, v1, v1 op_sel:[0,1] op_sel_hi:[1,0]
; => v2 = 327685

; DPP: from another lane, unless all hold the same
	v_mov_b32_e32 v1, s4
	v_mov_b32_dpp v3, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
; => v3 = register(s4)
	v_mov_b32_dpp v4, v0 row_mirror row_mask:0xf bank_mask:0xf
; => v4 = shuffle(thread, xor(lane id, 15))

; a sum that stays at the largest number is a sum only where it is one
	v_and_b32_e32 v1, 7, v0
	v_add_nc_u32_e64 v1, v1, 1
; => v1 = 1 + and(thread, 7)
	v_mov_b32_e32 v1, 5
	v_add_nc_u32_e64 v1, v1, -1 clamp
; => v1 = -1

; signs of what may be a float: bits, where they are known
	v_cndmask_b32_e64 v1, -1.0, |v0|, -1
; => v1 = thread
	v_cndmask_b32_e64 v1, -1.0, |v0|, 0
; => v1 = -1082130432

; a literal of 64 bits is sign-extended for a signed number only
	s_mov_b64 s[0:1], 0x80000000
; => s1 = 0
	v_ashrrev_i64 v[1:2], 0, 0x80000000
; => v2 = -1

; vcc, where an instruction writes it without saying so
	s_cmp_eq_u32 s4, s4
	s_cselect_b32 vcc_lo, -1, 0
	v_cndmask_b32_e32 v1, 1, v0, vcc_lo
; => v1 = thread

; floats are not followed, nor a register that M0 chooses
	v_mul_f32_e64 v1, -v0, |v0| clamp
; => v1 = result(1, v_mul_f32_e64 v1, -v0, |v0| clamp, v1)
	s_mov_b32 m0, 1
	v_movrels_b32_e32 v1, v2
; => v1 = result(2, v_movrels_b32_e32 v1, v2, v1)
