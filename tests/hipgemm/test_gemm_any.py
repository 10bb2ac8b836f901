"""`hipgemm.gemm` with any library's arrays, on the host or the device, however they lie: against BLAS's rules in
float64, on a card whose kernels are Python functions; on the simulated card; with PyTorch."""

import importlib.util
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

import hipgemm
from hipgemm import Weights
from hipgemm.measure.device import Device
from hipgemm.product.arrays import Matrix, view
from hipgemm.product.compute import element_copy
from hipgemm.product.places import DeviceArray

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
from matrix_card import *
from hipgemm import simulated_hip
from hipgemm.product import dlpack
from hipgemm.product import compute
import hipgemm
cards = []
def make():
    cards.append(MatrixCard())
    return cards[-1]
simulated_hip.install(make)
from hipgemm.product.places import DeviceArray
device = Device.open("simulated")
loaded = {}
def function(device, source):
    if source.name not in loaded:
        loaded[source.name] = cards[0].function(device, source)
    return loaded[source.name]
compute.function = function
device.buffer(4).free()  # the card comes with the first memory
NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i4": "uint8", "i32": "int32"}
def launched():
    names = [name for name, *_ in cards[0].launches]
    cards[0].launches.clear()
    return names

class Of:
    "Another library's array: a view of stored elements that it keeps, `whole`, on the host or on the device."
    def __init__(self, whole, part, dtype, there=False, by="dlpack", device_number=0):
        self.shape, self.strides, self.dtype, self.there = part.shape, part.strides, dtype, there
        self.whole = DeviceArray.of(whole, device) if there else whole
        self.at = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        start = self.whole.__cuda_array_interface__["data"][0] if there else whole.ctypes.data
        self.address, self.stored, self.part = start + self.at, part.dtype, part
        if by == "dlpack":
            self.__dlpack_device__ = lambda: (10 if there else 1, device_number)
            self.__dlpack__ = self.capsule
        else:
            typestr = "<V2" if dtype == "bfloat16" else np.dtype(dtype).str
            self.__cuda_array_interface__ = dict(shape=self.shape, typestr=typestr, data=(self.address, False),
                                                 strides=self.strides, version=3)
    def capsule(self, **_):
        if not self.there:  # NumPy's own, which knows no bfloat16
            made = self.part.__dlpack__(max_version=(1, 0))
            at = dlpack._pointer(id(made), b"dltensor_versioned")
            if self.dtype == "bfloat16":
                dlpack._ManagedVersioned.from_address(at).tensor.dtype.code = 4
            return made
        steps = tuple(s // self.stored.itemsize for s in self.strides)
        return dlpack.capsule(self, self.address, self.shape, steps, self.__dlpack_device__(), self.dtype)
    def all(self):
        return self.whole.numpy() if self.there else self.whole
    def back(self):
        if 0 in self.shape:
            return np.empty(self.shape, self.stored)
        base = np.ndarray((1,), self.stored, self.all().reshape(-1).view(np.uint8)[self.at :])
        return np.lib.stride_tricks.as_strided(base, self.shape, self.strides)
"""

PROPERTY = """
from hypothesis import given, settings, strategies as st
from hipgemm.launch.elements import ELEMENTS, Epilogue

sizes = st.one_of(st.integers(0, 5), st.sampled_from([15, 16, 17, 40, 128]))
steps = st.sampled_from([1, 1, 1, 1, 2, 3, -1, -2])
RAW = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i8": "|i1", "i4": "|u1", "i32": "<i4"}

@st.composite
def views(draw, kind, shape, values=None, apart=None):
    "Values as a view of a larger array: axes in any order, forwards or backwards, with gaps; ones everywhere else."
    order = draw(st.permutations(range(len(shape))))
    each = [draw(steps) for _ in shape]
    whole = np.frombuffer(b"\\xff" * 4, RAW[kind])[0]
    whole = np.full([shape[i] * abs(each[i]) + draw(st.integers(0, 2)) for i in order], whole)
    part = whole[tuple(slice(0, shape[i] * abs(each[i])) for i in order)]
    part = part[tuple(slice(None, None, each[i]) for i in order)].transpose(np.argsort(order))
    assert part.shape == tuple(shape)
    if values is not None:
        part[...] = values
    return whole, part

@st.composite
def problems(draw):
    kind = draw(st.sampled_from(["f16", "bf16", "i8", "i4"]))
    result = draw(st.sampled_from(["f32", "f16", "bf16"] + ["i32"] * 3 * (kind[0] == "i")))
    m, n, k = draw(sizes), draw(sizes), draw(sizes)
    stacks = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 1), (3, 0), (0, 2), (2, 2), (1, 3), (3, 1)]))
    same = kind[-3:] == "f16" and draw(st.booleans())  # C is A, or B
    if same:
        result, m, n, stacks = kind, k, k, (0, 0)
    alpha = draw(st.sampled_from([1, 1, 1, 2, -1, 0]))
    beta = draw(st.sampled_from([0, 0, 1, -2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    element = ELEMENTS[kind]
    pack, unread = element.pack, alpha == 0 and draw(st.booleans())
    factors, made = [], []
    for axis, stack, (rows, columns) in zip((-1, -2), stacks, ((m, k * pack), (k * pack, n))):
        shape = (*[stack] * (stack > 0), rows, columns)
        numbers = rng.integers(-2, 3, shape)
        stored = element.stored(numbers.astype(np.float64 if element.integer else np.float32))
        stored = element.packed(stored, axis)
        made.append(draw(views(kind, stored.shape, None if unread else stored.view(RAW[kind]))))
        factors.append(numbers)
    product = alpha * np.matmul(*factors).astype(np.float64)
    integer = result == "i32"
    c = rng.integers(-3, 4, product.shape)
    stored = ELEMENTS[result].stored(c.astype(np.float64 if integer else np.float32))
    gate = beta == 0 and not integer and draw(st.booleans())
    whole = draw(views(result, c.shape, stored if beta or gate else None))
    aliased = draw(st.sampled_from([0, 1])) if same and not unread else None
    if aliased is not None:
        whole, c = made[aliased], factors[aliased]
    epilogue = Epilogue(draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from(["", "relu"])), gate)
    vectors = {name: rng.integers(-2, 3, size) for name, size in epilogue.lengths(m, n).items()}
    x = product
    if epilogue.scales:
        x = x * vectors["row_scale"][:, None] * vectors["column_scale"]
    x = x + (beta * c if beta else 0)
    if epilogue.bias:
        x = x + vectors["bias"]
    x = np.maximum(x, 0) if epilogue.activation and not integer else x
    x = x * c if gate else x
    if integer:
        epilogue, vectors = Epilogue(), {}
        x = product + (beta * c if beta else 0)
    lent = {name: draw(views("f32", v.shape, v)) for name, v in vectors.items()}
    return kind, result, made, whole, aliased, (alpha, beta), epilogue, lent, x

def check(problem, there, by):
    kind, result, made, (whole, part), aliased, (alpha, beta), epilogue, lent, wanted = problem
    ways = [by] * 9 if by else ["cuda", "dlpack"] * 5
    a, b = (Of(*x, NAMES[kind], there, way) for x, way in zip(made, ways))
    c = (a, b)[aliased] if aliased is not None else Of(whole, part, NAMES[result], there, ways[2])
    lent = {name: Of(*x, "float32", there, way) for (name, x), way in zip(lent.items(), ways)}
    marked = np.ones(whole.shape, bool)
    inside = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    np.lib.stride_tricks.as_strided(
        marked.reshape(-1)[inside // whole.itemsize :][:1], part.shape, [s // whole.itemsize for s in part.strides]
    )[...] = False
    before = whole.copy()
    options = dict(bias=lent.get("bias"), activation=epilogue.activation, gate=epilogue.gate)
    options["packed"] = "int4" if kind == "i4" else ""
    if epilogue.scales:
        options["scales"] = lent["row_scale"], lent["column_scale"]
    assert hipgemm.gemm(a, b, c, alpha=alpha, beta=beta, device=device, **options) is c
    stored = ELEMENTS[result].stored(wanted.astype(float if result == "i32" else np.float32))
    np.testing.assert_array_equal(*map(ELEMENTS[result].numbers, (c.back(), stored)))
    np.testing.assert_array_equal(c.all()[marked].view(np.uint8), before[marked].view(np.uint8))
"""


def test_blas_rules_for_any_view_on_the_host(run_program: Run) -> None:
    run_program(
        START
        + PROPERTY
        + """
@settings(max_examples=150, deadline=None, derandomize=True)
@given(problems())
def host(problem):
    check(problem, False, "dlpack")
host()
assert not cards[0].memory.live.keys() - {cards[0].variable}
"""
    )


def test_blas_rules_for_any_view_on_the_device(run_program: Run) -> None:
    run_program(
        START
        + PROPERTY
        + """
@settings(max_examples=250, deadline=None, derandomize=True)
@given(problems())
def there(problem):
    check(problem, True, None)
from hipgemm.launch import batches
batches.LARGEST = 2  # more are several launches
there()
import gc; gc.collect()
assert not cards[0].memory.live.keys() - {cards[0].variable}
names = set(launched())
assert any("strided" in name for name in names) and any("element_copy" in name for name in names)
"""
    )


def test_what_lies_as_a_kernel_takes_it_is_not_copied(run_program: Run) -> None:
    run_program(
        START
        + """
rng = np.random.default_rng(1)
def drawn(*shape):
    return rng.integers(-2, 3, shape).astype(np.float16)
def multiplied(a, b, c=None, kernels=1, **options):
    "The only launch, or the last, is a product's."
    a, b, c = (None if x is None else Of(whole, x, x.dtype.name, True, "cuda")
               for whole, x in zip(map(base, (a, b, c)), (a, b, c)))
    got = hipgemm.gemm(a, b, c, device=device, **options)
    names = launched()
    assert len(names) == kernels and sum("element_copy" not in name for name in names) == 1, names
    got = got.numpy() if isinstance(got, DeviceArray) else got.back()
    np.testing.assert_array_equal(got, np.matmul(a.back().astype(float), b.back().astype(float)))
    return next(name for name in names if "copy" not in name)
def base(x):
    return x if x is None or x.base is None else x.base
x, y = drawn(40, 48), drawn(48, 64)
assert multiplied(x, y).endswith("nn")
assert multiplied(x.T, drawn(40, 64)).endswith("_tn")
assert multiplied(x, drawn(64, 48).T).endswith("_nt")
assert "strided" in multiplied(x[2:38, 1:41], y[:40, 3:50])
heads = drawn(24, 3, 4, 32)
queries, keys = (heads[:, i].transpose(1, 0, 2) for i in (0, 1))
assert "strided" in multiplied(queries, keys.transpose(0, 2, 1))
c = np.zeros((64, 3, 40), np.float32)
multiplied(x, y, c[:, 1].T)  # C^T = B^T A^T
zero = np.zeros(64, np.float32)
multiplied(x, y, c[:, 1].T, 2, bias=Of(zero, zero, "float32", True))
rows, columns = (np.arange(size, dtype=np.float32) for size in (40, 64))
there = [Of(array, array, array.dtype.name, True) for array in (x, y, c, rows, columns)]
turned = Of(c, c[:, 1].T, "float32", True)
hipgemm.gemm(*there[:2], turned, scales=there[3:], device=device)
assert len(launched()) == 1
np.testing.assert_array_equal(turned.back(), (x.astype(float) @ y) * rows[:, None] * columns)
# The same rows' scales for each of a batch, which is no one product then; lines that overlap.
batch = drawn(3, 40, 48)
got = hipgemm.gemm(Of(batch, batch, "float16", True), there[1], scales=there[3:], device=device)
np.testing.assert_array_equal(got.numpy(), np.matmul(batch.astype(float), y) * rows[:, None] * columns)
assert "strided" in launched()[0]
signal = drawn(80)
windows = np.lib.stride_tricks.as_strided(signal, (33, 48), (2, 2))
for on_device in (True, False):
    got = hipgemm.gemm(Of(signal, windows, "float16", on_device), Of(y, y, "float16", on_device), device=device)
    np.testing.assert_array_equal(got.numpy() if on_device else got, windows.astype(float) @ y)
launched()
# One row of each matrix of a batch; C within the same memory as A.
sparse = drawn(20, 2, 48)
single = sparse[:, :1]
got = hipgemm.gemm(Of(sparse, single, "float16", True), there[1], device=device)
np.testing.assert_array_equal(got.numpy(), np.matmul(single.astype(float), y))
both = drawn(40, 128)
for left, right in ((0, 40), (40, 0)):
    shared = Of(both, both, "float16", True)
    def part(first, columns):
        seen = Of(both, both[:, first : first + columns], "float16", True, "cuda")
        seen.whole, seen.address = shared.whole, shared.address + 2 * first
        seen.__cuda_array_interface__["data"] = seen.address, False
        return seen
    c = hipgemm.gemm(part(left, 48), there[1], part(right, 64), device=device)
    np.testing.assert_array_equal(c.back(), both[:, left : left + 48].astype(float) @ y)
launched()
# Steps within a row, lines in reverse, C within C: one copy of each, and two of a C that is read.
multiplied(x[::-1], y, kernels=2)
multiplied(x[:, ::2], y[:24], kernels=2)
multiplied(x, y, np.zeros((40, 128), np.float32)[:, ::2], kernels=2)
# Few rows: B with gaps is read as it lies, since it is large; A and C are copied.
wide = drawn(100, 256)
assert multiplied(x[:2, :32], drawn(70, 32).T, kernels=2).startswith("gemm")
assert multiplied(drawn(2, 128), wide[:, :128].T).endswith("strided_prio_nt")
assert multiplied(drawn(2, 256)[:, :128], drawn(100, 128).T, kernels=2).startswith("gemv")
"""
    )


def test_what_is_made_is_of_the_same_library(run_program: Run) -> None:
    run_program(
        START
        + """
import sys, types
x = np.ones((20, 24), np.float16)
class There(Of):
    def __init__(self, array): super().__init__(array, array, array.dtype.name, True)
for name in ("float32", "float16", np.float16, "bfloat16"):
    made = hipgemm.gemm(There(x), There(x.T.copy()), out_dtype=name, device=device)
    seen = dlpack.borrow(made.__dlpack__())
    assert (seen.dtype, seen.shape) == (made.dtype, (20, 20))
    assert made.dtype == (name if name == "bfloat16" else np.dtype(name).name)
assert made.__cuda_array_interface__["typestr"] == "<V2"
again = hipgemm.gemm(made, made, device=device)
assert (again.numpy() == 20 * 24 * 24).all()
library = types.ModuleType("library")
library.from_dlpack = lambda x: ("mine", x)
sys.modules["library"] = library
There.__module__ = "library.core"
kind, made = hipgemm.gemm(There(x), There(x.T.copy()), out_dtype="float16", device=device)
assert kind == "mine" and made.dtype == "float16" and (made.numpy() == 24).all()
empty = hipgemm.gemm(There(x[:0]), There(x.T.copy()), device=device)[1]
assert empty.numpy().shape == (0, 20)
"""
    )


def test_what_is_refused_is_named(run_program: Run) -> None:
    run_program(
        START
        + """
from isa.errors import IsaError
half, real = np.ones((4, 4), np.float16), np.ones((4, 4), np.float32)
def there(array, dtype=None, **options):
    return Of(array, array, dtype or array.dtype.name, True, **options)
def lent(array, dtype):
    return Of(array, array, dtype)
h, f = there(half), there(real)
locked = real.copy(); locked.flags.writeable = False
class Four:
    shape, __dlpack_device__ = (4, 4), lambda self: (10, 0)
    def __dlpack__(self, **_): return dlpack.capsule(self, h.address, (4, 4), (4, 1), (10, 0), "int4")
class Void:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<V2", data=(h.address, False), version=3)
class Foreign:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f2", data=(half.ctypes.data, False), version=3)
class Odd:
    __cuda_array_interface__ = dict(shape=(4, 4), typestr="<f2", data=(h.address + 1, False), version=3)
vector, scale = np.ones(4, np.float32), there(np.ones(4, np.float32))
cases = [
    (ValueError, (h, half), {}, "different memories", "a on the device, b on the host"),
    (ValueError, (h, h, real), {}, "different memories", "c on the host"),
    (ValueError, (h, h), dict(bias=vector), "different memories", "bias on the host"),
    (ValueError, (h, h), dict(scales=(scale, vector)), "different memories", "column_scale on the host"),
    (ValueError, (half, half, lent(locked, "float32")), {}, "c is read-only"),
    (ValueError, (h, h), dict(beta=2), "no c for beta"),
    (ValueError, (h, h, there(np.ones((4, 5), np.float32))), {}, "c does not fit", "(4, 4)", "(4, 5)"),
    (ValueError, [there(np.ones((count, 4, 4), np.float16)) for count in (2, 3)], {}, "the batches of a and b"),
    (ValueError, (there(np.ones(4, np.float16)), h), {}, "a is not a matrix", "2 dimensions or 3"),
    (ValueError, (h, h), dict(bias=f), "bias is not a vector", "1 dimension"),
    (TypeError, (h, h), dict(bias=there(np.ones(4, np.float16))), "bias has the wrong dtype", "float32", "float16"),
    (TypeError, (h, f), {}, "the matrix units cannot multiply", "float16 and float32"),
    (TypeError, (h, there(np.ones((4, 4), "<u2"), "bfloat16")), {}, "units cannot multiply", "float16 and bfloat16"),
    (TypeError, (there(np.ones((4, 4), np.uint8)),) * 2, {}, 'packed="int4"', "uint8 and uint8"),
    (TypeError, (Four(), Four()), {}, "int4 is packed on a device", "uint8"),
    (TypeError, (Void(), h), {}, "a has the wrong dtype", "void"),
    (TypeError, (h, h, h), dict(out_dtype="float32", alpha="x"), "alpha is not a number"),
    (TypeError, (there(np.ones((4, 4), np.int8)),) * 2, dict(alpha=0.5), "alpha of an int32 C is not an int32"),
    (ValueError, (Foreign(), h), {}, "a is not in memory of 7900 XTX simulated"),
    (ValueError, (h, there(half, device_number=1)), {}, "b is not in memory of", "on device 1"),
    (ValueError, (Odd(), h), {}, "a is not aligned", "multiple of 2"),
    (ValueError, (half, half, np.lib.stride_tricks.as_strided(real, (4, 4), (4, 4))), {}, "share their memory"),
    (ValueError, (half[None].repeat(2, 0), half, np.broadcast_to(real, (2, 4, 4))), {}, "c is read-only"),
    (ValueError, (half[None].repeat(2, 0), half, np.lib.stride_tricks.as_strided(real, (2, 4, 4), (0, 16, 4))), {},
     "share their memory"),
]
for kind, arguments, options, *said in cases:
    try:
        hipgemm.gemm(*arguments, device=device, **options)
    except kind as error:
        assert isinstance(error, IsaError), said
        for words in said:
            assert words in str(error), (words, str(error))
    else:
        raise SystemExit(f"not refused: {said}")
assert launched() == []
"""
    )


@pytest.fixture(scope="module")
def device() -> Device:
    return Device.open("simulated")


def on(device: Device, array: np.ndarray) -> DeviceArray:
    return DeviceArray.of(array, device)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32])
def test_the_copying_kernel_on_the_simulated_card(device: Device, dtype: type) -> None:
    """Any axis order and steps, against NumPy."""
    rng = np.random.default_rng(2)
    x, y = (rng.integers(0, 100, (3, 22, 70)).astype(dtype) for _ in range(2))
    there = on(device, x), on(device, y)
    whole = [view("x", array, (np.dtype(dtype).name,), (3,)).matrix for array in there]
    for take, put in (
        (np.s_[:, ::2, 3:40:3], np.s_[:, 11:, 57:]),
        (np.s_[::-1, 20::-1, :9], np.s_[:, :21, 9:18]),
        (np.s_[1, :, 5], np.s_[0, :, 2]),
    ):
        ends = []
        for array, matrix, part in zip((x, y), whole, (take, put), strict=True):
            assert matrix is not None
            seen = array[part]
            at = matrix.address + seen.__array_interface__["data"][0] - array.__array_interface__["data"][0]
            ends.append(Matrix(at, seen.shape, seen.strides, matrix.itemsize))
        element_copy(device, *ends)
        y[put] = x[take]
    np.testing.assert_array_equal(there[1].numpy(), y)


@pytest.mark.slow
def test_halves_on_the_simulated_card(device: Device) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1, 1, (40, 36)).astype(np.float16), rng.uniform(-1, 1, (50, 36)).astype(np.float16)
    bias = rng.uniform(-1, 1, 50).astype(np.float32)
    name = "gemm_f16_f32_64x64x32_32x32_s1_strided_bias_nt"
    da, db, dc = (on(device, x) for x in (a, b, np.full((44, 56), np.nan, np.float32)))

    class Part:
        """Rows and columns of a device array, from an odd element on."""

        def __init__(self, whole: DeviceArray, down: slice, along: slice) -> None:
            seen = np.empty(whole.shape, whole.dtype)
            part = seen[down, along]
            face = whole.__cuda_array_interface__
            at = face["data"][0] + part.ctypes.data - seen.ctypes.data
            self.__cuda_array_interface__ = {**face, "shape": part.shape, "data": (at, False), "strides": part.strides}

    class Turned(Part):
        def __init__(self, whole: DeviceArray, down: slice, along: slice) -> None:
            super().__init__(whole, down, along)
            for key in ("shape", "strides"):
                self.__cuda_array_interface__[key] = self.__cuda_array_interface__[key][::-1]

    rows, depth, columns = slice(1, 40), slice(3, 36), slice(0, 50)
    c = Part(dc, slice(2, 41), slice(1, 51))
    hipgemm.gemm(
        Part(da, rows, depth), Turned(db, columns, depth), c, bias=on(device, bias), kernel=name, device=device
    )
    got = dc.numpy()
    wanted = a[rows, depth].astype(np.float64) @ b[:, depth].T.astype(np.float64) + bias
    np.testing.assert_allclose(got[2:41, 1:51], wanted, atol=2e-5)
    got[2:41, 1:51] = np.nan
    assert np.isnan(got).all()


def test_weights_on_the_device(device: Device) -> None:
    rng = np.random.default_rng(4)
    x, w = rng.uniform(-1, 1, (1, 256)).astype(np.float16), Weights.quantised(rng.uniform(-1, 1, (20, 256)), "q4_0")
    there = Weights("q4_0", *(on(device, array) for array in w.arrays))
    got = hipgemm.gemm(on(device, x), there, kernel="gemv_f16_q4_0_f32_1x5_w2", device=device)
    np.testing.assert_allclose(got.numpy(), x.astype(np.float64) @ w.numbers().T, rtol=2e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"different memories"):
        hipgemm.gemm(x, there, device=device)


TORCH = """
import torch
torch.manual_seed(1)
def close(got, wanted):
    torch.testing.assert_close(torch.as_tensor(got), wanted.to(torch.as_tensor(got).dtype), rtol=1e-2, atol=1e-2)
for dtype in (torch.float16, torch.bfloat16):
    a, b, bias = torch.randn(40, 24).to(dtype), torch.randn(50, 24).to(dtype).T, torch.randn(50)
    wanted = a.double() @ b.double()
    close(hipgemm.gemm(a, b, device=device), wanted)
    close(hipgemm.gemm(a, b, bias=bias, activation="relu", device=device), (wanted + bias).relu())
    c = torch.randn(50, 80).to(dtype).T[::2]
    twice = 2 * wanted + c.double()
    assert hipgemm.gemm(a, b, c, alpha=2, beta=1, device=device) is c
    close(c, twice)
    batch = torch.randn(3, 40, 24).to(dtype)
    close(hipgemm.gemm(batch, batch.mT, device=device), batch.double() @ batch.mT.double())
a, b = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((40, 24), (24, 50)))
assert (hipgemm.gemm(a, b, device=device) == (a.int() @ b.int()).numpy()).all()
made = hipgemm.gemm(a, b, out_dtype=torch.float16, device=device)
assert made.dtype == np.float16
for bad, words in ((torch.float8_e4m3fn, "wrong dtype"), (torch.float64, "float64")):
    try:
        hipgemm.gemm(torch.ones(2, 2).to(bad), torch.ones(2, 2).to(bad), device=device)
    except TypeError as error:
        assert words in str(error), error
    else:
        raise SystemExit("not refused")
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_on_the_host(run_program: Run) -> None:
    run_program(START + TORCH)
