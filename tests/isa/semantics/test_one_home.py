"""Facts that many ask for: waits, branches' targets, what a wave starts with, halves that are not read, widths."""

import dataclasses

import numpy as np
import pytest

from isa.asm.parse import parse, parse_instruction
from isa.errors import IsaError
from isa.registers import Reg, s, v
from isa.semantics import wave_start
from isa.semantics.branches import branch_address, branch_target
from isa.semantics.halves import unread_high
from isa.semantics.instruction import bit_width, width
from isa.semantics.waits import depctr, parse_wait
from isa.semantics.wave_start import work_item_ids


@pytest.mark.parametrize(
    ("text", "counters"),
    [
        ("s_waitcnt vmcnt(3) lgkmcnt(0)", {"vmcnt": 3, "lgkmcnt": 0}),
        ("s_waitcnt 0xfc07", {"lgkmcnt": 0}),  # vmcnt 63 and expcnt 7 redundant wait
        ("s_waitcnt_vscnt null, 0x2", {"vscnt": 2}),
        ("s_waitcnt_vscnt s3, 0x0", {}),
        ("s_wait_idle", {"vmcnt": 0, "vscnt": 0, "lgkmcnt": 0, "expcnt": 0}),
        ("s_waitcnt_depctr depctr_va_vdst(0)", {}),
        ("s_nop 0", {}),
    ],
)
def test_waits(text: str, counters: dict[str, int]) -> None:
    assert parse_wait(parse_instruction(text)) == counters


@pytest.mark.parametrize(
    ("text", "number"),
    [("s_waitcnt_depctr depctr_va_vdst(3)", 3), ("s_waitcnt_depctr 0xfff", 0), ("s_nop 0", None)],
)
def test_depctr(text: str, number: int | None) -> None:
    assert depctr(parse_instruction(text), "va_vdst") == number


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("s_branch .LBB0_1", ".LBB0_1"),
        ("s_cbranch_scc0 65535", 100),  # one dword back: itself
        ("s_call_b64 s[4:5], 3", 116),
        ("s_setpc_b64 s[0:1]", None),
        ("s_mov_b32 s0, 3", None),
    ],
)
def test_branches(text: str, target: str | int | None) -> None:
    inst = dataclasses.replace(parse_instruction(text), address=100, size=4)
    assert branch_target(inst) == target
    if isinstance(target, int):
        assert branch_address(inst) == target
    else:
        with pytest.raises(IsaError, match="without address"):
            branch_address(inst)


DIRECTIVES = """
k:
	s_endpgm
.amdhsa_kernel k
	.amdhsa_user_sgpr_dispatch_ptr 1
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_user_sgpr_count 13
	.amdhsa_system_sgpr_workgroup_id_z 1
	.amdhsa_system_vgpr_workitem_id 1
.end_amdhsa_kernel
"""


def test_what_a_wave_starts_with() -> None:
    start = wave_start.of_kernel(parse(DIRECTIVES, "k.s").kernel("k"))
    assert start.user == {"dispatch_ptr": s(0, 2), "kernarg_segment_ptr": s(2, 2)}
    assert start.system_sgprs == {"workgroup_id_x": 13, "workgroup_id_z": 14}  # x is there where nothing is said
    assert (start.sgprs, start.workitem_id) == (15, 1)
    fewer = DIRECTIVES.replace("	.amdhsa_user_sgpr_count 13\n", "")
    assert wave_start.of_kernel(parse(fewer, "k.s").kernel("k")).sgprs == 6


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_work_item_ids(axes: int) -> None:
    block = (4, 3, 2)
    found = work_item_ids(np.arange(24, dtype=np.uint32), block, axes)
    assert found.dtype == np.uint32
    for item, packed in enumerate(found):
        x, y, z = item % 4, item // 4 % 3, item // 12
        assert packed == x | (y << 10 if axes > 1 else 0) | (z << 20 if axes > 2 else 0)
        assert work_item_ids(item, block, axes) == packed


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("v_mad_u64_u32 v[0:1], null, v2, v3, v[4:5]", v(5)),
        ("v_mad_u64_u32 v[0:1], null, s2, v3, s[4:5]", s(5)),
        ("v_mad_u64_u32 v[0:1], null, v2, v5, v[4:5]", None),  # it is a factor, too
        ("v_mad_u64_u32 v[0:1], null, v2, v3, 0", None),
        ("v_lshlrev_b64 v[0:1], 2, v[4:5]", v(5)),
        ("s_lshl_b64 s[0:1], s[4:5], s6", s(5)),
        ("v_lshrrev_b64 v[0:1], 2, v[4:5]", None),
    ],
)
def test_a_high_half_that_the_low_result_does_not_read(text: str, free: Reg | None) -> None:
    assert unread_high(parse_instruction(text)) == free


@pytest.mark.parametrize(
    ("type_", "bits", "registers"),
    [("b1", 1, 1), ("u8", 8, 1), ("bf16", 16, 1), ("f16h", 16, 1), ("pku16", 32, 1), ("pkf16d", 32, 1), ("mix", 32, 1),
     ("mask", 32, 1), ("f64", 64, 2), ("b96", 96, 3), ("b512", 512, 16), ("bf16x8", 256, 8)],
)  # fmt: skip
def test_widths(type_: str, bits: int, registers: int) -> None:
    assert (bit_width(type_), width(type_)) == (bits, registers)
