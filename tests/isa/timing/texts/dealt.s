;; GROUPED
;;   Rows of 10 tiles in groups of 4: two loads and a store, by row, by column, by both.

s_and_b32 s6, s3, 3
s_and_b32 s7, s3, -4
s_mul_i32 s6, s6, 10
s_add_i32 s6, s6, s2
s_and_b32 s8, s6, 3
s_add_i32 s7, s7, s8
s_lshr_b32 s6, s6, 2
s_lshl_b32 s7, s7, 12
s_lshl_b32 s6, s6, 9
s_add_i32 s8, s6, s7
v_lshl_add_u32 v1, v0, 2, s7
v_lshl_add_u32 v2, v0, 2, s6
v_lshl_add_u32 v3, v0, 2, s8
global_load_b32 v4, v1, s[0:1]
global_load_b32 v5, v2, s[0:1]
global_store_b32 v3, v5, s[0:1]
s_endpgm

