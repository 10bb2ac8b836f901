"""The fast and the plain version of a kernel leave the same bits: on programs whose lanes part ways, on addresses that
no pattern foresees, on loops that are run several iterations at once, and on every kind of host processor."""

import ctypes
import random
import struct

import numpy as np
import programs
import pytest
import reference_engine
from texts import texts

from isa.object import code_object
from isa.sim.ir import jit
from isa.sim.run import interpret, tiers
from isa.sim.run.card import Card
from isa.sim.run.faults import KernelFault
from isa.sim.translate import registers

REGISTERS = 12
MEMORY = 4096
"""Bytes of the buffer: registers in front, from 2048 on what programs stored on their way."""
BUFFER = 0x7000_0000_0000
EXEC_OPERATIONS = [
    "v_cmpx_lt_i32 {a}, {b}", "v_cmp_gt_i32 vcc_lo, {a}, {b}\ns_and_saveexec_b32 s23, vcc_lo", "s_mov_b32 exec_lo, -1",
    "s_mov_b32 exec_lo, 0x0ff0f00f", "s_not_b32 exec_lo, exec_lo",
]  # fmt: skip


def random_program(seed, stored=range(1, REGISTERS + 1), rounds=1):
    """A kernel that mixes registers v1 to v12 and changes EXEC on the way, so many times over, and stores registers at
    the end."""
    pick = random.Random(seed)
    lines = ["s_load_b64 s[4:5], s[0:1], 0x0", "v_mov_b32 v40, v0", "s_waitcnt lgkmcnt(0)"]
    for i in range(1, REGISTERS + 1):
        lines += [f"v_mul_lo_u32 v{i}, v0, {pick.getrandbits(31)}", f"v_xor_b32 v{i}, {pick.getrandbits(31)}, v{i}"]
    lines += [f"s_mov_b32 s24, {rounds}", ".Lround:"]
    for step in range(40):
        words = {k: f"v{pick.randint(1, REGISTERS)}" for k in "abcd"}
        kind = EXEC_OPERATIONS if pick.random() < 0.2 else LANE_OPERATIONS
        lines += pick.choice(kind).format(**words).split("\n")
        if pick.random() < 0.1:
            lines += [f"s_cbranch_execz .Lskip{step}", "v_add_nc_u32 v1, 1, v1", f".Lskip{step}:"]
    lines += ["s_sub_i32 s24, s24, 1", "s_cmp_gt_i32 s24, 0", "s_cbranch_scc1 .Lround"]
    lines += ["s_mov_b32 exec_lo, -1", "v_lshlrev_b32 v40, 2, v40"]
    lines += [f"global_store_b32 v40, v{i}, s[4:5] offset:{128 * (i - 1)}" for i in stored]
    return "\n".join([*lines, "s_endpgm"])


def outputs(card, image, size, block=(32, 1, 1), **options):
    buffer = card.memory.allocate(size)
    ctypes.memset(buffer, 0, size)
    module = card.load(image)
    report = card.launch(module.kernels["test"], (1, 1, 1), block, struct.pack("<Q", buffer), **options)
    return ctypes.string_at(buffer, size), report


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 24))])
def test_random_programs_with_divergent_lanes(seed):
    """Fast, plain, and the reference, which shares no code with them but the instructions' bodies."""
    card = Card(capacity=1 << 26)
    image = programs.assembled(random_program(seed), lds=2048, vgprs=48)
    fast, _ = outputs(card, image, MEMORY)
    plain, _ = outputs(card, image, MEMORY, fast=False)
    assert fast == plain == reference(image, MEMORY)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 40))])
def test_registers_that_nothing_reads_are_not_missed(seed):
    """Good code, which stores only what is read later: in rounds, with lanes that are off from the start and come on,
    and in a workgroup that finds what another one's waves have left."""
    card = Card(capacity=1 << 26, baseline=False)
    block = (random.Random(seed).choice((20, 32)), 1, 1)
    image = programs.assembled(random_program(seed, range(1, 1 + seed % REGISTERS), rounds=3), lds=2048, vgprs=48)
    fast, _ = outputs(card, image, MEMORY, block)
    plain, _ = outputs(card, image, MEMORY, block, fast=False)
    assert fast == plain == reference(image, MEMORY, block)


def test_registers_begin_with_zero_in_each_workgroup():
    """Where they are read as they are then, in all lanes or in those that were off."""
    image = programs.assembled(STALE)
    card = Card(capacity=1 << 26, baseline=False)
    for fast in (True, False):
        found = programs.launched(image, np.ones(64 * 9, np.uint32), (8, 1, 1), card=card, threads=1, fast=fast)
        rows = found[: 64 * 8].reshape(8, 2, 32)
        assert (rows[:, 0] == np.where(np.arange(32) < 20, 7, 0)).all()
        assert not rows[:, 1].any()


