"""Which level serves a line: the engine's L0 against what the caches of the whole chip let through."""

from __future__ import annotations

import numpy as np
import pytest
from texts import texts

from hipgemm.lab import strides
from isa.analysis import cfg as control_flow
from isa.asm.parse import parse
from isa.timing.machine import bank_rules, rdna3
from isa.timing.machine.cards import card
from isa.timing.model import caches, uncertainty
from isa.timing.model import run as model
from isa.timing.model.run import machine
from isa.timing.native import engine_abi
from isa.timing.trace.decode import decode
from isa.timing.trace.tracer import TracedLaunch, trace

TRIPS = 32
READER = f"""
    v_lshlrev_b32 v1, 4, v0
    s_mov_b32 s3, {TRIPS}
.Lloop:
    global_load_b128 v[4:7], v1, s[0:1]
    global_load_b128 v[8:11], v1, s[0:1] offset:2048
    s_waitcnt vmcnt(0)
    s_sub_u32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 .Lloop
    s_endpgm
"""
"""A workgroup reads the same 8 kB again and again."""


@pytest.fixture(scope="module")
def ready() -> model.Prepared:
    cfg = control_flow.of_text(parse(READER))
    launch = TracedLaunch((96, 1, 1), (512, 1, 1), sgprs=((1, 0x7F00),))
    return model.prepare(cfg, trace(cfg, launch), model.Resources(16, 0, True), card("7900 XTX"))


def lines(ready: model.Prepared) -> tuple[int, int, int]:
    """(all, that miss L0, from beyond L1)"""
    served = model.run(ready, 2500).lines
    return int(served[0] + served[1] + served[2]), int(served[1] + served[2]), int(served[2])


def test_what_a_smaller_l0_misses_comes_from_l1(ready: model.Prepared) -> None:
    """Each line comes from beyond L1 at most once, though the engine loads it in each trip."""
    every, missed, far = lines(ready)
    again, missed_all, still_far = lines(uncertainty.changed(ready, {"l0_bytes": 2048, "l0_ways": 4}))
    assert again == every == 16 * 2 * 4 * TRIPS
    assert missed == 80
    assert missed_all > 0.9 * every
    assert far <= 80
    assert still_far <= 80


def test_lines_that_nobody_played_are_in_l2() -> None:
    new = [[0, 0, 0, 0, 0], [8, 0, 0, 0, 0], [0, 0, 1, 0, 1], [0, 2, 0, 0, 0]]
    again = [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [6, 0, 0, 0, 0], [0, 1, 3, 0, 0]]
    in_l2, in_l1 = [0, 1, 1], [1, 1, 1]
    assert caches.levels(np.array([new, again], float), np.arange(4)).tolist() == [
        [in_l2, in_l2], [in_l2, in_l2], [[0, 0.5, 0.5], in_l1], [in_l1, [0.25, 1, 1]],
    ]  # fmt: skip


HALVES, ROWS, ROW_AGAIN, SPILLED = texts(__file__)


@pytest.mark.parametrize("l0_bytes", [2048, 16384, 262144])
@pytest.mark.parametrize("groups", [96, 768])
def test_what_comes_from_memory_does_not_depend_on_l0(groups: int, l0_bytes: float) -> None:
    """The engine's L0 keeps all, some or nothing of what that in lockstep kept; each line of a launch comes once."""
    cfg = control_flow.of_text(parse(HALVES))
    launch = TracedLaunch((groups, 1, 1), (32, 1, 1), sgprs=((1, 0x7F00),), workgroup_sgprs=(("x", 15),))
    one = model.prepare(cfg, trace(cfg, launch), model.Resources(16, 0, True), card("7900 XTX"))
    served = model.run(uncertainty.changed(one, {"l0_bytes": l0_bytes, "l0_ways": 4}), 2500).lines
    assert served[4] == 32 * 16 * groups / 96


