; what is not known: an address that memory has a part in, and one that lies in no instruction
s_getpc_b64 s[8:9]
s_load_b32 s10, s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_add_u32 s8, s8, s10
s_addc_u32 s9, s9, 0
s_cbranch_vccz by_memory
s_getpc_b64 s[8:9]
s_add_i32 s10, by_memory, 2
s_add_u32 s8, s8, s10
s_addc_u32 s9, s9, 0
s_setpc_b64 s[8:9]
by_memory:
s_setpc_b64 s[8:9]
;; expect
block 0: 0..5 -> [1, 2] idom None
block 1: 6..10 -> [] idom 0
block 2: 11..11 -> [] idom 0
calls [] indirect jumps [10, 11]
