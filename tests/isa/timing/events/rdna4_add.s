; One wave adds two elements from cold memory: trace "plus" of a gfx1201 card, two runs. (The loads take 1081 to 1087
; cycles there, with a translation of addresses that the model does not have: they are no part of this.)
;# arch=1201 waves=1 simds=1 clock=2970 slack=2
s_clause 0x1                             ;=@ 0
s_load_b128 s[4:7], s[0:1], null         ;= 1
s_load_b64 s[0:1], s[0:1], null offset:0x10  ;= 2
v_lshlrev_b32_e32 v0, 2, v0              ;= 3
s_wait_kmcnt 0x0
s_clause 0x1                             ;=@ 0
global_load_b32 v1, v0, s[6:7]           ;= 1
global_load_b32 v2, v0, s[0:1]           ;= 2
s_wait_loadcnt 0x0
v_add_f32_e32 v1, v1, v2                 ;=@ 0
global_store_b32 v0, v1, s[4:5]          ;= 17
s_endpgm                                 ;= 381..383
