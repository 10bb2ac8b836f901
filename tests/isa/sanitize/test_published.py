"""What one workgroup publishes to another is in order, if every step of it is there; each step is left out once.

The sequences are those of LLVM's AMDGPUUsage, memory model gfx10-gfx11, at agent scope.
"""

import ctypes
import re
import struct

import numpy as np
import programs
import pytest
from texts import texts

from isa.sanitize import observe
from isa.sim.run.card import Card
from isa.sim.run.faults import BudgetSpent

HEAD, STORED_FLAG, COUNTED, MET, ROUNDS, BETWEEN_WAVES = texts(__file__)


WAYS = [
    (
        "global_load_b32 v5, v3, s[4:5] offset:2048 glc\n s_waitcnt vmcnt(0)",
        "global_store_b32 v3, v4, s[4:5] offset:2048",
    ),
    ("ds_load_b32 v5, v3\n s_waitcnt lgkmcnt(0)", "ds_store_b32 v3, v4\n s_waitcnt lgkmcnt(0)"),
]


def without(text, *steps):
    return "\n".join(line for line in text.splitlines() if not any(line.endswith(f"; {step}") for step in steps))


def loaded(body, cu_mode=True):
    """(card, kernel, its buffer)."""
    body = body if "s_load_b64" in body else HEAD + body
    source = programs.source(re.sub(r";.*", "", body).replace("FLAG", "").replace("COHERENT", ""))
    if cu_mode:
        source = source.replace(".end_amdhsa_kernel", ".amdhsa_workgroup_processor_mode 0\n.end_amdhsa_kernel")
    card = Card(capacity=1 << 26)
    buffer = card.memory.allocate(1 << 21)
    kernel = card.load(programs.linked(source)).kernels["test"]
    assert kernel.facts.descriptor.wgp_mode != cu_mode
    return card, kernel, buffer


def launched(body, grid, block, *, threads=1, budget=None):
    card, kernel, buffer = loaded(body)
    card.launch(kernel, (grid, 1, 1), (block, 1, 1), struct.pack("<Q", buffer), threads=threads, budget=budget)
    return np.frombuffer(ctypes.string_at(buffer, 4096), np.uint32)


def found(body, grid, block, *, threads=1, schedules=3, cu_mode=True, budget=None):
    card, kernel, buffer = loaded(body, cu_mode)
    observed = observe(
        card, kernel, (grid, 1, 1), (block, 1, 1), struct.pack("<Q", buffer), threads=threads, schedules=schedules,
        budget=budget,
    )  # fmt: skip
    return list(observed.findings)


def rules(findings):
    return {(f.rule, re.findall(r"(reads|writes) byte", f.message)[0] if "race" in f.rule else "") for f in findings}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("flag", ["", "glc"])
@pytest.mark.parametrize("block", [32, 64])
def test_a_flag_that_is_stored(block, flag, threads):
    assert not found(STORED_FLAG.replace("FLAG", flag), 4, block, threads=threads)


def test_an_atomic_may_set_the_flag():
    body = STORED_FLAG.replace("global_store_b32 v3, v4, s[4:5] offset", "global_atomic_add_u32 v3, v4, s[4:5] offset")
    assert not found(body, 4, 64)


@pytest.mark.parametrize(
    "step", ["stores", "look", "L1", "L0", "producer's barrier", "consumer's barrier", "stores after the flag"]
)
def test_a_stored_flag_without_a_step(step):
    body = without(STORED_FLAG, step)
    if step == "look":
        body = without(body, "wait")
    if step == "stores after the flag":
        first, *rest = STORED_FLAG.strip("\n").splitlines()
        body = "\n".join(rest).replace(" FLAG\n", f" FLAG\n{first}\n").replace("; producer's barrier", "")
    assert rules(found(body, 2, 64)) == {("memory race", "reads")}


