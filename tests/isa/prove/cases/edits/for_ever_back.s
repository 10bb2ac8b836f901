; The same, the other way around.
k:
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_b32 s6, s[0:1], 0x40
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
.Lspin:
	s_xor_b32 s2, s2, s6
	s_cbranch_scc1 .Lspin
	global_store_b32 v0, v2, s[0:1]
	s_endpgm
;; refused: a loop less
-.Lspin:
-s_xor_b32 s2, s2, s6
-s_cbranch_scc1 .Lspin
+
