; The constant of s_cmpk is a field of 16 bits that i32 extends by its sign: 0xfff0 is -16. In the first kernel rounds, from
; 0 on, imply that the second place was taken, from -16 on; in the second, rounds from -1 on do not imply what holds from 16 on.
implied:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0xfc, v1
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, v1
	s_waitcnt lgkmcnt(0)
	s_cmpk_lt_i32 s6, 0xfff0
	s_cbranch_scc1 none_implied
	ds_store_b32 v1, v0
	v_xor_b32_e32 v5, 0x1000, v1
none_implied:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cmp_lt_i32 s6, 0
	s_cbranch_scc1 done_implied
	ds_load_b32 v6, v2
	ds_store_b32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_nc_u32_e32 v4, v4, v6
done_implied:
	global_store_b32 v0, v4, s[4:5]
	s_endpgm
.Lfunc_end_implied:
	.section	.rodata
	.amdhsa_kernel implied
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
alone:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0xfc, v1
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, v1
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_i32 s6, 16
	s_cbranch_scc1 none_alone
	ds_store_b32 v1, v0
	v_xor_b32_e32 v5, 0x1000, v1
none_alone:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cmpk_lt_i32 s6, 0xffff
	s_cbranch_scc1 done_alone
	ds_load_b32 v6, v2
	ds_store_b32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_nc_u32_e32 v4, v4, v6
done_alone:
	global_store_b32 v0, v4, s[4:5]
	s_endpgm
.Lfunc_end_alone:
	.section	.rodata
	.amdhsa_kernel alone
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
;; expect
case.s:56:2: ds_load_b32 v6, v2 (line 55) reads LDS, this writes it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_store_b32 v5, v0
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 1 reads it, then wave 0 writes it
  help: put s_barrier between them, after a wait for LDS
