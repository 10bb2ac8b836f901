; if and else together cover all lanes, but each write is partial: nothing kills v1 before the if. EXEC is full at the
; end because s2 | EXEC was full all along.
	v_cmp_gt_i32_e32 vcc_lo, s4, v0
	s_and_saveexec_b32 s2, vcc_lo
	s_xor_b32 s2, exec_lo, s2
	s_cbranch_execz other
	v_mov_b32_e32 v1, 1
other:
	s_or_saveexec_b32 s2, s2
	s_xor_b32 exec_lo, exec_lo, s2
	s_cbranch_execz done
	v_mov_b32_e32 v1, 2
done:
	s_or_b32 exec_lo, exec_lo, s2
	v_mov_b32_e32 v2, v1
	global_store_b32 v[4:5], v2, off
	s_endpgm
;; expect
 0 full v_cmp_gt_i32_e32 vcc_lo, s4, v0                  v[0:1] v[4:5] s4
 1 full s_and_saveexec_b32 s2, vcc_lo                    v1 v[4:5] vcc_lo
 2      s_xor_b32 s2, exec_lo, s2                        v1 v[4:5] s2
 3      s_cbranch_execz other                            v1 v[4:5] s2
 4      v_mov_b32_e32 v1, 1                              v1 v[4:5] s2
 5      s_or_saveexec_b32 s2, s2                         v1 v[4:5] s2
 6 full s_xor_b32 exec_lo, exec_lo, s2                   v1 v[4:5] s2
 7      s_cbranch_execz done                             v1 v[4:5] s2
 8      v_mov_b32_e32 v1, 2                              v1 v[4:5] s2
 9      s_or_b32 exec_lo, exec_lo, s2                    v1 v[4:5] s2
10 full v_mov_b32_e32 v2, v1                             v1 v[4:5]
11 full global_store_b32 v[4:5], v2, off                 v2 v[4:5]
12 full s_endpgm
