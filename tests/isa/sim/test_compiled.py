"""Compiled HIP at each optimisation level, on both engines, against NumPy on the host: bit for bit."""

import struct
from pathlib import Path

import numpy as np
import programs
import pytest
import reference_engine

from isa.object import code_object
from isa.sim.run import interpret
from isa.sim.run.card import Card

HERE = Path(__file__).parent

SOURCE = HERE / "compiled" / "features.hip"
INCLUDE = HERE.parents[2] / "kernels_hip" / "include"
LANES = np.arange(64)


def _f32(rng):
    a = rng.integers(0, 2**32, 64, dtype=np.uint32).view(np.float32)
    a[:24] = rng.normal(0, 10, 24)
    specials = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-40, 3.4e38, 2.0**-126, 2.0**126, 2.0**127]
    a[24:37] = specials
    rng.shuffle(a)
    return a


def _f64(rng):
    a = rng.integers(0, 2**64, 64, dtype=np.uint64).view(np.float64)
    a[:24] = rng.normal(0, 1, 24)
    a[24:30] = [0, -0.0, np.inf, np.nan, 5e-324, 1e-310]
    rng.shuffle(a)
    return a


def _grow(a, n):
    for i in range(n):
        a = (a.astype(np.float64) * 1.5 + i).astype(np.float32)
    return a


def _array(a, n, uniform):
    t = [a[(LANES + k) % 64].copy() for k in range(16)]
    t = np.array(t)
    for k in range(n):
        source = np.full(64, k * 3) & 15 if uniform else (k * 3 + LANES) & 15
        t[(k * 7 + n) & 15] += t[source, LANES]
    total = np.zeros(64, np.float32)
    for k in range(16):
        total += t[k]
    return total


def _towards_zero(a, b):
    q = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)]
    return q, [int(x) - int(y) * z for x, y, z in zip(a, b, q, strict=True)]


