; A load whose value nobody uses may still read outside of its buffer: nothing is claimed.
original:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v0, s[4:5]
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_b32 v2, v1, s[4:5] offset:512
	global_store_b32 v1, v0, s[4:5]
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  loads what the original does not load there, or in lanes in which it does not
      rewritten: case.s:13: global_load_b32 v2, v1, s[4:5] offset:512
          address (zext(global[(zext(s0) + 4294967296*zext(s1) + 16)]) + 4294967296*zext(global[(zext(s0) + 4294967296*zext(s1) + 20)]) + 4*zext(v0) + 512)
