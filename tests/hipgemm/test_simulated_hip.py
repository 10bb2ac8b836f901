"""The simulated HIP runtime as hip-python sees it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isa.toolchain import build_host_library

Run = Callable[..., subprocess.CompletedProcess[str]]

START = Path(__file__).with_name("programs").joinpath("simulated_hip", "start.inc").read_text()


def test_declarations_have_the_types_of_hips_headers(run_program: Run) -> None:
    """hip-python's capsules carry each C function's type; ours must be the same but for the names of pointers."""
    done = run_program(
        START
        + """
import re
import importlib
try:
    comgr = [importlib.import_module("rocm.amd_comgr.camd_comgr")]
except ModuleNotFoundError:
    comgr = []
bindings = [*simulated_hip._bindings(), *comgr]
signatures = {n: c for binding in bindings for n, c in binding.__pyx_capi__.items()}
from hipgemm.simulated_hip.abi import CALLS
def plain(text):
    text = text.replace("const ", "").strip()
    made = "Stream|Event|Module|Function|HostFn|StreamCallback|Ctx|MemPool|Graph|GraphExec|GraphNode"
    handles = rf"hip(rtcProgram|rtcLinkState|({made})_t)$"
    if "*" in text or re.match(handles, text) or re.match(r"(struct )?amd_comgr_.*_[st]$", text) and "enum" not in text:
        return "pointer"
    if text.startswith("enum ") or text in ("hipDevice_t", "int"):
        return "int"
    if text.endswith("_Bool"):
        return "unsigned char"
    same = {"void": "int", "size_t": "unsigned long", "uint32_t": "unsigned int", "unsigned long long": "unsigned long",
            "unsigned PY_LONG_LONG": "unsigned long", "uint64_t": "unsigned long", "struct dim3": "dim3"}
    return same.get(text, text)
checked, wrong = 0, []
for name, call in CALLS.items():
    capsule = signatures.get(name.replace("R0600", ""))
    if capsule is None:
        continue  # an older hip-python knows fewer
    signature = re.search(r'"(.*)"', repr(capsule))[1]
    result, inside = re.match(r"(.*?) ?\\((.*)\\)$", signature).groups()
    theirs = [plain(a) for a in inside.split(", ") if a not in ("void", "")]
    if (theirs, plain(result)) != ([plain(a) for a in call.arguments], plain(call.answer)):
        wrong.append((name, signature, call.arguments, call.answer))
    checked += 1
assert not wrong, wrong
print(checked)
"""
    )
    assert int(done.stdout) > 100


def test_ctrl_c_in_a_launch_reaches_the_program(run_program: Run) -> None:
    done = run_program(
        START
        + """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this may have it ignored
try:
    launch(function("interrupt"))
    for _ in range(1000): pass
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert done.stdout == "interrupted\n"


def test_a_call_that_is_missing_says_its_name(run_program: Run) -> None:
    done = run_program(START + "assert hip.hipGraphCreate(0)[0] == E.hipErrorNotSupported\n")
    assert done.stderr == "hipgemm: the simulated card does not have hipGraphCreate\n"


def test_events_read_the_simulated_clock(run_program: Run) -> None:
    run_program(
        START.replace("install(make)", "install(lambda: make(time_s=0.0025))")
        + """
args = (ctypes.c_uint64(0),) * 3 + (ctypes.c_int(0),) * 3 + (ctypes.c_float(0),) * 2
stream = ok(hip.hipStreamCreate())
start, stop, never = (ok(hip.hipEventCreate()) for _ in range(3))
f = function("broken")
ok(hip.hipEventRecord(start, stream))
import small_card
rt.functions[int(f)].kernel.body = lambda **_: None
for _ in range(4):
    assert launch(f) == E.hipSuccess
ok(hip.hipEventRecord(stop, stream)); ok(hip.hipEventSynchronize(stop))
assert abs(ok(hip.hipEventElapsedTime(start, stop)) - 10.0) < 1e-4
assert hip.hipEventElapsedTime(start, never)[0] == E.hipErrorInvalidHandle
ok(hip.hipStreamDestroy(stream))
assert hip.hipStreamSynchronize(stream)[0] == E.hipErrorInvalidHandle
"""
    )


