"""`hipgemm.sgemm`: any size, layout and place; what it refuses; DLPack both ways."""

import ctypes
import itertools
import subprocess
from collections.abc import Callable
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

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
import itertools
from small_card import *
from hipgemm import simulated_hip
import hipgemm
cards = []
def make():
    cards.append(SmallCard())
    return cards[-1]
simulated_hip.install(make)
from hipgemm.product.places import DeviceArray
from hipgemm.measure.device import Device
device = Device.open("simulated")
rng = np.random.default_rng(1)
def random(*shape):
    return rng.standard_normal(shape, dtype=np.float32)
def close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
def launched():
    names = [name for name, *_ in cards[0].launches]
    cards[0].launches.clear()
    return names
def free():
    return cards[0].memory.live.keys() == {cards[0].variable}
"""


def test_any_size_is_right(run_program: Run) -> None:
    run_program(
        START
        + """
sizes = [(1, 1, 1), (2, 3, 5), (1, 200, 9), (129, 1, 8), (128, 128, 8), (130, 257, 17), (32, 32, 31)]
for kernel, (m, n, k) in itertools.product(("kernel1", "kernel2", "kernel5"), sizes):
    a, b, c = random(m, k), random(k, n), random(m, n)
    close(hipgemm.sgemm(a, b, kernel=kernel), a @ b)
    wanted = 1.5 * (a @ b) - 0.5 * c
    assert hipgemm.sgemm(a, b, c, 1.5, -0.5, kernel=kernel) is c
    close(c, wanted)
    c[:] = np.nan
    close(hipgemm.sgemm(a, b, c, kernel=kernel), a @ b)
assert free()
"""
    )


def test_any_layout_on_the_host(run_program: Run) -> None:
    run_program(
        START
        + """
def layouts(x):
    wide = np.full((2 * x.shape[0], 3 * x.shape[1]), np.nan, np.float32)
    wide[::2, 1::3] = x
    yield x
    yield np.asfortranarray(x)
    yield wide[::2, 1::3]
    yield x[::-1, ::-1].copy()[::-1, ::-1]
    off = np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape)
    assert not off.flags.aligned
    yield off
a, b, c0 = random(5, 7), random(7, 6), random(5, 6)
for la, lb, lc in itertools.product(layouts(a), layouts(b), list(layouts(c0))[:4]):
    c = lc[...]
    before = c.copy()
    hipgemm.sgemm(la, lb, c, 2, 3, kernel="kernel1")
    close(c, 2 * (a @ b) + 3 * before)
    c[...] = before
row = np.broadcast_to(random(1, 7), (5, 7))
close(hipgemm.sgemm(row, b, kernel="kernel1"), row @ b)
assert free()
"""
    )


def test_on_the_device_nothing_is_copied_where_the_layout_allows(run_program: Run) -> None:
    run_program(
        START
        + """
class Cai:
    "Another library's array: a view of a device array by __cuda_array_interface__."
    def __init__(self, base, shape, strides, offset=0, **more):
        self.base = base
        address = base.__cuda_array_interface__["data"][0] + 4 * offset
        strides = None if strides is None else tuple(4 * s for s in strides)
        self.__cuda_array_interface__ = dict(shape=shape, typestr="<f4", data=(address, False), strides=strides,
                                             version=3, **more)
a, b, c = random(128, 16), random(16, 256), random(128, 256)
da, db, dc = (DeviceArray.of(x, device) for x in (a, b, c))
assert hipgemm.sgemm(da, db, dc, 2, 1, kernel="kernel5") is dc
close(dc.numpy(), 2 * (a @ b) + c)
assert launched() == ["kernel5"]
# All column-major: the transposed product, in place.
fa, fb = (DeviceArray.of(np.ascontiguousarray(x.T), device) for x in (a, b))
fc = DeviceArray(device, (256, 128))
hipgemm.sgemm(Cai(fa, (128, 16), (1, 128)), Cai(fb, (16, 256), (1, 16)), Cai(fc, (128, 256), (1, 128)),
              kernel="kernel5")
