; v1 outlives the if: its write inside leaves the lanes that were off, so the first value lives through. v2 is written
; and read under one mask: it lives only inside. After the end EXEC is full again, so v3's write ends its old life.
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v3, 0
	v_cmp_gt_i32_e32 vcc_lo, s4, v0
	s_and_saveexec_b32 s2, vcc_lo
	s_cbranch_execz done
	v_mov_b32_e32 v2, 5
	v_mov_b32_e32 v1, v2
done:
	s_or_b32 exec_lo, exec_lo, s2
	v_mov_b32_e32 v3, v1
	global_store_b32 v[4:5], v3, off
	s_endpgm
;; expect
 0 full v_mov_b32_e32 v1, 0                              v0 v[4:5] s4
 1 full v_mov_b32_e32 v3, 0                              v[0:1] v[4:5] s4
 2 full v_cmp_gt_i32_e32 vcc_lo, s4, v0                  v[0:1] v[4:5] s4
 3 full s_and_saveexec_b32 s2, vcc_lo                    v1 v[4:5] vcc_lo
 4      s_cbranch_execz done                             v1 v[4:5] s2
 5      v_mov_b32_e32 v2, 5                              v1 v[4:5] s2
 6      v_mov_b32_e32 v1, v2                             v[1:2] v[4:5] s2
 7      s_or_b32 exec_lo, exec_lo, s2                    v1 v[4:5] s2
 8 full v_mov_b32_e32 v3, v1                             v1 v[4:5]
 9 full global_store_b32 v[4:5], v3, off                 v[3:5]
10 full s_endpgm
