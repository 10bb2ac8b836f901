"""The ladder's table: launch geometry, and sizes that a rung refuses by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.kernels import ladder as kernels
from hipgemm.kernels.ladder import LADDER, SizeError
from isa.errors import IsaError
from isa.gemm.vector.parameters import Parameters


def test_the_study_s_eight_rungs_have_their_sources_and_the_others_their_parameters() -> None:
    assert list(LADDER) == [f"kernel{i}" for i in range(1, 11)]
    assert [name for name, rung in LADDER.items() if rung.parameters] == ["kernel9", "kernel10"]
    assert [name for name, rung in LADDER.items() if rung.published is None] == ["kernel9", "kernel10"]
    for rung in list(LADDER.values())[:8]:
        assert (
            f"{rung.function}(const float *A, const float *B, float *C, int M, int N, int K," in rung.path.read_text()
        )


def test_modes_and_pipelines() -> None:
    assert [r.mode for r in LADDER.values()] == ["WGP"] * 4 + ["CU"] * 6
    assert [r.pipeline for r in LADDER.values()][5:] == [
        "bank-balance", "bank-balance,unroll", "bank-balance,unroll,batch-loads", "", "",
    ]  # fmt: skip


def test_an_unknown_kernel_is_answered_with_the_known_ones() -> None:
    with pytest.raises(kernels.UnknownKernel, match=r"kernel1, .*kernel8"):
        kernels.rung("kernel99")


@given(st.sampled_from(list(LADDER.values())), *[st.integers(1, 250)] * 3)
def test_the_grid_covers_c_exactly(rung: kernels.Rung, a: int, b: int, c: int) -> None:
    m, n, k = (size * step for size, step in zip((a, b, c), rung.tile, strict=True))
    rung.check_size(m, n, k)
    (x, y, z), (rows, columns) = rung.grid(m, n), rung.block_tile
    assert (x - 1) * columns < n <= x * columns
    assert (y - 1) * rows < m <= y * rows
    assert z == 1
    threads = rung.block[0] * rung.block[1]
    assert rows * columns % threads == 0


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("kernel8", (4096, 4095, 4096), r"kernel8 cannot take N = 4095(?s:.*)multiple of 128(?s:.*)N = 3968 or 4096"),
        ("kernel9", (128, 128, 2**23), r"kernel9 cannot take K = 8388608(?s:.*)at most 8388607"),
        ("kernel8", (128, 128, 4), r"kernel8 cannot take K = 4(?s:.*)K = 8"),
        ("kernel3", (0, 128, 8), r"kernel3 needs M of at least 128"),
        ("kernel3", (0, 0, 0), r"kernel3 needs N of at least 128"),
        ("kernel1", (1, 1, 0), r"kernel1 needs K of at least 1"),
        ("kernel1", (-5, 1, 1), r"kernel1 needs M of at least 1"),
        ("kernel2", (32, 48, 32), r"multiple of 32"),
        ("kernel1", (1, 2**31 - 1, 1), r"32-bit int"),
        ("kernel1", (65535 * 16 + 1, 1, 1), r"65536 workgroups in y"),
        ("kernel5", (65536, 65536, 8), r"matrix C of 4294967296 elements"),
        ("kernel8", (128, 2**15, 2**15 + 8), r"matrix B of 1074003968 elements"),
    ],
)
def test_what_cannot_be_addressed_is_refused(name: str, size: tuple[int, int, int], message: str) -> None:
    with pytest.raises(SizeError, match=message):
        LADDER[name].check_size(*size)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("kernel1", (1, 1, 1)), ("kernel1", (1000, 7, 13)), ("kernel2", (2**16, 2**20, 2**17)),
        ("kernel5", (128, 2**15, 2**16)), ("kernel8", (384, 128, 64)), ("kernel8", (2**15, 2**15, 2**15)),
    ],
)  # fmt: skip
def test_what_can_be_addressed_is_taken(name: str, size: tuple[int, int, int]) -> None:
    LADDER[name].check_size(*size)


def test_generated_kernels_are_known_by_name() -> None:
    row = kernels.rung("gemm_64x256x8_8x16_l8_g1_s2_nn")
    assert row.parameters == Parameters(rows=64, columns=256, lane_rows=8, group=1)
    assert row.grid(100, 300) == (2, 2, 1)
    assert row.published is None
    with pytest.raises(IsaError, match="rows and columns"):
        kernels.rung("gemm_65x256x8_8x16_l8_g1_s2_nn")