close(fc.numpy().T, a @ b)
assert launched() == ["kernel5"]
# A transposed view of A, every second column of B: one copy each.
made = hipgemm.sgemm(Cai(fa, (128, 16), (1, 128)), Cai(db, (16, 128), (256, 2)), kernel="kernel5")
close(made.numpy(), a @ b[:, ::2])
assert launched() == ["strided_copy", "strided_copy", "kernel5"]
# A part of C that fits no tile: C is padded, and only its own elements change.
whole = dc.numpy()
part = Cai(dc, (100, 50), (256, 1), offset=3 * 256 + 7, stream=1)
hipgemm.sgemm(Cai(da, (100, 16), (16, 1)), Cai(db, (16, 50), (256, 1)), part, 1, 1, kernel="kernel5")
assert launched() == ["strided_copy"] * 3 + ["kernel5", "strided_copy"]
whole[3:103, 7:57] += a[:100] @ b[:, :50]
close(dc.numpy(), whole)
# A negative stride, and a C that shares memory with A.
x = random(128, 128)
dx = DeviceArray.of(x, device)
close(hipgemm.sgemm(Cai(dx, (128, 128), (-128, 1), offset=127 * 128), dx, kernel="kernel5").numpy(), x[::-1] @ x)
hipgemm.sgemm(dx, dx, dx, kernel="kernel5")
close(dx.numpy(), x @ x)
# hip-python's own arrays, and a new array by the from_dlpack of the library that A came from.
h = device.call("hipMalloc", 4 * 6).configure(typestr="float32", shape=(2, 3))
device.call("hipMemcpy", h, np.arange(6, dtype=np.float32), 24, device.hip.hipMemcpyKind(1))
three = DeviceArray.of(np.eye(3, dtype=np.float32), device)
close(hipgemm.sgemm(h, three, kernel="kernel1").numpy(), [[0, 1, 2], [3, 4, 5]])
import sys, types
library = types.ModuleType("library")
library.from_dlpack = lambda x: ("mine", x)
sys.modules["library"] = library
Cai.__module__ = "library.core"
kind, made = hipgemm.sgemm(Cai(da, (128, 16), None), db, kernel="kernel5")
assert kind == "mine" and made.shape == (128, 256)
device.call("hipFree", h)
del da, db, dc, fa, fb, fc, dx, made, part, three
import gc; gc.collect()
assert free()
"""
    )


def test_nothing_and_zero_as_blas_has_it(run_program: Run) -> None:
    run_program(
        START
        + """
nan = lambda *shape: np.full(shape, np.nan, np.float32)
for m, n, k in ((0, 3, 2), (3, 0, 2), (0, 0, 0)):
    assert hipgemm.sgemm(random(m, k), random(k, n)).shape == (m, n)
assert not cards or not cards[0].launches
c = random(3, 4)
before = c.copy()
hipgemm.sgemm(random(3, 0), random(0, 4), c, 1, 2)
close(c, 2 * before)
assert (hipgemm.sgemm(random(3, 0), random(0, 4)) == 0).all(), "an empty sum"
hipgemm.sgemm(nan(3, 5), nan(5, 4), c, 0, 0.5)
close(c, before)
hipgemm.sgemm(nan(3, 5), nan(5, 4), c, 0, 1)
close(c, before)
assert (hipgemm.sgemm(nan(3, 5), nan(5, 4), nan(3, 4), 0, 0) == 0).all()
empty = hipgemm.sgemm(DeviceArray(device, (0, 5)), DeviceArray(device, (5, 4)))
assert empty.shape == (0, 4) and empty.numpy().shape == (0, 4)
three = DeviceArray.of(nan(3, 4), device)
hipgemm.sgemm(DeviceArray(device, (3, 0)), DeviceArray(device, (0, 4)), three)
assert (three.numpy() == 0).all()
"""
    )


def test_what_is_refused_says_what_was_expected(run_program: Run) -> None:
    run_program(
        START
        + """
from isa.errors import IsaError
f, on = random(4, 4), DeviceArray.of(random(4, 4), device)
locked = random(4, 4); locked.flags.writeable = False
class Elsewhere:
    def __dlpack_device__(self): return (7, 0)
    def __dlpack__(self): raise AssertionError
