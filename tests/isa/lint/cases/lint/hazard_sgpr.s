; An SGPR that VALU has read, written, and read: on RDNA4 an s_wait_alu stands between. A function begins with all read.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
salu_then_valu:
	s_cbranch_scc1 valu_then_valu
	s_cbranch_execz what_ends_it
	v_mov_b32_e32 v1, s4
	s_mov_b32 s5, 1
	v_add_nc_u32_e32 v2, s5, v1
	s_mov_b32 s5, 2
	s_wait_alu depctr_sa_sdst(0)
	v_add_nc_u32_e32 v2, s5, v2
	s_mov_b32 s6, 1
	v_add_nc_u32_e32 v2, s6, v2
	global_store_b32 v[2:3], v2, off
	s_endpgm
valu_then_valu:
	v_cmp_eq_u32_e32 vcc_lo, 0, v0
	v_cndmask_b32_e32 v1, v0, v0, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, 1, v1
	s_wait_alu depctr_va_sdst(0)
	v_cndmask_b32_e32 v1, v0, v1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, 2, v1
	s_wait_alu depctr_va_vcc(0)
	v_cndmask_b32_e32 v1, v0, v1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, 3, v1
	s_mov_b32 s8, vcc_lo
	v_cndmask_b32_e32 v1, v0, v1, vcc_lo
	v_mov_b32_e32 v3, s8
	v_cmp_eq_u32_e64 s10, 4, v1
	s_add_co_i32 s14, s12, 1
	v_cndmask_b32_e64 v1, v0, v1, s10
	v_cmp_eq_u32_e64 s10, 5, v1
	s_mov_b32 s14, vcc_lo
	v_cndmask_b32_e64 v1, v0, v1, s10
	v_mov_b32_e32 v2, s14
	global_store_b32 v[2:3], v1, off
	s_endpgm
what_ends_it:
	v_mov_b32_e32 v1, s4
	s_mov_b32 s4, 1
	s_load_b32 s6, s[0:1], 0x0
	v_add_nc_u32_e32 v1, s4, v1
	s_wait_kmcnt 0x0
	ds_nop
	ds_nop
	ds_nop
	ds_nop
	s_add_co_i32 s4, s6, 2
	v_add_nc_u32_e32 v1, s4, v1
	s_add_co_i32 s4, s6, 3
	s_cbranch_scc1 other
	s_wait_alu depctr_sa_sdst(0)
other:
	v_add_nc_u32_e32 v1, s4, v1
	global_store_b32 v[2:3], v1, off
	s_endpgm
;; expect
case.s:8:2: v_add_nc_u32_e32 reads s5, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_add_nc_u32_e32 v2, s5, v1
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:13:2: v_add_nc_u32_e32 reads s6, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_add_nc_u32_e32 v2, s6, v2
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:18:2: v_cndmask_b32_e32 reads vcc_lo, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_cndmask_b32_e32 v1, v0, v0, vcc_lo
    	^
  expected: s_wait_alu depctr_va_vcc(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:21:2: v_cndmask_b32_e32 reads vcc_lo, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_cndmask_b32_e32 v1, v0, v1, vcc_lo
    	^
  expected: s_wait_alu depctr_va_vcc(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:25:2: v_cmp_eq_u32_e32 leaves a lane mask in vcc_lo; global_store_b32 v[2:3], v1, off (line 36) uses it as an address [CLB001 clobbered address; data flow]
    	v_cmp_eq_u32_e32 vcc_lo, 3, v1
    	^
  help: use a register other than vcc_lo here, or restore the value
case.s:28:2: v_mov_b32_e32 reads s8, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_mov_b32_e32 v3, s8
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
note: case.s:30:2: s14 src_scc is never read [VAL003 value never read; data flow]
    	s_add_co_i32 s14, s12, 1
    	^
  help: remove it, or check which instruction was meant to read it
case.s:34:2: v_cndmask_b32_e64 reads s10, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_cndmask_b32_e64 v1, v0, v1, s10
    	^
  expected: s_wait_alu depctr_va_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:35:2: v_mov_b32_e32 reads s14, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_mov_b32_e32 v2, s14
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
case.s:54:2: v_add_nc_u32_e32 reads s4, which was written after a VALU instruction had read it [HAZ009 SGPR read before its write; LLVM AMDGPUWaitSGPRHazards.cpp]
    	v_add_nc_u32_e32 v1, s4, v1
    	^
  expected: s_wait_alu depctr_sa_sdst(0) between the write and this
  help: compilers insert this; the assembler does not
