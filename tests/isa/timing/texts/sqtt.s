;; LOOP

s_mov_b32 s0, 2
.Lloop:
v_exp_f32_e32 v1, v0
s_delay_alu instid0(TRANS32_DEP_1)
v_add_f32_e32 v1, v1, v0
ds_load_b32 v2, v1
s_waitcnt lgkmcnt(0)
s_sub_u32 s0, s0, 1
s_cmp_lg_u32 s0, 0
s_cbranch_scc1 .Lloop
global_store_b32 v1, v2, s[2:3]
s_barrier
s_endpgm

