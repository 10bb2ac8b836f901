;; VALUES
;;   Few registers and few kinds of line, so that values meet: a wrong rule must show within some hundred programs.
v_mov_b32_e32 v{0}, v{1}
v_mov_b32_e32 v{0}, 0
v_mov_b32_e32 v{0}, 0
v_add_f32_e32 v{0}, v{1}, v{2}
v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0
v_writelane_b32 v{0}, s{1}, 0
v_readlane_b32 s{0}, v{1}, 0
v_cmp_lt_u32_e64 s{0}, v{1}, v{2}
v_cmpx_lt_u32_e32 v{0}, v{1}
s_and_saveexec_b32 s{0}, s{1}
s_and_saveexec_b32 s{0}, s{1}
s_or_b32 exec_lo, exec_lo, s{0}
s_or_b32 exec_lo, exec_lo, s{0}
s_xor_b32 exec_lo, exec_lo, s{0}
s_mov_b32 s{0}, exec_lo
s_mov_b32 exec_lo, s{0}
s_cbranch_scc1 L{0}
s_cbranch_execz L{1}

;; MEMORY
global_load_b32 v{0}, v[2:3], off
global_load_b32 v{0}, v[2:3], off
ds_load_b32 v{0}, v{1}
ds_load_b32 v{0}, v{1}
s_load_b32 s{0}, s[2:3], 0x0
flat_load_b32 v{0}, v[2:3]
s_waitcnt vmcnt({0})
s_waitcnt lgkmcnt({0})
s_waitcnt vmcnt(2) lgkmcnt(2)
s_cbranch_scc1 L{0}

