; A release keeps its order: a wait or an invalidation is missing, weaker or elsewhere.
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v1, 1
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v0, s[4:5] offset:64
	global_store_b32 v0, v1, s[4:5]
	s_waitcnt vmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v0, v1, s[4:5] offset:4096
	s_nop 0
	global_store_b32 v0, v2, s[6:7]
	s_endpgm
;; proved: itself
;; proved: a later wait
-s_waitcnt_vscnt null, 0x0
+
-global_store_b32 v0, v1, s[4:5] offset:4096
+s_waitcnt_vscnt null, 0x0
+global_store_b32 v0, v1, s[4:5] offset:4096
;; proved: a stronger wait besides
-s_nop 0
+s_waitcnt_vscnt null, 0x0
;; refused: no wait for the store
-s_waitcnt_vscnt null, 0x0
+
;; refused: a weaker one
-s_waitcnt_vscnt null, 0x0
+s_waitcnt_vscnt null, 0x1
;; refused: the load lands after the flag
-s_waitcnt vmcnt(0)
+
-s_nop 0
+s_waitcnt vmcnt(0)
;; refused: the wait after the flag
-s_waitcnt_vscnt null, 0x0
+
-global_store_b32 v0, v1, s[4:5] offset:4096
+global_store_b32 v0, v1, s[4:5] offset:4096
+s_waitcnt_vscnt null, 0x0
;; refused: the flag before the data
-global_store_b32 v0, v1, s[4:5] offset:4096
+
-global_store_b32 v0, v1, s[4:5]
+global_store_b32 v0, v1, s[4:5] offset:4096
+global_store_b32 v0, v1, s[4:5]
