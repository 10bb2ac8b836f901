; s_delay_alu holds a wave so that its dependent instruction never waits in the VALU: issue 5 after issue.
;# waves=1 simds=1 clock=2500 slack=0
v_add_nc_u32_e32 v1, 1, v0               ;=@ 0 ;x 8
s_delay_alu instid0(VALU_DEP_1)          ;= 1
v_add_nc_u32_e32 v1, 1, v1               ;= 5  ;x 13
s_endpgm