@pytest.mark.parametrize(
    ("text", "step", "lacks"),
    [
        (STORED_FLAG, "stores", "s_waitcnt_vscnt null, 0x0 between `global_store_b32 v1, v0, s[4:5]` ("),
        (STORED_FLAG, "producer's barrier", "s_waitcnt_vscnt null, 0x0 between"),
        (STORED_FLAG, "L1", "buffer_gl1_inv, then buffer_gl0_inv, after the wait for the flag and before the load"),
        (STORED_FLAG, "L0", "buffer_gl1_inv, then buffer_gl0_inv, after the wait for the flag and before the load"),
        (COUNTED, "stores", "s_waitcnt_vscnt null, 0x0 between `global_store_b32 v2, v0, s[4:5]` ("),
        (COUNTED, "L0", "buffer_gl1_inv, then buffer_gl0_inv, after the wait for the flag and before the load"),
    ],
)
def test_what_is_missing_is_named(text, step, lacks):
    finding = found(without(text, step), 2 if text is STORED_FLAG else 4, 64 if text is STORED_FLAG else 32)[0]
    assert lacks in finding.expected
    if (text, step) == (COUNTED, "stores"):
        assert "that store may still be in flight when `global_atomic_add_u32 v5, v3, v4, " in finding.message


def test_a_flag_that_is_not_awaited():
    body = COUNTED.replace("v_readfirstlane_b32 s8, v5", "s_mov_b32 s8, 3")
    body = body.replace("    global_store_b32 v3, v3, s[4:5] offset:2048\n", "")
    finding = next(f for f in found(without(body, "wait"), 2, 32) if "reads byte 0x0 " in f.message)
    assert finding.expected.startswith("s_waitcnt vmcnt(0) after the load of what `global_atomic_add_u32 ")


def test_loads_that_pass_caches_by_need_none_emptied():
    body = without(STORED_FLAG, "L1", "L0").replace("COHERENT", "glc")
    assert not found(body, 2, 64)


def test_each_l0_of_a_wgp_is_emptied():
    assert rules(found(STORED_FLAG, 2, 64, cu_mode=False)) == {("memory race", "reads")}
    assert not found(STORED_FLAG, 2, 32, cu_mode=False)
    everywhere = STORED_FLAG.replace("; consumer's barrier", "\n    buffer_gl0_inv")
    assert not found(everywhere, 2, 64, cu_mode=False)


def test_the_last_that_counts_itself_reads_everything():
    assert not found(COUNTED, 4, 32)
    assert not found(COUNTED, 4, 32, threads=2)


@pytest.mark.parametrize("twice", ["", "global_atomic_or_b32 v3, v3, s[4:5] offset:2048"])
def test_an_atomic_that_returns_nothing_passes_on_what_it_found(twice):
    """Who reads what its own atomic left learns what those before it published, and no more than they did."""
    body = MET.replace("TWICE", twice)
    assert not found(body, 2, 32, threads=2)
    for step in "stores", "L1", "L0", "count":
        assert {f.rule for f in found(without(body, step), 2, 32, threads=2)} == {"memory race"}


def test_an_atomic_and_its_stamp_are_one_step():
    """Of two threads that count at once each learns of the other what its own atomic found, and nothing else."""
    assert not found(ROUNDS, 2, 32, threads=2)
    assert rules(found(without(ROUNDS, "stores"), 2, 32, threads=2)) == {("memory race", "reads")}


@pytest.mark.parametrize("step", ["stores", "L1", "L0"])
def test_a_counter_without_a_step(step):
    assert rules(found(without(COUNTED, step), 4, 32)) == {("memory race", "reads")}


def test_a_flag_that_nobody_sets():
    body = STORED_FLAG.replace("v_mov_b32_e32 v4, 1", "v_mov_b32_e32 v4, 0")
    body = re.sub(r".*FLAG", "", body)
    (finding,) = found(body, 2, 64, budget=200_000)
    assert finding.rule == "instruction budget exhausted"


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_workgroups_wait_for_one_another_in_a_plain_launch(threads):
    words = launched(STORED_FLAG, 4, 64, threads=threads, budget=100_000_000)
    assert list(words[256 + 64 : 512]) == 3 * list(range(64))


@pytest.mark.parametrize(("look", "tell"), WAYS)
def test_a_wave_that_waits_lets_the_others_go_on(look, tell):
    body = BETWEEN_WAVES.replace("LOOK", look).replace("TELL", tell)
    launched(body, 1, 96, budget=20_000_000)
    assert not [f for f in found(body, 1, 96, budget=20_000_000) if f.rule == "instruction budget exhausted"]
    with pytest.raises(BudgetSpent, match=r"in the loop at 0x\w+ `(global|ds)_load_b32 v5, v3"):
        launched(body.replace(tell, "s_nop 0"), 1, 96, budget=3_000_000)
