;; CASES

v_fmac_f32_e32 v2, v0, v1                        | exec_lo v0 v1 v2           | v2               |
v_dual_fmac_f32 v2, v0, v1 :: v_dual_mov_b32 v3, s4 | exec_lo s4 v0 v1 v2     | v2 v3            |
v_dual_cndmask_b32 v2, v0, v1 :: v_dual_mov_b32 v3, 0 | exec_lo v0 v1 vcc_lo  | v2 v3            |
v_add_co_ci_u32_e64 v1, null, s3, v1, s6         | exec_lo s3 s6 v1           | v1               |
v_cmpx_lt_f32_e32 v0, v1                         | exec_lo v0 v1              | exec_lo          |
v_readfirstlane_b32 s0, v1                       | exec_lo v1                 | s0               |
v_writelane_b32 v6, s0, 3                        | s0 v6                      | v6               |
v_add_f16_e32 v0.h, v1.l, v2.l                   | exec_lo v0 v1 v2           | v0               |
v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf | exec_lo v0 v1 | v0       |
s_and_saveexec_b32 s0, vcc_lo                    | exec_lo vcc_lo             | exec_lo s0 src_scc |
s_addc_u32 s1, s2, 0                             | s2 src_scc                 | s1 src_scc       |
s_cbranch_vccnz .L0                              | vcc_lo                     |                  |
s_load_b128 s[4:7], s[0:1], null                 | s0 s1                      | s4 s5 s6 s7      | lgkmcnt
ds_load_b64 v[2:3], v0 offset:8                  | exec_lo v0                 | v2 v3            | lgkmcnt
global_load_b32 v1, v0, s[2:3]                   | exec_lo s2 s3 v0           | v1               | vmcnt
global_store_b64 v[0:1], v[2:3], off             | exec_lo v0 v1 v2 v3        |                  | vscnt
flat_store_b32 v[0:1], v2                        | exec_lo v0 v1 v2           |                  | vscnt lgkmcnt
scratch_load_b32 v1, off, s33 offset:4           | exec_lo s33                | v1               | vmcnt
global_load_d16_hi_b16 v1, v0, s[2:3]            | exec_lo s2 s3 v0 v1        | v1               | vmcnt
global_atomic_add_u32 v0, v1, s[2:3]             | exec_lo s2 s3 v0 v1        |                  | vscnt
global_atomic_add_u32 v4, v0, v1, s[2:3] glc     | exec_lo s2 s3 v0 v1        | v4               | vmcnt

