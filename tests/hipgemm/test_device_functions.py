"""HIP's device functions by this project's own header alone: integers, conversions, directions of rounding, lanes,
floats of 16 and of 8 bits, printf and assert. Judged by Python's integers and fractions, and by NumPy."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hipgemm
from hipgemm.kernels.compiling import device_libraries
from hipgemm.kernels.compiling import headers as hip_headers
from isa import toolchain
from isa.errors import IsaError

pytestmark = [
    pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
Run = Callable[..., None]
MASK = 0xFFFFFFFF


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a kernel's body over arrays named by their types, an item of the launch an index `i`."""
    monkeypatch.setattr(hip_headers, "amds_header", lambda: None)
    monkeypatch.setattr(device_libraries, "_folders", lambda: iter([str(tmp_path)]))

    def run(body: str, count: int, top: str = "", **arrays: np.ndarray) -> None:
        types = {"f4": "float", "f8": "double", "i4": "int", "u4": "unsigned", "i8": "long long", "f2": "__half"}
        types |= {"u8": "unsigned long long", "u2": "unsigned short", "u1": "unsigned char"}
        given = ", ".join(f"{types[a.dtype.str[1:]]} *{name}" for name, a in arrays.items())
        text = f'#include <hip/hip_runtime.h>\n{top}\nextern "C" __global__ void k({given}, int count) {{\n'
        text += f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= count) return;\n{body}\n}}\n"
        (tmp_path / "k.hip").write_text(text)
        hipgemm.kernel(tmp_path / "k.hip", "k")(-(-count // 128), 128, *arrays.values(), count)

    return run


INTEGERS: dict[str, Callable[[int, int, int], int]] = {
    "__clz((int)a)": lambda a, b, c: 32 - a.bit_length(),
    "__ffs((int)a)": lambda a, b, c: (a & -a).bit_length(),
    "__popc(a)": lambda a, b, c: a.bit_count(),
    "__brev(a)": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "__byte_perm(a, b, c)": lambda a, b, c: sum(
        ((b << 32 | a) >> 8 * (c >> 4 * k & 7) & 255) << 8 * k for k in range(4)
    ),
    "__mul24((int)a, (int)b)": lambda a, b, c: _signed(a, 24) * _signed(b, 24),
    "__umul24(a, b)": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "__mulhi((int)a, (int)b)": lambda a, b, c: _signed(a) * _signed(b) >> 32,
    "__umulhi(a, b)": lambda a, b, c: a * b >> 32,
    "__sad((int)a, (int)b, c)": lambda a, b, c: abs(_signed(a) - _signed(b)) + c,
    "__usad(a, b, c)": lambda a, b, c: abs(a - b) + c,
    "__hadd((int)a, (int)b)": lambda a, b, c: _signed(a) + _signed(b) >> 1,
    "__rhadd((int)a, (int)b)": lambda a, b, c: _signed(a) + _signed(b) + 1 >> 1,
    "__uhadd(a, b)": lambda a, b, c: a + b >> 1,
    "__urhadd(a, b)": lambda a, b, c: a + b + 1 >> 1,
    "__funnelshift_l(a, b, c)": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "__funnelshift_lc(a, b, c)": lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32,
    "__funnelshift_r(a, b, c)": lambda a, b, c: (b << 32 | a) >> (c & 31),
    "__funnelshift_rc(a, b, c)": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "__bitextract_u32(a, b, c)": lambda a, b, c: a >> (b & 31) & ((1 << min(c & 31, 32 - (b & 31))) - 1),
    "__fns32(a, b & 31, 2)": lambda a, b, c: _nth(a, b & 31, 2),
    "__fns32(a, b & 31, -2)": lambda a, b, c: _nth(a, b & 31, -2),
    "__clzll((long long)a << 32 | b)": lambda a, b, c: 64 - (a << 32 | b).bit_length(),
    "__ffsll((long long)a << 32 | b)": lambda a, b, c: (v := a << 32 | b, (v & -v).bit_length())[1],
    "(unsigned)(__umul64hi((unsigned long long)a << 32 | b, (unsigned long long)c << 32) >> 32)": lambda a, b, c: (
        (a << 32 | b) * (c << 32) >> 96
    ),
    "(unsigned)__brevll((unsigned long long)a << 32 | b)": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
}


# The names of HIP's reference, "HIP math API", by their arguments; without those that other tests here call.
REFERENCE = {
    "x": "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 "
    "fabs floor j0 j1 lgamma llrint llround log log10 log1p log2 logb lrint lround nearbyint normcdf normcdfinv rcbrt "
    "rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1 ilogb cyl_bessel_i0 cyl_bessel_i1",
    "x, y": "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot",
    "x, y, z": "fma norm3d rnorm3d", "x, y, z, x": "norm4d rnorm4d", "x, n": "ldexp scalbn scalbln powi",
    "n, x": "jn yn", "x, &m": "frexp", "x, &u": "modf", "x, y, &m": "remquo", "x, &u, &v": "sincos sincospi",
    "n, a": "norm rnorm",
    '""': "nan",
}  # fmt: skip
INTRINSICS = """__cosf(x) __exp10f(x) __expf(x) __fadd_rn(x, y) __fdiv_rn(x, y) __fmaf_rn(x, y, z) __fmul_rn(x, y)
__frcp_rn(x) __frsqrt_rn(x) __fsqrt_rn(x) __fsub_rn(x, y) __log10f(x) __log2f(x) __logf(x) __powf(x, y) __saturatef(x)
__sinf(x) __tanf(x) __fdividef(x, y) fdividef(x, y) abs(x) isfinite(x) isinf(x) isnan(x) signbit(x) __dadd_rn(x, y)
__ddiv_rn(x, y) __dmul_rn(x, y) __drcp_rn(x) __dsqrt_rn(x) __dsub_rn(x, y) __fma_rn(x, y, z)"""


def test_every_function_of_the_reference_is_there(run: Run) -> None:
    body = ""
    for type_, f in (("float", "f"), ("double", "")):
        body += f"    {{ {type_} x = first[i], y = x + 1, z = y + 1, u, v, a[] = {{x, y}}; int n = 2, m;\n"
        for given, names in REFERENCE.items():
            body += "".join(f"    r[i] += ({name}{f}({given}), 0.0);\n" for name in names.split())
        body += "    }\n"
    body += "    float x = first[i], y = x, z = x;\n    static_assert(__is_same(decltype(pow(x, 2)), float));\n"
    body += "".join(f"    r[i] += ({call}, 0.0);\n" for call in INTRINSICS.replace(") ", ")\n").split("\n"))
    run(body, 1, first=np.ones(1, np.float32), r=np.zeros(1))


def _signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (x >> bits - 1 << bits)


def _nth(mask: int, base: int, offset: int) -> int:
    places = [p for p in range(32) if mask >> p & 1 and (p >= base if offset > 0 else p <= base)]
    places = places if offset > 0 else places[::-1]
    return places[abs(offset) - 1] if len(places) >= abs(offset) else -1


def test_integers(run: Run) -> None:
    random = np.random.default_rng(1)
    edges = np.array([0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, MASK, 0x7FFFFF, 0x800000], np.uint32)
    a, b, c = (np.concatenate([random.permutation(edges), random.integers(0, 2**32, 118, np.uint32)]) for _ in "abc")
    c[64:] &= 63
    found = np.zeros((len(INTEGERS), 128), np.uint32)
    body = "    unsigned a = x[i], b = y[i], c = z[i];\n"
    body += "\n".join(f"    found[{128 * n} + i] = {call};" for n, call in enumerate(INTEGERS))
    run(body, 128, x=a, y=b, z=c, found=found)
    for row, (call, right) in zip(found, INTEGERS.items(), strict=True):
        wanted = [right(*map(int, given)) & MASK for given in zip(a, b, c, strict=True)]
        assert row.tolist() == wanted, call


def _rounds(got: Any, exact: Fraction, to: str) -> bool:
    """Whether that is where a direction leads from an exact number."""
    T = type(got)
    with np.errstate(over="ignore"):
        below, above = float(np.nextafter(got, T(-np.inf))), float(np.nextafter(got, T(np.inf)))
    to = to if to != "rz" else "rd" if exact > 0 else "ru"
    if to == "rd":
        return float(got) <= exact and (above == np.inf or exact < above)
    return float(got) >= exact and (below == -np.inf or exact > below)


@pytest.mark.parametrize("type_", ["float", "double"])
def test_other_directions_of_rounding(run: Run, type_: str) -> None:
    T: Any = {"float": np.float32, "double": np.float64}[type_]
    p, q = ("f", "fmaf") if type_ == "float" else ("d", "fma")
    random = np.random.default_rng(2)
    x, y, z = (random.standard_normal(128).astype(T) * T(10) ** random.integers(-9, 9, 128).astype(T) for _ in "xyz")
    info = np.finfo(T)
    x[:6] = [info.max, info.tiny, info.smallest_subnormal, 1, 3, -info.max]
    y[:6] = [info.max, T(0.3), T(0.7), info.eps / 4, T(7), info.max]
    calls = [f"__{p}{name}_{to}(x[i], y[i])" for name in ("add", "sub", "mul", "div") for to in ("ru", "rd", "rz")]
    calls += [f"__{p}sqrt_{to}(fabs(x[i]))" for to in ("ru", "rd", "rz")]
    calls += [f"__{q}_{to}(x[i], y[i], z[i])" for to in ("ru", "rd", "rz")]
    found = np.zeros((len(calls), 128), T)
    run(
        "\n".join(f"    found[{128 * n} + i] = {call};" for n, call in enumerate(calls)), 128, x=x, y=y, z=z,
        found=found,
    )  # fmt: skip
    for row, call in zip(found, calls, strict=True):
        to = call.split("(")[0][-2:]
        for got, a, b, c in zip(row, x, y, z, strict=True):
            fa, fb, fc = (Fraction(float(v)) for v in (a, b, c))
            if "sqrt" in call:
                other = np.nextafter(got, T(np.inf if to != "ru" else -np.inf))
                low, high = sorted((Fraction(float(got)), Fraction(float(other))))
                assert low**2 <= abs(fa) <= high**2, (call, a)
                assert Fraction(float(got)) ** 2 != abs(fa) or low**2 == abs(fa) or high**2 == abs(fa)
                continue
            exact = {"add": fa + fb, "sub": fa - fb, "mul": fa * fb, "div": fa / fb, q: fa * fb + fc}[
                next(name for name in (q, "add", "sub", "mul", "div") if name in call)
            ]
            if np.isinf(got):
                assert abs(exact) > Fraction(float(info.max)), (call, a, b)
                assert to == ("ru" if got > 0 else "rd"), (call, a, b)
            else:
                assert _rounds(got, exact, to), (call, a, b, c, got)


def test_conversions(run: Run) -> None:
    random = np.random.default_rng(3)
    x = np.concatenate([random.standard_normal(100) * 1000, [0.5, 1.5, -0.5, -2.5, 2**31 - 128, -(2.0**31), 7, -7]])
    n = np.concatenate(
        [random.integers(-(2**63), 2**63, 100), [0, 1, -1, 2**24 + 1, 2**53 + 1, 2**63 - 1, -(2**63), 5]]
    )
    narrow = x.astype(np.float32)
    modes = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
    whole, wide = np.zeros((4, 108), np.int32), np.zeros((4, 108), np.int64)
    single, double, again = np.zeros((4, 108), np.float32), np.zeros((4, 108)), np.zeros((4, 108), np.float32)
    body = "".join(
        f"    whole[{108 * k} + i] = __float2int_{to}(narrow[i]); wide[{108 * k} + i] = __double2ll_{to}(x[i]);\n"
        f"    single[{108 * k} + i] = __ll2float_{to}(n[i]); twice[{108 * k} + i] = __ll2double_{to}(n[i]);\n"
        f"    again[{108 * k} + i] = __double2float_{to}(x[i] / 3);\n"
        for k, to in enumerate(modes)
    )
    arrays = {"narrow": narrow, "x": x, "n": n, "whole": whole, "wide": wide, "single": single, "twice": double}
    run(body, 108, **arrays, again=again)
    for k, (to, rounded) in enumerate(modes.items()):
        assert np.array_equal(whole[k], rounded(narrow).astype(np.int32)), to
        assert np.array_equal(wide[k], rounded(x).astype(np.int64)), to
        if to != "rn":
            for got, exact in (*zip(single[k], n, strict=True), *zip(double[k], n, strict=True)):
                assert _rounds(got, Fraction(int(exact)), to), (to, got, exact)
            assert all(_rounds(g, Fraction(float(v / 3)), to) for g, v in zip(again[k], x, strict=True)), to
    assert np.array_equal(single[0], n.astype(np.float32))
    assert np.array_equal(double[0], n.astype(np.float64))


def test_lanes(run: Run) -> None:
    x = np.array([(k * 7) % 5 for k in range(64)], np.int32)
    found, wide = np.zeros((11, 64), np.uint32), np.zeros((3, 64))
    body = """
    int v = x[i];
    found[i] = __ballot(v == 2);
    found[64 + i] = __match_any_sync(~0ull, v);
    int all;
    found[128 + i] = __match_all_sync(~0ull, i / 32, &all) + all;
    found[192 + i] = __reduce_add_sync(~0ull, v);
    found[256 + i] = __reduce_max_sync(~0ull, (unsigned)v * i);
    if (v > 1) found[320 + i] = __activemask();
    if (v > 1) found[384 + i] = __reduce_min_sync(__activemask(), i);
    found[448 + i] = __any(v == 4) + 2 * __all(v < 5) + 4 * __any_sync(~0ull, v == 9);
    found[512 + i] = __syncthreads_count(v == 3);
    found[576 + i] = __popcll(__lanemask_lt());
    found[640 + i] = __shfl_up(v, 3, 8);
    double d = v + 0.25 * i;
    wide[i] = __shfl_xor(d, 5);
    wide[64 + i] = __shfl_sync(~0ull, d, 33);
    wide[128 + i] = __shfl_down(d, 2, 16);"""
    run(body, 64, x=x, found=found, wide=wide)
    lanes = np.arange(64)
    of_wave = [x[:32]] * 32 + [x[32:]] * 32
    bits = [[sum(1 << k for k in range(32) if test(w, k)) for w in (x[:32], x[32:])] for test in (
        lambda w, k: w[k] == 2, lambda w, k: w[k] > 1)]  # fmt: skip
    assert found[0].tolist() == [bits[0][0]] * 32 + [bits[0][1]] * 32
    assert found[1].tolist() == [sum(1 << k for k in range(32) if w[k] == v) for w, v in zip(of_wave, x, strict=True)]
    assert (found[2] == 0).all()  # all lanes, and 1
    assert found[3].tolist() == [w.sum() for w in of_wave]
    assert found[4].tolist() == [(x * lanes)[:32].max()] * 32 + [(x * lanes)[32:].max()] * 32
    some = x > 1
    assert found[5][some].tolist() == [bits[1][0]] * some[:32].sum() + [bits[1][1]] * some[32:].sum()
    assert (
        found[6][some].tolist()
        == [lanes[:32][some[:32]].min()] * some[:32].sum() + [lanes[32:][some[32:]].min()] * some[32:].sum()
    )
    assert (found[7] == 3).all()
    assert (found[8] == (x == 3).sum()).all()
    assert found[9].tolist() == (lanes % 32).tolist()
    assert found[10].tolist() == [x[k - 3] if k % 8 >= 3 else x[k] for k in lanes]
    d = x + 0.25 * lanes
    assert wide[0].tolist() == [d[k ^ 5] for k in lanes]
    assert wide[1].tolist() == [d[k // 32 * 32 + 1] for k in lanes]
    assert wide[2].tolist() == [d[k + 2] if k % 16 < 14 else d[k] for k in lanes]


def test_half(run: Run) -> None:
    random = np.random.default_rng(4)
    x, y = (random.integers(0, 2**16, 512, np.uint16).view(np.float16) for _ in "xy")
    n = random.integers(-70000, 70000, 512).astype(np.int32)
    calls: dict[str, Any] = {
        "a + b": x + y, "a * b": x * y, "__hsub(a, b)": x - y, "__hdiv(a, b)": x / y, "__hneg(a)": -x,
        "__habs(a)": abs(x),
        "__hmax(a, b)": np.fmax(x, y), "__hmin(a, b)": np.fmin(x, y),
        "__half(__heq(a, b) + 2 * __hlt(a, b))": ((x == y) + 2.0 * (x < y)).astype(np.float16),
        "__half((float)__hisnan(a))": np.isnan(x).astype(np.float16),
        "hsqrt(a)": np.sqrt(x.astype(np.float64)).astype(np.float16), "hfloor(a)": np.floor(x),
        "htrunc(a)": np.trunc(x), "hrint(a)": np.rint(x), "__float2half((float)n[i])": n.astype(np.float16),
        "__int2half_rn(n[i])": n.astype(np.float16), "__hadd2(__half2(a, b), __half2(b, a)).y": x + y,
        "__low2half(__hmul2(__half2(a, b), __half2(b, a)))": x * y,
    }  # fmt: skip
    with np.errstate(all="ignore"):
        found = np.zeros((len(calls) + 2, 512), np.float16)
        body = "    __half a = x[i], b = y[i];\n"
        body += "\n".join(f"    found[{512 * k} + i] = {call};" for k, call in enumerate(calls))
        body += (
            f"\n    found[{512 * len(calls)} + i] = hexp(a); found[{512 * len(calls) + 512} + i] = __int2half_rz(n[i]);"
        )
        run(body, 512, "#include <hip/hip_fp16.h>", x=x, y=y, n=n, found=found)
        for row, (call, wanted) in zip(found, calls.items(), strict=False):
            same = (row == wanted) | np.isnan(row) & np.isnan(wanted)
            assert same.all(), (call, x[~same][0], y[~same][0], row[~same][0], wanted[~same][0])
        right = np.exp(x.astype(np.float64)).astype(np.float16)
        assert np.allclose(found[-2], right, rtol=1e-3, atol=1e-7, equal_nan=True)
        cut = np.array([_toward_zero(int(v)) for v in n], np.float16)
        assert np.array_equal(found[-1], cut)


def _toward_zero(n: int) -> float:
    a = min(abs(n), 65504)
    drop = max(a.bit_length() - 11, 0)
    return float((a >> drop << drop) * (1 if n >= 0 else -1))


def _bfloat(x: np.ndarray) -> np.ndarray:
    bits = x.astype(np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), rounded)


def test_bfloat16(run: Run) -> None:
    random = np.random.default_rng(5)
    x, y = ((random.integers(0, 2**16, 512).astype(np.uint32) << 16).view(np.float32) for _ in "xy")
    with np.errstate(all="ignore"):
        calls: dict[str, Any] = {
            "a + b": x + y, "a * b": x * y, "__hsub(a, b)": x - y, "a / b": x / y, "__hneg(a)": -x,
            "__hmax(a, b)": np.fmax(x, y),
            "__hfma(a, b, a)": (x.astype(np.float64) * y + x).astype(np.float32), "hsqrt(a)": np.sqrt(x),
            "__hadd2(__hip_bfloat162(a, b), __hip_bfloat162(b, b)).x": x + y,
            "__hip_bfloat16((float)__hgt(a, b))": (x > y).astype(np.float32),
            "__double2bfloat16((double)a + (double)b * 1e-9)": x + y.astype(np.float64) * 1e-9,
        }  # fmt: skip
        found = np.zeros((len(calls), 512), np.float32)
        body = "    __hip_bfloat16 a = x[i], b = y[i];\n"
        body += "\n".join(f"    found[{512 * k} + i] = __bfloat162float({call});" for k, call in enumerate(calls))
        run(body, 512, "#include <hip/hip_bf16.h>", x=x, y=y, found=found)
        for row, (call, wanted) in zip(found, calls.items(), strict=True):
            if "double2" not in call:
                wanted = _bfloat(wanted)
                same = (row == wanted) | np.isnan(row) & np.isnan(wanted)
                assert same.all(), (call, x[~same][0], y[~same][0], row[~same][0], wanted[~same][0])


def _fp8(kind: str) -> np.ndarray:
    """The 256 numbers of a type."""
    fnuz, digits, bias = "fnuz" in kind, 3 if "e4m3" in kind else 2, (7 if "e4m3" in kind else 15) + ("fnuz" in kind)
    codes = np.arange(256)
    e, m = (codes & 127) >> digits, codes & ((1 << digits) - 1)
    value = np.where(
        e > 0,
        np.ldexp(m + 2.0**digits, e - bias - digits),
        np.ldexp(m * 1.0, 1 - bias - digits),
    )
    value = np.where(codes & 128, -value, value)
    if fnuz:
        value[128] = np.nan
    elif digits == 3:
        value[[127, 255]] = np.nan
    else:
        value[[124, 252]] = np.inf, -np.inf
        value[[125, 126, 127, 253, 254, 255]] = np.nan
    return value


@pytest.mark.parametrize("kind", ["e4m3", "e5m2", "e4m3_fnuz", "e5m2_fnuz"])
def test_floats_of_8_bits(run: Run, kind: str) -> None:
    table = _fp8(kind)
    numbers = np.sort(table[np.isfinite(table)])
    numbers = np.unique(numbers)
    middles = (numbers[1:] + numbers[:-1]) / 2
    x = np.concatenate([numbers, middles, np.nextafter(middles, 9e9), np.nextafter(middles, -9e9), [1e6, -1e6, np.nan]])
    x = np.concatenate([x, np.random.default_rng(6).standard_normal(200) * 20])
    back, made = np.zeros(256), np.zeros((2, len(x)), np.uint8)
    codes = np.arange(len(x)).astype(np.uint8)
    body = f"""
    if (i < 256) back[i] = (float)__builtin_bit_cast(__hip_fp8_{kind}, codes[i]);
    made[i] = __hip_fp8_{kind}(x[i]).__x;
    made[count + i] = __hip_cvt_double_to_fp8(x[i], __HIP_NOSAT, __HIP_{kind.upper()});"""
    run(body, len(x), "#include <hip/hip_fp8.h>", x=x, codes=codes, back=back, made=made)
    assert np.array_equal(back, table, equal_nan=True)
    for given, code, other in zip(x, *made, strict=True):
        if np.isnan(given):
            assert np.isnan(table[[code, other]]).all()
        elif abs(given) > numbers[-1]:
            assert table[code] == np.copysign(numbers[-1], given)
            assert not np.isfinite(table[other])
        else:
            apart = np.abs(numbers - given)
            near = numbers[apart == apart.min()]
            even = [v for v in near if np.nonzero(table == v)[0][0] % 2 == 0] if len(near) > 1 else near
            assert table[code] == table[other] == even[0], given


def test_printf_and_a_failed_assert(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.arange(4, dtype=np.int32)
    run('    if (x[i] == 2) printf("%d of %s\\n", x[i], "four");\n    assert(x[i] < 4);', 4, x=x)
    assert capfd.readouterr().out == "2 of four\n"
    with pytest.raises(IsaError, match="trap"):
        run("    assert(x[i] != 3);", 4, x=x)


def test_printf_of_strings_that_are_no_literals(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    """Chosen between two, of a table, of the launch's memory from its middle on, of registers and of LDS."""
    top = '__device__ const char *names[3] = {"zero", "one", "a name that is longer than eight"};'
    body = """
    const char *chosen = i & 1 ? "odd" : "even";
    char own[8] = {char('a' + i), char('b' + i), 0};
    __shared__ char shared[8];
    if (i == 0) for (int k = 0; k < 8; ++k) shared[k] = "shared"[k % 7];
    __syncthreads();
    printf("%d %s|%s|%s|%s|%s|%5.3s|\\n", i, chosen, names[i], (char *)text + 5, own, shared, names[2]);"""
    run(body, 3, top, text=np.frombuffer(b"from the host\0", np.uint8).copy())
    names = ("zero", "one", "a name that is longer than eight")
    assert capfd.readouterr().out.splitlines() == [
        f"{i} {'odd' if i & 1 else 'even'}|{name}|the host|{'abcd'[i : i + 2]}|shared|  a n|"
        for i, name in enumerate(names)
    ]


TYPES_OF_RESULTS = Path(__file__).with_name("sources").joinpath("device_functions_types_of_results.hip").read_text()


@pytest.mark.parametrize("header", ["this project's header", "AMD's header for hiprtc"])
def test_results_have_the_types_that_cxx_and_hip_say(header: str, tmp_path: Path) -> None:
    """Of all overloads one is the best, by this project's header and by AMD's; one that is not so shows."""
    found = next((h for h in hip_headers.choices(toolchain.find(), "gfx1100") if h.called == header), None)
    if found is None:
        pytest.skip("AMD's header is not installed")
    source, own = tmp_path / "k.hip", found.called.startswith("this")
    flags = ["-O1", *found.flags] if own else ["-O1", f"-I{found.include}", *found.flags]

    def compiled(text: str) -> None:
        source.write_text(text)
        include = found.include if own else None
        found.tools.compile(
            source, tmp_path / "k.s", arch="gfx1100", cu_mode=False, include=include, flags=flags, keep=False
        )

    compiled(TYPES_OF_RESULTS)
    with pytest.raises(IsaError, match=r"static assertion failed.*min\(l, l\)"):
        compiled(TYPES_OF_RESULTS.replace("IS(long, min(l, l))", "IS(int, min(l, l))"))