def _divide_int(rng):
    a = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
    b = np.where(LANES < 40, rng.integers(1, 1000, 64), rng.integers(1, 2**31, 64)).astype(np.int32)
    b[::3] *= -1
    q, r = _towards_zero(a, b)
    x, y = a.view(np.uint32), b.view(np.uint32)
    return [np.zeros(256, np.int32), a, b], [np.array([*q, *r, *(x // y).view(np.int32), *(x % y).view(np.int32)])]


def _divide_long(rng):
    a = rng.integers(-(2**63), 2**63 - 1, 64)
    b = np.where(LANES < 30, rng.integers(1, 100, 64), rng.integers(1, 2**40, 64))
    b[::3] *= -1
    q, r = _towards_zero(a, b)
    return [np.zeros(128, np.int64), a, b], [np.array(q + r)]


def _exchange(rng):
    a = rng.integers(0, 1000, 64).astype(np.int32)
    waves = a.reshape(2, 32)
    shifted = np.where(LANES % 16 == 0, 0, np.roll(a, 1))
    odd = np.repeat((waves & 1).sum(1), 32) + LANES % 32
    rows = [np.repeat(waves.sum(1), 32), a[LANES ^ 1], shifted, odd, np.repeat(waves[:, 0], 32)]
    return [np.zeros(320, np.int32), a], [np.concatenate(rows)]


def _histogram(rng):
    a = rng.integers(0, 1000, 64).astype(np.int32)
    count = np.bincount(a & 31, minlength=32)
    return [np.zeros(32, np.int32), a, np.zeros(2, np.int32)], [count, None, [64, count.max()]]


def _narrow(rng):
    a, b = rng.integers(-128, 128, 64).astype(np.int8), rng.integers(-30000, 30000, 64).astype(np.int16)
    wide = a.astype(np.int64)
    expected = [(wide * b).astype(np.uint8), (wide + b).astype(np.uint16)]
    return [np.zeros(64, np.uint8), np.zeros(64, np.uint16), a, b], expected


def _halves(rng):
    a, b = (rng.normal(0, 3, 64).astype(np.float16) for _ in range(2))
    x, y = a.astype(np.float64), b.astype(np.float64)
    return [np.zeros(192, np.float16), a, b], [np.concatenate([x * y, x / y, x - y]).astype(np.float16)]


def _doubles(rng):
    a, b = rng.normal(0, 100, 64), rng.normal(0, 100, 64).astype(np.float32)
    rows = [np.floor(a) + b, np.trunc(a), np.minimum(a, b)]
    return [np.zeros(192), a, b], [np.concatenate(rows)]


def _branches(rng):
    def one(v, n=5):
        case = v & 7
        results = {0: v + n, 1: v * n, 2: v - 3, 3: v ^ n, 5: 32 - ((v | 1) & 0xFFFFFFFF).bit_length()}
        results[6] = ((v | 256) & -(v | 256)).bit_length() - 1
        v = results.get(case, ~v)
        while v > 100:
            v -= 3 * n
            v -= 7 * (v & 1)
        return v

    a = rng.integers(-500, 500, 64).astype(np.int32)
    return [np.zeros(64, np.int32), a, 5], [[one(int(v)) for v in a]]


def _conversions(rng):
    a = np.abs(rng.normal(0, 1000, 64)).astype(np.float32)
    whole = a.astype(np.int64)
    rows = [(whole * 1000003).astype(np.float32), np.rint(a), np.ceil(a), np.minimum(a, 2), np.ones(64)]
    rows += [np.ldexp(a, -3)]
    outputs = [np.zeros(128, np.int32), np.zeros(64, np.int64), np.zeros(384, np.float32)]
    return [*outputs, a], [np.concatenate([whole, whole]), whole, np.concatenate(rows).astype(np.float32)]


def _floats(make, dtype, compute):
    def build(rng):
        a, b = make(rng), make(rng)
        with np.errstate(all="ignore"):
            return [np.zeros(64, dtype), a, b], [compute(a, b)]

    return build


def _root(rng):
    a = np.abs(_f32(rng))
    with np.errstate(all="ignore"):
        return [np.zeros(64, np.float32), a], [np.sqrt(a)]


def _with_n(compute, n):
    def build(rng):
        a = rng.normal(0, 100, 64).astype(np.float32)
        return [np.zeros(64, np.float32), a, n], [compute(a)]

    return build


# kernel -> rng -> (arguments, what the pointer arguments must hold afterwards, in order; None: not looked at)
KERNELS = {
    "calls": _with_n(lambda a: _grow(a, 5) + _grow(a * 2, 6), 5),
    "private_array": _with_n(lambda a: _array(a, 9, uniform=False), 9),
    "uniform_array": _with_n(lambda a: _array(a, 9, uniform=True), 9), "divide32": _floats(_f32, np.float32, np.divide),
    "divide64": _floats(_f64, np.float64, np.divide), "root32": _root, "divide_int": _divide_int,
    "divide_long": _divide_long, "exchange": _exchange, "histogram": _histogram, "narrow": _narrow, "halves": _halves,
    "doubles": _doubles, "branches": _branches, "conversions": _conversions,
}  # fmt: skip


def _kernarg(kernel, values):
    segment = bytearray(kernel.descriptor.kernarg_bytes)
    for argument, value in zip((a for a in kernel.args if not a.hidden), values, strict=True):
        struct.pack_into("<Q" if argument.size == 8 else "<i", segment, argument.offset, value)
    explicit = max(a.offset + a.size for a in kernel.args if not a.hidden)
    return bytes(segment[:explicit])


def run_numpy(image, name, arguments):
    loaded = code_object.load(image)
    memory = interpret.Buffers()
    buffers = [bytearray(a.tobytes()) if isinstance(a, np.ndarray) else None for a in arguments]
    values = []
    for i, (argument, buffer) in enumerate(zip(arguments, buffers, strict=True)):
        values.append(argument if buffer is None else 0x7000_0000_0000 + i * 0x10_0000)
        if buffer is not None:
            memory.add(values[-1], buffer)
    reference_engine.launch(loaded, name, memory, (1, 1, 1), (64, 1, 1), _kernarg(loaded.kernel(name), values))
    return [np.frombuffer(b, a.dtype) for a, b in zip(arguments, buffers, strict=True) if b is not None]


def run_card(image, name, arguments):
    card = Card(capacity=1 << 24)
    kernel = card.load(image).kernels[name]
    kernarg, buffers = on_card(card, kernel, arguments)
    card.launch(kernel, (1, 1, 1), (64, 1, 1), kernarg)
    return [programs.held(*buffer) for buffer in buffers]


def on_card(card, kernel, arguments):
    """Arguments as a launch takes them, and the arrays among them with their addresses."""
    values = [programs.put(card, a)[0] if isinstance(a, np.ndarray) else a for a in arguments]
    buffers = [(at, a) for at, a in zip(values, arguments, strict=True) if isinstance(a, np.ndarray)]
    return _kernarg(kernel.facts, values), buffers


@pytest.mark.parametrize("engine", [run_numpy, run_card], ids=["numpy", "card"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
@pytest.mark.parametrize("name", KERNELS)
def test_compiled(name, level, engine):
    image = programs.compiled(SOURCE, (level,), True, INCLUDE)
    arguments, expected = KERNELS[name](np.random.default_rng(7))
    found = engine(image, name, arguments)
    for number, (got, want) in enumerate(zip(found, expected, strict=False)):
        if want is not None:
            np.testing.assert_array_equal(got, np.asarray(want).astype(got.dtype), err_msg=f"argument {number}")
            if got.dtype.kind == "f":
                finite = ~np.isnan(got)
                signs = np.signbit(got) == np.signbit(np.asarray(want))
                assert signs[finite].all(), f"argument {number}: signs of zeros"
