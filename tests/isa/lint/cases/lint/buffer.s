; Accesses through buffer descriptors: their operands, their offsets, their waits.
right:
	buffer_load_b32 v1, off, s[4:7], 0
	buffer_load_b64 v[2:3], v0, s[4:7], s8 offen offset:4095
	buffer_load_u8 v4, v0, s[4:7], 0 idxen
	buffer_load_d16_hi_b16 v5, v[8:9], s[4:7], null idxen offen glc
	s_buffer_load_b64 s[10:11], s[4:7], s8 offset:0x10
	s_waitcnt vmcnt(0) lgkmcnt(0)
	buffer_store_b128 v[0:3], v4, s[4:7], 0 offen
	buffer_atomic_cmpswap_b32 v[4:5], off, s[4:7], 0 glc
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v6, v4
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	buffer_load_b32 v1, v0, s[4:7], 0
	buffer_load_b32 v2, v0, s[4:7], 0 idxen offen
	buffer_load_b32 v3, off, s[5:8], 0 offset:4096
	v_mov_b32_e32 v6, v3
	buffer_atomic_add_u32 v0, off, s[4:7], 0 glc
	v_mov_b32_e32 v7, v0
	s_buffer_load_b32 s9, s[4:7], -8
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:16:22: operand 2 of buffer_load_b32 takes no VGPR [OPD002 operand width; RDNA3 ISA guide 16]
    	buffer_load_b32 v1, v0, s[4:7], 0
    	                    ^
  expected: off, or offen or idxen after it
  found: v0
case.s:17:22: operand 2 of buffer_load_b32 takes 2 VGPRs [OPD002 operand width; RDNA3 ISA guide 16]
    	buffer_load_b32 v2, v0, s[4:7], 0 idxen offen
    	                    ^
  expected: idxen and offen: 2 of them
  found: v0
case.s:18:2: the offset of buffer_load_b32 does not fit its field [OPD004 offset range; RDNA3 ISA guide 15]
    	buffer_load_b32 v3, off, s[5:8], 0 offset:4096
    	^
  expected: offset from 0 to 4095
  found: 4096
  help: add the rest to the address register
case.s:18:27: a group of 4 SGPRs must start at a multiple of 4 [OPD003 SGPR alignment; RDNA3 ISA guide 3.4.1]
    	buffer_load_b32 v3, off, s[5:8], 0 offset:4096
    	                         ^
  expected: such as s[4:7]
  found: s[5:8]
case.s:19:2: v_mov_b32_e32 reads v3 while buffer_load_b32 v3, off, s[5:8], 0 offset:4096 may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_mov_b32_e32 v6, v3
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 18)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:21:2: v_mov_b32_e32 reads v0 while buffer_atomic_add_u32 v0, off, s[4:7], 0 glc may still be in flight [WAIT001 load not covered by a wait; RDNA3 ISA guide 5.6]
    	v_mov_b32_e32 v7, v0
    	^
  expected: s_waitcnt vmcnt(0) or less on every path from the load (line 20)
  found: no wait between them
  help: put the wait before this instruction, or this instruction after the wait
case.s:22:32: the offset does not fit 21 bits [OPD004 offset range; RDNA3 ISA guide 15]
    	s_buffer_load_b32 s9, s[4:7], -8
    	                              ^
  expected: 0 to 1048575
  found: -8
