"""`hipgemm.sgemm` against BLAS's rules for whatever sizes, views and scalars come, and with other libraries' arrays."""

import importlib.util
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
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
def blas(a, b, c, alpha, beta):
    "SGEMM in float64, by its words: what a zero scalar stands before is not read."
    scaled = np.zeros_like(c, np.float64) if beta == 0 else np.float64(F32(beta)) * c
    if alpha == 0 or a.shape[1] == 0:
        return scaled
    return np.float64(F32(alpha)) * (a.astype(np.float64) @ b) + scaled
"""

PROPERTY = """
from hypothesis import given, settings, strategies as st

sizes = st.one_of(st.integers(0, 6), st.sampled_from([31, 33, 127, 128, 129]))
steps = st.sampled_from([1, 1, 2, 3, -1, -2])
scalars = st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.5, 1e-60, float("nan"), float("inf")])

@st.composite
def views(draw, rows, columns, nans=False):
    "Rows by columns of a larger matrix, forwards or backwards with gaps, transposed or not; NaN in the gaps."
    flip, down, along = draw(st.booleans()), draw(steps), draw(steps)
    lines, places = (columns, rows) if flip else (rows, columns)
    whole = np.full((lines * abs(down) + 2, places * abs(along) + 3), np.nan, F32)
    part = whole[1 : 1 + lines * abs(down)][::down][:, 2 : 2 + places * abs(along)][:, ::along]
    assert part.shape == (lines, places)
    seed = draw(st.integers(0, 2**32 - 1))
    if not nans:
        part[...] = np.random.default_rng(seed).integers(-9, 10, part.shape)
    return part.T if flip else part

@st.composite
def problems(draw):
    m, n, k = draw(sizes), draw(sizes), draw(sizes)
    alpha, beta = draw(scalars), draw(scalars)
    unread = alpha == 0 and draw(st.booleans())
    a, b = draw(views(m, k, unread)), draw(views(k, n, unread))
    c = draw(views(m, n, beta == 0))
    if m == n == k and draw(st.booleans()):
        c = draw(st.sampled_from([a, b, a.T]))  # C is A itself, B itself, or A the other way round
    kernel = draw(st.sampled_from(["kernel1", "kernel2", "kernel8", "kernel9"]))
    return a, b, c, alpha, beta, kernel

def agree(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-3)
"""


def test_blas_rules_for_any_view_on_the_host(run_program: Run) -> None:
    run_program(
        START
        + PROPERTY
        + """
@settings(max_examples=300, deadline=None, derandomize=True)
@given(problems())
def host(problem):
    a, b, c, alpha, beta, kernel = problem
    with np.errstate(all="ignore"):
        wanted = blas(a, b, c, F32(alpha), F32(beta))
        untouched = c.base.copy() if c.base is not None else None
        assert hipgemm.sgemm(a, b, c, alpha, beta, kernel=kernel, device=device) is c
    agree(c, wanted)
    if untouched is not None and c.size:  # nothing beside the elements of C
        marked = np.zeros(c.base.shape, bool)
        strides = [s // 4 for s in c.strides]
        np.lib.stride_tricks.as_strided(marked.reshape(-1)[offset(c):], c.shape, strides)[...] = True
        np.testing.assert_array_equal(c.base[~marked], untouched[~marked])
def offset(c):
    return (c.__array_interface__["data"][0] - c.base.__array_interface__["data"][0]) // 4
host()
assert cards[0].memory.live.keys() == {cards[0].variable}
"""
    )


def test_blas_rules_for_any_view_on_the_device(run_program: Run) -> None:
    run_program(
        START
        + PROPERTY
        + """
class There:
    "The same view of the same matrix, moved to the device."
    def __init__(self, array):
        base = array if array.base is None else array.base
        self.whole = DeviceArray.of(base.reshape(base.shape), device)
        at = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        self.shape, self.strides = array.shape, array.strides
        address = self.whole.__cuda_array_interface__["data"][0] + at
        self.__cuda_array_interface__ = dict(shape=array.shape, typestr="<f4", data=(address, False),
                                             strides=array.strides, version=3)
        self.at = at // 4
    def back(self):
        whole = self.whole.numpy().reshape(-1)
        return np.lib.stride_tricks.as_strided(whole[self.at:], self.shape, self.strides)

@settings(max_examples=200, deadline=None, derandomize=True)
@given(problems())
def there(problem):
    a, b, c, alpha, beta, kernel = problem
    da, db = There(a), There(b)
    dc = da if c is a else db if c is b else There(c)
    with np.errstate(all="ignore"):
        wanted = blas(a, b, c, F32(alpha), F32(beta))
        hipgemm.sgemm(da, db, dc, alpha, beta, kernel=kernel, device=device)
    if c.size:
        agree(dc.back(), wanted)
there()
"""
    )


def test_older_dlpack_may_be_written_to_if_its_library_says_so(run_program: Run) -> None:
    """NumPy takes what comes by DLPack before version 1 for read-only."""
    run_program(
        START
        + """
from hipgemm.product import dlpack
class Older:
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **_):
        return dlpack.capsule(self, self.array.ctypes.data, self.array.shape, dlpack.compact(self.array.shape), (1, 0))