def test_loads_of_one_array_count_together(ready: model.Prepared) -> None:
    """The two loads of a trip alternate in which of them brings a line; an array apart counts by itself."""
    loads = [i for i, kind in enumerate(ready.code.kind) if kind == engine_abi.LOAD]
    arrays = caches.arrays(ready.trace.recorded, ready.code)
    assert [arrays[i] for i in loads] == [loads[0], loads[0]]
    new = np.array([[0, 0, 2, 0, 0], [0, 2, 0, 0, 0], [0, 4, 0, 0, 4]], float)
    found = caches.levels(np.array([new, 0 * new]), np.array([0, 0, 2]))
    assert found[:, 0].tolist() == [[0.5, 1, 1]] * 2 + [[0.5, 0.5, 0.5]]


STREAM = """
    s_lshl_b32 s2, s15, 12
    v_lshl_or_b32 v1, v0, 4, s2
    global_load_b128 v[4:7], v1, s[0:1]
    s_waitcnt vmcnt(0)
    s_endpgm
"""
"""A workgroup of 256 reads 4 kB that no other one reads."""


@pytest.mark.parametrize("groups", [96, 900, 1000, 2500])
def test_what_is_read_once_comes_from_memory_in_a_last_round_too(groups: int) -> None:
    """768 workgroups are a round."""
    cfg = control_flow.of_text(parse(STREAM))
    launch = TracedLaunch((groups, 1, 1), (256, 1, 1), sgprs=((1, 0x7F00),), workgroup_sgprs=(("x", 15),))
    numbers = rdna3.values()
    found, code = trace(cfg, launch), decode(cfg, numbers, bank_rules.DEFAULT)
    levels = caches.served(found, code, card("7900 XTX"), numbers, cu_mode=True, slots=8).found.sum(axis=(0, 1))
    assert levels[:4].sum() == 0
    assert levels[4] > 0


@pytest.mark.parametrize(("pitch", "crowding"), [(2048, 16), (16384, 16), (1024, 8), (2048 + 128, 1), (128, 1)])
def test_rows_a_multiple_of_2_kb_apart_crowd_at_l2(pitch: int, crowding: float) -> None:
    """A line more of pitch spreads them (vLLM, pull request 55090). What L2 pays for it is said by a number."""
    cfg = control_flow.of_text(parse(ROWS.format(pitch=pitch, rows=64 * pitch)))
    launch = TracedLaunch((96, 1, 1), (512, 1, 1), sgprs=((1, 0x7F00),), workgroup_sgprs=(("x", 15),))
    numbers, on = rdna3.values(), card("7900 XTX")
    found = caches.served(trace(cfg, launch), decode(cfg, numbers), on, numbers, cu_mode=True, slots=1)
    assert found.crowding == pytest.approx(crowding)
    lines = [
        machine(rdna3.values(l2_crowding=part), on, clock_mhz=2500, cu_mode=True, waves=16, slots=1, busy_cus=96,
                crowding=found.crowding).l2_line
        for part in (0, 0.5, 1)
    ]  # fmt: skip
    assert [line / lines[0] for line in lines] == pytest.approx([1, (1 + crowding) / 2, crowding])


@pytest.mark.parametrize(("scratch", "crowding"), [(2048, 16), (2049, 2), (2304, 2)])
def test_scratch_of_waves_lies_one_behind_the_other(scratch: int, crowding: float) -> None:
    """In parts of 256 bytes: an odd number of such parts puts a register of eight waves into places of their own."""
    cfg = control_flow.of_text(parse(SPILLED))
    launch = TracedLaunch((192, 1, 1), (512, 1, 1), sgprs=((1, 0x7F00),))
    spills = model.prepare(cfg, trace(cfg, launch), model.Resources(16, 0, True, scratch), card("7900 XTX"))
    assert spills.crowding == pytest.approx(crowding)


@pytest.mark.parametrize("name", ["7900 XTX", "7900 XT", "7900 GRE", "7700 XT"])
def test_a_line_lies_in_the_channel_that_linux_finds_a_faulty_cell_in(name: str) -> None:
    """amdgpu's umc_v8_10.c: from an address within a channel to the physical one."""
    on = card(name)
    bit, many = on.channel_bit, on.channels
    for within in np.random.default_rng(1).integers(0, 1 << 28, 200).tolist():
        for channel in range(many):
            joined = (within >> 10) * many + channel << 10
            physical = joined >> bit + 2 << bit + 2 | (within >> 8 & 3) << bit
            physical |= (joined >> 10 & (1 << bit - 8) - 1) << 8 | within & 255
            assert caches.channel_of(physical >> 7, on) == channel


