; RDNA4: how far an access reaches is part of what it does, and so is what it asks of caches.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_wait_kmcnt 0x0
	global_load_b32 v2, v1, s[4:5] scope:SCOPE_SE
	global_load_b32 v3, v1, s[4:5] offset:512 scope:SCOPE_DEV
	s_wait_loadcnt 0x0
	v_add_nc_u32_e32 v2, v2, v3
	global_store_b32 v1, v2, s[6:7] th:TH_STORE_BYPASS scope:SCOPE_SYS
	global_atomic_add_u32 v1, v2, s[6:7] offset:512 scope:SCOPE_DEV
	s_barrier_signal -1
	s_barrier_wait -1
	s_trap 2
	s_endpgm
;; proved: itself
;; unproven: a load that caches of its own CU may serve
-offset:512 scope:SCOPE_DEV
+offset:512
-s[4:5] scope:SCOPE_SE
+s[4:5] scope:SCOPE_DEV
;; unproven: a load for waves of a CU
-s[4:5] scope:SCOPE_SE
+s[4:5]
;; unproven: a load for all devices
-offset:512 scope:SCOPE_DEV
+offset:512 scope:SCOPE_SYS
;; unproven: a store that stays in a cache
-th:TH_STORE_BYPASS scope:SCOPE_SYS
+scope:SCOPE_SYS
;; unproven: an atomic for waves of a CU
-v2, s[6:7] offset:512 scope:SCOPE_DEV
+v2, s[6:7] offset:512
;; unproven: an atomic for all devices
-v2, s[6:7] offset:512 scope:SCOPE_DEV
+v2, s[6:7] offset:512 scope:SCOPE_SYS
;; unproven: another barrier is waited at
-s_barrier_wait -1
+s_barrier_wait -2
;; unproven: another trap
-s_trap 2
+s_trap 3
