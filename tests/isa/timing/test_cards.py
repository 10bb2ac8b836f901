"""Cards by name, and what the model makes of one that has no L3."""

from dataclasses import replace

import numpy as np
import pytest

from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.errors import IsaError
from isa.targets import TARGETS
from isa.timing.machine import rdna3
from isa.timing.machine.cards import CARDS, Card, card, same
from isa.timing.model import caches
from isa.timing.model.run import machine
from isa.timing.trace.decode import decode
from isa.timing.trace.tracer import TracedLaunch, trace


def test_every_target_that_is_built_for_has_a_card_and_no_other() -> None:
    assert {c.arch for c in CARDS.values()} == {t.name for t in TARGETS.values() if t.built}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("7900 XTX", "7900 XTX"), ("rx7900xtx", "7900 XTX"), ("AMD Radeon RX 7900 XTX", "7900 XTX"),
        ("Radeon RX 7900 XT", "7900 XT"), ("AMD Radeon PRO W7900", "W7900"), ("AMD Radeon RX 7600", "7600"),
        ("AMD Radeon RX 7600 XT", "7600 XT"), ("AMD Radeon 780M", "780M"), ("AMD Radeon(TM) 890M Graphics", "890M"),
        ("Radeon 8060S Graphics", "8060S"),
    ],
)  # fmt: skip
def test_a_card_by_whatever_its_maker_calls_it(said: str, name: str) -> None:
    assert card(said) is CARDS[name]
    assert [other for other in CARDS if same(said, other)] == [name]


@pytest.mark.parametrize(
    "said", ["", "7900", "XTX", "7900 XTX XTX", "AMD Radeon Graphics", "RX 7650 XT", "W7900 Dual Slot"]
)
def test_what_is_no_card_is_refused_with_a_list(said: str) -> None:
    with pytest.raises(IsaError, match="no card") as raised:
        card(said)
    assert all(name in str(raised.value) for name in CARDS)
    assert same(said, said)


@pytest.mark.parametrize("known", CARDS.values(), ids=CARDS)
def test_numbers_hold_together(known: Card) -> None:
    """Nearer is faster, and memory of `bus_bits` pins reaches a rate that such memory has."""
    levels = [known.l2_bandwidth, *([known.l3_bandwidth] if known.l3_bytes else []), known.vram_bandwidth]
    assert levels == sorted(levels, reverse=True)
    assert known.cus % 2 == 0
    rate = 8 * known.vram_bandwidth / known.bus_bits / 1e9  # Gbit/s of a pin
    assert (5.6 <= rate <= 8) if known.integrated else (18 <= rate <= 20)


READER = """
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_b32 v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm
"""


def test_what_an_l3_would_serve_comes_from_memory_where_there_is_none() -> None:
    """Five workgroups in five shader arrays read the same 128 bytes. The L2 is left out too, so the first one reads
    them from memory, and the other four from the L3 or from memory again."""
    cfg = control_flow.of_text(parse(READER))
    at, buffer = 0x1000_0000, np.array([0x7F0000000000], np.uint64)
    launch = TracedLaunch((5, 1, 1), (32, 1, 1), ((0, at), (1, 0)), memory=((at, buffer.tobytes() + bytes(64)),))
    numbers = rdna3.values()
    with_l3 = replace(card("7900 XTX"), l2_bytes=0)
    without = replace(with_l3, l3_bytes=0)
    followed, code = trace(cfg, launch), decode(cfg, numbers)
    found = [
        caches.served(followed, code, on, numbers, cu_mode=True, slots=1).found.sum(axis=(0, 1)).tolist()
        for on in (with_l3, without)
    ]
    assert found == [[0, 0, 0, 4, 1], [0, 0, 0, 0, 5]]
    fast, slow = (machine(numbers, on, clock_mhz=2500, cu_mode=True, waves=1, slots=1, busy_cus=96) for on in (
        replace(with_l3, l2_bytes=6 << 20), replace(without, l2_bytes=6 << 20)
    ))  # fmt: skip
    assert fast.l3_line > slow.l3_line == 0
