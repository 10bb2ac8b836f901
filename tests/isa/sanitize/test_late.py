"""Under hooks the result of a load appears no earlier than its wait: memory then holds what a card may leave."""

import ctypes
import re
import struct
from pathlib import Path

import programs
import pytest

from isa.sanitize import observe
from isa.sim.run.card import Card

LANES = range(32)
BEFORE = """
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v2, 7
    v_mov_b32_e32 v3, 8
    s_mov_b32 s6, 7
    ds_store_b32 v1, v0 offset:128
    s_waitcnt lgkmcnt(0)
"""
AFTER = """
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_b32 v1, v2, s[4:5] offset:1024
    global_store_b32 v1, v3, s[4:5] offset:1152
    s_endpgm
"""
CASES = dict(re.findall(r"^=== (.*)\n([^=]*)", Path(__file__).with_name("late.txt").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", CASES)
def test_what_memory_holds(name):
    body, (_, _, expected) = CASES[name], name.partition(" -> ")
    card = Card(capacity=1 << 26)
    buffer = card.memory.allocate(4096)
    ctypes.memmove(buffer, struct.pack("<64I", *(100 + i for i in LANES), *(200 + i for i in LANES)), 256)
    kernel = card.load(programs.assembled(BEFORE + body + AFTER)).kernels["test"]
    found = observe(card, kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer), threads=1).findings
    left = struct.unpack("<64I", ctypes.string_at(buffer + 1024, 256))
    assert {f.rule.partition(" ")[2].partition(" ")[2] for f in found} == {"while a load fills it"}, found
    assert [(left[i], left[32 + i]) for i in LANES] == [eval(expected, {"i": i}) for i in LANES]


def test_a_clean_launch_leaves_what_a_plain_one_does():
    card = Card(capacity=1 << 26)
    buffer = card.memory.allocate(4096)
    body = (
        BEFORE + "    global_load_b32 v2, v1, s[4:5]\n    s_waitcnt vmcnt(0)\n    v_add_nc_u32_e32 v3, v3, v2" + AFTER
    )
    kernel = card.load(programs.assembled(body)).kernels["test"]
    results = []
    for watched in (False, True):
        ctypes.memmove(buffer, struct.pack("<1024I", *range(1024)), 4096)
        if watched:
            assert observe(card, kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer)).findings == ()
        else:
            card.launch(kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer))
        results.append(ctypes.string_at(buffer, 4096))
    assert results[0] == results[1]
