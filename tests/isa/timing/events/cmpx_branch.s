; v_cmpx to a branch on EXEC: 16 to 18; not taken, the next instruction issues 3 later.
;# waves=1 simds=1 clock=2500 slack=0
v_cmpx_gt_u32_e32 64, v0                 ;=@ 0
s_cbranch_execz .Lend                    ;= 16..18
v_mov_b32 v1, 0                          ;= 19..21
.Lend:
s_endpgm