def test_it_stands_for_the_card_that_is_chosen(run_program: Run) -> None:
    """What depends on the card: sizes, target, how many waves fit. A process has one."""
    run_program(
        START.replace("install(make)", "install(make, stands_for='890M')")
        + """
p = filled(hip.hipGetDeviceProperties, hip.hipDeviceProp_t(), 0)
text = lambda x: x.decode() if isinstance(x, bytes) else x
assert (text(p.name), text(p.gcnArchName)) == ("890M simulated by hipgemm", "gfx1150")
assert (p.major, p.minor, p.multiProcessorCount, p.clockRate, p.integrated) == (11, 5, 8, 2_900_000, 1)
assert (p.l2CacheSize, p.memoryBusWidth, p.memoryClockRate) == (2 << 20, 128, 3_750_000)
assert p.regsPerBlock == 1024 * 32 * 4
assert ok(hip.hipMemGetInfo())[1] == p.totalGlobalMem == 48 << 30
assert hip.hipModuleLoadData(elf())[0] == E.hipErrorNoBinaryForGpu
f = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(elf("gfx1150"))), b"gemm"))
# 216 VGPRs are 224 in granules of 16: 4 waves a SIMD, 2 SIMDs a CU, 4 waves a workgroup: 2 workgroups a CU, 4 a WGP.
assert ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(f, 128, 0)) == 4
from hipgemm.measure.device import Device
from isa.errors import IsaError
device = Device.open("simulated", card="AMD Radeon 890M Graphics")
assert (device.card, device.arch, device.cus, device.clock_mhz) == ("890M", "gfx1150", 16, 2900)
assert Device.open("simulated").card == "890M"
for other, said in (("780M", "already has a simulated card, a 890M"), ("880M", "no card '880M'")):
    try:
        Device.open("simulated", card=other)
    except IsaError as error:
        assert said in str(error), error
    else:
        raise AssertionError(other)
"""
    )


def test_after_a_failed_search_it_still_comes_in(run_program: Run) -> None:
    done = run_program(
        """
from hip import hip
try:
    hip.hipInit(0)
    print("found")
except RuntimeError:
    from hipgemm import simulated_hip
    simulated_hip.install()
    assert hip.hipGetDeviceCount() == (hip.hipError_t.hipSuccess, 1)
"""
    )
    if done.stdout == "found\n":
        pytest.skip("this machine has a HIP library, so the search does not fail")


