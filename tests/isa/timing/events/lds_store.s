; VALU to LDS in one wave 17 to 19; ds_store_b32 to lgkmcnt(0) 33 to 38.
;# waves=1 simds=1 clock=2500 slack=0
v_lshlrev_b32_e32 v1, 2, v0              ;=@ 0
ds_store_b32 v1, v0                      ;= 17..19
s_waitcnt lgkmcnt(0)                     ;= 51..56
s_endpgm
