; A load passes a store to its own place: it brings what was there before.
original:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 3, v0
	v_mov_b32_e32 v3, 1.0
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v3, s[4:5]
	global_load_b32 v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v2, s[4:5] offset:2052
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 3, v0
	v_mov_b32_e32 v3, 1.0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5]
	global_store_b32 v1, v3, s[4:5]
	s_waitcnt vmcnt(0)
	global_store_b32 v1, v2, s[4:5] offset:2052
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  what is stored was not found equal
      original: case.s:10: global_store_b32 v1, v2, s[4:5] offset:2052
          value: global[(zext(global[(zext(s0) + 4294967296*zext(s1) + 16)]) + 4294967296*zext(global[(zext(s0) + 4294967296*zext(s1) + 20)]) + 8*zext(v0))]
      rewritten: case.s:21: global_store_b32 v1, v2, s[4:5] offset:2052
          value: global[(zext(global[(zext(s0) + 4294967296*zext(s1) + 16)]) + 4294967296*zext(global[(zext(s0) + 4294967296*zext(s1) + 20)]) + 8*zext(v0))]
