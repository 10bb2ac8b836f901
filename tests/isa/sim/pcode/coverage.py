"""Which described entries are asked, and why the others are not.

Counted are the entries that compute: those of the vector and scalar units (unit valu, salu), of DS and
of the atomics in flat and global memory. Loads, stores and branches are asked, too, but not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import assembly
import forms
from assembly import Case

from isa.instructions import table
from isa.semantics.instruction import Description
from pcode.evaluate import NoValue, program
from pcode.texts import texts

TIME = "the text is about time, not about a value"
CONVERSION = "the text leaves conversions from and to formats open; test_typed_buffers.py does not"
NO_SGPR = "the engine takes MODE from a constant only"
ROUNDING = "the text rounds after each sum, RDNA4 does not; results of a card say how (test_vectors.py)"
BARRIERS = "the text counts the waves of a workgroup"
# Entries that are not asked, and why.
NOT_ASKED: dict[str, str] = {
    name: why
    for names, why in (
        (
            "s_barrier s_clause s_dcache_inv s_decperflevel s_denorm_mode s_endpgm s_endpgm_saved s_gl1_inv "
            "s_icache_inv s_incperflevel s_inst_prefetch s_round_mode s_sendmsg s_sendmsg_rtn_b32 s_sendmsg_rtn_b64 "
            "s_set_inst_prefetch_distance s_sethalt s_setkill s_ttracedata s_ttracedata_imm s_wait_event s_wait_idle "
            "s_waitcnt_depctr buffer_gl0_inv buffer_gl1_inv ds_nop v_nop v_pipeflush v_dot2acc_f32_bf16 "
            "v_dot2c_f32_f16 s_trap s_wakeup ds_gws_barrier s_barrier_init s_barrier_join s_barrier_leave "
            "s_wait_loadcnt s_wait_storecnt s_wait_dscnt s_wait_kmcnt s_wait_samplecnt s_wait_bvhcnt s_wait_expcnt "
            "s_sleep_var s_wait_loadcnt_dscnt s_wait_storecnt_dscnt global_inv global_wb global_wbinv "
            "global_load_tr_b128 global_load_tr_b64",
            "there is no text",
        ),
        ("s_barrier_signal s_barrier_wait s_barrier_signal_isfirst s_get_barrier_state", BARRIERS),
        (
            "s_code_end s_delay_alu s_setprio s_sleep s_waitcnt s_waitcnt_vmcnt s_waitcnt_vscnt s_waitcnt_lgkmcnt "
            "s_waitcnt_expcnt s_prefetch_inst s_prefetch_data s_prefetch_inst_pc_rel s_prefetch_data_pc_rel "
            "s_buffer_prefetch_data",
            TIME,
        ),
        (
            "tbuffer_load_format_x tbuffer_load_format_xy tbuffer_load_format_xyz tbuffer_load_format_xyzw "
            "tbuffer_load_d16_format_x tbuffer_load_d16_format_xy tbuffer_load_d16_format_xyz "
            "tbuffer_load_d16_format_xyzw tbuffer_store_format_x tbuffer_store_format_xy tbuffer_store_format_xyz "
            "tbuffer_store_format_xyzw tbuffer_store_d16_format_x tbuffer_store_d16_format_xy "
            "tbuffer_store_d16_format_xyz tbuffer_store_d16_format_xyzw",
            CONVERSION,
        ),
        ("ds_swizzle_b32", "the text ends within its first case of four"),
        ("s_setreg_b32", NO_SGPR),
        (" ".join(f"v_wmma_f32_16x16x16_{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8")), ROUNDING),
    )
    for name in names.split()
} | {
    f"v_{name} gfx12": ROUNDING
    for name in (
        "dot2_f32_f16 dot2_f32_bf16 dot2_f16_f16 dot2_bf16_bf16 dot2acc_f32_f16 dot2acc_f32_bf16 "
        "wmma_f32_16x16x16_f16 wmma_f32_16x16x16_bf16 wmma_f16_16x16x16_f16 wmma_bf16_16x16x16_bf16"
    ).split()
}
"""By name, or by key where a form of it is meant."""


def left_out(key: str) -> str:
    """Why an entry is not asked; "" where it is."""
    return NOT_ASKED.get(key) or NOT_ASKED.get(table()[key].name, "")


def counted(desc: Description) -> bool:
    """Whether an entry belongs to the share that must be asked."""
    atomic = desc.access is not None and desc.access.kind == "atomic"
    return desc.unit in ("valu", "salu", "lds") or (desc.unit == "vmem" and atomic)


def has_value(name: str, family: str) -> bool:
    """Whether the text of an instruction can be run at all."""
    try:
        return name in texts(family) and program(texts(family)[name]) is not None
    except (SyntaxError, NoValue):
        return False


def asked_forms(arch: str) -> Iterator[forms.Form]:
    """Everything in registers, each addressing; 16-bit operands by half and the fields that a text names."""
    for form in forms.forms(arch):
        name = table()[form.key].name
        if left_out(form.key):
            continue
        mixes = "mix" in name and "neg" not in form.text and "clamp" not in form.text
        signs = (
            name in ("v_dot4_i32_iu8", "v_dot8_i32_iu4") and form.text.partition(" neg_lo")[1] and "op" not in form.text
        )
        if (
            form.kind in ("plain", "memory")
            or (form.kind == "scalar" and any(r.kind == "i" for r in table()[form.key].roles) and name[:2] == "s_")
            or (form.kind == "offset" and "permute" in name)
            or (form.kind == "halves" and "|" not in form.text and "clamp" not in form.text)
            or (form.kind == "packed" and (mixes or (signs and "clamp" not in form.text)))
        ):
            yield form


def cases(arch: str, groups: int = 1, group: int = 0) -> list[Case]:
    """The cases of a part of the entries."""
    found, _ = assembly.cases([f for f in asked_forms(arch) if sum(map(ord, f.key)) % groups == group])
    return found


def by_key(rows: Sequence[Case]) -> dict[str, list[Case]]:
    """Plain forms first; where there is none, a half's."""
    found: dict[str, list[Case]] = {}
    order = {"plain": 0, "halves": 1}
    for case in sorted(rows, key=lambda case: order.get(case.form.kind, 2)):
        found.setdefault(case.form.key, []).append(case)
    return found
