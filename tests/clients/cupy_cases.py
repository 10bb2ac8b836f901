"""CuPy on the simulated card, each case against NumPy. Run by tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/cupy_cases.py --json out.json [--only WORD]

A case is a function of the module, cupy or numpy, and of arrays in its memory; both give the same arrays, integers the
same to the bit, floats within so many units of the last place of each element, or, for sums, of the largest element.
A case that NumPy has no like of compares within itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy
import cupyx
import cupyx.scipy.ndimage
import cupyx.scipy.special
import numpy as np
import scipy.ndimage
import scipy.special
import suite

CASES: dict[str, tuple[Callable[..., Any], float, bool]] = {}
"""Case -> (what is computed, units of the last place, whether those are of the largest element)."""
RNG = np.random.default_rng(14)
F = {dtype: RNG.standard_normal((37, 53)).astype(dtype) for dtype in (np.float16, np.float32, np.float64)}
G = {dtype: RNG.uniform(0.2, 3, (37, 53)).astype(dtype) for dtype in F}
C = {np.complex64: F[np.float32] + 1j * G[np.float32], np.complex128: F[np.float64] + 1j * G[np.float64]}
I = {dtype: RNG.integers(-100, 100, (37, 53)).astype(dtype) for dtype in (np.int8, np.int32, np.int64, np.uint16)}  # noqa: E741
f, g, d, e, h, i = F[np.float32], G[np.float32], F[np.float64], G[np.float64], F[np.float16], I[np.int32]
c, z = C[np.complex64], C[np.complex128]


def case(units: float = 0, largest: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__.strip("_").replace("_", " ")] = function, units, largest
        return function

    return keep


def cases(units: float, *named: tuple[str, Callable[..., Any]], largest: bool = False) -> None:
    for name, function in named:
        CASES[name] = function, units, largest


def special(xp: Any) -> Any:
    return cupyx.scipy.special if xp is cupy else scipy.special


def images(xp: Any) -> Any:
    return cupyx.scipy.ndimage if xp is cupy else scipy.ndimage


cases(
    0,
    ("arange", lambda xp: xp.arange(3, 1000, 7)),
    ("linspace", lambda xp: xp.linspace(0, 8, 9)),
    ("eye and tri", lambda xp: xp.eye(5, 7, k=1) + xp.tri(5, 7)),
    ("full and meshgrid", lambda xp: xp.meshgrid(xp.full(4, 2.5), xp.arange(3))[0]),
    ("indices", lambda xp: xp.indices((3, 4))),
    ("add of all types", lambda xp: [xp.asarray(a) + xp.asarray(a) for a in (h, f, d, *I.values(), c, z)]),
    ("product of halves", lambda xp: xp.asarray(h) * xp.asarray(h)),
    ("broadcasting", lambda xp: xp.asarray(f)[:, None, :] - xp.asarray(f)[None, :5, :].swapaxes(0, 1)[:1]),
    ("mixed types", lambda xp: xp.asarray(I[np.int8]) * xp.asarray(d) + xp.asarray(i)),
    ("integer division", lambda xp: [xp.asarray(i) // 7, xp.asarray(i) % 7, *xp.divmod(xp.asarray(i), -9)]),
    ("bits", lambda xp: (xp.asarray(i) & 12) ^ (xp.asarray(i) | 3) ^ ~xp.asarray(i) ^ (xp.asarray(i) << 3)),
    ("shifts to the right", lambda xp: [xp.asarray(i) >> 2, xp.asarray(I[np.uint16]) >> 5]),
    ("gcd and lcm", lambda xp: [xp.gcd(xp.asarray(i), 36), xp.lcm(xp.abs(xp.asarray(i)), 12)]),
    ("comparisons", lambda xp: [xp.asarray(f) < 0, xp.asarray(f) >= xp.asarray(g), xp.asarray(i) == 3]),
    ("logic", lambda xp: xp.logical_xor(xp.asarray(f) > 0, xp.asarray(g) > 1)),
    ("where and clip", lambda xp: xp.where(xp.asarray(f) > 0, xp.clip(xp.asarray(f), -0.5, 0.5), xp.asarray(g))),
    ("rounding", lambda xp: [g(xp.asarray(d) * 9) for g in (xp.floor, xp.ceil, xp.rint, xp.trunc, xp.fix)]),
    ("sign copysign signbit", lambda xp: [xp.sign(xp.asarray(f)), xp.copysign(xp.asarray(g), xp.asarray(f))]),
    ("nan and infinity", lambda xp: [xp.isnan(xp.asarray(f) / 0 * 0), xp.isinf(xp.asarray(f) / 0)]),
    ("frexp and ldexp", lambda xp: [*xp.frexp(xp.asarray(f)), xp.ldexp(xp.asarray(f), xp.asarray(i) % 9)]),
    ("nextafter", lambda xp: xp.nextafter(xp.asarray(d), xp.asarray(e))),
    ("maximum with nan", lambda xp: xp.maximum(xp.asarray(f), xp.where(xp.asarray(g) > 2, xp.nan, 0).astype("f"))),
    ("casts", lambda xp: [xp.asarray(d).astype(t) for t in ("e", "f", "i", "l", "?", "F", "b")]),
    ("complex parts", lambda xp: [xp.asarray(z).real, xp.asarray(c).imag, xp.conj(xp.asarray(c))]),
    ("square root", lambda xp: [xp.sqrt(xp.asarray(g)), xp.sqrt(xp.asarray(e))]),
    ("quotient", lambda xp: [xp.asarray(f) / xp.asarray(g), xp.asarray(d) / xp.asarray(e), xp.asarray(i) / 3]),
    ("transpose and copy", lambda xp: xp.ascontiguousarray(xp.asarray(f).T)),
    ("reshape ravel", lambda xp: xp.asarray(f).T.reshape(53 * 37)[::-3]),
    ("concatenate stack tile", lambda xp: xp.tile(xp.stack([xp.asarray(f), xp.asarray(g)], 1), (1, 1, 2))),
    ("repeat roll flip rot90", lambda xp: xp.rot90(xp.flip(xp.roll(xp.repeat(xp.asarray(i), 2, 1), 5), 0))),
    ("pad", lambda xp: xp.pad(xp.asarray(i), ((2, 3), (1, 4)), mode="reflect")),
    ("take and indices", lambda xp: xp.asarray(f)[xp.asarray([3, 3, 7]), xp.asarray([[1], [2]])]),
    ("mask", lambda xp: xp.asarray(f)[xp.asarray(g) > 1.5]),
    ("nonzero", lambda xp: xp.nonzero(xp.asarray(i) % 5 == 0)),
    ("take along axis", lambda xp: xp.take_along_axis(xp.asarray(f), xp.asarray(i % 37), axis=0)),
    ("diagonal triu", lambda xp: [xp.diag(xp.asarray(f)), xp.triu(xp.asarray(f), 2)]),
    ("sum of integers", lambda xp: [xp.asarray(i).sum(), xp.asarray(i).sum(0), xp.asarray(I[np.int8]).sum(1)]),
    ("product of integers", lambda xp: xp.prod(xp.asarray(i[:, :9]), axis=1)),
    ("minimum maximum", lambda xp: [xp.asarray(f).min(), xp.asarray(d).max(0), xp.ptp(xp.asarray(i), axis=1)]),
    ("argmin argmax", lambda xp: [xp.asarray(f).argmin(), xp.asarray(d).argmax(0), xp.asarray(h).argmax(1)]),
    ("any all count", lambda xp: [(xp.asarray(f) > 2).any(0), (xp.asarray(g) > 0).all(), xp.sum(xp.asarray(i) != 0)]),
    ("nanmax nanargmin", lambda xp: [xp.nanmax(xp.asarray(f) / (xp.asarray(i) != 3)), xp.nanargmin(xp.asarray(f))]),
    ("cumulative sums", lambda xp: [xp.cumsum(xp.asarray(i)), xp.cumsum(xp.asarray(i), axis=1)]),
    ("differences", lambda xp: xp.diff(xp.asarray(i), axis=0)),
    ("bincount", lambda xp: xp.bincount(xp.abs(xp.asarray(i)).ravel())),
    ("histogram", lambda xp: xp.histogram(xp.asarray(d), bins=11, range=(-3, 3))[0]),
    ("digitize searchsorted", lambda xp: xp.searchsorted(xp.linspace(-3, 3, 50), xp.asarray(d))),
    ("sort", lambda xp: [xp.sort(xp.asarray(f).ravel()), xp.sort(xp.asarray(i), axis=0), xp.sort(xp.asarray(d))]),
    ("argsort", lambda xp: xp.argsort(xp.asarray(d), axis=1)),
    ("lexsort", lambda xp: xp.lexsort(xp.asarray(i[:2]))),
    ("partition", lambda xp: xp.partition(xp.asarray(d).ravel(), 500)[500]),
    ("unique", lambda xp: xp.unique(xp.asarray(i), return_counts=True)),
    ("median", lambda xp: xp.median(xp.asarray(d), axis=0)),
    ("packbits", lambda xp: xp.packbits(xp.asarray(i) > 0)),
    ("einsum of integers", lambda xp: xp.einsum("ij,kj->ik", xp.asarray(i), xp.asarray(i))),
    ("matmul of integers", lambda xp: xp.asarray(i) @ xp.asarray(i).T),
    ("dilation", lambda xp: images(xp).grey_dilation(xp.asarray(i), size=(3, 3))),
    ("labels", lambda xp: images(xp).label(xp.asarray(f) > 0.5)[1]),
)  # fmt: skip
cases(
    4,
    ("exp", lambda xp: [xp.exp(xp.asarray(f)), xp.exp(xp.asarray(d)), xp.expm1(xp.asarray(d)), xp.exp2(xp.asarray(f))]),
    ("logarithms", lambda xp: [xp.log(xp.asarray(e)), xp.log2(xp.asarray(g)), xp.log1p(xp.asarray(g))]),
    ("sine cosine tangent", lambda xp: [xp.sin(xp.asarray(f)), xp.cos(xp.asarray(d)), xp.tan(xp.asarray(d))]),
    ("arcs", lambda xp: [xp.arctan(xp.asarray(d)), xp.arctan2(*map(xp.asarray, (f, g))), xp.arcsinh(xp.asarray(d))]),
    ("hyperbolic", lambda xp: [xp.sinh(xp.asarray(d)), xp.tanh(xp.asarray(f)), xp.cosh(xp.asarray(f))]),
    ("power", lambda xp: [xp.asarray(g) ** xp.asarray(f), xp.asarray(e) ** 2.5, xp.cbrt(xp.asarray(d))]),
    ("hypot logaddexp", lambda xp: [xp.hypot(xp.asarray(d), xp.asarray(e)), xp.logaddexp(*map(xp.asarray, (e, e)))]),
    ("exp of halves", lambda xp: xp.exp(xp.asarray(h))),
    ("angle and absolute", lambda xp: [xp.abs(xp.asarray(z)), xp.angle(xp.asarray(c))]),
    ("mean of integers", lambda xp: xp.asarray(i).mean(1)),
    ("interpolation", lambda xp: xp.interp(xp.asarray(e), xp.linspace(0, 3, 20), xp.linspace(2, 9, 20))),
)  # fmt: skip
cases(
    16,
    ("product of complex", lambda xp: [xp.asarray(c) * xp.asarray(c), xp.asarray(z) / xp.asarray(z[::-1])]),
    ("functions of complex", lambda xp: [xp.exp(xp.asarray(z)), xp.sqrt(xp.asarray(z)), xp.log(xp.asarray(z))]),
    ("sum", lambda xp: [xp.asarray(f).sum(), xp.asarray(d).sum(0), xp.asarray(d).sum(1), xp.asarray(c).sum()]),
    ("mean and variance", lambda xp: [xp.asarray(d).mean(), xp.asarray(d).var(0), xp.asarray(f).std(1, ddof=1)]),
    ("product of rows", lambda xp: xp.prod(xp.asarray(e[:, :20]), axis=1)),
    ("cumulative product", lambda xp: xp.cumprod(xp.asarray(e[0]))),
    ("nansum", lambda xp: xp.nansum(xp.where(xp.asarray(i) > 90, xp.nan, xp.asarray(d)), axis=0)),
    ("average with weights", lambda xp: xp.average(xp.asarray(d), axis=0, weights=xp.asarray(e))),
    ("percentile", lambda xp: xp.percentile(xp.asarray(d), [10, 50, 99])),
    ("covariance", lambda xp: xp.cov(xp.asarray(d[:5]))),
    ("trapezoid gradient", lambda xp: xp.gradient(xp.asarray(d), axis=1)),
    ("polynomial", lambda xp: xp.polyval(xp.asarray([1.0, -2.0, 0.5]), xp.asarray(d))),
    ("convolution", lambda xp: xp.convolve(xp.asarray(d[0]), xp.asarray(d[1][:7]))),
    ("erf gamma", lambda xp: [special(xp).erf(xp.asarray(d)), special(xp).gammaln(xp.asarray(e))]),
    ("gaussian filter", lambda xp: images(xp).gaussian_filter(xp.asarray(d), 1.5)),
    ("matmul fp32", lambda xp: xp.asarray(f) @ xp.asarray(g).T),
    ("matmul fp32 large", lambda xp: xp.asarray(np.tile(f, (5, 3))) @ xp.asarray(np.tile(g, (5, 3))).T),
    ("matmul fp64", lambda xp: xp.asarray(d).T @ xp.asarray(e)),
    ("matmul complex", lambda xp: [xp.asarray(c) @ xp.asarray(c).T, xp.asarray(z).T @ xp.asarray(z)]),
    ("matmul batched", lambda xp: xp.matmul(xp.asarray(f)[:4, :, None] * xp.asarray(g)[:4, None, :], xp.asarray(f)[0])),
    ("matrix vector", lambda xp: [xp.asarray(f) @ xp.asarray(g[0]), xp.asarray(d[:, 0]) @ xp.asarray(e)]),
    ("dot and vdot", lambda xp: [xp.dot(xp.asarray(d[0]), xp.asarray(e[0])), xp.vdot(*map(xp.asarray, c[:2]))]),
    ("outer inner", lambda xp: [xp.outer(xp.asarray(f[0]), xp.asarray(g[0])), xp.inner(xp.asarray(f), xp.asarray(g))]),
    ("tensordot", lambda xp: xp.tensordot(xp.asarray(d), xp.asarray(e), axes=([0], [0]))),
    ("einsum", lambda xp: xp.einsum("ij,kj,k->i", xp.asarray(d), xp.asarray(e), xp.asarray(d[:, 0]))),
    ("norm", lambda xp: [xp.linalg.norm(xp.asarray(d)), xp.linalg.norm(xp.asarray(f), axis=1)]),
    largest=True,
)  # fmt: skip
cases(40, ("matmul fp16", lambda xp: xp.asarray(h) @ xp.asarray(G[np.float16]).T), largest=True)


@case()
def scatter_add(xp: Any) -> Any:
    out = xp.zeros(101, np.int64)
    (xp.add.at if xp is np else cupyx.scatter_add)(out, xp.abs(xp.asarray(i)), 3)
    return out


@case()
def assignment_by_index(xp: Any) -> Any:
    out = xp.zeros((37, 53), np.float32)
    out[::2, 1::3] = xp.asarray(f)[::2, 1::3]
    out[xp.asarray(g) > 2] = -1
    out[xp.asarray([1, 3]), :] = 5
    return out


@case()
def broken_stride_views(xp: Any) -> Any:
    view = xp.lib.stride_tricks.as_strided(xp.asarray(i.ravel()), (20, 7), (4 * 5, 4 * 3))
    return view * 2


@case()
def elementwise_kernel(xp: Any) -> Any:
    if xp is np:
        return f * 2 + g
    return cupy.ElementwiseKernel("T x, T y", "T z", "z = x * 2 + y", "twice_and")(xp.asarray(f), xp.asarray(g))


@case()
def elementwise_kernel_with_raw_arrays(xp: Any) -> Any:
    x = xp.asarray(i.ravel())
    if xp is np:
        return x + x[::-1]
    return cupy.ElementwiseKernel("raw T x", "T y", "y = x[i] + x[_ind.size() - i - 1]", "mirrored")(x, size=x.size)


@case(16, largest=True)
def reduction_kernel(xp: Any) -> Any:
    if xp is np:
        return np.sqrt((d * d).sum(axis=1))
    norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    return norm(xp.asarray(d), axis=1)


@case()
def fused(xp: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        return xp.where(x > y, x * 2, y - 1)

    return (cupy.fuse(function) if xp is cupy else function)(xp.asarray(f), xp.asarray(g))


@case()
def vectorized(xp: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        if x > y:
            return x * 2
        return y - 1

    return xp.vectorize(function)(xp.asarray(i), xp.asarray(i[::-1]))


REVERSED = r"""
extern "C" __global__ void reversed(const float *x, float *y, int n) {
    extern __shared__ float tile[];
    int t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    tile[t] = at < n ? x[at] : 0;
    __syncthreads();
    if (at < n) y[at] = tile[blockDim.x - 1 - t];
}
"""


@case()
def raw_kernel_with_shared_memory(xp: Any) -> Any:
    x = xp.asarray(f.ravel()[:1920])
    if xp is np:
        return x.reshape(-1, 64)[:, ::-1].ravel()
    y = cupy.empty_like(x)
    cupy.RawKernel(REVERSED, "reversed")((30,), (64,), (x, y, np.int32(1920)), shared_mem=256)
    return y


TEMPLATES = r"""
template<typename T, int n> __global__ void scaled(T *x) { x[threadIdx.x] *= n; }
__constant__ float table[4];
extern "C" __global__ void looked_up(float *y) { y[threadIdx.x] = table[threadIdx.x & 3]; }
"""


@case()
def raw_module_with_templates_and_constants(xp: Any) -> Any:
    if xp is np:
        return [np.arange(32.0) * 3, np.arange(32, dtype=np.int64) * 7, np.float32([1, 2, 3, 4] * 8)]
    names = ("scaled<double, 3>", "scaled<long, 7>")
    module = cupy.RawModule(code=TEMPLATES, options=("-std=c++17",), name_expressions=names)
    out = [cupy.arange(32.0), cupy.arange(32, dtype=np.int64), cupy.empty(32, np.float32)]
    for name, array in zip(names, out, strict=False):
        module.get_function(name)((1,), (32,), (array,))
    cupy.ndarray(4, np.float32, module.get_global("table")).set(np.float32([1, 2, 3, 4]))
    module.get_function("looked_up")((1,), (32,), (out[2],))
    return out


ATOMICS = r"""
#include <cupy/complex.cuh>
#include <cupy/atomics.cuh>
extern "C" __global__ void counted(const int *x, int *bins, double *total, complex<float> *rotated, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    atomicAdd(&bins[x[at] & 7], 1);
    atomicAdd(total, (double)x[at]);
    rotated[at] = complex<float>(x[at], 1) * complex<float>(0, 1);
}
"""


@case()
def raw_kernel_with_atomics_and_complex(xp: Any) -> Any:
    x = xp.asarray(i.ravel())
    if xp is np:
        return [np.bincount(x & 7, minlength=8), x.sum(), (x + 1j) * 1j]
    bins, total, rotated = cupy.zeros(8, np.int32), cupy.zeros((), np.float64), cupy.empty(x.size, np.complex64)
    cupy.RawKernel(ATOMICS, "counted")((32,), (64,), (x, bins, total, rotated, np.int32(x.size)))
    return [bins, total, rotated]


@case()
def an_error_of_the_compiler(xp: Any) -> Any:
    if xp is cupy:
        try:
            cupy.RawKernel('extern "C" __global__ void wrong(int *x) { x[0] = y; }', "wrong").compile()
        except cupy.cuda.compiler.CompileException as error:
            return np.array("undeclared identifier 'y'" in str(error))
    return np.array(True)


@case()
def streams_and_events(xp: Any) -> Any:
    if xp is np:
        return f * 4
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.asarray(f)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        x = x * 2 + x * 2
        end.record(stream)
        end.synchronize()
        assert cupy.cuda.get_elapsed_time(begin, end) > 0
    stream.synchronize()
    return x


@case()
def graph_capture(xp: Any) -> Any:
    if xp is np:
        return f * 8
    x, stream = cupy.asarray(f), cupy.cuda.Stream(non_blocking=True)
    x * x
    x *= 1
    with stream:
        stream.begin_capture()
        x *= 2
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    return x


@case()
def pinned_and_managed_memory(xp: Any) -> Any:
    if xp is np:
        return [f, g * 2]
    pinned = cupyx.empty_pinned(f.shape, f.dtype)
    pinned[...] = f
    stream = cupy.cuda.Stream()
    x = cupy.empty(f.shape, f.dtype)
    x.set(pinned, stream)
    memory = cupy.cuda.malloc_managed(g.nbytes)
    y = cupy.ndarray(g.shape, g.dtype, memory)
    y.set(g)
    return [x, y * 2]


@case()
def memory_pool(xp: Any) -> Any:
    if xp is cupy:
        pool = cupy.cuda.MemoryPool()
        with cupy.cuda.using_allocator(pool.malloc):
            x = cupy.ones(1000, np.float32)
            assert pool.used_bytes() == 4096, pool.used_bytes()
            del x
            assert pool.used_bytes() == 0 < pool.total_bytes()
            pool.free_all_blocks()
            assert pool.total_bytes() == 0
    return np.zeros(1)


@case()
def dlpack_and_array_interface(xp: Any) -> Any:
    if xp is np:
        return [f, f[:3] * 2]
    return [cupy.from_dlpack(cupy.asarray(f)), cupy.asarray(cupy.asarray(f)[:3]) * 2]


@case()
def device_properties(xp: Any) -> Any:
    if xp is cupy:
        found = cupy.cuda.runtime.getDeviceProperties(0)
        assert found["gcnArchName"].startswith(b"gfx1100")
        assert found["warpSize"] == 32
        assert cupy.cuda.runtime.getDeviceCount() == 1
        assert cupy.cuda.Device().mem_info[1] > 1 << 34
    return np.zeros(1)


def same(got: Any, want: Any, units: float, largest: bool) -> None:
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for pair in zip(got, want, strict=True):
            same(*pair, units, largest)
        return
    got, want = cupy.asnumpy(got), np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    if units and want.dtype.kind in "fc":
        size = np.abs(want).max(initial=0) if largest else np.abs(want)
        least = max((np.finfo(a.dtype) for a in (got, want)), key=lambda info: info.eps)
        right = np.abs(got - want.astype(got.dtype)) <= units * (least.eps * size + least.smallest_subnormal)
    else:
        right = (got == want) | ((got != got) & (want != want))
    if not right.all():
        at = tuple(int(n[0]) for n in np.nonzero(~right))
        raise AssertionError(f"{(~right).sum()} of {right.size} wrong, first {at}: {got[at]!r}, not {want[at]!r}")


def judge(name: str) -> None:
    function, units, largest = CASES[name]
    with np.errstate(all="ignore"):
        same(function(cupy), function(np), units, largest)


def main() -> int:
    cases = {name: partial(judge, name) for name in CASES}
    return suite.run(suite.options(__doc__).parse_args(), cases, cupy=cupy.__version__)


if __name__ == "__main__":
    sys.exit(main())
