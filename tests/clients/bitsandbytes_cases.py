"""bitsandbytes' library for ROCm on the simulated card, called as its Python does, each call against NumPy. Run by
tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/bitsandbytes_cases.py --library libbitsandbytes_rocm71.so --json out.json

There is no torch: arrays are copied to memory of hipMalloc, as long as they are to the byte, and back. Quantising must
give the nearest value of the code (either of two that are equally near, to fp32's precision) and the largest magnitude
to the bit; what is computed must lie within a few units of the last place of its type.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import suite

BF16 = ml_dtypes.bfloat16
TYPES = {"fp32": np.float32, "fp16": np.float16, "bf16": BF16}
NF4 = np.float32([
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
])  # fmt: skip
FP4 = np.float32([0, 0.005208333333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25])
FP4 = np.concatenate([FP4, -FP4])
CODES = {"nf4": NF4, "fp4": FP4}
CASES: dict[str, Callable[[], None]] = {}
RNG = np.random.default_rng(50)
hip = ctypes.CDLL("libamdhip64.so")
library: Any = None


def case(function: Callable[..., None], *arguments: Any) -> Callable[..., None]:
    words = (function.__name__.strip("_").replace("_", " "), *map(str, arguments))
    CASES[" ".join(words)] = lambda: function(*arguments)
    return function


class Array:
    """An array on the card."""

    def __init__(self, array: np.ndarray) -> None:
        self.host, address = np.ascontiguousarray(array), ctypes.c_void_p()
        assert hip.hipMalloc(ctypes.byref(address), ctypes.c_size_t(self.host.nbytes)) == 0
        self.address = address
        assert hip.hipMemcpy(address, ctypes.c_void_p(self.host.ctypes.data), ctypes.c_size_t(self.host.nbytes), 1) == 0

    def back(self) -> np.ndarray:
        out = np.empty_like(self.host)
        assert hip.hipMemcpy(ctypes.c_void_p(out.ctypes.data), self.address, ctypes.c_size_t(out.nbytes), 2) == 0
        return out


@contextmanager
def on_card(*arrays: Any) -> Any:
    made = [Array(a) for a in arrays]
    yield made
    assert hip.hipDeviceSynchronize() == 0
    assert hip.hipGetLastError() == 0
    for each in made:
        assert hip.hipFree(each.address) == 0


def call(name: str, *arguments: Any) -> Any:
    return getattr(library, name)(*(a.address if isinstance(a, Array) else a for a in arguments))


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def dynamic_map() -> np.ndarray:
    """bitsandbytes' own 8-bit code (functional.create_dynamic_map)."""
    data = [0.0, 1.0]
    for i in range(7):
        ends = np.linspace(0.1, 1, 2**i + 1, dtype=np.float32)
        means = (10.0 ** (i - 6) * ((ends[:-1] + ends[1:]) / 2)).tolist()
        data += [*means, *(-x for x in means)]
    return np.sort(np.float32(data))


def near(got: np.ndarray, want: Any, units: float, of: Any = None) -> None:
    want64, info = np.asarray(want, np.float64), ml_dtypes.finfo(got.dtype)
    size = np.abs(want64) if of is None else of
    wrong = ~(
        np.abs(got.astype(np.float64) - want64) <= units * (float(info.eps) * size + float(info.smallest_subnormal))
    )
    if wrong.any():
        at = tuple(int(n[0]) for n in np.nonzero(wrong))
        raise AssertionError(f"{wrong.sum()} of {wrong.size} wrong, first {at}: {got[at]!r}, not {want64[at]!r}")


def blocks(x: np.ndarray, size: int) -> np.ndarray:
    return np.abs(np.pad(x.astype(np.float32), (0, -len(x) % size)).reshape(-1, size)).max(1)


def nearest(x: np.ndarray, largest: np.ndarray, size: int, code: np.ndarray, chosen: np.ndarray) -> None:
    """Each choice is as near as any other of the code, to fp32's precision."""
    scaled = (x.astype(np.float32) * np.repeat(np.float32(1) / largest, size)[: len(x)]).astype(np.float64)
    distances = np.abs(scaled[:, None] - code[None, :])
    worse = distances[np.arange(len(x)), chosen] - distances.min(1)
    assert (worse <= 2e-7).all(), (int((worse > 2e-7).sum()), float(worse.max()))


