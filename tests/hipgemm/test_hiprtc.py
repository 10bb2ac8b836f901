"""hiprtc on the simulated card: scripts that compile their kernels as they run, as hip-python's users write them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hipgemm.kernels.compiling import device_libraries

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"
SCRIPT = '''
import ctypes
import numpy as np
from hip import hip, hiprtc

def check(answer):
    code, *rest = answer
    assert int(code) == 0, code
    return rest[0] if len(rest) == 1 else rest

def build(source, *options, headers=(), names=()):
    program = check(hiprtc.hiprtcCreateProgram(source, b"axpy", len(headers), list(headers), list(names)))
    code, = hiprtc.hiprtcCompileProgram(program, len(options), list(options))
    log = bytearray(check(hiprtc.hiprtcGetProgramLogSize(program)))
    check(hiprtc.hiprtcGetProgramLog(program, log))
    return program, code, log.rstrip(bytes(1)).decode()

def image(program):
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    return code

SOURCE = b"""
#include "twice.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += TWICE(a) * x[i] + EXTRA;
}
"""
R = hiprtc.hiprtcResult
'''


def run(run_program: Run, tmp_path: Path, text: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + text)
    return run_program(COMMAND, "simulate", str(script), code=code)


def test_a_source_is_compiled_and_runs(run_program: Run, tmp_path: Path) -> None:
    done = run(
        run_program,
        tmp_path,
        """
program, code, log = build(SOURCE, b"--offload-arch=gfx1100", b"-DEXTRA=0.5f",
                           headers=[b"#define TWICE(v) (2 * (v))"], names=[b"twice.h"])
