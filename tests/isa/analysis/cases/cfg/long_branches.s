; s_setpc_b64 to a label of the function: Tensile's branch, forward and (by the absolute value) backward, and LLVM's
s_cmp_eq_u32 s5, 0
s_cbranch_scc0 near
s_getpc_b64 s[34:35]
s_add_i32 s36, far, 4
s_add_u32 s34, s34, s36
s_addc_u32 s35, s35, 0
s_setpc_b64 s[34:35]
near:
v_mov_b32 v0, 0
back:
s_getpc_b64 s[40:41]
.Lpost_getpc0:
s_add_u32 s40, s40, (last-.Lpost_getpc0)&4294967295
s_addc_u32 s41, s41, (last-.Lpost_getpc0)>>32
s_setpc_b64 s[40:41]
far:
s_getpc_b64 s[34:35]
s_add_i32 s36, back, 4
s_cmp_ge_i32 s36, 0
s_cbranch_scc1 positive
s_abs_i32 s36, s36
s_sub_u32 s34, s34, s36
s_subb_u32 s35, s35, 0
s_setpc_b64 s[34:35]
positive:
s_add_u32 s34, s34, s36
s_addc_u32 s35, s35, 0
s_setpc_b64 s[34:35]
last:
s_endpgm
;; expect
block 0: 0..1 -> [1, 2] idom None
block 1: 2..6 -> [4] idom 0
block 2: 7..7 -> [3] idom 0
block 3: 8..11 -> [7] idom 0
block 4: 12..15 -> [5, 6] idom 1
block 5: 16..19 -> [3] idom 4
block 6: 20..22 -> [] idom 4
block 7: 23..23 -> [] idom 3
calls [] indirect jumps []
jump at 6 -> [12]
jump at 11 -> [23]
jump at 19 -> [8]
jump at 22 -> []