def reference(image, size, block=(32, 1, 1)):
    """What the kernel leaves in its buffer when it is interpreted."""
    memory, buffer = interpret.Buffers(), bytearray(size)
    memory.add(BUFFER, buffer)
    reference_engine.launch(code_object.load(image), "test", memory, (1, 1, 1), block, struct.pack("<Q", BUFFER))
    return bytes(buffer)


PERMUTED, ROUNDS, ADVANCING, LANE, WALKING, STALE, DEEP = texts(__file__)
LANE_OPERATIONS = [line.replace(" ; ", "\n") for line in LANE.splitlines()]


@pytest.mark.parametrize("factor", [1, 5, 7])
@pytest.mark.parametrize("shift", [0, 1, 2, 3, 4])
def test_addresses_of_any_pattern(factor, shift):
    card = Card(capacity=1 << 26)
    image = programs.assembled(PERMUTED.format(factor=factor, shift=shift), lds=1024)
    (fast, _), (plain, _) = (outputs(card, image, 128, fast=f) for f in (True, False))
    assert fast == plain


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 31])
def test_a_loop_of_any_length(count):
    card = Card(capacity=1 << 26)
    image = programs.assembled(ROUNDS.format(count=count), lds=256)
    (fast, report), (plain, _) = (outputs(card, image, 128, fast=f) for f in (True, False))
    lanes = np.concatenate([np.arange(32), np.arange(32)]).astype(np.float64) ** 2
    want = [lanes[i : i + count].sum() for i in range(32)]
    assert np.frombuffer(fast, np.float32).tolist() == want
    assert fast == plain
    assert not report.plain, "every pattern held"


def test_a_loop_that_leaves_the_lds_is_a_fault_in_its_round():
    card = Card(capacity=1 << 26)
    with pytest.raises(KernelFault) as caught:
        outputs(card, programs.assembled(ROUNDS.format(count=40), lds=256), 128)
    assert (caught.value.place.lane, caught.value.address) == (31, 256)


