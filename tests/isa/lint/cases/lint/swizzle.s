; Patterns of ds_swizzle_b32 as LLVM writes them, and some that it would not take.
right:
	ds_swizzle_b32 v1, v0 offset:swizzle(BROADCAST,32,15)
	ds_swizzle_b32 v2, v0 offset:swizzle(SWAP,16)
	ds_swizzle_b32 v3, v0 offset:swizzle(REVERSE,8)
	ds_swizzle_b32 v4, v0 offset:swizzle(QUAD_PERM,0,1,3,3)
	ds_swizzle_b32 v5, v0 offset:swizzle(BITMASK_PERM,"00p1i")
	ds_swizzle_b32 v6, v0 offset:swizzle(FFT,31)
	ds_swizzle_b32 v7, v0 offset:swizzle(ROTATE,1,31)
	ds_swizzle_b32 v8, v0 offset:32799
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end0:
wrong:
	ds_swizzle_b32 v1, v0 offset:swizzle(BROADCAST,32,32)
	ds_swizzle_b32 v2, v0 offset:swizzle(BROADCAST,8,9)
	ds_swizzle_b32 v3, v0 offset:swizzle(SWAP,32)
	ds_swizzle_b32 v4, v0 offset:swizzle(QUAD_PERM,0,1,2)
	ds_swizzle_b32 v5, v0 offset:swizzle(BITMASK_PERM,"00p1x")
	ds_swizzle_b32 v6, v0 offset:swizzle(TWIST,1)
	ds_load_b32 v7, v0 offset:swizzle(SWAP,1)
	s_waitcnt lgkmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type	right,@function
	.type	wrong,@function
;; expect
case.s:15:2: swizzle(BROADCAST,32,32) is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v1, v0 offset:swizzle(BROADCAST,32,32)
    	^
  expected: BROADCAST takes 2 or 4 or 8 or 16 or 32, 0 to 31
  found: offset:swizzle(BROADCAST,32,32)
case.s:16:2: swizzle(BROADCAST,8,9) is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v2, v0 offset:swizzle(BROADCAST,8,9)
    	^
  expected: BROADCAST of 8 lanes takes a lane from 0 to 7
  found: offset:swizzle(BROADCAST,8,9)
case.s:17:2: swizzle(SWAP,32) is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v3, v0 offset:swizzle(SWAP,32)
    	^
  expected: SWAP takes 1 or 2 or 4 or 8 or 16
  found: offset:swizzle(SWAP,32)
case.s:18:2: swizzle(QUAD_PERM,0,1,2) is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v4, v0 offset:swizzle(QUAD_PERM,0,1,2)
    	^
  expected: QUAD_PERM takes 0 to 3, 0 to 3, 0 to 3, 0 to 3
  found: offset:swizzle(QUAD_PERM,0,1,2)
case.s:19:2: swizzle(BITMASK_PERM,"00p1x") is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v5, v0 offset:swizzle(BITMASK_PERM,"00p1x")
    	^
  expected: BITMASK_PERM takes five of 0, 1, p and i in quotes, such as "00p11"
  found: offset:swizzle(BITMASK_PERM,"00p1x")
case.s:20:2: swizzle(TWIST,1) is not a lane pattern [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_swizzle_b32 v6, v0 offset:swizzle(TWIST,1)
    	^
  expected: no swizzle mode TWIST; there are BITMASK_PERM, QUAD_PERM, BROADCAST, SWAP, REVERSE, FFT, ROTATE
  found: offset:swizzle(TWIST,1)
case.s:21:2: the offset of ds_load_b32 does not fit its field [OPD004 offset range; RDNA3 ISA guide 15]
    	ds_load_b32 v7, v0 offset:swizzle(SWAP,1)
    	^
  expected: offset from 0 to 65535
  found: swizzle(SWAP,1)
  help: add the rest to the address register
