; Nothing to ignore there; what is not a rule; no rule at all. Rules of `check` alone are not lint's to judge.
k:
	; hipgemm: ignore LDS001
	s_mov_b32 s2, 0
	v_mov_b32_e32 v1, s2  ; hipgemm: ignore LDS01, CLB, 
	global_store_b32 v0, v1, s[4:5]  ; hipgemm: ignore MEM001
	s_endpgm ; hipgemm: ignore
;; expect
note: case.s:3:20: there is no LDS001 in line 4 [SUP001 unused suppression; isa.lint.suppress]
    	; hipgemm: ignore LDS001
    	                  ^
  help: remove the comment
case.s:5:42: 'LDS01' is not a rule [SUP002 unknown suppression; isa.lint.suppress]
    	v_mov_b32_e32 v1, s2  ; hipgemm: ignore LDS01, CLB, 
    	                                        ^
  expected: an id such as LDS001, or a prefix of ids such as LDS
  help: hipgemm lint --rules lists them
note: case.s:5:49: there is no CLB in line 5 [SUP001 unused suppression; isa.lint.suppress]
    	v_mov_b32_e32 v1, s2  ; hipgemm: ignore LDS01, CLB, 
    	                                               ^
  help: remove the comment
case.s:7:11: '' is not a rule [SUP002 unknown suppression; isa.lint.suppress]
    	s_endpgm ; hipgemm: ignore
    	         ^
  expected: an id such as LDS001, or a prefix of ids such as LDS
  help: hipgemm lint --rules lists them
