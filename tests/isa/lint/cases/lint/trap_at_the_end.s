; Nothing comes after a trap: LLVM's RDNA4 code ends in one.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
f:
	s_cbranch_scc1 .Ltrap
	s_setpc_b64 s[30:31]
.Ltrap:
	s_trap 2
;; expect
clean
