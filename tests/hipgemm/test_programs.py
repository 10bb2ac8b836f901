"""Programs that know nothing of hipgemm, and hold no Python, on the simulated card."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from verbs import Run

from hipgemm.kernels.compiling import headers
from hipgemm.kernels.compiling.program import words
from hipgemm.simulated_hip import attach, rocm_path
from hipgemm.simulated_hip.abi import DevicePropBefore6
from hipgemm.simulated_hip.calls import CALLS
from hipgemm.simulated_hip.host import read_text
from isa import toolchain
from isa.errors import IsaError
from isa.sim.ir import jit
from isa.toolchain import build_host_library

ROOT = Path(__file__).parents[2]
CC = shutil.which("cc")
SHARED = Path(str(sysconfig.get_config_var("LIBDIR"))) / str(sysconfig.get_config_var("INSTSONAME"))
embeds = pytest.mark.skipif(
    not CC or ".so" not in SHARED.name or not SHARED.is_file(),
    reason="needs a C compiler, and Python as a shared library",
)  # fmt: skip


def simulate(*words: str, code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """`hipgemm simulate WORDS`."""
    command = [sys.executable, "-m", "hipgemm", "simulate", *words]
    there = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    done = subprocess.run(command, capture_output=True, text=True, env=there, timeout=600, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def program(source: str, folder: Path, *flags: str) -> str:
    """A C program, linked with the simulated card's library."""
    assert CC
    file, out = folder / "program.c", folder / "program"
    file.write_text(source)
    libraries = flags or [f"-L{rocm_path() / 'lib'}", "-lamdhip64"]
    subprocess.run([CC, str(file), "-o", str(out), *libraries], check=True)
    return str(out)


KERNEL = """
#include <hip/hip_runtime.h>
__device__ int offset;
__device__ int table[4] = {10, 20, 30, 40};
extern "C" __global__ void f(int *out, int factor) { out[threadIdx.x] = factor * threadIdx.x + offset + table[1]; }
"""
HIPCC = Path(__file__).with_name("sources").joinpath("programs_hipcc.c").read_text()


@embeds
def test_a_program_as_hipcc_builds_it(tmp_path: Path) -> None:
    """Registered before main, launched by a stub, symbols both ways, misuse, calls after main."""
    try:
        tools = toolchain.find()
    except IsaError as error:
        pytest.skip(str(error))
    (tmp_path / "k.hip").write_text(KERNEL)
    include = ROOT / "kernels_hip" / "include"
    tools.compile(tmp_path / "k.hip", tmp_path / "k.s", arch="gfx1100", cu_mode=False, include=include, flags=["-O2"])
    image = tmp_path / "k.co"
    image.write_bytes(tools.code_object((tmp_path / "k.s").read_text()))
    done = simulate("--", program(HIPCC, tmp_path), code=7, IMAGE=str(image))
    assert done.stdout.splitlines() == [
        "0 0 0 | 25 125 725 | 0 40 0 16 | 1 1 13 98 21 | 98",
        "after 0",
    ], done.stderr


VERSIONED = "int hipGetDeviceCount(long *); int main(void) { long n = 0; return hipGetDeviceCount(&n) * 10 + (n > 0); }"


@embeds
@pytest.mark.parametrize(
    ("library", "version", "call", "answer"),
    [
        ("libamdhip64.so.6", "hip_4.2", "hipGetDeviceCount", 1),
        ("libamd_comgr.so.3", "amd_comgr_2.0", "amd_comgr_get_isa_count", 1),
        ("libroctx64.so.4", "ROCTX_4.1", "roctxRangePop", 0),
        ("libMIOpen.so.1", "MIOPEN_HIP_1", "roctxRangePop", 0),
        ("libhsa-runtime64.so.1", "ROCR_1", "hipGetDeviceCount", 1),
        ("librocm_sysdeps_numa.so.1", "AMDROCM_SYSDEPS_1.0_libnuma_1.1", "numa_available", 256 - 10),
    ],
)
def test_a_program_that_was_linked_with_rocms_library_of_any_version(
    library: str, version: str, call: str, answer: int, tmp_path: Path
) -> None:
    """It asks for a library by its name and for a version of each symbol."""
    fake = tmp_path / library
    (tmp_path / "fake.c").write_text(f"int {call}(long *n) {{ return 1; }}")
    (tmp_path / "fake.map").write_text(f"{version} {{ {call}; }};")
    flags = (f"-Wl,-soname,{library}", f"-Wl,--version-script={tmp_path / 'fake.map'}")
    build_host_library(tmp_path / "fake.c", fake, flags)
    made = program(VERSIONED.replace("hipGetDeviceCount", call), tmp_path, str(fake), "-Wl,-z,now")
    assert not simulate("--", made, code=answer).stderr
    assert subprocess.run([made], env={"LD_LIBRARY_PATH": str(tmp_path)}, check=False).returncode > 1


