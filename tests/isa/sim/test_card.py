"""The simulated card runs code objects: right results, launches as the descriptor asks, faults that tell where."""

import os
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import programs
import pytest
import reference_engine
from texts import texts

import kernels_hip
from isa.errors import IsaError
from isa.object import code_object
from isa.sanitize import observe
from isa.sim.run import arguments, interpret
from isa.sim.run.card import Card
from isa.sim.run.faults import BudgetSpent, KernelFault, LaunchError, LdsFault, RegisterFault
from isa.sim.run.memory import OutOfMemory

SOURCES = Path(kernels_hip.__file__).parent
BLOCK = {1: (16, 16), 2: (32, 32), 3: (256, 1), 4: (256, 1), 5: (128, 1)}
TILE = {1: 16, 2: 32, 3: 128, 4: 128, 5: 128}


@pytest.fixture
def card():
    return Card(capacity=1 << 30)


def launch(card, image, buffer, grid=(1, 1, 1), block=(32, 1, 1), **options):
    module = card.load(image)
    return card.launch(module.kernels["test"], grid, block, struct.pack("<Q", buffer), **options)


def gemm(card, number, size, alpha, beta, flags, seed=1, **options):
    """(what the kernel made of C, the reference in float64)."""
    m, n, k = size
    source = next(SOURCES.glob(f"kernel{number}_*.hip"))
    image = programs.compiled(source, flags, number >= 5, SOURCES / "include")
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
    c = rng.standard_normal((m, n), dtype=np.float32) if beta else np.full((m, n), np.nan, np.float32)
    at = programs.put(card, a, b, c)
    kernel = card.load(image).kernels[f"kernel{number}"]
    grid = (-(-n // TILE[number]), -(-m // TILE[number]), 1)
    card.launch(kernel, grid, (*BLOCK[number], 1), struct.pack("<QQQiiiff", *at, m, n, k, alpha, beta), **options)
    reference = alpha * (a.astype(np.float64) @ b)
    return programs.held(at[2], c), reference + beta * c if beta else reference


@pytest.mark.parametrize("size", [(128, 128, 128), (384, 128, 64)])
@pytest.mark.parametrize("scale", [(1.0, 0.0), (1.5, -0.5), (0.0, 1.0)])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_the_compiled_ladder_is_right(card, number, scale, size):
    c, reference = gemm(card, number, size, *scale, ("-O3",))
    np.testing.assert_allclose(c, reference, atol=1e-6 * size[2])


@pytest.mark.parametrize("number", [1, 2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_other_optimisation_levels_are_right(card, number, level):
    """-O0 keeps each variable in scratch and calls through s_swappc."""
    c, reference = gemm(card, number, (128, 128, 32), 1.5, -0.5, (level,))
    np.testing.assert_allclose(c, reference, atol=1e-4)


def test_kernel_1_leaves_lanes_outside_the_matrix_alone(card):
    c, reference = gemm(card, 1, (37, 51, 19), 1.5, -0.5, ("-O3",))
    np.testing.assert_allclose(c, reference, atol=1e-4)


@pytest.mark.parametrize("number", [1, 3, 5])
def test_fast_and_plain_give_the_same_bits(card, number):
    fast, plain = (gemm(card, number, (128, 256, 64), 1.5, -0.5, ("-O3",), fast=f)[0] for f in (True, False))
    assert fast.tobytes() == plain.tobytes()


def test_one_thread_and_two_give_the_same_bits(card):
    one, two = (gemm(card, 3, (256, 256, 32), 1.0, 0.0, ("-O3",), threads=t)[0] for t in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_threads_are_kept_and_no_more_used_than_there_is_work_for(card):
    kernel = card.load(programs.assembled("s_endpgm")).kernels["test"]

    def launched(groups, group_s=0.0):
        kernel.group_s = group_s
        return card.launch(kernel, (groups, 1, 1), (32, 1, 1), bytes(8)).threads

    launched(64)
    before = threading.active_count()
    assert launched(64, 1e-9) == 1
    assert kernel.group_s > 0
    assert launched(64, 1.0) == min(64, len(os.sched_getaffinity(0)))
    assert threading.active_count() <= before + len(os.sched_getaffinity(0))
    child = os.fork()  # in which no thread is left
    if not child:
        os._exit(launched(3) < 1)
    assert os.waitpid(child, 0)[1] == 0


# --- counters of the hardware

CLOCKS, WIDENED, FUNCTIONS, PLACES, NUMBERS, SHAPES = texts(__file__)


def test_clocks_count_instructions_on_both_engines(card):
    image, expected = programs.assembled(CLOCKS), bytearray(20)
    memory = interpret.Buffers()
    memory.add(0x5000_0000, expected)
    reference_engine.launch(
        code_object.load(image), "test", memory, (1, 1, 1), (32, 1, 1), struct.pack("<Q", 0x5000_0000)
    )
    told = np.frombuffer(expected, np.uint32)
    assert told[0] == 5  # each reading is above the one before
    assert told[1] > 4 * 10
    assert told[3] == 0 < told[1] < told[2] < 100
    for fast in (True, False):
        out = np.zeros(5, np.uint32)
        (buffer,) = programs.put(card, out)
        launch(card, image, buffer, fast=fast)
        found = programs.held(buffer, out)
        assert found[0] == 5
        assert found[3] == 0
        assert (found[1:3] >= told[1:3]).all()  # where a block begins again, some are counted twice
        assert (found[1:3] < told[1:3] + 40).all()
        assert found[4] < 8


def test_places_of_waves_differ(card):
    out = np.zeros((8, 64), np.uint32)
    (buffer,) = programs.put(card, out)
    launch(card, programs.assembled(PLACES), buffer, grid=(8, 1, 1), block=(64, 1, 1))
    found = programs.held(buffer, out)
    assert len(np.unique(found)) == 16
    assert (found[:, :1] == found[:, :32]).all()


# --- faults

STORE = """
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v2, 7
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v2, s[4:5] {offset}
    s_endpgm
"""


def test_a_store_behind_the_end_names_its_lane(card):
    out = np.zeros(20, np.uint32)
    (buffer,) = programs.put(card, out)
    with pytest.raises(KernelFault) as caught:
        launch(card, programs.assembled(STORE.format(offset="")), buffer, threads=1)
    assert caught.value.place.lane == 20
    assert caught.value.address == buffer + 80
    text = str(caught.value)
    assert "kernel test" in text
    assert "global_store_b32" in text
    assert "workgroup (0, 0, 0)" in text
    assert f"{buffer:#x}" in text


@pytest.mark.parametrize("launches", [1, 300])
def test_a_store_before_the_start_is_a_fault_of_the_workgroup_that_began_first(card, launches):
    (buffer,), image = programs.put(card, np.zeros(32, np.uint32)), programs.assembled(STORE.format(offset="offset:-4"))
    for _ in range(launches):
        with pytest.raises(KernelFault, match=r"workgroup \(0, 0, 0\)") as caught:
            launch(card, image, buffer, grid=(64, 1, 1), threads=4)
        assert caught.value.address == buffer - 4


def test_a_store_that_fits_is_no_fault(card):
    out = np.zeros(32, np.uint32)
    (buffer,) = programs.put(card, out)
    launch(card, programs.assembled(STORE.format(offset="")), buffer)
    assert (programs.held(buffer, out) == 7).all()


@pytest.mark.parametrize(
    ("size", "load", "fits"),
    [
        (28, "s_load_b256 s[8:15], s[4:5], 0x0", True),
        (12, "s_load_b128 s[8:11], s[4:5], 0x0", True),
        (20, "s_load_b128 s[8:11], s[4:5], 0x8", True),
        (5, "s_load_b32 s8, s[4:5], 0x4", True),
        (16, "s_load_b256 s[8:15], s[4:5], 0x0", False),
        (4, "s_load_b64 s[8:9], s[4:5], 0x0", False),
        (8, "s_load_b32 s8, s[4:5], 0x8", False),
        (4096, "s_load_b128 s[8:11], s[4:5], 0xff8", False),
    ],
)
def test_a_widened_scalar_load_may_end_outside(card, size, load, fits):
    """If more than half of it is inside, of a dword the first byte. Both engines read the same of what is inside."""
    data = np.arange(1, size + 1, dtype=np.uint8)
    code = programs.assembled(WIDENED.format(load=load, first=8))
    (buffer,) = programs.put(card, data)
    memory, held = interpret.Buffers(), bytearray(data)
    memory.add(buffer, held)
    read, kernarg = code_object.load(code), struct.pack("<Q", buffer)
    with nullcontext() if fits else pytest.raises(KernelFault, match="outside"):
        launch(card, code, buffer)
    with nullcontext() if fits else pytest.raises(IsaError, match="outside"):
        reference_engine.launch(read, "test", memory, (1, 1, 1), (32, 1, 1), kernarg)
    offset = int(load.split()[-1], 16)
    inside = min(4, size - offset) if fits else 0
    assert held[:inside] == bytes(programs.held(buffer, data))[:inside] == bytes(data[offset : offset + inside])


@pytest.mark.parametrize("called", ["small", "large"])
def test_a_function_that_needs_more_registers_is_a_fault_where_it_is_called(card, called):
    body = f"""
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, {called}@rel32@lo+4
    s_addc_u32 s5, s5, {called}@rel32@hi+12
    s_swappc_b64 s[30:31], s[4:5]
    s_endpgm
    """
    code = programs.assembled(body, FUNCTIONS)
    if called == "small":
        launch(card, code, 0)
    else:
        with pytest.raises(RegisterFault, match="v43 is beyond the wave's allocated registers"):
            launch(card, code, 0)


LDS = "v_mov_b32_e32 v1, 0x3fd\nds_load_b32 v2, v1\ns_waitcnt lgkmcnt(0)"
FAULTS = {
    "what is not simulated": (
        "s_getreg_b32 s3, hwreg(HW_REG_STATUS)", IsaError, r"not simulated(.|\n)*expected: .*SHADER_CYCLES",
    ),
    "a message that is not": (
        "s_sendmsg_rtn_b32 s3, sendmsg(MSG_RTN_GET_DOORBELL)", IsaError, r"not simulated(.|\n)*expected: .*REALTIME",
    ),
    "a wild scalar load": ("s_mov_b64 s[4:5], 0\ns_load_b32 s6, s[4:5], 0x10", KernelFault, "s_load_b32"),
    "LDS beyond the workgroup's": (LDS, LdsFault, "outside the workgroup's LDS"),
    "an unknown jump": ("s_mov_b64 s[4:5], 0\ns_setpc_b64 s[4:5]", KernelFault, "jump"),
    "an instruction nobody described": (
        "image_load v[0:3], v[4:5], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D", IsaError, "image_load",
    ),
    "bytes that are none": ("s_nop 0\n.long 0x7fffffff", IsaError, r"0x\w+ is not an instruction(.|\n)*ff ff ff 7f"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_named(card, name):
    body, kind, said = FAULTS[name]
    with pytest.raises(kind, match=said):
        launch(card, programs.assembled(f"{body}\ns_endpgm", lds=1024), 0)


def test_dynamic_lds_is_lds_and_what_nobody_comes_to_is_no_instruction(card):
    launch(card, programs.assembled(f"{LDS}\ns_endpgm", lds=1024), 0, dynamic_lds=16)
    launch(card, programs.assembled("s_endpgm\n.long 0x7fffffff"), 0)


def test_a_loop_without_end_is_ended_by_its_budget(card):
    with pytest.raises(BudgetSpent, match="s_nop"):
        launch(card, programs.assembled(".Lagain:\ns_nop 0\ns_branch .Lagain\ns_endpgm"), 0, budget=100_000)


def test_a_trap_is_a_fault(card):
    """Where a wave comes to it, and only there; behind it compilers tell the host's driver in their own way."""
    behind = """
        s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)
        s_mov_b32 ttmp2, m0
        s_sendmsg sendmsg(MSG_INTERRUPT)
        .Lhalt:
        s_sethalt 5
        s_branch .Lhalt
        """
    image = programs.assembled(f"s_cmp_eq_u32 s2, 1\ns_cbranch_scc0 .Lend\ns_trap 2\n{behind}.Lend:\ns_endpgm")
    launch(card, image, 0)
    with pytest.raises(KernelFault, match=r"`s_trap 2`, workgroup \(1, 0, 0\), wave 0: the kernel traps"):
        launch(card, image, 0, grid=(2, 1, 1))


@pytest.mark.parametrize(
    ("grid", "block", "lds", "what"),
    [
        ((0, 1, 1), (32, 1, 1), 0, "at least one"),
        ((1, 1, 1), (1025, 1, 1), 0, "too many"),
        ((1, 1, 1), (32, 1, 1), 1 << 16, "LDS"),
        ((1 << 20, 1 << 12, 2), (32, 1, 1), 0, "would take days"),
    ],
)
def test_launches_that_cannot_be(card, grid, block, lds, what):
    with pytest.raises(LaunchError, match=what):
        launch(card, programs.assembled("s_endpgm"), 0, grid=grid, block=block, dynamic_lds=lds)


# --- what a wave begins with


def test_work_items_and_workgroups_are_numbered(card):
    out = np.zeros((2, 3, 5, 8), np.uint32)
    (buffer,) = programs.put(card, out)
    launch(card, programs.assembled(NUMBERS), buffer, grid=(3, 2, 1), block=(8, 5, 1))
    y, x, ty, tx = np.indices(out.shape)
    assert (programs.held(buffer, out) == y << 24 | x << 16 | ty << 8 | tx).all()


def test_last_workgroups_have_the_work_items_that_are_left(card):
    """97 by 7 work-items in workgroups of 40 by 3: each adds 1 to its workgroup's sum, which all store."""
    image, shape = programs.assembled(SHAPES), {"grid": (3, 3, 1), "block": (40, 3, 1), "last": (17, 1, 1)}
    sizes = [np.minimum(n - np.arange(n) // b * b, b) for n, b in ((7, 3), (97, 40))]
    expected = np.outer(*sizes).astype(np.uint32)
    for fast in (True, False):
        out = np.zeros((7, 97), np.uint32)
        (buffer,) = programs.put(card, out)
        launch(card, image, buffer, fast=fast, **shape)
        assert (programs.held(buffer, out) == expected).all()
    memory, held = interpret.Buffers(), bytearray(out.nbytes)
    memory.add(0x5000_0000, held)
    reference_engine.launch(code_object.load(image), "test", memory, kernarg=struct.pack("<Q", 0x5000_0000), **shape)
    assert (np.frombuffer(held, np.uint32).reshape(out.shape) == expected).all()
    (buffer,) = programs.put(card, out)
    kernarg = struct.pack("<Q", buffer)
    seen = observe(card, card.load(image).kernels["test"], kernarg=kernarg, unwritten=[(buffer, out.nbytes)], **shape)
    assert {f.id for f in seen.findings if f.severity == "fault"} == {"LDS003"}  # nobody writes the sum's first value
    assert (programs.held(buffer, out) == expected).all()


def test_kernels_learn_which_workgroups_are_whole():
    told = arguments.hidden((3, 3, 1), (40, 3, 1), 0, (17, 1, 1))
    names = ("hidden_block_count", "hidden_group_size", "hidden_remainder")
    assert [[told[f"{name}_{axis}"] for axis in "xyz"] for name in names] == [[2, 2, 1], [40, 3, 1], [17, 1, 0]]
    packet = arguments.dispatch_packet((3, 3, 1), (40, 3, 1), 0, 0, 0, (17, 1, 1))
    assert struct.unpack_from("<3H", packet, 4) == (40, 3, 1)
    assert struct.unpack_from("<3I", packet, 12) == (97, 7, 1)


def test_memory_is_counted_and_given_back(card):
    size = card.memory.capacity // 2
    first, _ = card.memory.allocate(size), card.memory.allocate(size)
    with pytest.raises(OutOfMemory):
        card.memory.allocate(1)
    card.memory.free(first)
    assert card.memory.allocate(size) == first
    assert first % 256 == 0
    assert card.memory.find(first + size - 1) == (first, size)
    assert card.memory.find(first + size) is None


# Who is started in the background of a shell ignores SIGINT.
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def interrupted(code, *arguments, after):
    """What Python says when Ctrl-C ends code that prints "ready" first, and that nothing else would end."""
    command = [sys.executable, "-c", HEARD + code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=600)  # only what hangs is given up
        finally:
            process.kill()
    return errors


def test_ctrl_c_ends_a_launch(tmp_path):
    image = tmp_path / "endless.hsaco"
    image.write_bytes(programs.assembled(".Lagain:\ns_nop 0\ns_branch .Lagain\ns_endpgm"))
    code = (
        "import pathlib, sys\nfrom isa.sim.run.card import Card\ncard = Card()\n"
        "kernel = card.load(pathlib.Path(sys.argv[1]).read_bytes()).kernels['test']\n"
        "kernel.tiers(card.target, switches=True).version(True)\nprint('ready', flush=True)\n"
        "card.launch(kernel, (4, 1, 1), (32, 1, 1), bytes(8))\n"
    )
    assert "KeyboardInterrupt" in interrupted(code, image, after=0.5)


def test_ctrl_c_ends_a_long_translation():
    code = (
        "import ctypes, isa.sim.ir.jit as jit\njit._compile = lambda *_: ctypes.CDLL(None).sleep(10**6)\n"
        "print('ready', flush=True)\njit.compile_ir('', jit.HostTarget())\n"
    )
    assert "KeyboardInterrupt" in interrupted(code, after=0.2)
