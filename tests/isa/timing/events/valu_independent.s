; Independent VALU instructions of one wave: one a cycle; each executes 8 to 9 cycles after its issue.
;# waves=1 simds=1 clock=2500 slack=0
v_mov_b32 v1, 1                          ;=@ 0 ;x 8..9
v_mov_b32 v2, 2                          ;= 1  ;x 9..10
v_mov_b32 v3, 3                          ;= 2  ;x 10..11
v_mov_b32 v4, 4                          ;= 3  ;x 11..12
s_endpgm
