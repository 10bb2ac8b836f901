; one of two functions inside the kernel, called through a register, comes back; a third address is taken, not called
s_cmp_eq_u32 s5, 0
s_cbranch_scc0 other
s_getpc_b64 s[8:9]
s_add_i32 s10, relu, 4
s_add_u32 s8, s8, s10
s_addc_u32 s9, s9, 0
s_branch chosen
other:
s_getpc_b64 s[8:9]
s_add_i32 s10, gelu, 4
s_add_u32 s8, s8, s10
s_addc_u32 s9, s9, 0
chosen:
s_swappc_b64 s[12:13], s[8:9]
s_getpc_b64 s[14:15]
s_add_i32 s10, gelu, 4
s_add_u32 s14, s14, s10
s_addc_u32 s15, s15, 0
s_endpgm
relu:
v_max_f32 v0, 0, v0
s_setpc_b64 s[12:13]
gelu:
v_mul_f32 v0, v0, v0
s_setpc_b64 s[12:13]
;; expect
block 0: 0..1 -> [1, 2] idom None
block 1: 2..6 -> [3] idom 0
block 2: 7..10 -> [3] idom 0
block 3: 11..11 -> [5, 6] idom 0
block 4: 12..16 -> [] idom 3
block 5: 17..18 -> [4] idom 3
block 6: 19..20 -> [4] idom 3
calls [] indirect jumps []
jump at 11 -> [17, 19]
jump at 18 -> [12]
jump at 20 -> [12]
