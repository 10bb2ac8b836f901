; 64-bit shifts take the VALU for 2 cycles each.
;# waves=1 simds=1 clock=2500 slack=0
v_lshlrev_b64 v[2:3], 2, v[0:1]          ;=@ 0 ;x 8
v_lshlrev_b64 v[4:5], 2, v[0:1]          ;= 1  ;x 10
v_lshlrev_b64 v[6:7], 2, v[0:1]          ;= 2  ;x 12
s_endpgm
