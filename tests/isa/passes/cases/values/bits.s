; Bits of the thread number (below 128), and `or` that is an addition because no bit is set in both.

	v_and_b32_e32 v1, 7, v0
	v_lshl_or_b32 v2, v1, 4, 0x1080
; => v2 = 4224 + 16*and(thread, 7)

	v_lshlrev_b32_e32 v1, 7, v0
	v_or_b32_e32 v1, v1, v0
; => v1 = 129*thread

	v_lshlrev_b32_e32 v1, 6, v0
	v_or_b32_e32 v1, v1, v0
; => v1 = or(thread, (64*thread))

; a mask that takes nothing away, one that takes all, and one below a multiple
	v_and_b32_e32 v1, 0x7f, v0
; => v1 = thread
	v_lshlrev_b32_e32 v1, 3, v0
	v_and_b32_e32 v1, 7, v1
; => v1 = 0
	v_lshl_add_u32 v1, v0, 3, 5
	v_and_b32_e32 v1, 7, v1
; => v1 = 5

; shifts: exact where no bit is lost, otherwise an atom
	v_lshlrev_b32_e32 v1, 4, v0
	v_lshrrev_b32_e32 v1, 2, v1
; => v1 = 4*thread
	v_lshrrev_b32_e32 v1, 3, v0
; => v1 = shr(thread, 3)

; the halves of a VOPD read before either writes
	v_mov_b32_e32 v1, 1
	v_mov_b32_e32 v2, 2
	v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1
; => v1 = 2
; => v2 = 1
