; The study's example of a legal pair that still reads two banks twice; a pair of one bank (illegal), pairs of one
; parity (the GFX11 hazard), a single FMA, an FMAMK whose third operand is SRC2, and no vector instruction.
v_dual_fmac_f32 v123, v139, v144 :: v_dual_fmac_f32 v114, v140, v143
v_dual_fmac_f32 v10, v189, v207 :: v_dual_fmac_f32 v9, v190, v20
v_dual_mul_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v5, v4
v_dual_mul_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v3, v4
v_fmac_f32_e32 v0, v4, v8
v_fmamk_f32 v0, v4, 0x42280000, v9
v_mov_b32_e32 v0, v0
s_nop 0
