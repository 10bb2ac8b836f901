; Loads may be in flight at a barrier around which nothing is written: another wave may write what is loaded only where
; something is written between the barriers next to this one.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v2
	s_barrier
	global_load_b32 v3, v1, s[4:5] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	ds_load_b32 v4, v1 offset:4
	s_waitcnt lgkmcnt(0)
	v_nop
	v_add_f32_e32 v4, v4, v3
	s_barrier
	global_store_b32 v1, v4, s[6:7]
	s_endpgm
;; rewritten
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v2
	s_barrier
	global_load_b32 v3, v1, s[4:5] offset:4
	s_waitcnt lgkmcnt(0)
	s_barrier
	buffer_gl0_inv
	ds_load_b32 v4, v1 offset:4
	s_waitcnt lgkmcnt(0)
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v4, v4, v3
	s_barrier
	global_store_b32 v1, v4, s[6:7]
	s_endpgm
;; proved: quiet | all waves of a workgroup meet at the same barriers
;; proved: another | all waves of a workgroup meet at the same barriers
<v_add_f32_e32 v4, v4, v3
>v_add_f32_e32 v4, v4, v3
>s_barrier
;; refused: a store behind
<ds_load_b32 v4
>global_store_b32 v1, v2, s[6:7] offset:8
>ds_load_b32 v4
;; refused: a store before
<global_load_b32 v3
>global_store_b32 v1, v2, s[6:7] offset:8
>global_load_b32 v3
;; refused: an atomic
<global_load_b32 v3
>global_atomic_add_u32 v1, v2, s[6:7] offset:8
>global_load_b32 v3
;; refused: a store on the way
<s_barrier
<global_store
>global_store
;; refused: speaking waves
<s_endpgm
>s_sleep 1
>s_endpgm
