; Conditions on one unknown number exclude each other: below 16 nothing is put into the first buffer and the second place
; is kept, and from 32 on there are rounds. So a round never writes the buffer that it reads. In the second kernel the
; conditions can both hold; in the third the number is another one by then.
excluded:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0xfc, v1
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, v1
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s6, 16
	s_cbranch_scc1 none_excluded
	ds_store_b32 v1, v0
	v_xor_b32_e32 v5, 0x1000, v1
none_excluded:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cmp_lt_u32 s6, 32
	s_cbranch_scc1 done_excluded
	ds_load_b32 v6, v2
	ds_store_b32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_nc_u32_e32 v4, v4, v6
done_excluded:
	global_store_b32 v0, v4, s[4:5]
	s_endpgm
.Lfunc_end_excluded:
	.section	.rodata
	.amdhsa_kernel excluded
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
possible:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0xfc, v1
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, v1
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s6, 16
	s_cbranch_scc1 none_possible
	ds_store_b32 v1, v0
	v_xor_b32_e32 v5, 0x1000, v1
none_possible:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cmp_lt_u32 s6, 8
	s_cbranch_scc1 done_possible
	ds_load_b32 v6, v2
	ds_store_b32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_nc_u32_e32 v4, v4, v6
done_possible:
	global_store_b32 v0, v4, s[4:5]
	s_endpgm
.Lfunc_end_possible:
	.section	.rodata
	.amdhsa_kernel possible
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
another:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0xfc, v1
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, v1
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s6, 16
	s_cbranch_scc1 none_another
	ds_store_b32 v1, v0
	v_xor_b32_e32 v5, 0x1000, v1
none_another:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_lshl_b32 s6, s6, 2
	s_cmp_lt_u32 s6, 32
	s_cbranch_scc1 done_another
	ds_load_b32 v6, v2
	ds_store_b32 v5, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_nc_u32_e32 v4, v4, v6
done_another:
	global_store_b32 v0, v4, s[4:5]
	s_endpgm
.Lfunc_end_another:
	.section	.rodata
	.amdhsa_kernel another
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
case.s:57:2: ds_load_b32 v6, v2 (line 56) reads LDS, this writes it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_store_b32 v5, v0
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 1 reads it, then wave 0 writes it
  help: put s_barrier between them, after a wait for LDS
case.s:94:2: ds_load_b32 v6, v2 (line 93) reads LDS, this writes it, and a path between them has no barrier [LDS001 LDS access without a barrier; RDNA3 ISA guide 12; LLVM AMDGPUUsage, memory model]
    	ds_store_b32 v5, v0
    	^
  expected: s_barrier between what one wave writes and another reads
  found: byte 0: wave 1 reads it, then wave 0 writes it
  help: put s_barrier between them, after a wait for LDS