assert code == R.HIPRTC_SUCCESS, log
module = check(hip.hipModuleLoadData(image(program)))
kernel = check(hip.hipModuleGetFunction(module, b"axpy"))
n = 1000
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
dx, dy = (check(hip.hipMalloc(v.nbytes)) for v in (x, y))
for d, v in ((dx, x), (dy, y)):
    check(hip.hipMemcpy(d, v, v.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
block = hip.dim3(x=64)
grid = hip.dim3(x=-(-n // 64))
check(hip.hipModuleLaunchKernel(kernel, *grid, *block, sharedMemBytes=0, stream=None, kernelParams=None,
                                extra=(ctypes.c_float(1.5), dx, dy, ctypes.c_int(n))))
check(hip.hipMemcpy(y, dy, y.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
assert (y == 1 + 3 * x + 0.5).all()
check(hip.hipModuleUnload(module))
check(hiprtc.hiprtcDestroyProgram(program.createRef()))
print(*check(hiprtc.hiprtcVersion()))
""",
    )
    assert done.stdout == "7 2\n"


def test_the_macros_of_amds_hiprtc_are_there(run_program: Run, tmp_path: Path) -> None:
    """Sources choose their text by these: without one of them a kernel would be preprocessed away in silence."""
    run(
        run_program,
        tmp_path,
        """
driver = check(hip.hipRuntimeGetVersion())
program, code, log = build(b'''
#if !defined(__HIP_PLATFORM_AMD__) || !defined(__HIPCC_RTC__) || !defined(__HIPCC__) || !defined(__HIP__)
#error "which platform is this?"
#endif
#ifndef __HIP_DEVICE_COMPILE__
#error "for whom is this?"
#endif
static_assert(HIP_VERSION == HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH, "");
static_assert(HIP_VERSION == DRIVER, "");
#if defined(__HIP_PLATFORM_AMD__) && HIP_VERSION_MAJOR >= 5
extern "C" __global__ void k() {}
#endif
''', f"-DDRIVER={driver}".encode())
assert code == R.HIPRTC_SUCCESS, log
check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"k"))
""",
    )


def test_what_is_wrong_is_said(run_program: Run, tmp_path: Path) -> None:
    done = run(
        run_program,
        tmp_path,
        """
program, code, log = build(b"__global__ void k() { nothing(); }")
assert code == R.HIPRTC_ERROR_COMPILATION and "undeclared identifier 'nothing'" in log, log
assert hiprtc.hiprtcGetCodeSize(program)[0] == R.HIPRTC_ERROR_INVALID_PROGRAM
program, code, log = build(b"", b"--offload-arch=gfx90a")
assert code == R.HIPRTC_ERROR_INVALID_OPTION and "gfx90a" in log
assert hip.hipGetLastError()[0] == hip.hipError_t.hipSuccess
handle = ctypes.c_void_p(int(program))
check(hiprtc.hiprtcDestroyProgram(ctypes.addressof(handle)))
assert hiprtc.hiprtcGetCodeSize(program)[0] == R.HIPRTC_ERROR_INVALID_PROGRAM
assert "HIPRTC_ERROR_COMPILATION" in str(hiprtc.hiprtcGetErrorString(R.HIPRTC_ERROR_COMPILATION))
assert hiprtc.hiprtcGetLoweredName(program, b"k")[0] == R.HIPRTC_ERROR_INVALID_PROGRAM
# A program of another target of the family compiles, and is not for this card.
program, code, log = build(b'extern "C" __global__ void k() {}', b"--offload-arch=gfx1101")
assert code == R.HIPRTC_SUCCESS
assert hip.hipModuleLoadData(image(program))[0] == hip.hipError_t.hipErrorNoBinaryForGpu
""",
    )
    assert "a code object for another GPU" in done.stderr


PRINTING = r"""
extern "C" __global__ void say(float f, long long big, short small) {
    if (threadIdx.x % 32 == 1)
        printf("%d of %d|%5.2f|%-6s|%lld|%hd|%x|%c|%%|%p\n", (int)threadIdx.x, blockDim.x, f, "abc", big, small, 255u,
               'z', (void *)16);
    if (threadIdx.x == 40)
        printf("once\n");
}
extern "C" __global__ void much(int n) {
    for (int i = 0; i < n; ++i) printf("%d\n", i);
}
"""


def test_a_kernel_prints(run_program: Run, tmp_path: Path) -> None:
    (tmp_path / "printing.hip").write_text(PRINTING)
    done = run(
        run_program,
        tmp_path,
        """
from pathlib import Path
program, code, log = build(Path(__file__).with_name("printing.hip").read_bytes())
assert code == R.HIPRTC_SUCCESS, log
module = check(hip.hipModuleLoadData(image(program)))
def launch(name, *arguments, threads=64):
    kernel = check(hip.hipModuleGetFunction(module, name))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, None, None, arguments))
launch(b"say", ctypes.c_float(2.5), ctypes.c_longlong(-1 << 40), ctypes.c_short(-3))
print("--")
launch(b"much", ctypes.c_int(3000), threads=32)
""",
    )
    said, much = done.stdout.split("--\n")
    line = "{} of 64| 2.50|abc   |-1099511627776|-3|ff|z|%|0x10"
    assert sorted(said.splitlines()) == sorted([line.format(1), line.format(33), "once"])
    numbers = [int(text) for text in much.splitlines()]
    assert sorted(numbers) == sorted([*range(3000)] * 32), "more than a card's 1 MiB: nothing is lost"
    assert "did not fit" not in done.stderr


LINKING = '''
kernel, code, log = build(b"__device__ float twice(float); __device__ float plus(float, float);"
                          b'extern "C" __global__ void k(float *x) { x += threadIdx.x; *x = plus(twice(*x), 1); }',
                          b"-fgpu-rdc")
assert code == R.HIPRTC_SUCCESS, log
helper, code, log = build(b'__device__ float twice(float v) { if (v == 3) printf("three%c", 10); return 2 * v; }',
                          b"-fgpu-rdc")
assert code == R.HIPRTC_SUCCESS, log
IR = b"""
target triple = "amdgcn-amd-amdhsa"
define hidden float @_Z4plusff(float %a, float %b) { %s = fadd float %a, %b
 ret float %s }
"""
T = getattr(hiprtc.hiprtcJITInputType, "hipJitInputLLVMBitcode", None) or \
    hiprtc.hiprtcJITInputType.HIPRTC_JIT_INPUT_LLVM_BITCODE

def bitcode(program):
    data = bytearray(check(hiprtc.hiprtcGetBitcodeSize(program)))
    check(hiprtc.hiprtcGetBitcode(program, data))
    assert data[:2] == b"BC"
    return bytes(data)

def link(*parts):
    state = check(hiprtc.hiprtcLinkCreate(0, None, None))
    for part in parts:
        check(hiprtc.hiprtcLinkAddData(state, T, part, len(part), b"a part", 0, None, None))
    return state, hiprtc.hiprtcLinkComplete(state)
'''


def test_bitcode_and_ir_are_linked(run_program: Run, tmp_path: Path) -> None:
    done = run(
        run_program,
        tmp_path,
        LINKING
        + """
state, answer = link(bitcode(kernel), bitcode(helper), IR)
image, size = check(answer)
module = check(hip.hipModuleLoadData(image))
f = check(hip.hipModuleGetFunction(module, b"k"))
x = np.arange(32, dtype=np.float32)
d = check(hip.hipMalloc(x.nbytes))
check(hip.hipMemcpy(d, x, x.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
check(hip.hipModuleLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, None, None, (d,)))
y = np.empty_like(x)
check(hip.hipMemcpy(y, d, x.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
assert (y == 2 * x + 1).all(), y
check(hiprtc.hiprtcLinkDestroy(state))
""",
    )
    assert done.stdout == "three\n"


def test_what_cannot_be_linked_is_said(run_program: Run, tmp_path: Path) -> None:
    done = run(
        run_program,
        tmp_path,
        LINKING
        + """
assert hiprtc.hiprtcGetCodeSize(kernel)[0] == R.HIPRTC_ERROR_INVALID_PROGRAM
assert hiprtc.hiprtcGetBitcodeSize(build(b"")[0])[0] == R.HIPRTC_ERROR_INVALID_PROGRAM
assert link(bitcode(kernel), IR)[1][0] == R.HIPRTC_ERROR_LINKING
assert link()[1][0] == R.HIPRTC_ERROR_LINKING
assert link(bitcode(kernel), IR.replace(b"ret float %s", b"ret i32 %s"))[1][0] == R.HIPRTC_ERROR_LINKING
state = check(hiprtc.hiprtcLinkCreate(0, None, None))
other = list(hiprtc.hiprtcJITInputType)[0]
assert hiprtc.hiprtcLinkAddData(state, other, IR, len(IR), b"odd", 0, None, None)[0] == R.HIPRTC_ERROR_INVALID_INPUT
assert hiprtc.hiprtcLinkAddFile(state, T, b"/nowhere.bc", 0, None, None)[0] == R.HIPRTC_ERROR_INVALID_INPUT
check(hiprtc.hiprtcLinkDestroy(state))
assert hiprtc.hiprtcLinkDestroy(state)[0] == R.HIPRTC_ERROR_INVALID_INPUT
""",
    )
    assert "undefined hidden symbol: twice(float)" in done.stderr
    assert "odd cannot be linked" in done.stderr
    assert "cannot read '/nowhere.bc'" in done.stderr
    assert "there is nothing to link" in done.stderr


ROUNDS = """
// Each round, every workgroup writes a number, waits for all of them, and reads its neighbour's.
extern "C" __global__ void rounds(unsigned *arrived, unsigned *cells, unsigned *sums, int count) {
    unsigned me = blockIdx.x, all = gridDim.x, sum = 0;
    for (int wait = 0; wait < 2 * count; ++wait) {
        if (threadIdx.x == 0 && wait % 2 == 0) cells[me] = me * 100 + wait / 2;
        __syncthreads();
        if (threadIdx.x == 0) {
            __scoped_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
            while (__scoped_atomic_load_n(arrived, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) < (wait + 1) * all)
                ;
        }
        __syncthreads();
        if (wait % 2 == 0) sum += cells[(me + 1) % all];
    }
    if (threadIdx.x == 0) sums[me] = sum;
}
"""


def test_workgroups_of_a_cooperative_launch_wait_for_one_another(run_program: Run, tmp_path: Path) -> None:
    """More workgroups than the host has threads to spare, and a barrier for the whole grid made of atomics."""
    (tmp_path / "rounds.hip").write_text(ROUNDS)
    script = """
from pathlib import Path
program, code, log = build(Path(__file__).with_name("rounds.hip").read_bytes())
assert code == R.HIPRTC_SUCCESS, log
f = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"rounds"))
n, count = 100, 3
arrived, cells, sums = (check(hip.hipMalloc(4 * n)) for _ in range(3))
check(hip.hipMemset(arrived, 0, 4 * n))
values = [ctypes.c_void_p(int(p)) for p in (arrived, cells, sums)] + [ctypes.c_int(count)]
parameters = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
def launch(groups, threads=64):
    where = ctypes.addressof(parameters)
    return hip.hipModuleLaunchCooperativeKernel(f, groups, 1, 1, threads, 1, 1, 0, None, where)[0]
E = hip.hipError_t
print(launch(n).name)
got = np.zeros(n, np.uint32)
check(hip.hipMemcpy(got, sums, got.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
neighbour = (np.arange(n) + 1) % n
print((got == count * 100 * neighbour + 3).all())
print(launch(1_000_000).name, launch(0).name, launch(1, 0).name)
"""
    done = run(run_program, tmp_path, script)
    first, right, refused = done.stdout.splitlines()
    assert (first, right) == ("hipSuccess", "True")
    assert refused == "hipErrorCooperativeLaunchTooLarge hipErrorInvalidValue hipErrorInvalidValue"
    assert "the card cannot run the whole grid at once" in done.stderr
    (tmp_path / "script.py").write_text(
        (tmp_path / "script.py").read_text().replace("n, count = 100, 3", "n, count = 9, 3")
    )
    checked = run_program(COMMAND, "simulate", "--check", str(tmp_path / "script.py"))
    assert checked.stdout.splitlines()[:2] == ["hipSuccess", "True"]
    assert "memory race" not in checked.stderr


def test_a_kernel_that_waits_in_vain_is_an_error_code(run_program: Run, tmp_path: Path) -> None:
    source = """extern "C" __global__ void waits(unsigned *flag) {
    while (__scoped_atomic_load_n(flag, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) != 5) ;
}"""
    script = f"""
program, code, log = build({source.encode()!r})
assert code == R.HIPRTC_SUCCESS, log
f = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"waits"))
flag = check(hip.hipMalloc(256))
for value in 5, 4:
    check(hip.hipMemset(flag, 0, 256))
    check(hip.hipMemset(flag, value, 1))
    print(hip.hipModuleLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, None, None, (flag,))[0].name)
"""
    (tmp_path / "script.py").write_text(SCRIPT + script)
    done = run_program(COMMAND, "simulate", "--budget", "20000000", str(tmp_path / "script.py"))
    assert done.stdout.split() == ["hipSuccess", "hipErrorLaunchTimeOut"]
    assert "all workgroups that run wait, and none makes progress" in done.stderr
    assert "which holds 0x4" in done.stderr
    assert "raise the budget: --budget 160000000" in done.stderr


def test_names_of_templates_and_variables(run_program: Run, tmp_path: Path) -> None:
    """What a name expression stands for: instantiated, and loaded and launched by its lowered name."""
    done = run(
        run_program,
        tmp_path,
        """
GENERIC = b'''
namespace n { __device__ int offset = 4; }
template <typename T, int K> __global__ void fill(T *out) { out[threadIdx.x] = K * threadIdx.x + n::offset; }
'''
NAMES = (b"fill<int, 3>", b"&fill<double, 5>", b"&n::offset")
program = check(hiprtc.hiprtcCreateProgram(GENERIC, b"generic", 0, [], []))
codes = [hiprtc.hiprtcGetLoweredName(program, NAMES[0]), hiprtc.hiprtcAddNameExpression(program, NAMES[0])]
for name in NAMES:
    check(hiprtc.hiprtcAddNameExpression(program, name))
check(hiprtc.hiprtcCompileProgram(program, 0, []))
lowered = [check(hiprtc.hiprtcGetLoweredName(program, name)) for name in NAMES]
lowered = [name.encode() if isinstance(name, str) else name for name in lowered]
print(*(name.decode() for name in lowered))
codes += [hiprtc.hiprtcGetLoweredName(program, b"other"), hiprtc.hiprtcAddNameExpression(program, b"other")]
print(*(int(code) for code, *_ in codes))
module = check(hip.hipModuleLoadData(image(program)))
out = np.zeros(4, np.float64)
d = check(hip.hipMalloc(out.nbytes))
check(hip.hipModuleGetGlobal(module, lowered[2]))
kernel = check(hip.hipModuleGetFunction(module, lowered[1]))
check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, sharedMemBytes=0, stream=None, kernelParams=None, extra=(d,)))
check(hip.hipMemcpy(out, d, out.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
print(*out)
bad = check(hiprtc.hiprtcCreateProgram(GENERIC, b"generic", 0, [], []))
check(hiprtc.hiprtcAddNameExpression(bad, b"fill<int>"))
print(int(hiprtc.hiprtcCompileProgram(bad, 0, [])[0]))
""",
    )
    assert done.stdout.splitlines() == [
        "_Z4fillIiLi3EEvPT_ _Z4fillIdLi5EEvPT_ _ZN1n6offsetE",
        "9 0 10 8",
        "4.0 9.0 14.0 19.0",
        "6",
    ]


@pytest.mark.skipif(device_libraries.folder() is None, reason="no device libraries on this machine")
def test_functions_of_the_device_libraries_and_narrow_floats(run_program: Run, tmp_path: Path) -> None:
    """With AMD's own header; what it defines may be included again, as sources for other HIPs do."""
    run(
        run_program,
        tmp_path,
        '''
SOURCE = b"""
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_version.h>
static_assert(HIP_VERSION >= 70200000, "");
extern "C" __global__ void f(float *out, const float *in, double *twice) {
    int i = threadIdx.x;
    float x = in[i];
    out[i] = sinf(x);
    out[32 + i] = erff(x);
    out[64 + i] = __half2float(__float2half(x) * __float2half(3.0f));
    out[96 + i] = float(__hip_bfloat16(x));
    twice[i] = pow(2.0 + x, 2.5);
}
"""
program, code, log = build(SOURCE)
assert code == R.HIPRTC_SUCCESS, log
kernel = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"f"))
x = np.linspace(-1.9, 7, 32, dtype=np.float32)
x[:2] = np.inf, np.uint32(0x3f808000).view(np.float32)
out, twice = np.empty(128, np.float32), np.empty(32)
d = [check(hip.hipMalloc(v.nbytes)) for v in (out, x, twice)]
K = hip.hipMemcpyKind
check(hip.hipMemcpy(d[1], x, x.nbytes, K.hipMemcpyHostToDevice))
check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, tuple(d)))
check(hip.hipMemcpy(out, d[0], out.nbytes, K.hipMemcpyDeviceToHost))
check(hip.hipMemcpy(twice, d[2], twice.nbytes, K.hipMemcpyDeviceToHost))
sine, erf, tripled, narrow = out.reshape(4, 32)
finite = x[1:].astype(np.float64)
assert np.isnan(sine[0]) and np.abs(sine[1:] - np.sin(finite)).max() < 2e-7
import math
assert np.abs(erf - [math.erf(v) for v in x]).max() < 2e-7
assert (tripled == (x.astype(np.float16) * np.float16(3)).astype(np.float32)).all()
bits = x.view(np.uint32).astype(np.uint64)
even = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
assert (narrow == even).all() and narrow[1] == 1.0, "a tie goes to the even one"
assert np.allclose(twice, (2.0 + x.astype(np.float64)) ** 2.5, rtol=1e-15)
''',
    )
