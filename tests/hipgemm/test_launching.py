"""How GEMM kernels are started: grids, arguments, and whose workspace is whose."""

import subprocess
from collections.abc import Callable

import pytest

from hipgemm.kernels.ladder import LARGEST_TILES, SizeError, rung
from hipgemm.launch.gemm import launch_of
from isa.gemm.vector.work import COUNTERS

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_workgroup_for_each_tile_takes_eight_arguments() -> None:
    launch = launch_of(rung("kernel9"), 300, 130, 8)
    assert (launch.grid, launch.block, launch.workspace_bytes) == ((2, 3, 1), (128, 1, 1), 0)
    assert len(launch.kernarg((1, 2, 3), 1.0, 0.0)) == 44


def test_full_rounds_of_tiles_and_ranges_behind_them() -> None:
    launch = launch_of(rung("kernel10"), 4096, 4096, 4096)
    work = launch.work
    assert work is not None
    assert (work.dealt, work.streamed) == (10 * 96, 1024 % 96)
    assert launch.grid == (32, -(-work.groups // 32), 1)
    assert launch.workspace_bytes == COUNTERS + (work.ranges + 64) * 128 * 128 * 4
    assert len(launch.kernarg((1, 2, 3), 1.0, 0.0, 4)) == 80
    other = launch_of(rung("kernel10"), 4096, 4096, 4096, cus=32).work
    assert other is not None
    assert other.dealt == 1024 - 32


def test_few_tiles_are_streamed_and_short_ranges_are_not_worth_a_workgroup() -> None:
    work = launch_of(rung("kernel10"), 128, 256, 800).work
    assert work is not None
    assert (work.dealt, work.streamed, work.ranges, work.chunk) == (0, 2, 10, 20)
    tiny = launch_of(rung("kernel10"), 1, 1, 1).work
    assert tiny is not None
    assert (tiny.groups, list(tiny.pieces(0))) == (1, [(0, 0, 1)])


def test_more_tiles_than_can_be_numbered_are_refused() -> None:
    side = 128 * 2**15
    launch_of(rung("kernel10"), side, side - 128, 8)
    with pytest.raises(SizeError, match=str(LARGEST_TILES)):
        launch_of(rung("kernel10"), side, side, 8)


def test_each_stream_has_a_workspace_that_grows(run_program: Run) -> None:
    run_program(
        """
import struct
from small_card import *
from hipgemm import simulated_hip
from hipgemm.launch import gemm as gemm_launch
from hipgemm.kernels.build import build
from hipgemm.kernels.ladder import rung
card = SmallCard()
simulated_hip.install(lambda: card)
from hipgemm.measure.device import Device, DeviceError
device = Device.open("simulated")
assert device.cus == 96
function = device.load(build("kernel10").hsaco.read_bytes(), "kernel10")
matrices = [device.buffer(1 << 20) for _ in range(3)]
streams = [None, device.call("hipStreamCreate"), device.call("hipStreamCreate")]

def workspaces(*sizes):
    for stream in streams:
        gemm_launch.start(device, function, rung("kernel10"), [m.address for m in matrices], sizes, 1, 0, stream=stream)
    device.synchronize()
    found = [struct.unpack_from("<Q", kernarg, 48)[0] for _, _, _, kernarg, _ in card.launches]
    for address in found:
        assert not array(card.memory, address, 1024).any()
    card.launches.clear()
    return found

first = workspaces(256, 256, 64)
assert len(set(first)) == 3, "two launches that may run at once need two"
assert workspaces(128, 128, 64) == first, "a smaller launch takes what is there"
workspaces(256, 256, 1024)
mine = gemm_launch._workspaces[device]
assert len(mine) == 3
needed = gemm_launch.launch_of(rung("kernel10"), 256, 256, 1024).workspace_bytes
assert all(buffer.size == needed for buffer in mine.values())

card.launch = lambda *_: (_ for _ in ()).throw(ZeroDivisionError("a mistake in the card itself"))
try:
    gemm_launch.start(device, function, rung("kernel10"), [m.address for m in matrices], (128, 128, 64), 1, 0)
except DeviceError:
    pass
else:
    raise SystemExit("no error")
assert 0 not in gemm_launch._workspaces[device], "nobody knows what its counters hold"
"""
    )
