; One wave of the trace "gemm": scalar loads outside of a clause, an SGPR that is overwritten while the VALU reads it, and
; a load that waits 17 to 20 cycles for the last VALU, whose result it does not read (20 of 20 waves).
;# waves=1 simds=1 clock=3000 slack=0
s_load_b128 s[4:7], s[0:1], null         ;=@ 0
s_lshl_b32 s2, s15, 5                    ;= 1
s_load_b64 s[0:1], s[0:1], null offset:0x10  ;= 10
v_lshl_or_b32 v1, v0, 1, s2              ;= 11
v_lshl_add_u32 v3, v0, 6, s14            ;= 12
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
v_ashrrev_i32_e32 v2, 31, v1             ;= 16
v_ashrrev_i32_e32 v4, 31, v3             ;= 17
s_waitcnt lgkmcnt(0)
s_nop 15
v_add_co_u32 v1, vcc_lo, s6, v1          ;=@ 0
v_add_co_ci_u32_e32 v2, vcc_lo, s7, v2, vcc_lo   ;= 1
s_delay_alu instid0(VALU_DEP_4)
v_add_co_u32 v3, vcc_lo, s0, v3
v_add_co_ci_u32_e32 v4, vcc_lo, s1, v4, vcc_lo   ;=@ 0
s_mov_b32 s0, exec_lo                    ;= 7
global_load_b64 v[1:2], v[1:2], off      ;= 17..20
s_endpgm
