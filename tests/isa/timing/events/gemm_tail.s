; The same trace: the sum over what four waves left in LDS. Loads of 16 bytes, scalar arithmetic beside them, waits that
; need not wait, and the store that ends it, whose acknowledgement took 252 to 344 cycles.
;# waves=1 simds=1 clock=3000 slack=0
v_mov_b32 v1, 0
s_nop 31
ds_load_b128 v[2:5], v1                  ;=@ 0
ds_load_b128 v[6:9], v1 offset:16        ;= 1
s_add_i32 s0, s2, s14                    ;= 2
s_delay_alu instid0(SALU_CYCLE_1)
s_ashr_i32 s1, s0, 31                    ;= 4
s_lshl_b64 s[0:1], s[0:1], 2             ;= 6
s_delay_alu instid0(SALU_CYCLE_1)
s_add_u32 s0, s4, s0                     ;= 8
s_addc_u32 s1, s5, s1                    ;= 9
s_waitcnt lgkmcnt(1)                     ;= 37
v_add_f32_e32 v0, 0, v2                  ;= 38
v_add_f32_e32 v0, v0, v3
s_nop 15
ds_load_b128 v[2:5], v1 offset:32        ;=@ 0
s_waitcnt lgkmcnt(1)                     ;= 3
v_add_f32_e32 v0, v0, v6                 ;= 7
s_delay_alu instid0(VALU_DEP_1)
v_add_f32_e32 v0, v0, v7                 ;= 12
s_nop 31
global_store_b32 v1, v0, s[0:1]          ;=@ 0
s_endpgm                                 ;= 252..344
