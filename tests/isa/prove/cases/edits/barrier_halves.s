; RDNA4: a wave arrives at a barrier and waits for the others by two instructions; caches are emptied and written back as
; far as a scope says.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_wait_kmcnt 0x0
	global_load_b32 v2, v1, s[4:5]
	s_wait_loadcnt 0x0
	ds_store_b32 v1, v2
	s_wait_dscnt 0x0
	s_barrier_signal -1
	s_barrier_wait -1
	ds_load_b32 v4, v1 offset:128
	global_load_b32 v5, v1, s[6:7] scope:SCOPE_DEV
	s_wait_loadcnt 0x0
	global_inv scope:SCOPE_DEV
	global_load_b32 v6, v1, s[4:5] offset:4
	s_wait_loadcnt_dscnt 0x0
	v_add_f32_e32 v4, v4, v5
	v_add_f32_e32 v4, v4, v6
	global_store_b32 v1, v4, s[6:7] offset:1024
	global_wb scope:SCOPE_SYS
	s_wait_storecnt 0x0
	global_store_b32 v1, v4, s[6:7] scope:SCOPE_SYS
	global_atomic_add_u32 v1, v0, s[4:5] scope:SCOPE_SYS
	s_endpgm
;; proved: an instruction that touches no memory between the halves
-	s_barrier_wait -1
+	v_mov_b32_e32 v7, v2
+	s_barrier_wait -1
;; unproven: the wave has not arrived
-	s_barrier_signal -1
;; unproven: it does not wait for the others
-	s_barrier_wait -1
;; unproven: it waits before it has arrived
-	s_barrier_signal -1
-	s_barrier_wait -1
+	s_barrier_wait -1
+	s_barrier_signal -1
;; unproven: it arrives twice
-	s_barrier_wait -1
+	s_barrier_signal -1
+	s_barrier_wait -1
;; unproven: a store after the wave has arrived
-	ds_store_b32 v1, v2
-	s_wait_dscnt 0x0
-	s_barrier_signal -1
+	s_barrier_signal -1
+	ds_store_b32 v1, v2
+	s_wait_dscnt 0x0
;; unproven: a load before the others have arrived
-	s_barrier_wait -1
-	ds_load_b32 v4, v1 offset:128
+	ds_load_b32 v4, v1 offset:128
+	s_barrier_wait -1
;; unproven: the store is waited for after the wave has arrived
-	s_wait_dscnt 0x0
-	s_barrier_signal -1
+	s_barrier_signal -1
+	s_wait_dscnt 0x0
;; unproven: caches are emptied for fewer
-	global_inv scope:SCOPE_DEV
+	global_inv scope:SCOPE_SE
;; unproven: caches are not emptied
-	global_inv scope:SCOPE_DEV
;; unproven: nothing is written back
-	global_wb scope:SCOPE_SYS
;; unproven: it is written back to fewer
-	global_wb scope:SCOPE_SYS
+	global_wb scope:SCOPE_DEV
;; unproven: the store is for fewer
-	global_store_b32 v1, v4, s[6:7] scope:SCOPE_SYS
+	global_store_b32 v1, v4, s[6:7] scope:SCOPE_DEV
;; unproven: the load sees what fewer wrote
-	global_load_b32 v5, v1, s[6:7] scope:SCOPE_DEV
+	global_load_b32 v5, v1, s[6:7] scope:SCOPE_SE
;; unproven: the atomic is for fewer
-	global_atomic_add_u32 v1, v0, s[4:5] scope:SCOPE_SYS
+	global_atomic_add_u32 v1, v0, s[4:5]
;; unproven: another counter is waited for
-	s_wait_storecnt 0x0
+	s_wait_loadcnt 0x0
