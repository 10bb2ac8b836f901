; ds_load_b32 to the release of its wait: 31 to 32; the next VALU 1 to 2 later.
;# waves=1 simds=1 clock=2500 slack=0
ds_load_b32 v1, v0                       ;=@ 0
s_waitcnt lgkmcnt(0)                     ;= 31..32
v_mov_b32 v2, v1                         ;= 32..34
s_endpgm
