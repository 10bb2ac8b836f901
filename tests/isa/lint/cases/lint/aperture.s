; Flat accesses by base and offset: the base alone says whether the address is one of LDS, of scratch or of memory. Wrong:
; a base below an aperture, in all lanes or in some, and one that is no pair. Right: a base within it, no offset, memory.
wrong:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[4:5], src_shared_base
	s_sub_u32 s4, s4, 8
	s_subb_u32 s5, s5, 0
	v_mov_b32_e32 v2, s4
	v_mov_b32_e32 v3, s5
	flat_load_b32 v4, v[2:3] offset:8
	flat_store_b32 v[2:3], v0 offset:16
	v_mbcnt_lo_u32_b32 v5, -1, 0
	v_lshlrev_b32_e32 v5, 2, v5
	s_mov_b64 s[4:5], src_private_base
	v_sub_co_u32 v6, vcc_lo, s4, v5
	v_mov_b32_e32 v7, s5
	v_subrev_co_ci_u32_e32 v7, vcc_lo, 0, v7, vcc_lo
	flat_atomic_add_u32 v[6:7], v0 offset:124
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v0, v4
	s_waitcnt_vscnt null, 0x0
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type wrong,@function
right:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[4:5], src_shared_base
	v_mbcnt_lo_u32_b32 v5, -1, 0
	v_lshlrev_b32_e32 v2, 2, v5
	v_mov_b32_e32 v3, s5
	flat_load_b32 v4, v[2:3] offset:8
	flat_load_b32 v10, v[2:3] offset:16
	flat_load_b32 v8, v[6:7] offset:16
	s_sub_u32 s4, s4, 8
	s_subb_u32 s5, s5, 0
	v_add_co_u32 v6, s0, s4, 8
	v_add_co_ci_u32_e64 v7, null, s5, 0, s0
	flat_load_b32 v9, v[6:7]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_add_f32_e32 v0, v4, v8
	v_add_f32_e32 v0, v0, v9
	v_add_f32_e32 v0, v0, v10
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type right,@function
narrow:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b64 s[4:5], src_shared_base
	v_mov_b32_e32 v2, s4
	flat_load_b32 v0, v2 offset:8
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end2:
	.type narrow,@function
;; expect
case.s:10:20: the base lies 8 bytes below the aperture of LDS, and the offset brings it back [ADDR002 flat base below its aperture; LLVM pull requests 132353, 153001]
    	flat_load_b32 v4, v[2:3] offset:8
    	                  ^
  expected: a base within the aperture: the card does not count offset:8
  found: base 0xffffffffffffff8 in lane 0
  help: add the offset to the base, and leave it out here
case.s:11:17: the base lies 8 bytes below the aperture of LDS, and the offset brings it back [ADDR002 flat base below its aperture; LLVM pull requests 132353, 153001]
    	flat_store_b32 v[2:3], v0 offset:16
    	               ^
  expected: a base within the aperture: the card does not count offset:16
  found: base 0xffffffffffffff8 in lane 0
  help: add the offset to the base, and leave it out here
case.s:18:22: the base lies 4 bytes below the aperture of scratch, and the offset brings it back [ADDR002 flat base below its aperture; LLVM pull requests 132353, 153001]
    	flat_atomic_add_u32 v[6:7], v0 offset:124
    	                    ^
  expected: a base within the aperture: the card does not count offset:124
  found: base 0x1ffffffffffffffc in lane 1
  help: add the offset to the base, and leave it out here
case.s:50:20: operand 2 of flat_load_b32 takes 2 registers [OPD002 operand width; RDNA3 ISA guide 16]
    	flat_load_b32 v0, v2 offset:8
    	                  ^
  expected: v[2:3]
  found: v2
