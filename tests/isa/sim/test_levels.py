"""At every processor level that this machine can run, native code leaves the bits of the reference engine, on random
programs whose lanes are partly off (`differential/sequences.py`), over all keys that compute or access memory.

Here each level has a share of the keys; the slow test gives all of them to each.
"""

import assembly
import pytest
import run
import sequences
from forms import Form
from test_instruction_vectors import number_of

from isa.errors import IsaError
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.jit import LEVELS, NATIVE, HostTarget, is_x86

SHARES = 16


def runs_here(cpu):
    try:
        HostTarget(cpu).check_host()
    except IsaError:
        return False
    return True


HERE = [cpu for cpu in [*(LEVELS if is_x86() else ()), NATIVE] if runs_here(cpu)]
# What a masked write keeps is an operand of what it writes: the second of three in memory, or the third beside one in
# memory, or one of three in registers. LLVM 22 gave the first two the other one's truth table (`LlvmValue._fenced`).
KEPT = [
    "v_mul_lo_u32 v0, v16, v0\nv_bfi_b32 v0, 0x7fffffff, v32, v0",
    "v_mul_lo_u32 v32, v16, v0\nv_mul_lo_u32 v0, v16, v0\nv_bfi_b32 v0, 0x7fffffff, v0, v32",
    "v_mul_lo_u32 v32, v16, v0\nv_mul_lo_u32 v0, v16, v0\nv_bfi_b32 v0, 0x7fffffff, v32, v0",
    "v_mov_b32 v3, v16\nv_mov_b32 v4, v32\ns_mov_b32 exec_lo, 0xffff\nv_bfi_b32 v3, 0x7fffffff, v4, v3",
    "v_add_f32 v4, v16, v32\nv_add_f32 v3, v16, v48\ns_mov_b32 exec_lo, 0xffff\nv_bfi_b32 v3, 0x7fffffff, v4, v3",
    "v_add_f32 v4, v16, v32\nv_add_f32 v3, v16, v48\nv_bfi_b32 v5, 1, v3, v4\nv_cndmask_b32 v6, v3, v5, vcc_lo",
]  # fmt: skip


def check(cases, seeds, cpu):
    tally = run.compare_cases(cases, seeds, FloatMode(), HostTarget(cpu))
    assert not tally.differ, "\n".join([f"{len(tally.differ)} differences", *tally.differ[:20]])
    assert not tally.refused
    return tally


def share(number, keys=None):
    return [key for key in keys or sequences.computing() if number_of(key) % SHARES == number]


@pytest.mark.parametrize("cpu", HERE)
def test_what_a_mask_keeps_is_an_operand(cpu):
    cases, refused = assembly.cases([Form(f"kept {i}", "sequence", text) for i, text in enumerate(KEPT)])
    assert not refused
    check(cases, [0, 1], cpu)


@pytest.mark.parametrize("cpu", HERE)
def test_random_programs_under_partial_exec(cpu):
    number = HERE.index(cpu)
    check(sequences.cases(share(number), number), [0], cpu)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", HERE)
@pytest.mark.parametrize("number", range(SHARES))
def test_all_keys_at_every_level(number, cpu):
    for seed in range(100, 103):
        check(sequences.cases(share(number), seed), [seed, seed + 1], cpu)
