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