def walked(card, count, step, **options):
    """Of a walk by pointers of two words through a buffer of 100 lines of 32 words."""
    start = 128 * 99 if step < 0 else 0
    text = WALKING.format(count=count, step=step, sign=-(step < 0), start=start)
    image, size = programs.assembled(text), 128 * 100
    buffer = card.memory.allocate(size)
    words = np.random.default_rng(step & 7).integers(0, 1 << 32, size // 4, dtype=np.uint32)
    ctypes.memmove(buffer, words.ctypes.data, size)
    kernel = card.load(image).kernels["test"]
    report = card.launch(kernel, (1, 1, 1), (32, 1, 1), struct.pack("<Q", buffer), **options)
    rows = words.reshape(-1, 32)[:: step // 128][:count]
    sums = (rows << np.arange(count)[::-1, None]).sum(0, dtype=np.uint32), rows.sum(0, dtype=np.uint32)
    return np.array_equal(np.frombuffer(ctypes.string_at(buffer, 256), np.uint32).reshape(2, 32), sums), report


TWICE = """
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_lshlrev_b32 v8, 3, v0
    v_mov_b32 v6, 0
    v_mov_b32 v7, 0
    v_add_nc_u32 v2, 100, v0
    v_add_nc_u32 v3, 200, v0
    ds_store_2addr_b32 v1, v0, v0 offset1:16
    {} v1, v2, v3 offset1:16
    s_waitcnt lgkmcnt(0)
    ds_load_2addr_b32 v[4:5], v1 offset1:16
    s_waitcnt lgkmcnt(0)
    global_store_b64 v8, v[4:5], s[4:5]
    global_store_b64 v8, v[6:7], s[4:5] offset:256
    s_endpgm
"""


@pytest.mark.parametrize("operation", ["ds_store_2addr_b32", "ds_storexchg_2addr_rtn_b32 v[6:7],"])
@pytest.mark.parametrize("cpu", [None, *jit.LEVELS])
def test_all_lanes_of_a_first_address_come_before_the_second(operation, cpu):
    """Where the second address of one lane is the first of another, whatever strip that is in."""
    if not jit.HostTarget(cpu or jit.NATIVE).runs_here:
        pytest.skip(f"this machine is no {cpu}")
    image = programs.assembled(TWICE.format(operation), lds=1024)
    card = Card(capacity=1 << 26, baseline=False, **({"cpu": cpu} if cpu else {}))
    expected = reference(image, 512)
    assert outputs(card, image, 512)[0] == outputs(card, image, 512, fast=False)[0] == expected


@pytest.mark.parametrize("count", [1, 8, 9, 27])
@pytest.mark.parametrize("step", [128, -128, 384, -384])
def test_a_walk_by_pointers_of_any_length(count, step):
    card = Card(baseline=False, capacity=1 << 26)
    right, report = walked(card, count, step)
    assert right
    assert not report.plain, "every pattern held"
    assert walked(card, count, step, fast=False)[0]


@pytest.mark.parametrize("step", [128, -128])
def test_a_walk_that_leaves_its_buffer_is_a_fault_in_its_round(step):
    with pytest.raises(KernelFault) as caught:
        walked(Card(baseline=False, capacity=1 << 26), 101, step)
    assert "global_load_b32 v2" in str(caught.value)
    assert caught.value.place.lane == 0


def random_carries(seed):
    """Sums of pairs of registers and what may be scalars, constants or other registers, with carries of the same pair
    or of another, near the words' ends."""
    pick = random.Random(seed)
    word = lambda: pick.choice((0, 1, 5, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFF0, pick.getrandbits(32)))  # noqa: E731
    lines = ["s_load_b64 s[4:5], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)"]
    lines += [f"s_mov_b32 s{n}, {word()}" for n in range(8, 14)]
    lines += [f"v_add_nc_u32 v{n}, {word()}, v0" for n in range(1, 9)]
    small = lambda: pick.choice((pick.randint(-16, 64), f"s{pick.randint(8, 13)}"))  # noqa: E731
    mostly = lambda usual, others: usual if pick.random() < 0.95 else pick.choice(others)  # noqa: E731
    for step in range(60):
        if step % 12 == 0:
            lines += [f"s_branch .Lbegin{step}", f".Lbegin{step}:"]  # from where on they are registers
        low, carry = pick.choice((1, 3, 5)), pick.choice(("vcc_lo", "s20"))
        high = mostly(low + 1, range(1, 9))
        lines.append(f"v_add_co_u32 v{low}, {carry}, {small()}, v{mostly(low, range(1, 9))}")
        carries = f"{pick.choice(('null', 's21'))}, v{high}, {small()}, {mostly(carry, ('vcc_lo', 's20', 's21'))}"
        lines.append(f"v_add_co_ci_u32 v{high}, {carries}")
        if pick.random() < 0.1:
            lines.append(f"v_cndmask_b32 v{pick.randint(1, 8)}, v1, v2, {carry}")
    lines.append("v_lshlrev_b32 v40, 2, v0")
    lines += [f"global_store_b32 v40, v{i}, s[4:5] offset:{128 * (i - 1)}" for i in range(1, 9)]
    return "\n".join([*lines, "s_endpgm"])


@pytest.mark.parametrize("seed", range(6))
def test_carries_of_any_sums(seed):
    image = programs.assembled(random_carries(seed), vgprs=48)
    want = reference(image, 1024)
    for baseline in (False, True):
        card = Card(baseline=baseline, capacity=1 << 26)
        assert outputs(card, image, 1024)[0] == outputs(card, image, 1024, fast=False)[0] == want


@pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")
@pytest.mark.parametrize("seed", range(3))
def test_a_plain_processor_gives_the_same_bits(seed):
    """Without AVX and FMA: strips of four lanes, fma from the C library."""
    image = programs.assembled(random_program(seed), lds=2048, vgprs=48)
    here, there = (outputs(Card(cpu=cpu, capacity=1 << 26), image, MEMORY)[0] for cpu in ("native", "x86-64"))
    assert here == there


def test_the_last_wave_of_a_block_may_be_partial():
    body = """
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_add_nc_u32 v2, 1, v0
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v2, s[4:5]
    s_endpgm
    """
    out, report = outputs(Card(capacity=1 << 26), programs.assembled(body), 4 * 40, block=(40, 1, 1))
    assert np.frombuffer(out, np.uint32).tolist() == list(range(1, 41))
    assert report.plain


def test_what_is_fetched_ahead_is_not_accessed():
    """A loop that reads to the very end of the buffer: its last round fetches ahead from after the end."""
    card = Card(capacity=1 << 26)
    image = programs.assembled(ADVANCING.format(rounds=4))
    (fast, report), (plain, _) = (outputs(card, image, 4 * 128, fast=f) for f in (True, False))
    assert fast == plain
    assert np.frombuffer(fast, np.uint32)[:32].tolist() == [81] * 32
    assert not report.plain
    with pytest.raises(KernelFault) as caught:
        outputs(card, programs.assembled(ADVANCING.format(rounds=5)), 4 * 128)
    assert caught.value.place.lane == 0
    assert "global_load_b32" in str(caught.value)


@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_strips_side_by_side(bound, tmp_path, monkeypatch):
    """Two strips whose operations wait long for one another: masks that both make, and stores in their order."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = []
    real = registers.Strips._side_by_side
    monkeypatch.setattr(registers.Strips, "_side_by_side", lambda *a: done.append(a) or real(*a))
    tiers._recent.clear()
    image = programs.assembled(DEEP.format(bound=bound))
    fast, _ = outputs(Card(baseline=False, capacity=1 << 24), image, 256)
    assert fast == outputs(Card(baseline=True, capacity=1 << 24), image, 256)[0] == reference(image, 256)
    assert len(done) == (Card(baseline=False).target.strip == 16)
