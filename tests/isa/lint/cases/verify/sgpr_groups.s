; A group of three SGPRs starts where one of four does (LLVM SIRegisterInfo.td, SGPR_96Regs).
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
k:
	s_load_b96 s[8:10], s[0:1], 0x0
	s_load_b96 s[6:8], s[0:1], 0x0
	s_endpgm
	.section	.rodata
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 11
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
;; expect
case.s:5:13: a group of 3 SGPRs must start at a multiple of 4 [OPD003 SGPR alignment; RDNA3 ISA guide 3.4.1]
    	s_load_b96 s[6:8], s[0:1], 0x0
    	           ^
  expected: such as s[4:6]
  found: s[6:8]
