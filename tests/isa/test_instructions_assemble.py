"""Every described instruction, with operands made from its roles, is one that LLVM's assembler knows for the targets
that its entry says have it, and for no other one that is supported."""

import re
import subprocess

import pytest
from assembly import assembler

from isa.asm.parse import parse_instruction
from isa.instructions import table
from isa.semantics.instruction import width
from isa.targets import TARGETS, target
from isa.toolchain import assembler_options

# Operands that their role does not say in full.
SPECIAL = {
    "v_fmaak_f32": "v0, v8, v16, 0x12345", "v_fmamk_f32": "v0, v8, 0x12345, v16", "s_fmaak_f32": "s0, s8, s16, 0x12345",
    "s_fmamk_f32": "s0, s8, 0x12345, s16", "v_fmaak_f16": "v0.l, v8.l, v16.l, 0x1234",
    "v_fmamk_f16": "v0.l, v8.l, 0x1234, v16.l", "v_mov_b16": "v0.l, v8.l", "v_swap_b16": "v0.l, v8.l",
    "s_getreg_b32": "s0, hwreg(HW_REG_MODE)", "s_setreg_b32": "hwreg(HW_REG_MODE), s0",
    "s_setreg_imm32_b32": "hwreg(HW_REG_MODE), 0x12345", "s_waitcnt_depctr": "depctr_va_vdst(0)",
    "s_waitcnt": "vmcnt(0)", "s_sendmsg": "sendmsg(MSG_DEALLOC_VGPRS)",
    "s_sendmsg_rtn_b32": "s0, sendmsg(MSG_RTN_GET_DOORBELL)",
    "s_sendmsg_rtn_b64": "s[0:1], sendmsg(MSG_RTN_GET_REALTIME)", "ds_gws_barrier": "v0 gds",
    "s_delay_alu": "instid0(VALU_DEP_1)", "s_barrier_signal": "-1", "s_barrier_signal_isfirst": "-1",
    "s_barrier_init": "-1", "s_barrier_join": "-1", "s_get_barrier_state": "s0, -1",
} | {f"s_waitcnt_{c}": "null, 0" for c in ("vmcnt", "vscnt", "lgkmcnt", "expcnt")}  # fmt: skip
VOPD_ONLY = {"v_dot2acc_f32_bf16", "v_dot2acc_f32_bf16 gfx12", "v_dot2acc_f32_f16 gfx12"}
LIKE = {"gfx11": {"glc": "glc"}, "gfx12": {"glc": "th:TH_ATOMIC_RETURN"}}
"""Forms as a family's assembler has them."""


def _operand(number, role, name):
    count = 1 if role.kind == "m" else width(role.type)
    first = 16 * number
    if role.kind in ("v", "a", "s"):
        file = "s" if role.kind == "s" else "v"
        return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"
    if role.kind == "sa" and "addtid" in name:
        return f"s[{first}:{first + 1}]"
    if role.kind == "rs":
        return f"s[{first}:{first + count - 1}]"
    return {
        "vb": "off", "m": "vcc_lo", "i": "1", "l": "target", "sa": "off", "va": "v0" if "scratch" in name else "v[0:1]",
    }[role.kind]  # fmt: skip


def _text(key, arch="gfx1100"):
    name, *form = key.split()
    operands = SPECIAL.get(name) or ", ".join(_operand(i, r, name) for i, r in enumerate(table()[key].roles))
    return " ".join([name, operands, *(LIKE[target(arch).family.name].get(f, "") for f in form)]).strip()


def refused(arch, folder):
    """key -> what the assembler says against it."""
    command = [*assembler().compiler, *assembler_options(arch), "-ferror-limit=0", "-c", "all.s", "-o", "all.o"]
    keys = [key for key in table() if key not in VOPD_ONLY]
    (folder / "all.s").write_text("target:\n" + "\n".join(_text(key, arch) for key in keys) + "\n")
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr
    return {keys[int(m[1]) - 2]: m[2] for m in re.finditer(r"all\.s:(\d+):\d+: error: (.*)", said)}


@pytest.mark.parametrize("arch", TARGETS)
def test_the_assembler_takes_the_entries_of_each_target(arch, tmp_path):
    missing = {key for key, entry in table().items() if not entry.exists_on(target(arch))}
    found = refused(arch, tmp_path)
    # Older names of others, and what is written as another form is.
    texts = {_text(key, arch) for key in table().keys() - missing - VOPD_ONLY}
    spelled = target(arch).family.names
    assert {key for key, entry in table().items() if entry.name in spelled} <= missing, "the name is another's"
    missing -= {k for k in missing if table()[k].name in spelled or _text(k, arch) in texts or k in VOPD_ONLY}
    assert not {_text(key): why for key, why in found.items() if key not in missing}
    assert missing == found.keys()


@pytest.mark.parametrize("key", ["ds_add_u32", "global_atomic_add_u32 glc", "v_fma_f32", "s_getreg_b32"])
def test_the_same_text_reads_as_that_entry(key):
    assert parse_instruction(_text(key)).desc is table()[key]
