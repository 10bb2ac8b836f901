; What a message answers is the mask of the lanes that are on: a write after it keeps the others.
original:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b32 s6, exec_lo
	v_mov_b32_e32 v2, 1
	s_sendmsg_rtn_b32 exec_lo, sendmsg(MSG_RTN_GET_REALTIME)
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, 2
	s_mov_b32 exec_lo, s6
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
rewritten:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b32 s6, exec_lo
	v_mov_b32_e32 v2, 3
	s_sendmsg_rtn_b32 exec_lo, sendmsg(MSG_RTN_GET_REALTIME)
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, 2
	s_mov_b32 exec_lo, s6
	global_store_b32 v1, v2, s[4:5]
	s_endpgm
;; expect
unproven: rewritten against original: could not be shown to do the same
  what is stored was not found equal
      original: case.s:11: global_store_b32 v1, v2, s[4:5]
          value: 1
      rewritten: case.s:23: global_store_b32 v1, v2, s[4:5]
          value: 3
