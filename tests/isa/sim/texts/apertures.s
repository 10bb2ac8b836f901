;; BODY
;;   The register is the kernel's argument.

    s_load_b64 s[6:7], s[0:1], 0x0
    v_mov_b32 v6, 7
    v_mov_b32 v8, 0
    v_mov_b32 v9, 0
    v_mov_b32 v10, 0
    v_mov_b32 v11, 0
    ds_store_b128 v8, v[8:11]
    scratch_store_b128 off, v[8:11], off
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v4, s6
    v_mov_b32 v5, s7
    s_waitcnt_vscnt null, 0x0
    ACCESS
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

