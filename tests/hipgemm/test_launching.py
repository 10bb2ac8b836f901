"""How GEMM kernels are started: grids, arguments, and whose workspace is whose."""

import pytest

from hipgemm.kernels.ladder import SizeError, rung
from hipgemm.launch.gemm import launch_of
from isa.gemm.vector.work import COUNTERS


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
    side = 128 * 5787
    launch_of(rung("kernel10"), side, side - 128, 8)
    with pytest.raises(SizeError, match="at most"):
        launch_of(rung("kernel10"), side, side, 8)
