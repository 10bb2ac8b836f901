; Two waves of one SIMD store to LDS, meet at a barrier, load, and store to memory: trace "sync" of a gfx1100 card.
; (The scalar loads of both waves wait for one cold line: they begin 1 apart here, 4 apart on the card.)
;# waves=2 simds=1 clock=3000 slack=2 wave_stagger=1
s_load_b64 s[0:1], s[0:1], null
s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
v_lshlrev_b32_e32 v1, 2, v0              ;=@ 0 1
ds_store_b32 v1, v0                      ;= 18 19
s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)  ;= 51 57
s_barrier                                ;= 52 59
v_add_nc_u32_e32 v2, 4, v1               ;= 73 75
v_cmp_gt_u32_e32 vcc_lo, 0x7f, v0        ;= 74 76
ds_load_b32 v3, v2                       ;= 91 93
s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)  ;= 123 124
v_mov_b32 v4, -1                         ;= 124 127
v_cndmask_b32_e32 v5, v4, v3, vcc_lo     ;= 125 128
v_lshlrev_b32_e32 v6, 2, v0              ;= 126 129
global_store_b32 v6, v5, s[0:1]          ;= 145 152
s_endpgm                                 ;= 397..489 404..496
