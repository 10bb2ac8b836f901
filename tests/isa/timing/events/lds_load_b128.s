; Two ds_load_b128 back to back: the first has arrived after 37.
;# waves=1 simds=1 clock=2500 slack=0
v_lshlrev_b32_e32 v0, 4, v0
s_nop 31
ds_load_b128 v[4:7], v0                  ;=@ 0
ds_load_b128 v[8:11], v0 offset:512      ;= 1
s_waitcnt lgkmcnt(1)                     ;= 37
s_endpgm
