; A dependent VALU instruction executes 5 cycles after the one it waits for.
;# waves=1 simds=1 clock=2500 slack=0
v_add_nc_u32_e32 v1, 1, v0               ;=@ 0 ;x 8
v_add_nc_u32_e32 v1, 1, v1               ;= 1  ;x 13
v_add_nc_u32_e32 v1, 1, v1               ;= 2  ;x 18
v_mov_b32 v2, 0                          ;= 3  ;x 19
s_endpgm