class Unwilling:
    def __dlpack_device__(self): return (10, 0)
    def __dlpack__(self): raise BufferError("it requires grad")
class Foreign:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f4", data=(f.ctypes.data, False), version=3)
class Halves:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f2", data=(0, False), version=3)
class Odd:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f4", data=(2, False), version=3)
class OddStrides:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f4", data=(4, False), strides=(18, 4), version=3)
class Other(DeviceArray):
    def __dlpack_device__(self): return (10, 1)
cases = [
    (TypeError, (f.astype(np.float64), f), "a has the wrong dtype", "float32", "float64"),
    (TypeError, (f, f.astype(">f4")), "b has the wrong dtype", "float32", ">f4"),
    (TypeError, (f, f.astype(int)), "b has the wrong dtype", "float32", "int64"),
    (TypeError, (np.ma.masked_less(f, 0), f), "a is a masked array"),
    (TypeError, (f, f.view([("x", np.float32)])), "b has the wrong dtype", "float32"),
    (TypeError, ([[1.0]], f), "a is not an array", "NumPy", "builtins.list"),
    (TypeError, (f, f, f, "one"), "alpha is not a number", "real", "'one'"),
    (TypeError, (f, f, f, 1, 1j), "beta is not a number", "real", "1j"),
    (TypeError, (Unwilling(), f), "a cannot be used as an array: it requires grad"),
    (TypeError, (Halves(), f), "a has the wrong dtype", "float16"),
    (ValueError, (f[0], f), "a is not a matrix", "2 dimensions", "(4,)"),
    (ValueError, (f, random(3, 4)), "a and b do not fit", "as many columns of a as rows of b", "b (3, 4)"),
    (ValueError, (f, f, random(4, 5)), "c does not fit", "(4, 4)", "(4, 5)"),
    (ValueError, (f, f, locked), "c is read-only"),
    (ValueError, (f, f, None, 1, 2), "no c for beta"),
    (ValueError, (f, f, np.lib.stride_tricks.as_strided(f, (4, 4), (4, 4))), "share their memory"),
    (ValueError, (f, on), "different memories", "a on the host, b on the device"),
    (ValueError, (on, on, f), "different memories", "c on the host"),
    (ValueError, (Elsewhere(), f), "in memory that HIP cannot access", "device type 7"),
    (ValueError, (Foreign(), on), "a is not in memory of 7900 XTX simulated", "$ROCM_PATH"),
    (ValueError, (on, Other(device, (4, 4))), "b is not in memory of", "on device 1"),
    (ValueError, (Odd(), on), "a is not aligned"),
    (ValueError, (OddStrides(), on), "strides of part of an element"),
]
for kind, arguments, *said in cases:
    try:
        hipgemm.sgemm(*arguments, kernel="kernel1")
    except kind as error:
        assert isinstance(error, IsaError), said
        for words in said:
            assert words in str(error), (words, str(error))
    else:
        raise SystemExit(f"not refused: {said}")
try:
    hipgemm.sgemm(f, f, kernel="kernel99")
except IsaError as error:
    assert "there is no kernel" in str(error)
"""
    )


def test_kernel8_and_its_padding_on_the_simulator(run_program: Run) -> None:
    run_program(
        """
import numpy as np
import hipgemm
rng = np.random.default_rng(0)
for m, n, k, kernel in ((130, 257, 17, "kernel8"), (1, 300, 40, "auto"), (1, 1, 1, "kernel8")):
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((n, k), dtype=np.float32).T
    c = rng.standard_normal((m, n), dtype=np.float32)
    wanted = 1.5 * (a @ b) - 0.5 * c
    assert hipgemm.sgemm(a, b, c, 1.5, -0.5, kernel, device="simulated") is c
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)
"""
    )


@pytest.fixture(scope="module")
def host_copy(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """kernels_hip/strided_copy.hip as plain C++ on the host."""
    host = Path(__file__).parent / "host"
    out = tmp_path_factory.mktemp("host") / "copy.so"
    flags = ["-x", "c++", "-std=c++17", "-O1", "-fno-exceptions", "-fno-rtti", "-w", f"-I{host}"]
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
