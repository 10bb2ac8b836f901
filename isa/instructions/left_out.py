"""Instructions of gfx11 without a description, and why: for errors, and for the test that lists all of LLVM's."""

from __future__ import annotations

import re

LEFT_OUT = (
    (r"image_\w+|ds_bvh_stack_rtn_b32", "images, samplers and ray tracing are not simulated"),
    (r"exp|lds_param_load|s_endpgm_ordered_ps_done", "exports and parameters belong to graphics pipelines"),
    (r"ds_gws_(init|sema_\w+)|ds_ordered_count|ds_(add|sub)_gs_reg_rtn",
     "GWS, ordered counts and GS registers are shared by the whole card and set up by a graphics driver"),
    (r"s_rfe_b64|s_cbranch_cdbg\w+|s_sendmsghalt", "it is for trap handlers and debuggers"),
    (r"s_subvector_loop_(begin|end)", "it makes a loop over the halves of a wave of 64; compilers do not emit it"),
    (r"s_atc_probe(_buffer)?", "it requests an address translation, which is not simulated"),
    (r"buffer_(load|store)_(d16_)?(hi_)?format_(d16_)?(hi_)?\w+",
     "the format in a buffer's descriptor is not simulated; the format in an instruction is (tbuffer_*)"),
    (r"lds_direct_load", "it is for graphics pipelines"),
    (r"v_dot4_i32_i8|v_dot8_i32_i4", "gfx11 has v_dot4_i32_iu8 and v_dot8_i32_iu4, signed by neg_lo:[1,1,0]"),
    (r"v_illegal", "it is illegal on purpose"),
)  # fmt: skip
"""(pattern of a whole mnemonic, why)."""


def why(name: str) -> str:
    """Why an instruction is left out; "" where it is not."""
    return next((reason for pattern, reason in LEFT_OUT if re.fullmatch(pattern, name)), "")
