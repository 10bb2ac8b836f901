; The order of the published study's Figure 34, B through SRC0 (banks 0 and 1), A through SRC1 (banks 2 and 3):
; its detailed table, cell by cell.
v_dual_fmac_f32 v5, v184, v186 :: v_dual_fmac_f32 v2, v185, v187
v_dual_fmac_f32 v3, v184, v187 :: v_dual_fmac_f32 v4, v185, v186
v_dual_fmac_f32 v9, v184, v190 :: v_dual_fmac_f32 v6, v185, v191
v_dual_fmac_f32 v7, v185, v190 :: v_dual_fmac_f32 v8, v184, v191
v_dual_fmac_f32 v13, v188, v190 :: v_dual_fmac_f32 v10, v189, v191
v_dual_fmac_f32 v11, v188, v191 :: v_dual_fmac_f32 v12, v189, v190
v_dual_fmac_f32 v17, v188, v186 :: v_dual_fmac_f32 v14, v189, v187
v_dual_fmac_f32 v15, v189, v186 :: v_dual_fmac_f32 v16, v188, v187
;; expect
DSTX   SRC0X  SRC1X  DSTY   SRC0Y  SRC1Y  clashes same-bank same-parity
-      R0     R2     -      R1     R3     0 [] []
W1     Cache0 Cache3 W2     Cache1 Cache2 0 [] []
W3     Cache0 R2     W0     Cache1 R3     0 [] []
W1     Cache1 Cache2 W2     Cache0 Cache3 0 [] []
W3     R0     Cache2 W0     R1     Cache3 0 [] []
W1     Cache0 Cache3 W2     Cache1 Cache2 0 [] []
W3     Cache0 R2     W0     Cache1 R3     0 [] []
W1     Cache1 Cache2 W2     Cache0 Cache3 0 [] []
