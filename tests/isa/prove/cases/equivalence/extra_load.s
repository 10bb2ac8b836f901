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
unproven: rewritten against original: could be shown neither equal nor different: a load that the original does not make before the first loop
  a load that the original does not make before the first loop
      rewritten: case.s:13: global_load_b32 v2, v1, s[4:5] offset:512
          global[C + 4*tid + 512]