def test_too_late_is_refused_in_words(run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    source = tmp_path / "other.c"
    source.write_text("int hipInit(unsigned flags) { return 0; } int hipRuntimeGetVersion(int *v) { return *v = 0; }")
    build_host_library(source, tmp_path / "lib" / "libamdhip64.so")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    done = run_program(
        """
from hip import hip
assert hip.hipInit(0)[0] == 0
from hipgemm import simulated_hip
from isa.errors import IsaError
try:
    simulated_hip.install()
except IsaError as error:
    print(error)
assert not simulated_hip.installed()
"""
    )
    assert "hip-python opened another HIP library before" in done.stdout
    assert "start a new process" in done.stdout


def test_any_script_runs_unmodified(run_program: Run, tmp_path: Path) -> None:
    """`hipgemm simulate`: a program that knows nothing of the simulated card."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from hip import hip\n"
        "error, count = hip.hipGetDeviceCount()\n"
        "print(__name__, sys.argv[1:], int(error), count)\n"
        "sys.exit(3)\n"
    )
    done = run_program("from hipgemm.cli import main\nmain()", "simulate", str(script), "--json", "x", code=3)
    assert done.stdout == "__main__ ['--json', 'x'] 0 1\n"
    done = run_program("from hipgemm.cli import main\nmain()", "simulate", str(tmp_path / "none.py"), code=2)
    assert "does not exist" in done.stderr


LATE = r"""
#include <dlfcn.h>
#include <stdio.h>
static void *hip;
static void ask(const char *when) {
    const char *(*name)(int) = (const char *(*)(int))dlsym(hip, "hipGetErrorName");
    int (*count)(int *) = (int (*)(int *))dlsym(hip, "hipGetDeviceCount");
    int devices = -1, code = count(&devices);
    printf("%s: %d, %d, %s\n", when, code, devices, name(2));
    fflush(stdout);
}
void load(const char *path) { hip = dlopen(path, RTLD_NOW); ask("before"); }
void during(void) { ask("during"); }
__attribute__((destructor)) static void ended(void) { ask("after"); }
"""


def test_a_call_from_c_makes_the_connection_and_after_pythons_end_there_is_none(
    run_program: Run, tmp_path: Path
) -> None:
    source = tmp_path / "late.c"
    source.write_text(LATE)
    build_host_library(source, tmp_path / "late.so")
    done = run_program(
        """
import ctypes, importlib, sys
from hipgemm import simulated_hip
from hipgemm.simulated_hip import calls, library
names = [n for binding in simulated_hip._bindings() for n in binding.__pyx_capi__]
known = {simulated_hip.EXPORTED.get(n, n) for n in names if n.startswith("hip")}
late = ctypes.CDLL(sys.argv[1])
late.load(str(library.build(library.source(calls.CALLS, known), "") / "lib" / "libamdhip64.so").encode())
simulated_hip.install()
late.during()
""",
        str(tmp_path / "late.so"),
    )
    assert done.stdout.splitlines() == [
        "before: 0, 1, hipErrorOutOfMemory",
        "during: 0, 1, hipErrorOutOfMemory",
        "after: 0, 1, hipErrorDeinitialized",
    ]


def test_the_library_comes_from_zig_where_there_is_no_c_compiler(
    run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run_program(START + "assert ok(hip.hipGetDeviceCount()) == 1\n")
    assert list((tmp_path / "cache" / "hipgemm" / "simulated_hip").glob("*/lib/libamdhip64.so"))


def test_freed_and_registered_memory_on_the_simulators_own_card(run_program: Run) -> None:
    run_program(
        START.replace("install(make)", "install()")
        + """
K = hip.hipMemcpyKind
host = np.arange(1024, dtype=np.float32)
d = ok(hip.hipMalloc(4096))
address = int(d)
ok(hip.hipMemcpy(d, host, 4096, K.hipMemcpyDefault))
ok(hip.hipFree(d))
assert hip.hipMemcpy(host, address, 4096, K.hipMemcpyDefault)[0] == E.hipErrorInvalidValue, "freed"
assert "was it freed?" in str(rt.take_report())
assert hip.hipMemcpy(address, host, 16, K.hipMemcpyDefault)[0] == E.hipErrorInvalidValue
assert hip.hipMemset(address, 0, 16)[0] == E.hipErrorInvalidValue
A = hip.hipDeviceAttribute_t
assert ok(hip.hipDeviceGetAttribute(A.hipDeviceAttributeHostRegisterSupported, 0)) == 1
where = host.ctypes.data
ok(hip.hipHostRegister(where, 4096, 0))
assert hip.hipHostRegister(where, 4096, 0)[0] == E.hipErrorHostMemoryAlreadyRegistered
assert hip.hipHostRegister(where + 64, 64, 0)[0] == E.hipErrorHostMemoryAlreadyRegistered
assert int(ok(hip.hipHostGetDevicePointer(where, 0))) == where
kept = filled(hip.hipPointerGetAttributes, hip.hipPointerAttribute_t(), where)
assert int(kept.type) == 1 and int(kept.hostPointer) == where
assert hip.hipFree(where)[0] == E.hipErrorInvalidValue
event, module = ok(hip.hipEventCreate()), ok(hip.hipModuleLoadData(elf()))
used = rt.card.memory.used
ok(hip.hipModuleUnload(module))
assert rt.card.memory.used < used, "a module's memory is given back"
ok(hip.hipMalloc(64)), ok(hip.hipModuleLoadData(elf()))
ok(hip.hipDeviceReset())
assert rt.card.memory.used == 0
assert hip.hipHostUnregister(where)[0] == E.hipErrorHostMemoryNotRegistered
assert hip.hipEventQuery(event)[0] == E.hipErrorInvalidHandle
ok(hip.hipHostRegister(where, 4096, 0)), ok(hip.hipHostUnregister(where))
assert (host == np.arange(1024)).all()
"""
    )