def halves(packed: np.ndarray, n: int) -> np.ndarray:
    return np.stack([packed >> 4, packed & 15], 1).ravel()[:n]


def packed_bytes(values: np.ndarray) -> np.ndarray:
    padded = np.pad(values, (0, len(values) % 2)).astype(np.uint8)
    return padded[::2] << 4 | padded[1::2]


def quantise_to_8_bits(type_: str, size: int, n: int) -> None:
    x, code = normal(n, dtype=TYPES[type_]), dynamic_map()
    with on_card(code, x, np.zeros(-(-n // size), np.float32), np.zeros(n, np.uint8)) as (c, a, most, out):
        call(f"cquantize_blockwise_{type_}", c, a, most, out, size, n)
        assert (most.back() == blocks(x, size)).all()
        nearest(x, blocks(x, size), size, code, out.back())


def quantise_to_4_bits(type_: str, code: str, size: int, n: int) -> None:
    x = normal(n, dtype=TYPES[type_])
    with on_card(x, np.zeros(-(-n // size), np.float32), np.zeros((n + 1) // 2, np.uint8)) as (a, most, out):
        call(f"cquantize_blockwise_{type_}_{code}", None, a, most, out, size, n)
        assert (most.back() == blocks(x, size)).all()
        nearest(x, blocks(x, size), size, CODES[code], halves(out.back(), n))


def dequantise_8_bits(type_: str, size: int, n: int) -> None:
    q, code = RNG.integers(0, 256, n).astype(np.uint8), dynamic_map()
    most = np.abs(normal(-(-n // size)))
    with on_card(code, q, most, np.zeros(n, TYPES[type_])) as (c, a, m, out):
        call(f"cdequantize_blockwise_{type_}", c, a, m, out, size, n, None)
        assert (out.back() == (code[q] * np.repeat(most, size)[:n]).astype(TYPES[type_])).all()


def dequantise_4_bits(type_: str, code: str, size: int, n: int) -> None:
    q, most = RNG.integers(0, 16, n), np.abs(normal(-(-n // size)))
    with on_card(packed_bytes(q), most, np.zeros(n, TYPES[type_])) as (a, m, out):
        call(f"cdequantize_blockwise_{type_}_{code}", None, a, m, out, size, n, None)
        near(out.back(), CODES[code][q] * np.repeat(most, size)[:n], 1)


def weights(rows: int, k: int, size: int, code: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, most = RNG.integers(0, 16, (rows, k)), np.abs(normal(rows * k // size)) + 0.1
    return packed_bytes(q.ravel()), most, CODES[code][q] * np.repeat(most, size).reshape(rows, k)


def gemv_of_4_bits(type_: str, code: str, m: int, k: int, size: int) -> None:
    packed, most, w = weights(m, k, size, code)
    x = normal(k, dtype=TYPES[type_])
    with on_card(x, packed, most, CODES[code], np.zeros(m, TYPES[type_])) as (a, b, largest, c, out):
        call(f"cgemm_4bit_inference_naive_{type_}", m, 1, k, a, b, largest, c, out, m, (k + 1) // 2, m, size, None)
        terms = np.abs(w.astype(np.float64)) @ np.abs(x.astype(np.float64))
        near(out.back(), w.astype(np.float64) @ x.astype(np.float64), 4, terms)


def gemm_of_4_bits(type_: str, code: str, m: int, n: int, k: int, size: int, bias: bool) -> None:
    packed, most, w = weights(n, k, size, code)
    x, b = normal(m, k, dtype=TYPES[type_]), normal(n, dtype=TYPES[type_])
    with on_card(x, packed, most, np.zeros((m, n), TYPES[type_]), b) as (a, q, largest, out, added):
        kind = {"fp4": 1, "nf4": 2}[code]
        more = added if bias else None
        call(f"cgemm_4bit_{type_}", a, q, largest, None, None, None, out, more, m, n, k, size, kind, None)
        x64, w64 = x.astype(np.float64), w.astype(np.float64)
        near(
            out.back(),
            x64 @ w64.T + bias * b.astype(np.float64),
            4,
            np.abs(x64) @ np.abs(w64.T) + np.abs(b).astype("f"),
        )


def rows_to_int8(rows: int, columns: int, threshold: float) -> None:
    x = normal(rows, columns, dtype=np.float16) * np.float16(3)
    kept = np.abs(x).astype(np.float32) < threshold if threshold else np.ones(x.shape, bool)
    with on_card(x, np.zeros(x.shape, np.int8), np.zeros(rows, np.float32)) as (a, out, stats):
        call("cint8_vector_quant", a, out, stats, ctypes.c_float(threshold), rows, columns, None)
        most = np.where(kept, np.abs(x), 0).max(1).astype(np.float32)
        assert (stats.back() == most).all()
        exact = x.astype(np.float64) * (127 / most[:, None])
        assert (np.abs(np.where(kept, exact, 0) - out.back()) <= 0.5001).all()


def dequantise_a_product(rows: int, columns: int, bias: bool) -> None:
    a = RNG.integers(-100000, 100000, (rows, columns)).astype(np.int32)
    r, c, b = np.abs(normal(rows)), np.abs(normal(columns)), normal(columns, dtype=np.float16)
    with on_card(a, r, c, np.zeros(a.shape, np.float16), b) as (product, row, column, out, added):
        more = added if bias else None
        call("cdequant_mm_int32_fp16", product, row, column, out, more, rows, columns, None)
        exact = a.astype(np.float64) * r[:, None] * c / 127**2
        near(out.back(), exact + bias * b.astype(np.float64), 1, np.abs(exact) + np.abs(b).astype("f"))


def product_of_int8(m: int, n: int, k: int) -> None:
    a, b = (RNG.integers(-128, 128, (x, k)).astype(np.int8) for x in (m, n))
    library.get_context.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.get_context())
    with on_card(a, b, np.zeros((n, m), np.int32)) as (left, right, out):
        failed = call("cigemmlt_32", context, k, n, m, left, right, out, None, k, k, m, None)
        assert failed == 0, failed
        assert (out.back() == b.astype(np.int32) @ a.astype(np.int32).T).all()


def optimiser_of_32_bits(kind: str, type_: str, step: int) -> None:
    """Two states or one, without and with a weight decay."""
    n, lr, beta1, beta2, beta3, alpha, eps, decay = 5000, 0.01, 0.9, 0.99, 0.999, 5.0, 1e-8, 0.1
    p, g, s1, s2 = (normal(n, dtype=t) for t in (TYPES[type_], TYPES[type_], np.float32, np.float32))
    s1, s2 = np.concatenate([s1, normal(n)]) if kind == "ademamix" else np.abs(s1), np.abs(s2)
    end = type_ if kind in ("adam", "lion", "ademamix") else "32" if type_ == "fp32" else "16"
    with on_card(g, p, s1, s2, np.zeros(1, np.float32)) as (grad, param, one, two, norm):
        f = ctypes.c_float
        numbers = (f(0), f(0), f(beta1), f(beta2), f(beta3), f(alpha), f(eps), f(decay), step, f(lr), f(1))
        call(f"c{kind}32bit_grad_{end}", grad, param, one, two, norm, *numbers, ctypes.c_bool(False), n)
        got, m, v = param.back(), one.back(), two.back()
    p64, g64, m64, v64 = (x.astype(np.float64) for x in (p, g, s1, s2))
    if kind in ("momentum", "rmsprop", "adagrad"):  # folded into the gradient, which has the parameter's type
        g64 = (g64 + p64 * np.float32(decay)).astype(np.float32).astype(TYPES[type_]).astype(np.float64)
    beta1, beta2, beta3 = (float(np.float32(beta)) for beta in (beta1, beta2, beta3))
    c1, c2 = 1 - beta1**step, np.sqrt(1 - beta2**step)
    if kind == "adam":
        m64, v64 = m64 * beta1 + (1 - beta1) * g64, v64 * beta2 + (1 - beta2) * g64**2
        p64 = (p64 - lr * c2 / c1 * m64 / (np.sqrt(v64) + eps * c2)).astype(TYPES[type_]).astype("d") * (1 - lr * decay)
    elif kind == "ademamix":
        slow = m64[n:] * beta3 + (1 - beta3) * g64
        m64, v64 = m64[:n] * beta1 + (1 - beta1) * g64, v64 * beta2 + (1 - beta2) * g64**2
        p64 = p64 - lr * (m64 / c1 + alpha * slow) / (np.sqrt(v64) / c2 + eps)
        p64, m64 = p64.astype(TYPES[type_]).astype("d") * (1 - lr * decay), np.concatenate([m64, slow])
    elif kind == "momentum":
        m64 = g64 if step == 1 else m64 * beta1 + g64
        p64 = p64 - lr * m64
    elif kind == "lion":
        p64 = (p64 * (1 - lr * decay)).astype(TYPES[type_]).astype("d") - lr * np.sign(m64 * beta1 + (1 - beta1) * g64)
        m64 = m64 * beta2 + (1 - beta2) * g64
    elif kind == "rmsprop":
        m64 = m64 * beta1 + (1 - beta1) * g64**2
        p64 = p64 - lr * g64 / (np.sqrt(m64) + eps)
    else:
        m64 = m64 + g64**2
        p64 = p64 - lr * g64 / (np.sqrt(m64) + eps)
    size = np.abs(p64) + (lr * np.abs(g64 if kind != "adam" else m64 / c1) if type_ == "fp32" else 0) + 1e-3
    near(got, p64, 16 if type_ == "fp32" else 2, size * (8 if type_ == "fp32" else 1))
    near(m, m64, 8, np.abs(m64) + np.abs(np.resize(g64, m64.shape)))
    if kind in ("adam", "ademamix"):
        near(v, v64, 8)


def optimiser_of_8_bits(kind: str, type_: str) -> None:
    """Its states are quantised before and after, and the parameter follows from what they stood for."""
    n, lr, beta1, beta2, eps, step, size = 3000, 0.01, 0.9, 0.99, 1e-6, 3, 256
    p, g = normal(n, dtype=TYPES[type_]), normal(n, dtype=TYPES[type_])
    signed, positive = dynamic_map(), np.sort(np.abs(dynamic_map()))
    positive = np.float32(np.linspace(0, 1, 256) ** 2)
    q1, q2 = (RNG.integers(0, 256, n).astype(np.uint8) for _ in range(2))
    m1, m2 = (np.abs(normal(-(-n // size))) + 0.1 for _ in range(2))
    with on_card(p, g, q1, q2, signed, positive, m1, m2) as (param, grad, one, two, code1, code2, most1, most2):
        f = ctypes.c_float
        numbers = (f(beta1), f(beta2), f(0), f(0), f(eps), step, f(lr))
        rest = (code1, code2, most1, most2, f(0), f(1), ctypes.c_bool(False), n)
        call(f"c{kind}_8bit_blockwise_grad_{type_}", param, grad, one, two, *numbers, *rest)
        got, new1, new2, larger1, larger2 = (x.back() for x in (param, one, two, most1, most2))
    p64, g64 = p.astype(np.float64), g.astype(np.float64)
    s1 = signed[q1].astype(np.float64) * np.repeat(m1, size)[:n]
    s2 = positive[q2].astype(np.float64) * np.repeat(m2, size)[:n]
    if kind == "adam":
        s1, s2 = s1 * beta1 + (1 - beta1) * g64, s2 * beta2 + (1 - beta2) * g64**2
        c1, c2 = 1 - beta1**step, np.sqrt(1 - beta2**step)
        p64 = p64 - lr * c2 / c1 * s1 / (np.sqrt(s2) + eps * c2)
        near(larger2, blocks(s2, size), 8)
        scaled = s2 / np.repeat(larger2, size)[:n]
        assert (np.abs(positive[new2] - scaled) <= np.abs(positive[None] - scaled[:, None]).min(1) + 1e-5).all()
    else:  # lion
        p64 = p64 - lr * np.sign(s1 * beta1 + (1 - beta1) * g64)
        s1 = s1 * beta2 + (1 - beta2) * g64
    near(larger1, blocks(s1, size), 8)
    scaled = s1 / np.repeat(larger1, size)[:n]
    off = np.abs(signed[new1] - scaled) - np.abs(signed[None] - scaled[:, None]).min(1)
    assert (off <= 1e-5 + (np.sign(signed[new1]) == np.sign(scaled)) * 0.01).all(), float(off.max())
    near(got, p64, 16 if type_ == "fp32" else 2, np.abs(p64) + 0.1)


def elementwise() -> None:
    n = 5000
    with on_card(normal(n), normal(n), np.zeros(n, np.uint8)) as (a, b, c):
        call("cfill_fp32", a, None, ctypes.c_float(2.5), ctypes.c_long(n))
        assert (a.back() == 2.5).all()
        call("carange_fp32", a, None, ctypes.c_float(0), ctypes.c_long(n))
        assert (a.back() == np.arange(n)).all()
        call("c_mul_fp32", a, b, ctypes.c_float(0), ctypes.c_long(n))
        assert (a.back() == np.arange(n, dtype=np.float32) * b.host).all()
        call("cfill_uint8", c, None, ctypes.c_ubyte(7), ctypes.c_long(n))
        assert (c.back() == 7).all()


def managed_memory() -> None:
    library.cget_managed_ptr.restype = ctypes.c_void_p
    address = library.cget_managed_ptr(ctypes.c_size_t(4096))
    library.cprefetch(ctypes.c_void_p(address), ctypes.c_size_t(4096), 0)
    library.cfill_fp32(ctypes.c_void_p(address), None, ctypes.c_float(3), ctypes.c_long(1024))
    assert hip.hipDeviceSynchronize() == 0
    assert (np.ctypeslib.as_array((ctypes.c_float * 1024).from_address(address)) == 3).all()


for t in TYPES:
    for s, n in ((64, 1000), (256, 4096), (4096, 9001)):
        case(quantise_to_8_bits, t, s, n)
        case(dequantise_8_bits, t, s, n)
    for c in CODES:
        for s, n in ((64, 1000), (128, 2048), (4096, 9000)):
            case(quantise_to_4_bits, t, c, s, n)
            case(dequantise_4_bits, t, c, s, n)
    case(gemv_of_4_bits, t, "nf4", 68, 512, 64)
    case(gemv_of_4_bits, t, "fp4", 128, 1024, 128)
    case(gemm_of_4_bits, t, "nf4", 1, 128, 512, 64, False)
    case(gemm_of_4_bits, t, "fp4", 5, 96, 256, 64, True)
    for o in ("adam", "momentum", "rmsprop", "lion", "adagrad", "ademamix"):
        if (o, t) not in (("momentum", "bf16"), ("rmsprop", "bf16"), ("adagrad", "bf16")):
            case(optimiser_of_32_bits, o, t, 2)
    for o in ("adam", "lion"):
        case(optimiser_of_8_bits, o, t)
case(optimiser_of_32_bits, "momentum", "fp32", 1)
for threshold in (0.0, 6.0):
    case(rows_to_int8, 33, 1500, threshold)
for has_bias in (False, True):
    case(dequantise_a_product, 33, 500, has_bias)
case(product_of_int8, 64, 32, 128)
case(product_of_int8, 36, 4, 64)
case(elementwise)
case(managed_memory)


FOUND = {
    "gemv of a number of rows that is no multiple of 4": lambda: gemv_of_4_bits("fp16", "nf4", 67, 512, 64),
    "dequantising the beginning of a tile": lambda: dequantise_8_bits("fp16", 64, 100),
    "dequantising 4 bits, the beginning of a tile": lambda: dequantise_4_bits("fp16", "nf4", 64, 100),
}
"""What reads past the end of an array (docs/found.md). The library ends the process where a launch fails."""


def main() -> int:
    global library
    parser = suite.options(__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--found", choices=FOUND, help="this alone, which ends in a fault")
    asked = parser.parse_args()
    library = ctypes.CDLL(asked.library)
    if asked.found:
        FOUND[asked.found]()
        return 0
    return suite.run(asked, CASES)


if __name__ == "__main__":
    sys.exit(main())
