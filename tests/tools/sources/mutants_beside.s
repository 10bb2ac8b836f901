	.type f,@function
f:
	v_add_nc_u32_e32 v0, 1, v0
	s_setpc_b64 s[30:31]
.Lfunc_end1:
k:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, t@rel32@lo+4
	s_addc_u32 s5, s5, t@rel32@hi+12
	s_load_b64 s[6:7], s[4:5], 0x0
	s_swappc_b64 s[30:31], s[6:7]
	s_endpgm
.Lfunc_end0:
	.section .rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 32
		.amdhsa_ieee_mode 1
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.type t,@object
t:
	.quad f
	.long 1, 0x20
	.size t, 16
