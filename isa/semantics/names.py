"""Names of instructions that the table does not have: older ones, and those left out with the reason.

`ALIASES[older]` is the name under which an instruction is described. A program keeps the name it was written with; only
what is asked of the instruction is answered by the other. Each was given to LLVM 22's assembler for gfx1100, which
encodes both alike; names that it takes with other operands only (v_dot4_i32_i8) are not here. They are those of GCN,
where RDNA3 renamed them. `LEFT_OUT` has what is not described, for errors and for the test that lists all of LLVM's.
"""

from __future__ import annotations

import re

_WIDTHS = {"dword": "b32", "dwordx2": "b64", "dwordx3": "b96", "dwordx4": "b128"}
_LOADS = {
    **_WIDTHS, "ubyte": "u8", "sbyte": "i8", "ushort": "u16", "sshort": "i16", "ubyte_d16": "d16_u8",
    "sbyte_d16": "d16_i8", "short_d16": "d16_b16", "ubyte_d16_hi": "d16_hi_u8", "sbyte_d16_hi": "d16_hi_i8",
    "short_d16_hi": "d16_hi_b16",
}  # fmt: skip
_STORES = {**_WIDTHS, "byte": "b8", "short": "b16", "byte_d16_hi": "d16_hi_b8", "short_d16_hi": "d16_hi_b16"}
_ATOMICS = {
    "add": "add_u", "sub": "sub_u", "smin": "min_i", "umin": "min_u", "smax": "max_i", "umax": "max_u", "and": "and_b",
    "or": "or_b", "xor": "xor_b", "inc": "inc_u", "dec": "dec_u", "swap": "swap_b", "cmpswap": "cmpswap_b",
}  # fmt: skip
_LDS = "b32 b64 b96 b128 u8 i8 u16 i16 u8_d16 u8_d16_hi i8_d16 i8_d16_hi u16_d16 u16_d16_hi addtid_b32".split()
_LDS_STORES = "b32 b64 b96 b128 b8 b16 b8_d16_hi b16_d16_hi addtid_b32".split()


def _memory() -> dict[str, str]:
    names = {}
    for space in ("global", "flat", "scratch", "buffer"):
        names.update({f"{space}_load_{old}": f"{space}_load_{new}" for old, new in _LOADS.items()})
        names.update({f"{space}_store_{old}": f"{space}_store_{new}" for old, new in _STORES.items()})
    for space in ("global", "flat", "buffer"):
        for old, new in _ATOMICS.items():
            names[f"{space}_atomic_{old}"] = f"{space}_atomic_{new}32"
            names[f"{space}_atomic_{old}_x2"] = f"{space}_atomic_{new}64"
        names.update({f"{space}_atomic_f{each}": f"{space}_atomic_{each}_f32" for each in ("min", "max", "cmpswap")})
    for each in ("load", "store"):
        for parts in ("x", "xy", "xyz", "xyzw"):
            names[f"tbuffer_{each}_format_d16_{parts}"] = f"tbuffer_{each}_d16_format_{parts}"
    names.update({f"global_{each}_dword_addtid": f"global_{each}_addtid_b32" for each in ("load", "store")})
    for space in ("global", "buffer"):
        names[f"{space}_atomic_csub"] = f"{space}_atomic_csub_u32"
    names.update({f"ds_read_{each}": f"ds_load_{each}" for each in _LDS})
    names.update({f"ds_write_{each}": f"ds_store_{each}" for each in _LDS_STORES})
    for each in ("b32", "b64"):
        names[f"ds_wrxchg_rtn_{each}"] = f"ds_storexchg_rtn_{each}"
        names[f"ds_wrxchg2_rtn_{each}"] = f"ds_storexchg_2addr_rtn_{each}"
        names[f"ds_wrxchg2st64_rtn_{each}"] = f"ds_storexchg_2addr_stride64_rtn_{each}"
        for old, new in (("read", "load"), ("write", "store")):
            names[f"ds_{old}2_{each}"] = f"ds_{new}_2addr_{each}"
            names[f"ds_{old}2st64_{each}"] = f"ds_{new}_2addr_stride64_{each}"
    for dwords in (1, 2, 4, 8, 16):
        for load in ("s_load", "s_buffer_load"):
            names[f"{load}_dword{f'x{dwords}' if dwords > 1 else ''}"] = f"{load}_b{32 * dwords}"
    return names


def _not(old: str, new: str) -> dict[str, str]:
    """s_andn2_b32 is s_and_not1_b32."""
    names = {}
    for operation in ("and", "or"):
        names.update({f"s_{operation}{old}_saveexec_{b}": f"s_{operation}_{new}_saveexec_{b}" for b in ("b32", "b64")})
        if new == "not1":
            names.update({f"s_{operation}{old}_{b}": f"s_{operation}_{new}_{b}" for b in ("b32", "b64")})
    names.update({f"s_and{old}_wrexec_{b}": f"s_and_{new}_wrexec_{b}" for b in ("b32", "b64")})
    return names


