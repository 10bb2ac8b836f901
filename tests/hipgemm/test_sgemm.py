"""`hipgemm.sgemm`: any size, layout and place; what it refuses; DLPack both ways."""

import ctypes
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.kernels import ladder as kernels
from hipgemm.product import dlpack
from hipgemm.product.arrays import ArrayTypeError, ArrayValueError, Matrix, view
from isa import toolchain
from isa.errors import IsaError


@pytest.fixture(scope="module")
def host_copy(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """kernels_hip/strided_copy.hip as plain C++ on the host."""
    host = Path(__file__).parent / "host"
    out = tmp_path_factory.mktemp("host") / "copy.so"
    flags = ["-std=c++17", "-O1", "-fno-exceptions", "-fno-rtti", "-w", f"-I{host}"]
    toolchain.build_host_library(host / "copy.cpp", out, [*flags, f'-DSOURCE="{kernels.STRIDED_COPY.path}"'])
    return ctypes.CDLL(str(out))


@pytest.mark.parametrize("scale", [1.0, -0.5, 0.0])
@pytest.mark.parametrize(("rows", "columns", "to_rows", "to_columns"), [(3, 5, 3, 5), (1, 40, 9, 64), (70, 33, 40, 7)])
def test_the_copying_kernel(
    host_copy: ctypes.CDLL, rows: int, columns: int, to_rows: int, to_columns: int, scale: float
) -> None:
    source = np.arange(2 * rows * 3 * columns, dtype=np.float32).reshape(2 * rows, 3 * columns)[::2, ::3]
    if scale == 0:
        source[...] = np.nan
    for order in "CF":
        target = np.full((to_rows, to_columns), np.nan, np.float32, order)
        ends = [
            (
                ctypes.c_void_p(x.ctypes.data),
                *(ctypes.c_longlong(s // 4) for s in x.strides),
                *map(ctypes.c_int, x.shape),
            )
            for x in (source, target)
        ]
        grid = -(-to_columns // 32), 2
        host_copy.run(*map(ctypes.c_int, grid), *ends[0], *ends[1], ctypes.c_float(scale))
        wanted = np.zeros((to_rows, to_columns), np.float32)
        inside = (slice(min(rows, to_rows)), slice(min(columns, to_columns)))
        if scale:
            wanted[inside] = scale * source[inside]
        assert (target == wanted).all()


small = st.integers(-6, 6)


@given(st.integers(1, 6), st.integers(1, 6), small, small)
def test_whether_elements_share_memory(rows: int, columns: int, down: int, along: int) -> None:
    places = [i * down + j * along for i, j in itertools.product(range(rows), range(columns))]
    matrix = Matrix(1000, (rows, columns), (4 * down, 4 * along))
    assert matrix.writes_twice == (len(set(places)) < len(places))
    assert matrix.span == (1000 + 4 * min(places), 1000 + 4 * max(places) + 4)


@pytest.mark.parametrize(
    "array", [np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros((5, 6), np.float32)[1::2, ::-2]]
)
def test_dlpack_is_read_as_numpy_writes_it(array: np.ndarray) -> None:
    found = dlpack.borrow(array.__dlpack__())
    assert found.address == array.ctypes.data
    assert found.shape == array.shape
    assert found.strides == array.strides
    assert found.dtype == "float32"
    assert dlpack.borrow(np.zeros(2, np.complex128).__dlpack__()).dtype == "complex128"
    with pytest.raises(TypeError, match="no capsule"):
        dlpack.borrow(object())


class Lent:
    """Host memory offered by the project's own capsules."""

    def __init__(self) -> None:
        self.array = np.arange(12, dtype=np.float32).reshape(3, 4)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU, 0

    def __dlpack__(self, **_: Any) -> Any:
        strides = tuple(s // 4 for s in self.array.strides)
        return dlpack.capsule(self, self.array.ctypes.data, self.array.shape, strides, self.__dlpack_device__())


def test_dlpack_is_written_as_numpy_reads_it() -> None:
    before = len(dlpack._alive)
    lent = Lent()
    taken = np.from_dlpack(lent)
    assert taken.ctypes.data == lent.array.ctypes.data
    assert (taken == lent.array).all()
    assert len(dlpack._alive) == before + 1
    del taken
    assert len(dlpack._alive) == before, "the consumer's deleter gave it back"
    unused = lent.__dlpack__()
    assert len(dlpack._alive) == before + 1
    del unused
    assert len(dlpack._alive) == before, "nobody took it"


def test_an_array_on_the_host_by_dlpack_is_seen_in_place() -> None:
    lent = Lent()
    seen = view("a", lent)
    assert seen.host is not None
    assert seen.host.ctypes.data == lent.array.ctypes.data


def test_errors_are_of_both_roots() -> None:
    for kind, other in ((ArrayTypeError, TypeError), (ArrayValueError, ValueError), (kernels.SizeError, ValueError)):
        assert issubclass(kind, IsaError)
        assert issubclass(kind, other)
    with pytest.raises(ArrayTypeError):
        view("a", SimpleNamespace(__cuda_array_interface__=None))