class Knowing(Older):
    def __array__(self, dtype=None, copy=None): return self.array
a = np.ones((3, 3), F32)
c = np.ones((3, 3), F32)
hipgemm.sgemm(a, Older(a), Knowing(c), 1, 1, kernel="kernel1", device=device)
assert (c == 4).all()
c.flags.writeable = False
for one in (Older(c), Knowing(c)):
    try:
        hipgemm.sgemm(a, a, one, kernel="kernel1", device=device)
    except ValueError as error:
        assert "c is read-only" in str(error)
    else:
        raise SystemExit("written to")
"""
    )


TORCH = """
import torch
def refused(kind, *arguments):
    try:
        hipgemm.sgemm(*arguments, kernel="kernel1", device=device)
    except kind as error:
        return str(error)
    raise SystemExit("not refused")
a, b, c = torch.randn(5, 7), torch.randn(7, 6), torch.randn(6, 5).T
wanted = 2 * (a @ b) + 3 * c
assert hipgemm.sgemm(a, b, c, 2, 3, kernel="kernel1", device=device) is c
torch.testing.assert_close(c, wanted)
made = hipgemm.sgemm(a, b, kernel="kernel1", device=device)
assert type(made) is np.ndarray
close = np.testing.assert_allclose(made, (a @ b).numpy(), rtol=1e-4, atol=1e-5)
assert "requir" in refused(TypeError, a.clone().requires_grad_(), b)
assert "float64" in refused(TypeError, a.double(), b)
assert "bfloat16" in refused(TypeError, a.bfloat16(), b)
assert "a cannot be used as an array" in refused(TypeError, a.to("meta"), b)
assert "a cannot be used as an array" in refused(TypeError, a.to_sparse(), b)
assert "a is a view that negates" in refused(TypeError, torch.complex(a, a).conj().imag, b)
assert "share their memory" in refused(ValueError, a, b, torch.ones(1, 1).expand(5, 6))
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_on_the_host(run_program: Run) -> None:
    run_program(START + TORCH)


@pytest.mark.skipif(importlib.util.find_spec("ml_dtypes") is None, reason="ml_dtypes is not installed")
def test_a_dtype_that_numpy_does_not_know_is_named(run_program: Run) -> None:
    run_program(
        START
        + """
import ml_dtypes
try:
    hipgemm.sgemm(np.ones((2, 2), ml_dtypes.bfloat16), np.ones((2, 2), F32), device=device)
except TypeError as error:
    assert "bfloat16" in str(error), error
else:
    raise SystemExit("not refused")
"""
    )