@embeds
def test_it_finds_the_card_without_simulate_and_without_python_home(tmp_path: Path) -> None:
    made = program(VERSIONED, tmp_path)
    path = Path(simulate("--print-path").stdout.strip())
    assert (path / "lib" / "libhiprtc.so.6").exists()
    there = {"LD_LIBRARY_PATH": str(path / "lib"), "PYTHONHOME": "/nowhere"}
    assert subprocess.run([made], env=there, check=False).returncode == 1


@embeds
def test_a_program_in_c_needs_no_binding_of_hip(tmp_path: Path) -> None:
    for name in ("hip", "rocm/bindings"):
        (tmp_path / name).mkdir(parents=True)
        module = name.replace("/", ".")
        (tmp_path / name / "__init__.py").write_text(f"raise ModuleNotFoundError('none here', name={module!r})\n")
    made = program(VERSIONED, tmp_path)
    assert not simulate("--", made, code=1, PYTHONPATH=f"{tmp_path}:{ROOT}").stderr


@embeds
def test_a_program_in_c_reads_headers_in_any_locale(tmp_path: Path) -> None:
    """They are UTF-8, and Python as a library takes the locale's encoding where nobody says it."""
    (tmp_path / "sitecustomize.py").write_text("import sys; print(sys.flags.utf8_mode, file=sys.stderr)\n")
    done = simulate("--", program(VERSIONED, tmp_path), code=1, LC_ALL="C", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert {*done.stderr.splitlines()} == {"1"}


def test_a_command_in_python_and_what_it_starts() -> None:
    text = (
        "import ctypes; n = ctypes.c_int(); h = ctypes.CDLL('libamdhip64.so.7'); h.hipGetDeviceCount(ctypes.byref(n))"
    )
    asks = f"{text}; print(n.value, h.hipGetDevice(0), h.hipModuleLoad(ctypes.byref(n), b'/none'))"
    done = simulate("--card", "780M", "--", sys.executable, "-c", asks)
    assert (done.stdout, done.stderr) == ("1 1 301\n", "")
    libraries = (
        "import ctypes; fft = ctypes.CDLL('libhipfft.so.0'); rccl = ctypes.CDLL('librccl.so.1'); "
        "rccl.ncclGetErrorString.restype = ctypes.c_char_p; solver = ctypes.CDLL('librocsolver.so.0'); "
        "print(fft.hipfftCreate(None), ctypes.CDLL('libroctx64.so.4').roctxRangePushA(b'x'), solver.rocsolver_zpotrf(),"
        " rccl.ncclGetErrorString(3).decode())"
    )
    done = simulate("--", sys.executable, "-c", libraries)
    assert done.stdout == "16 0 2 not on the simulated card\n"
    refused = "hipgemm: the simulated card does not have {}\n"
    assert done.stderr == refused.format("hipfftCreate") + refused.format("rocsolver_zpotrf")
    done = simulate("--", "sh", "-c", f'"{sys.executable}" -c "{text}; print(n.value)"; exit 3', code=3)
    assert done.stdout == "1\n"
    assert simulate("--", "sh", "-c", "kill -15 $$", code=128 + 15)
    assert "cannot run /no/such/program" in simulate("--", "/no/such/program", code=2).stderr


def test_nothing_stands_in_for_a_library_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And HIP's library has no names of others, which would come before those of the library that has them."""
    first = rocm_path() / "lib"
    library = ctypes.CDLL(str(first / "libamdhip64.so"))
    assert library.hipMalloc
    assert not any(hasattr(library, name) for name in ("hipblasSgemm", "rocblas_create_handle", "amd_comgr_do_action"))
    assert ctypes.CDLL(str(first / "libhipblas.so.2")).hipblasSgemm
    for theirs in ("libhipblas.so.3", "libamd_comgr.so.3"):
        (tmp_path / theirs).write_bytes(b"")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    names = {path.name for path in (rocm_path() / "lib").iterdir()}
    assert not names & {"libhipblas.so.3", "libhipblas.so", "libamd_comgr.so.3", "libamd_comgr.so"}
    assert names >= {"libamdhip64.so.7", "libhipblas.so.2", "libhipfft.so"}


OF_RCCL = (
    "AllGather AllReduce Bcast Broadcast CommAbort CommCount CommCuDevice CommDestroy CommFinalize CommGetAsyncError"
    " CommInitAll CommInitRank CommInitRankConfig CommSplit CommUserRank GetErrorString GetLastError GetUniqueId"
    " GetVersion GroupEnd GroupStart Recv RedOpCreatePreMulSum RedOpDestroy Reduce ReduceScatter Send"
)
"""What IREE 3.13 looks up: it finds no card where the library is there and one of these is not."""


def test_rccl_has_all_that_a_program_looks_up() -> None:
    library = ctypes.CDLL(str(rocm_path() / "lib" / "librccl.so.1"))
    assert not [name for name in OF_RCCL.split() if not hasattr(library, f"nccl{name}")]


def test_what_python_destroys_last_may_still_call() -> None:
    """Its modules are taken down by then: what cleans up succeeds, all else is hipErrorDeinitialized, and no crash."""
    text = (
        "import ctypes, os\n"
        "hip = ctypes.CDLL('libamdhip64.so.7')\n"
        "calls = hip.hipDeviceSynchronize, hip.hipFree, hip.hipMemGetInfo, hip.hipStreamGetFlags\n"
        "class Last:\n"
        "    def __init__(self):\n"
        "        self.me, self.calls, self.write, self.n = self, calls, os.write, (ctypes.c_int * 1)(9)\n"
        "    def __del__(self):\n"
        "        self.write(1, b'%d %d %d %d ' % tuple(call(0, self.n) for call in self.calls))\n"
        "hip.hipDeviceSynchronize()\n"
        "last = [Last() for _ in range(9)]\n"
    )
    assert simulate("--", sys.executable, "-c", text).stdout == "0 0 4 0 " * 9


def test_jax_counts_the_card(tmp_path: Path) -> None:
    """Its plug-ins, a namespace, are found beside, and what it asks of Linux's driver is answered."""
    for file, text in {
        "jax/__init__.py": "",
        "jax/_src/__init__.py": "",
        "jax/_src/hardware_utils.py": "def num_available_amd_gpus(stop_at=None): return 0\n",
        "jax_plugins/rocm.py": "from jax._src import hardware_utils as at\ncards = at.num_available_amd_gpus(2)\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    ask = "from jax_plugins import rocm; print(rocm.cards)"
    assert simulate("--", sys.executable, "-c", ask, PYTHONPATH=f"{ROOT}:{tmp_path}").stdout == "1\n"


def test_a_hipcc_finds_its_own_rocm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the simulated card's, which has no compiler; it builds for that card where nothing else is said."""
    hipcc = tmp_path / "hipcc"
    told = "${ROCM_PATH-none} ${HIP_PATH-none} ${LD_LIBRARY_PATH-none} $HIP_PLATFORM $HCC_AMDGPU_TARGET"
    hipcc.write_text(f'#!/bin/sh\necho "{told} $*"\n')
    hipcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("ROCM_PATH", "/opt/their rocm")
    for name in ("HIP_PATH", "LD_LIBRARY_PATH", "HCC_AMDGPU_TARGET"):
        monkeypatch.delenv(name, raising=False)
    said = "/opt/their rocm none none amd gfx1201 -x a b\n"
    assert simulate("--card", "9070 XT", "--", "hipcc", "-x", "a b").stdout == said


RACE = """
import sys
from hip import hip
from pathlib import Path
m = hip.hipModuleLoadData(Path(sys.argv[1]).read_bytes())[1]
f = hip.hipModuleGetFunction(m, b"f")[1]
d = hip.hipMalloc(int(sys.argv[2]))[1]
print(int(hip.hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, None, None, (d,))[0]))
"""
STORES = """
#include <hip/hip_runtime.h>
extern "C" __global__ void f(int *out) { out[threadIdx.x] = 1; }
"""


@pytest.mark.parametrize(("size", "code"), [(256, 0), (252, 1)])
def test_check_of_a_command(tmp_path: Path, size: int, code: int) -> None:
    """Its exit status says whether any process that it started had a fault."""
    try:
        tools = toolchain.find()
    except IsaError as error:
        pytest.skip(str(error))
    (tmp_path / "k.hip").write_text(STORES)
    include = ROOT / "kernels_hip" / "include"
    tools.compile(tmp_path / "k.hip", tmp_path / "k.s", arch="gfx1100", cu_mode=False, include=include, flags=["-O2"])
    image = tmp_path / "k.co"
    image.write_bytes(tools.code_object((tmp_path / "k.s").read_text()))
    done = simulate("--check", "--", sys.executable, "-c", RACE, str(image), str(size), code=code)
    assert done.stdout.split() == ["0" if not code else "700"], done.stderr


RAISED = r"""
#include <dlfcn.h>
#include <stddef.h>
int call(void *hip) {
    void *type = *(void **)dlsym(RTLD_DEFAULT, "PyExc_ValueError");
    ((void (*)(void *, const char *))dlsym(RTLD_DEFAULT, "PyErr_SetString"))(type, "mine");
    int n = 0, code = ((int (*)(int *))dlsym(hip, "hipGetDeviceCount"))(&n);
    void *still = ((void *(*)(void))dlsym(RTLD_DEFAULT, "PyErr_Occurred"))();
    int same = ((int (*)(void *, void *))dlsym(RTLD_DEFAULT, "PyErr_GivenExceptionMatches"))(still, type);
    ((void (*)(void))dlsym(RTLD_DEFAULT, "PyErr_Clear"))();
    return 100 * code + 10 * n + same;
}
"""


def test_a_call_while_an_exception_is_set(run_program: Run, tmp_path: Path) -> None:
    """The call is answered, and the exception is the caller's as before: in the first call and in later ones."""
    (tmp_path / "raised.c").write_text(RAISED)
    build_host_library(tmp_path / "raised.c", tmp_path / "raised.so")
    done = run_program(
        """
import ctypes, sys
from hipgemm.simulated_hip import library, rocm_path
hip = ctypes.CDLL(str(rocm_path() / library.LIBRARY))
call = ctypes.PyDLL(sys.argv[1]).call
call.argtypes = [ctypes.c_void_p]
print(call(hip._handle), call(hip._handle))
""",
        str(tmp_path / "raised.so"),
    )
    assert done.stdout == "11 11\n"


def test_a_library_of_another_hipgemm_is_refused(run_program: Run) -> None:
    """Its calls have other numbers: it must not be answered."""
    done = run_program(
        """
import ctypes
from hipgemm.simulated_hip import library, rocm_path
hip = ctypes.CDLL(str(rocm_path() / library.LIBRARY))
library.contract = lambda calls: "other"
print(hip.hipGetDeviceCount(ctypes.byref(ctypes.c_int())), hip.hipInit(0))
"""
    )
    assert done.stdout == "3 3\n"
    assert done.stderr.count("a different hipgemm") == 1


def test_c_texts_are_quoted() -> None:
    from hipgemm.simulated_hip.library import _quoted

    text = 'a "b" \\ ? \n é'
    inside = _quoted(text)
    assert '"' not in inside
    assert "?" not in inside
    assert inside.isascii()
    assert inside.encode().decode("unicode_escape").encode("latin1") == text.encode()
    assert read_text(ctypes.addressof(ctypes.create_string_buffer(b"x"))) == b"x"


OLD_HEADER = Path("/usr/include/hip/hip_version.h")
BEFORE_6 = OLD_HEADER.is_file() and "HIP_VERSION_MAJOR 5" in OLD_HEADER.read_text()


@embeds
@pytest.mark.skipif(not BEFORE_6, reason="needs HIP's headers of before ROCm 6, as Debian has them")
def test_device_properties_as_before_rocm_6(tmp_path: Path) -> None:
    """By the old name, laid out as the old header says."""
    fields = [name for name, _ in DevicePropBefore6._fields_ if name != "textureLimits"]
    offsets = " ".join(f'printf("%zu ", offsetof(hipDeviceProp_t, {name}));' for name in fields)
    source = (
        "#include <hip/hip_runtime_api.h>\n#include <stddef.h>\n#include <stdio.h>\n"
        f"int main(void) {{ hipDeviceProp_t p; {offsets}\n"
        'printf("| %d", hipGetDeviceProperties(&p, 0));\n'
        'printf(" %s %d %zu", p.gcnArchName, p.warpSize, sizeof p); return 0; }'
    )
    flags = ("-D__HIP_PLATFORM_AMD__", "-w", f"-L{rocm_path() / 'lib'}", "-lamdhip64")
    told, answer = simulate("--", program(source, tmp_path, *flags)).stdout.split("|")
    assert [int(n) for n in told.split()] == [getattr(DevicePropBefore6, name).offset for name in fields]
    assert answer.split() == ["0", "gfx1100", "32", str(ctypes.sizeof(DevicePropBefore6))]


def test_a_command_need_not_ask_what_the_processor_can_do() -> None:
    assert attach.environment(None, None, {})[attach.HOST] == jit.host_features()


def test_a_library_without_main(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(attach.signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match="2"):
        attach.run_program("libm.so.6", ["x"])
    assert "the sources have no main" in capfd.readouterr().err


WHOLE = Path(__file__).with_name("sources").joinpath("programs_whole.hip").read_text()
NOTHING_TO_COMPILE = next(toolchain.available(), None) is None or headers.amds_header() is None
compiles = pytest.mark.skipif(NOTHING_TO_COMPILE, reason="no compiler for gfx11 here, or no rocm-llvm-python")


@compiles
def test_sources_of_a_whole_program_are_compiled_and_run(tmp_path: Path) -> None:
    """Templates, both files, variables of the device, what kernels print between what the host prints, exceptions,
    threads, destructors after main, and its exit status."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "scale.h").write_text("const char *other(const char *);\n")
    (tmp_path / "main.hip").write_text(WHOLE)
    (tmp_path / "other.cpp").write_text(
        '#include "scale.h"\nconst char *other(const char *text) { return text + 1; }\n'
    )
    sources = [str(tmp_path / name) for name in ("main.hip", "other.cpp")]
    done = simulate("-std=c++11", "-I", str(tmp_path / "inc"), "-DN=100", *sources, "-word", "2", code=4)
    said = ["before", "lane 7 of 32", "12 12 100 word", "hipErrorInvalidValue", "destroyed"]
    assert done.stdout.splitlines() == said, done.stderr
    done = simulate("-DN=100", "-I", str(tmp_path / "inc"), str(tmp_path / "main.hip"), code=2)
    assert "undefined symbol: other" in done.stderr


FAILS = """
#include <hip/hip_runtime.h>
#include <cassert>
__global__ void even(const int *x) { assert(x[threadIdx.x] % 2 == 0); }
int main() {
    int host[] = {2, 4, 5, 6}, *x;
    hipMalloc(&x, sizeof host);
    hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);
    even<<<1, 4>>>(x);
    hipError_t first = hipDeviceSynchronize(), then = hipDeviceSynchronize();
    return first == hipErrorLaunchFailure && then == hipSuccess && hipGetLastError() == first ? 3 : 0;
}
"""


@compiles
def test_a_failed_assert_says_so_and_the_next_call_that_waits_answers_with_it(tmp_path: Path) -> None:
    (tmp_path / "fails.hip").write_text(FAILS)
    done = simulate(str(tmp_path / "fails.hip"), code=3)
    said = f"{tmp_path}/fails.hip:4: void even(const int *): Device-side assertion `x[threadIdx.x] % 2 == 0' failed."
    assert done.stderr.splitlines()[:2] == [said, "hipgemm: hipErrorLaunchFailure"]


NARROW = r"""
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void f(__hip_bfloat16 *b, __half *h) {
    b[0] = hexp(__hsub(b[0], b[0])) + b[0];
    h[0] = __hmul(h[0], h[0]);
}
int main() {
    __hip_bfloat16 *b;
    __half *h;
    if (hipMallocManaged(&b, 2) || hipMallocManaged(&h, 2)) return 1;
    *b = __hadd(__float2bfloat16(1.5f), __habs(__float2bfloat16(-0.5f)));
    *h = __float2half(2.5f);
    f<<<1, 1>>>(b, h);
    if (hipDeviceSynchronize()) return 2;
    float low = __low2float(__floats2bfloat162_rn(6, 7)), high = __half2float(__high2half(__floats2half2_rn(6, 7)));
    printf("%g %g %g %g %d\n", __bfloat162float(*b), __half2float(*h), low, high, __hlt(*b, __float2bfloat16(4)));
}
"""


@compiles
def test_host_code_computes_with_narrow_floats_too(tmp_path: Path) -> None:
    (tmp_path / "narrow.hip").write_text(NARROW)
    assert simulate(str(tmp_path / "narrow.hip")).stdout == "3 6.25 6 7 1\n"


LIBRARY = r"""
#include <barrier>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <random>
#include <regex>
namespace fs = std::filesystem;
int main() {
    fs::path folder = fs::temp_directory_path() / std::to_string(std::random_device()());
    fs::create_directories(folder / "within");
    std::ofstream(folder / "within" / "text") << std::hex << 255 << ' ' << 1.5L << std::endl;
    std::string line;
    std::ifstream read(folder / "within" / "text");
    std::getline(read, line);
    std::cout << line << ' ' << fs::remove_all(folder) << std::endl;
    std::barrier both(2);
    auto later = std::async(std::launch::async, [&]() -> int { both.arrive_and_wait(); return std::stoi("far"); });
    both.arrive_and_wait();
    try { std::cout << later.get(); } catch (const std::exception &e) { std::cout << e.what() << std::endl; }
    std::smatch found;
    if (std::regex_search(line, found, std::regex("f+ ([0-9.]+)"))) std::cout << found[1] << std::endl;
    std::atexit([] { std::cout << "end" << std::endl; });
}
"""


@compiles
def test_the_library_of_cxx_is_whole(tmp_path: Path) -> None:
    """Files, threads, exceptions, expressions, and what runs at the end: what of it is no header."""
    (tmp_path / "library.hip").write_text(LIBRARY)
    done = simulate("-std=c++20", str(tmp_path / "library.hip"))
    assert done.stdout.splitlines() == ["ff 1.5 3", "stoi: no conversion", "1.5", "end"]


AS_BEFORE = r"""
#include <hip/hip_runtime.h>
#include <omp.h>
#include <stdio.h>
template <int N> __device__ int times(int x) { return x * N; }
__global__ void f(int *x) {
    constexpr int half = warpSize / 2;
    __shared__ int s[warpSize];
    s[threadIdx.x] = times<warpSize>(half);
    x[threadIdx.x] = s[threadIdx.x];
}
int main() {
    srand(time(NULL));
    double begun = omp_get_wtime();
    hipDeviceProp_t card;
    int *x, sum = 0;
    if (hipGetDeviceProperties(&card, 0) || hipMallocManaged(&x, 4 * card.warpSize)) return 1;
    f<<<1, card.warpSize>>>(x);
    if (hipDeviceSynchronize()) return 2;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < card.warpSize; i++) sum += x[i];
    printf("%d\n", sum + (omp_get_wtime() < begun) + omp_get_thread_num());
}
"""


@compiles
def test_a_program_for_hip_6_with_openmp(tmp_path: Path) -> None:
    """warpSize is a constant, C's names are there with HIP's header, and what OpenMP's pragmas say is not needed."""
    (tmp_path / "before.hip").write_text(AS_BEFORE)
    done = simulate("-fopenmp", str(tmp_path / "before.hip"))
    assert done.stdout == f"{32 * 32 * 16}\n"
    assert ("host code runs in one thread" in done.stderr) == (toolchain.find().kind == "ziglang")
    if shutil.which("hipcc"):
        pytest.skip("a hipcc is installed, and would be asked")
    steps = "hipcc -fopenmp -c before.hip -o b.o && hipcc -fopenmp b.o -o b && ./b"
    assert simulate("--", "sh", "-c", f"cd {tmp_path} && {steps}").stdout == f"{32 * 32 * 16}\n"


@compiles
@embeds
def test_a_program_is_built_without_hipcc(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int *x) { *x = 41; }\n"
        "int main() { int *x; if (hipMallocManaged(&x, 4)) return 1; k<<<1, 1>>>(x); return *x + hipGetLastError(); }"
    )
    words = ["build", "--program", str(tmp_path / "a.hip"), "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "hipgemm", *words], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    simulate("--", str(tmp_path / "out" / "a" / "a"), code=41)


BLAS = Path(__file__).with_name("sources") / "programs_blas.hip"


@compiles
def test_a_program_has_headers_of_both_blas_libraries(tmp_path: Path) -> None:
    rows = np.arange(64 * 64).reshape(64, 64).T % 7
    found = " ".join(map(str, (rows @ rows.T)[:4, 0]))
    assert simulate(str(BLAS)).stdout.splitlines() == [
        "HIPBLAS_STATUS_SUCCESS rocblas_status_success", f"{found} {found.split()[-1]}",
    ]  # fmt: skip


@compiles
@pytest.mark.parametrize("library", ["hipblas", "rocblas"])
def test_a_header_of_a_blas_library_has_what_that_has(library: str, tmp_path: Path) -> None:
    """Its text without the headers that it includes, after the preprocessor."""
    header = headers.AMD / library / f"{library}.h"
    (tmp_path / "text.cpp").write_text(re.sub("#include.*", "", header.read_text()))
    toolchain.find().clang(["-E", "-P", "text.cpp", "-o", "out.cpp"], "read a header", tmp_path)
    declared = re.findall(rf"\w+_?[sS]tatus\w* ({library}\w+)\([^;{{]*\) ?;", (tmp_path / "out.cpp").read_text())
    assert sorted(declared) == sorted(n for n in CALLS if n.startswith(library) and not n.startswith("hipblasLt"))


ACROSS = Path(__file__).with_name("sources").joinpath("programs_across.hip").read_text()
ACROSS_OTHER = """
#include <hip/hip_runtime.h>
extern __constant__ int factor;
__device__ int added = 1;
static __device__ int own = 5000;
__device__ int scaled(int x) { return x * factor + own; }
__global__ void add(int x) { added += x; }
void other() {
    int h = 100;
    if (!hipMemcpyToSymbol(added, &h, 4)) add<<<1, 1>>>(7);
}
"""


@compiles
def test_device_code_across_sources(tmp_path: Path) -> None:
    """With -fgpu-rdc functions and variables of the device are one program's; static ones are their source's."""
    (tmp_path / "a.hip").write_text(ACROSS)
    (tmp_path / "b.hip").write_text(ACROSS_OTHER)
    sources = [str(tmp_path / name) for name in ("a.hip", "b.hip")]
    assert simulate("-fgpu-rdc", *sources).stdout == "6107 6110 6113 6116\n"
    assert "unless -fgpu-rdc is said" in simulate(*sources, code=2).stderr
    if shutil.which("hipcc"):
        pytest.skip("a hipcc is installed, and would be asked")
    steps = "hipcc -fgpu-rdc -c b.hip && ar rcs libb.a b.o && hipcc -fgpu-rdc a.hip libb.a -o whole && ./whole"
    assert simulate("--", "sh", "-c", f"cd {tmp_path} && {steps}").stdout == "6107 6110 6113 6116\n"
    steps = "hipcc -fgpu-rdc -c a.hip -o a.o && hipcc -fgpu-rdc a.o b.o -o whole && ./whole"
    assert simulate("--", "sh", "-c", f"cd {tmp_path} && {steps}").stdout == "6107 6110 6113 6116\n"


HIP_6 = Path(__file__).with_name("sources").joinpath("programs_hip_6.hip").read_text()


@compiles
def test_vectors_have_their_member_of_before_hip_7_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(HIP_6)
    assert simulate(str(tmp_path / "a.hip")).stdout == "17 17\n"


def test_words_of_a_program_are_options_sources_and_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.h", "a.hip", "b.cpp", "data.cpp"):
        (tmp_path / name).touch()
    found = words("-I inc -Iother -D N=3 -std=c++20 -include a.h -include new a.hip b.cpp 100 data.cpp -x".split())
    inc, other, header = (str(tmp_path / name) for name in ("inc", "other", "a.h"))
    assert found.flags == (f"-I{inc}", f"-I{other}", "-DN=3", "-std=c++20", "-include", header, "-include", "new")
    assert ([str(s) for s in found.sources], found.rest) == (["a.hip", "b.cpp"], ("100", "data.cpp", "-x"))
    assert words(["script.py", "a.hip"]).sources == ()
