; Shuffles that name lanes beyond a wave of 32: lane ^ 32, lane + 32 in an address or an offset, a constant, a lane number in
; an SGPR, in a loop; and a sum of a value and itself, as HIP's __shfl_xor(v, 32) makes one. Right: steps of 16 and less, a
; rotation, a maximum with itself, what data decides. In some lanes alone it is a note.
steps_of_64:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mbcnt_lo_u32_b32 v1, -1, 0
	v_lshlrev_b32_e32 v2, 2, v1
	v_xor_b32_e32 v3, 0x80, v2
	ds_bpermute_b32 v4, v3, v0
	v_add_nc_u32_e32 v5, 0x80, v2
	ds_bpermute_b32 v6, v2, v0 offset:128
	ds_permute_b32 v7, v5, v0
	v_mov_b32_e32 v8, 0x84
	ds_bpermute_b32 v9, v8, v0
	s_movk_i32 s4, 33
	v_readlane_b32 s5, v0, s4
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v4, v6
	v_add_f32_e32 v0, v0, v7
	v_add_f32_e32 v0, v0, v9
	v_add_f32_e32 v0, s5, v0
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type steps_of_64,@function
steps_of_32:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mbcnt_lo_u32_b32 v1, -1, 0
	v_lshlrev_b32_e32 v2, 2, v1
	v_xor_b32_e32 v3, 64, v2
	ds_bpermute_b32 v4, v3, v0
	v_add_nc_u32_e32 v5, 1, v1
	v_and_b32_e32 v5, 31, v5
	v_lshlrev_b32_e32 v5, 2, v5
	ds_bpermute_b32 v6, v5, v0
	ds_bpermute_b32 v7, v2, v0
	s_waitcnt lgkmcnt(0)
	v_max_f32_e32 v0, v0, v7
	v_add_f32_e32 v0, v0, v4
	v_add_f32_e32 v0, v0, v6
	ds_bpermute_b32 v4, v0, v0
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v0, v4
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.type steps_of_32,@function
twice:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mbcnt_lo_u32_b32 v1, -1, 0
	v_lshlrev_b32_e32 v2, 2, v1
	ds_bpermute_b32 v4, v2, v0
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v0, v4
	s_setpc_b64 s[30:31]
.Lfunc_end2:
	.type twice,@function
looped:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mbcnt_lo_u32_b32 v1, -1, 0
	s_mov_b32 s4, 32
again:
	v_xor_b32_e32 v2, s4, v1
	v_lshlrev_b32_e32 v2, 2, v2
	ds_bpermute_b32 v3, v2, v0
	s_lshr_b32 s4, s4, 1
	s_cmp_lg_u32 s4, 0
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v0, v3
	s_cbranch_scc1 again
	s_setpc_b64 s[30:31]
.Lfunc_end3:
	.type looped,@function
down:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mbcnt_lo_u32_b32 v1, -1, 0
	v_lshl_add_u32 v2, v1, 2, 64
	ds_bpermute_b32 v3, v2, v0
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v0, v3
	s_setpc_b64 s[30:31]
.Lfunc_end4:
	.type down,@function
;; expect
case.s:9:22: lane 32 of a wave of 32: wraps to lane 0 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v4, v3, v0
    	                    ^
  expected: a lane from 0 to 31
  found: all lanes that are on name such a one; lane 0 names 32
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:11:22: lane 32 of a wave of 32: wraps to lane 0 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v6, v2, v0 offset:128
    	                    ^
  expected: a lane from 0 to 31
  found: all lanes that are on name such a one; lane 0 names 32
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:12:21: lane 32 of a wave of 32: wraps to lane 0 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_permute_b32 v7, v5, v0
    	                   ^
  expected: a lane from 0 to 31
  found: all lanes that are on name such a one; lane 0 names 32
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:14:22: lane 33 of a wave of 32: wraps to lane 1 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v9, v8, v0
    	                    ^
  expected: a lane from 0 to 31
  found: all lanes that are on name such a one; lane 0 names 33
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:16:25: lane 33 of a wave of 32: wraps to lane 1 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	v_readlane_b32 s5, v0, s4
    	                       ^
  expected: a lane from 0 to 31
  found: 33
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:50:22: each lane names itself, and the sum counts its value twice: a step beyond the wave [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v4, v2, v0
    	                    ^
  expected: another lane of the wave
  found: the lane's own number
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
case.s:63:22: lane 32 of a wave of 32: wraps to lane 0 [LANE001 lane beyond the wave; RDNA3 ISA guide 7.9 and 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v3, v2, v0
    	                    ^
  expected: a lane from 0 to 31
  found: all lanes that are on name such a one; lane 0 names 32
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
note: case.s:76:22: lane 32 of a wave of 32: wraps to lane 0 [LANE002 lane beyond the wave in some lanes; RDNA3 ISA guide 12 (DS_BPERMUTE_B32)]
    	ds_bpermute_b32 v3, v2, v0
    	                    ^
  expected: a lane from 0 to 31
  found: 16 of 32 lanes that are on name such a one; lane 16 names 32
  help: code for waves of 64 begins with steps of 32; in waves of 32 they are of 16
