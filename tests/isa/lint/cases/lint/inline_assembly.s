; Statements of inline assembly, with what a compiled source says of them: v2 and SCC are lost to the code after it, s6
; is not declared either, v4 is an operand, v5 and s7 are declared, EXEC is put back.
	.type f,@function
f:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_add_f32_e32 v2, v0, v1
	s_cmp_lg_u32 s4, 0
	;;#ASMSTART names v2 s6 declares memory
	v_mov_b32 v2, 1.0
	s_add_u32 s6, s6, 1
	;;#ASMEND
	s_cselect_b32 s5, 1, 0
	;;#ASMSTART names v5 s7 exec_lo declares v5 s7 scc
	s_mov_b32 s7, exec_lo
	s_and_b32 exec_lo, exec_lo, 1
	v_add_f32 v4, v2, 1.0
	v_mov_b32 v5, v4
	s_mov_b32 exec_lo, s7
	;;#ASMEND
	v_add_f32_e32 v0, v2, v4
	v_mov_b32_e32 v1, s5
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size f, .Lfunc_end0-f
;; expect
note: case.s:6:2: v2 is never read [VAL003 value never read; data flow]
    	v_add_f32_e32 v2, v0, v1
    	^
  help: remove it, or check which instruction was meant to read it
note: case.s:7:2: src_scc is never read [VAL003 value never read; data flow]
    	s_cmp_lg_u32 s4, 0
    	^
  help: remove it, or check which instruction was meant to read it
case.s:9:2: inline assembly writes v2, which it does not declare; v_add_f32 (line 16) reads it [ASM001 register lost to inline assembly; LLVM LangRef, inline asm constraints]
    	v_mov_b32 v2, 1.0
    	^
  help: add "v2" to the clobbers of the asm statement, or write to an operand
case.s:10:2: inline assembly writes scc, which it does not declare; s_cselect_b32 (line 12) reads it [ASM001 register lost to inline assembly; LLVM LangRef, inline asm constraints]
    	s_add_u32 s6, s6, 1
    	^
  help: add "scc" to the clobbers of the asm statement, or write to an operand
case.s:10:2: nothing has read the result of s_cmp_lg_u32 s4, 0 (line 7), and this overwrites src_scc; s_cselect_b32 s5, 1, 0 (line 12) reads it [CLB004 clobbered comparison; data flow]
    	s_add_u32 s6, s6, 1
    	^
  help: move it out from between the two, or use an instruction that does not write src_scc
note: case.s:10:2: inline assembly writes s6, which it does not declare [ASM002 undeclared register of inline assembly; LLVM LangRef, inline asm constraints]
    	s_add_u32 s6, s6, 1
    	^
  help: add "s6" to the clobbers of the asm statement, or write to an operand
