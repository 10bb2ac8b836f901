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
;; expect
DSTX   SRC0X  SRC1X  DSTY   SRC0Y  SRC1Y  clashes same-bank same-parity
-      R3     R0     -      R0     R3     2 [] []
W3     R1     R3     W2     R2     R0     0 [] []
W2     R1     R2     W1     R1     R0     1 [0] [0, 1]
W0     R1     Cache2 W3     R3     Cache0 0 [] [0, 1]
W0     R0     R0     W3     -      -      1 [] []
W0     Cache0 -      -      -      -      0 [] []
W0     R0     -      -      -      -      0 [] []
-      -      -      -      -      -      0 [] []
