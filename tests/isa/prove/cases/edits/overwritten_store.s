; A store that another one overwrites is dead, unless something may have read it, or not all of it is overwritten; the one
; that stays is the last.
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 1.0
	v_mov_b32_e32 v3, 2.0
	v_mov_b32_e32 v4, 4.0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v8, 0
	global_store_b32 v1, v2, s[4:5]
	s_nop 0
	global_store_b32 v1, v3, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v8, s[4:5] offset:4096
	s_endpgm
;; proved: itself
;; refused: the last is gone
-global_store_b32 v1, v3, s[4:5]
+
;; refused: their values exchanged
-v2, 1.0
+v2, 2.0
-v3, 2.0
+v3, 1.0
;; refused: another last value
-v3, 2.0
+v3, 3.0
;; refused: the first had a hint
<global_store_b32 v1, v2, s[4:5]
>global_store_b32 v1, v2, s[4:5] dlc
-global_store_b32 v1, v2, s[4:5] dlc
+
;; proved: the first is gone before s_nop 0
-global_store_b32 v1, v2, s[4:5]
+
;; proved: another first value before s_nop 0
-v2, 1.0
+v2, 3.0
;; proved: the first is gone before global_store_b32 v1, v4, s[4:5] offset:4096
<s_nop 0
>global_store_b32 v1, v4, s[4:5] offset:4096
-global_store_b32 v1, v2, s[4:5]
+
;; proved: another first value before global_store_b32 v1, v4, s[4:5] offset:4096
<s_nop 0
>global_store_b32 v1, v4, s[4:5] offset:4096
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before global_load_b32 v8, v1, s[4:5]
<s_nop 0
>global_load_b32 v8, v1, s[4:5]
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before global_load_b32 v8, v1, s[4:5]
<s_nop 0
>global_load_b32 v8, v1, s[4:5]
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before global_load_b32 v8, v1, s[4:5] offset:64
<s_nop 0
>global_load_b32 v8, v1, s[4:5] offset:64
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before global_load_b32 v8, v1, s[4:5] offset:64
<s_nop 0
>global_load_b32 v8, v1, s[4:5] offset:64
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before global_store_b32 v1, v4, s[4:5] offset:64
<s_nop 0
>global_store_b32 v1, v4, s[4:5] offset:64
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before global_store_b32 v1, v4, s[4:5] offset:64
<s_nop 0
>global_store_b32 v1, v4, s[4:5] offset:64
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before s_barrier
<s_nop 0
>s_barrier
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before s_barrier
<s_nop 0
>s_barrier
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before global_atomic_add_u32 v1, v4, s[4:5] offset:4096
<s_nop 0
>global_atomic_add_u32 v1, v4, s[4:5] offset:4096
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before global_atomic_add_u32 v1, v4, s[4:5] offset:4096
<s_nop 0
>global_atomic_add_u32 v1, v4, s[4:5] offset:4096
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before global_load_b32 v8, v1, s[4:5] offset:4096 glc
<s_nop 0
>global_load_b32 v8, v1, s[4:5] offset:4096 glc
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before global_load_b32 v8, v1, s[4:5] offset:4096 glc
<s_nop 0
>global_load_b32 v8, v1, s[4:5] offset:4096 glc
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before v_cmpx_gt_u32_e32 16, v0
<s_nop 0
>v_cmpx_gt_u32_e32 16, v0
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before v_cmpx_gt_u32_e32 16, v0
<s_nop 0
>v_cmpx_gt_u32_e32 16, v0
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before v_add_nc_u32_e32 v1, 4, v1
<s_nop 0
>v_add_nc_u32_e32 v1, 4, v1
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before v_add_nc_u32_e32 v1, 4, v1
<s_nop 0
>v_add_nc_u32_e32 v1, 4, v1
-v2, 1.0
+v2, 3.0
;; refused: the first is gone before v_mov_b32_e32 v1, v4
<s_nop 0
>v_mov_b32_e32 v1, v4
-global_store_b32 v1, v2, s[4:5]
+
;; refused: another first value before v_mov_b32_e32 v1, v4
<s_nop 0
>v_mov_b32_e32 v1, v4
-v2, 1.0
+v2, 3.0