ALIASES: dict[str, str] = {
    **_memory(),
    **_not("n2", "not1"),
    **_not("n1", "not0"),
    "s_ff1_i32_b32": "s_ctz_i32_b32",
    "s_ff1_i32_b64": "s_ctz_i32_b64",
    "s_flbit_i32": "s_cls_i32",
    "s_flbit_i32_b32": "s_clz_i32_u32",
    "s_flbit_i32_b64": "s_clz_i32_u64",
    "s_flbit_i32_i64": "s_cls_i32_i64",
    "v_add3_nc_u32": "v_add3_u32",
    "v_add_i32": "v_add_nc_i32",
    "v_add_u32": "v_add_nc_u32",
    "v_cvt_flr_i32_f32": "v_cvt_floor_i32_f32",
    "v_cvt_pknorm_i16_f16": "v_cvt_pk_norm_i16_f16",
    "v_cvt_pknorm_i16_f32": "v_cvt_pk_norm_i16_f32",
    "v_cvt_pknorm_u16_f16": "v_cvt_pk_norm_u16_f16",
    "v_cvt_pknorm_u16_f32": "v_cvt_pk_norm_u16_f32",
    "v_cvt_pkrtz_f16_f32": "v_cvt_pk_rtz_f16_f32",
    "v_cvt_rpi_i32_f32": "v_cvt_nearest_i32_f32",
    "v_ffbh_i32": "v_cls_i32",
    "v_ffbh_u32": "v_clz_i32_u32",
    "v_ffbl_b32": "v_ctz_i32_b32",
    "v_fma_legacy_f32": "v_fma_dx9_zero_f32",
    "v_fmac_legacy_f32": "v_fmac_dx9_zero_f32",
    "v_mul_legacy_f32": "v_mul_dx9_zero_f32",
    "v_sub_i32": "v_sub_nc_i32",
    "v_sub_u32": "v_sub_nc_u32",
    "v_subrev_u32": "v_subrev_nc_u32",
    "v_xor_add_u32": "v_xad_u32",
}

RENAMED = {
    "s_add_co_u32": "s_add_u32", "s_add_co_i32": "s_add_i32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_i32": "s_sub_i32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32", "s_wait_alu": "s_waitcnt_depctr", "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32", "global_atomic_sub_clamp_u32": "global_atomic_csub_u32",
    "buffer_atomic_sub_clamp_u32": "buffer_atomic_csub_u32",
}  # fmt: skip
"""RDNA4's names of what others have, too, which older assemblers refuse."""
RENAMED_SINCE = "gfx1200"
ALIASES |= RENAMED

LEFT_OUT = (
    (r"image_\w+|ds_bvh_stack_\w+", "images, samplers and ray tracing are not simulated"),
    (r"exp|(lds|ds)_param_load|s_endpgm_ordered_ps_done", "exports and parameters belong to graphics pipelines"),
    (r"ds_gws_(init|sema_\w+)|ds_ordered_count|ds_(add|sub)_gs_reg_rtn",
     "GWS, ordered counts and GS registers are shared by the whole card and set up by a graphics driver"),
    (r"s_rfe_b64|s_cbranch_cdbg\w+|s_sendmsghalt", "it is for trap handlers and debuggers"),
    (r"s_subvector_loop_(begin|end)", "it makes a loop over the halves of a wave of 64; compilers do not emit it"),
    (r"s_atc_probe(_buffer)?", "it requests an address translation, which is not simulated"),
    (r"buffer_(load|store)_(d16_)?(hi_)?format_(d16_)?(hi_)?\w+",
     "the format in a buffer's descriptor is not simulated; the format in an instruction is (tbuffer_*)"),
    (r"(lds|ds)_direct_load", "it is for graphics pipelines"),
    (r"v_dot4_i32_i8|v_dot8_i32_i4", "gfx11 has v_dot4_i32_iu8 and v_dot8_i32_iu4, signed by neg_lo:[1,1,0]"),
    (r"v_illegal", "it is illegal on purpose"),
    (r"s_alloc_vgpr", "dynamic VGPRs are not supported"),
    (r"v_swmmac_\w+|v_dot4_f32_[fb]p?f?8_\w+|v_cvt_sr_\w+", "nobody has published how it rounds"),
    (r"(global|scratch)_(load|store)_block|global_atomic_ordered_add_b64",
     "it saves registers of dynamic VGPRs, or belongs to graphics pipelines"),
)  # fmt: skip
"""(pattern of a whole mnemonic, why)."""


def why(name: str) -> str:
    """Why an instruction is left out; "" where it is not."""
    return next((reason for pattern, reason in LEFT_OUT if re.fullmatch(pattern, name)), "")
