; Two waves of one SIMD store to LDS, meet at a barrier, load, and store to memory: trace "sync" of a gfx1201 card, two runs.
;# arch=1201 waves=2 simds=1 clock=2970 slack=2
s_load_b64 s[0:1], s[0:1], null
s_wait_kmcnt 0x0
v_lshlrev_b32_e32 v1, 2, v0              ;=@ 0 1
ds_store_b32 v1, v0                      ;= 18 19
s_wait_dscnt 0x0                         ;= 51 57
s_barrier_signal -1                      ;= 52 59
s_barrier_wait -1
v_add_nc_u32_e32 v2, 4, v1               ;= 72 74
v_cmp_gt_u32_e32 vcc_lo, 0x7f, v0        ;= 73 75
ds_load_b32 v3, v2                       ;= 90 92
s_wait_dscnt 0x0                         ;= 122 124
v_mov_b32 v4, -1                         ;= 123 126
v_cndmask_b32_e32 v5, v4, v3, vcc_lo     ;= 124 127
v_lshlrev_b32_e32 v6, 2, v0              ;= 125 128
global_store_b32 v6, v5, s[0:1]          ;= 144 151
s_endpgm                                 ;= 500..512 507..519