@pytest.mark.parametrize(
    ("name", "pitch", "crowding"),
    [("7900 GRE", 4096, 16), ("7900 GRE", 1 << 15, 16), ("7900 GRE", 4096 + 256, 1), ("7900 XTX", 1 << 14, 8),
     ("7900 XTX", 1 << 15, 8), ("7900 XTX", 4096, 8), ("7900 XTX", 2 * 2304, 3), ("7600", 4096, 1),
     ("9070 XT", 4096, 1)],
)  # fmt: skip
def test_rows_a_power_of_two_apart_crowd_on_channels_of_memory(name: str, pitch: int, crowding: float) -> None:
    """Of the 7600 and of RDNA4 nobody told where a line lies. A product of 16 bits is slow at K = 2048 and not at 2304
    (FlyDSL, pull request 1028)."""
    on, numbers = card(name), rdna3.values()
    cfg = control_flow.of_text(parse(ROWS.format(pitch=pitch, rows=64 * pitch)))
    launch = TracedLaunch((64, 1, 1), (512, 1, 1), sgprs=((1, 0x7F00),), workgroup_sgprs=(("x", 15),))
    found = caches.served(trace(cfg, launch), decode(cfg, numbers), on, numbers, cu_mode=True, slots=1)
    assert found.channel_crowding == pytest.approx(crowding, rel=0.1)
    made = [
        machine(rdna3.values(channel_crowding=part), on, clock_mhz=2500, cu_mode=True, waves=16, slots=1, busy_cus=32,
                channel_crowding=found.channel_crowding)
        for part in (0, 0.5)
    ]  # fmt: skip
    for level in ("l3_line", "vram_line"):
        lines = [getattr(m, level) for m in made]
        assert lines[1] == pytest.approx(lines[0] * (1 + found.channel_crowding) / 2)


@pytest.mark.parametrize("pitch", [8192, 8192 + 128, 2048, 1024, 512])
@pytest.mark.parametrize("hashed", [0, 1])
def test_sets_of_l0_by_low_bits_or_by_a_hash(pitch: int, hashed: int) -> None:
    """The lab's `strides` says which lines stay. In a play of the chip's caches, and in the engine's L0."""
    cfg = control_flow.of_text(parse(ROW_AGAIN.format(pitch=pitch)))
    traced = trace(cfg, TracedLaunch((96, 1, 1), (32, 1, 1), sgprs=((1, 0x7F00),)))
    numbers = rdna3.values(l0_hashed=hashed)
    ready = model.prepare(cfg, traced, model.Resources(16, 0, True), card("7900 XTX"), numbers)
    share = strides.hits(pitch, 32, caches.set_of if hashed else strides.plain)
    load = cfg.instructions.index(next(i for i in cfg.instructions if i.desc.name == "global_load_b32"))
    served = caches.served(traced, ready.code, ready.card, numbers, cu_mode=True, slots=1).found[:, load].sum(axis=0)
    assert served[0] == pytest.approx(share * 8 / 9 * served.sum())
    every, missed, _ = lines(ready)
    assert missed == pytest.approx(every * (1 - share * 8 / 9))


@pytest.mark.parametrize(("pitch", "turns"), [(128, 8), (512, 32), (512 + 128, 8)])
def test_an_access_looks_up_a_line_a_cycle_in_each_bank_of_tags(pitch: int, turns: int) -> None:
    """Nine loads of a lone wave, each waited for and of 32 lines: with four banks the last line is looked up up to 24
    cycles sooner, in all but the first, which waits for the queues beyond L0. Rows 512 bytes apart lie in one bank."""
    cfg = control_flow.of_text(parse(ROW_AGAIN.format(pitch=pitch)))
    traced = trace(cfg, TracedLaunch((96, 1, 1), (32, 1, 1), sgprs=((1, 0x7F00),)))
    one, four = (
        model.run(
            model.prepare(cfg, traced, model.Resources(16, 0, True), card("7900 XTX"), rdna3.values(l0_tags=tags)), 2500
        ).cycles
        for tags in (1, 4)
    )
    assert one - four == 8 * (32 - turns)
