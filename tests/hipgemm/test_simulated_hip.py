"""The simulated HIP runtime as hip-python sees it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isa.toolchain import build_host_library

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
import ctypes, numpy as np
from small_card import *
from hipgemm import simulated_hip
cards = []
def make(**options):
    cards.append(SmallCard(**options))
    return cards[-1]
rt = simulated_hip.install(make)
from hip import hip
E = hip.hipError_t
def ok(answer):
    assert answer[0] == E.hipSuccess, answer
    return answer[1] if len(answer) == 2 else answer[1:]
def filled(call, structure, *arguments):
    # hip-python returns a filled structure since 7.14; before, it filled one that it was given.
    try:
        return ok(call(*arguments))
    except TypeError:
        ok(call(structure, *arguments))
        return structure
def function(name):
    return ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(elf())), name.encode()))
def launch(f, *arguments, grid=(1, 1, 1), block=(128, 1, 1), lds=0):
    return hip.hipModuleLaunchKernel(f, *grid, *block, lds, None, None, arguments)[0]
"""


def test_a_gemm_by_extra_and_by_kernel_parameters(run_program: Run) -> None:
    run_program(
        START
        + """
m, n, k = 3, 5, 7
rng = np.random.default_rng(1)
a, b = (rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
c = np.full((m, n), np.nan, np.float32)
da, db, dc = (ok(hip.hipMalloc(x.nbytes)) for x in (a, b, c))
for d, h in ((da, a), (db, b), (dc, c)):
    ok(hip.hipMemcpy(d, h, h.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
f = function("gemm")
values = [ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k), ctypes.c_float(2.0), ctypes.c_float(0.0)]
assert launch(f, da, db, dc, *values) == E.hipSuccess
ok(hip.hipMemcpy(c, dc, c.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
np.testing.assert_allclose(c, 2 * (a @ b), rtol=1e-6)
ok(hip.hipMemset(dc, 0, c.nbytes))
held = [ctypes.c_void_p(int(d)) for d in (da, db, dc)] + values
addresses = (ctypes.c_void_p * 8)(*(ctypes.addressof(h) for h in held))
ok(hip.hipModuleLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, None, addresses, None))
again = np.empty_like(c)
ok(hip.hipMemcpy(again, dc, c.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
assert (again == c).all()
(_, _, _, by_extra, _), (_, _, _, by_parameters, _) = cards[0].launches
assert by_extra == by_parameters and len(by_extra) == 44
for d in (da, db, dc):
    ok(hip.hipFree(d))
"""
    )


def test_what_the_device_says_of_itself(run_program: Run) -> None:
    run_program(
        START
        + """
p = filled(hip.hipGetDeviceProperties, hip.hipDeviceProp_t(), 0)
assert p.gcnArchName in ("gfx1100", b"gfx1100")
assert (p.major, p.minor, p.warpSize, p.maxThreadsPerBlock) == (11, 0, 32, 1024)
assert p.totalGlobalMem == 24 << 30 and p.sharedMemPerBlock == 65536 and p.clockRate == 2_500_000
assert p.multiProcessorCount == 48 and p.l2CacheSize == 6 << 20 and p.maxSharedMemoryPerMultiProcessor == 128 << 10
assert list(p.maxThreadsDim) == [1024] * 3 and p.sharedMemPerMultiprocessor == 128 << 10
assert p.managedMemory == 1 and p.hostRegisterSupported == 0 and p.asicRevision == 0
A = hip.hipDeviceAttribute_t
for attribute, value in ((A.hipDeviceAttributeWarpSize, 32), (A.hipDeviceAttributeMaxBlockDimZ, 1024),
                         (A.hipDeviceAttributeComputeCapabilityMajor, 11),
                         (A.hipDeviceAttributeMultiprocessorCount, 48), (A.hipDeviceAttributeImageSupport, 0),
                         (A.hipDeviceAttributeCanUseStreamWaitValue, 1),
                         (A.hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 128 << 10)):
    assert ok(hip.hipDeviceGetAttribute(attribute, 0)) == value, attribute
assert ok(hip.hipGetDeviceCount()) == 1
assert hip.hipSetDevice(1)[0] == E.hipErrorInvalidDevice
free, total = ok(hip.hipMemGetInfo())
held = ok(hip.hipMalloc(1000))
assert ok(hip.hipMemGetInfo()) == (free - 1000, total)
"""
    )


def test_every_property_and_attribute_lies_where_hip_python_reads_it(run_program: Run) -> None:
    """Each field is given its own number and read back through hip-python's own structure."""
    run_program(
        START
        + """
from hipgemm.simulated_hip.abi import DeviceProp
from hipgemm.simulated_hip.calls import device
scalars = [n for n, t in DeviceProp._fields_ if t in (ctypes.c_int, ctypes.c_uint, ctypes.c_size_t) and n != "arch"]
device.PROPERTIES = {n: 1000 + i for i, n in enumerate(scalars)}
p = filled(hip.hipGetDeviceProperties, hip.hipDeviceProp_t(), 0)
for i, name in enumerate(scalars):
    assert getattr(p, name) == 1000 + i, name
assert ctypes.sizeof(DeviceProp) == 1472
names = {"kernelExecTimeoutEnabled": "KernelExecTimeout", "major": "ComputeCapabilityMajor",
         "minor": "ComputeCapabilityMinor", "memPitch": "MaxPitch", "multiProcessorCount": "MultiprocessorCount",
         "regsPerBlock": "MaxRegistersPerBlock", "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor",
         "sharedMemPerBlock": "MaxSharedMemoryPerBlock", "sharedMemPerMultiprocessor": "SharedMemPerMultiprocessor",
         "totalConstMem": "TotalConstantMemory", "clockInstructionRate": "WallClockRate"}
by_number = {int(m): m.name.removeprefix("hipDeviceAttribute") for m in hip.hipDeviceAttribute_t}
for number, source in device.ATTRIBUTES.items():
    if isinstance(source, str) and number not in (10000, 10015):
        wanted = names.get(source, source)
        assert by_number[number].lower() == wanted.lower(), (number, source)
"""
    )


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


def test_misuse_gives_hips_own_codes(run_program: Run) -> None:
    run_program(
        START
        + """
d = ok(hip.hipMalloc(256))
h = np.zeros(1024, np.uint8)
K = hip.hipMemcpyKind
invalid = E.hipErrorInvalidValue
assert hip.hipMemcpy(d, h, 257, K.hipMemcpyHostToDevice)[0] == invalid, "past the end of the allocation"
assert hip.hipMemcpy(int(d) + 8, h, 256, K.hipMemcpyHostToDevice)[0] == invalid
assert hip.hipMemcpy(h, h, 8, K.hipMemcpyHostToDevice)[0] == invalid, "host memory given as the device's"
assert hip.hipMemcpy(h, 8, 8, K.hipMemcpyDefault)[0] == invalid, "nothing is mapped there"
assert hip.hipMemset(h, 0, 8)[0] == invalid
ok(hip.hipFree(d))
assert hip.hipFree(d)[0] == invalid, "twice"
assert hip.hipGetLastError()[0] == invalid and hip.hipGetLastError()[0] == E.hipSuccess
assert hip.hipMalloc(25 << 30)[0] == E.hipErrorOutOfMemory, "more than the card has"
assert hip.hipMalloc(1 << 30)[0] == E.hipErrorOutOfMemory and "do not fit" in str(rt.take_report())
module = ok(hip.hipModuleLoadData(elf()))
assert hip.hipModuleGetFunction(module, b"nowhere")[0] == E.hipErrorNotFound
f = ok(hip.hipModuleGetFunction(module, b"gemm"))
assert launch(f, ctypes.c_int(1)) == invalid and "44 bytes" in str(rt.take_report())
assert launch(f, grid=(0, 1, 1)) == invalid
assert launch(f, block=(0, 1, 1)) == invalid
assert launch(f, grid=(1 << 31, 1, 1)) == invalid
assert launch(f, grid=(1, 65537, 1)) == invalid
assert launch(f, block=(1025, 1, 1)) == invalid
assert launch(f, block=(129, 1, 1)) == E.hipErrorLaunchFailure and "1 to 128" in str(rt.take_report())
assert launch(f, lds=65 << 10) == invalid
assert launch(f, lds=53 << 10) == E.hipErrorOutOfMemory
assert hip.hipModuleLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, None, None, None)[0] == invalid, "no arguments at all"
none = ok(hip.hipModuleGetFunction(module, b"fault"))
assert launch(none, ctypes.c_int(1)) == E.hipErrorLaunchOutOfResources, "arguments for a kernel that takes none"
assert hip.hipModuleLaunchKernel(None, 1, 1, 1, 128, 1, 1, 0, None, None, None)[0] == E.hipErrorInvalidHandle
ok(hip.hipModuleUnload(module))
assert hip.hipModuleUnload(module)[0] == E.hipErrorInvalidHandle
assert launch(f) == E.hipErrorInvalidHandle
assert len(cards[0].unloaded) == 1
assert hip.hipModuleLoadData(elf("gfx1101"))[0] == E.hipErrorNoBinaryForGpu
assert hip.hipModuleLoadData(b"not a code object")[0] == E.hipErrorInvalidImage
assert hip.hipModuleLoad(b"/nowhere.hsaco")[0] == E.hipErrorFileNotFound
assert not cards[0].launches
"""
    )


def test_a_fault_is_a_code_and_a_report(run_program: Run) -> None:
    run_program(
        START
        + """
assert launch(function("fault")) == E.hipErrorIllegalAddress
report = rt.take_report()
assert report.address == 64 and "outside every allocation" in str(report) and rt.take_report() is None
assert launch(function("broken")) == E.hipErrorUnknown
assert isinstance(rt.take_report(), ZeroDivisionError)
assert hip.hipDeviceSynchronize()[0] == E.hipSuccess, "the process and the card live on"
"""
    )


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


def test_memory_of_every_kind(run_program: Run) -> None:
    run_program(
        START
        + """
K = hip.hipMemcpyKind
d = ok(hip.hipMalloc(1024))
pinned = ok(hip.hipHostMalloc(1024, 0))
managed = ok(hip.hipMallocManaged(1024, 1))
ok(hip.hipMemsetD32(managed, 0x01020304, 256))
ok(hip.hipMemcpyAsync(d, managed, 1024, K.hipMemcpyDeviceToDevice, None))
ok(hip.hipMemcpy(pinned, d, 1024, K.hipMemcpyDeviceToHost))
words = np.frombuffer((ctypes.c_uint32 * 256).from_address(int(pinned)), np.uint32)
assert (words == 0x01020304).all()
ok(hip.hipMemsetD16(int(d) + 2, 0xBEEF, 3))
host = np.zeros(12, np.uint8)
ok(hip.hipMemcpy(host, d, 12, K.hipMemcpyDeviceToHost))
assert host.tobytes().hex() == "0403" + "efbe" * 3 + "04030201"
rows = np.arange(64, dtype=np.uint8).reshape(8, 8)
ok(hip.hipMemcpy2D(d, 16, rows, 8, 4, 8, K.hipMemcpyHostToDevice))
back = np.zeros(128, np.uint8)
ok(hip.hipMemcpy(back, d, 128, K.hipMemcpyDeviceToHost))
assert (back.reshape(8, 16)[:, :4] == rows[:, :4]).all()
kept = filled(hip.hipPointerGetAttributes, hip.hipPointerAttribute_t(), int(managed) + 8)
assert kept.isManaged == 1 and int(kept.devicePointer) == int(managed) + 8
assert hip.hipFree(pinned)[0] == E.hipErrorInvalidValue, "pinned memory is freed by hipHostFree"
ok(hip.hipHostFree(pinned)); ok(hip.hipFree(managed)); ok(hip.hipFree(d))
"""
    )


def test_functions_globals_and_occupancy(run_program: Run) -> None:
    run_program(
        START
        + """
module = ok(hip.hipModuleLoadData(bundle(("host-x86_64-unknown-linux--", b""),
                                         ("hipv4-amdgcn-amd-amdhsa--gfx1101", elf("gfx1101")),
                                         ("hipv4-amdgcn-amd-amdhsa--gfx1100", elf()))))
address, size = ok(hip.hipModuleGetGlobal(module, b"variable"))
assert int(address) == cards[0].variable and size == 16
f = ok(hip.hipModuleGetFunction(module, b"gemm"))
F = hip.hipFunction_attribute
assert ok(hip.hipFuncGetAttribute(F.HIP_FUNC_ATTRIBUTE_NUM_REGS, f)) == 216
assert ok(hip.hipFuncGetAttribute(F.HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f)) == 12 << 10
# 216 VGPRs: 7 waves a SIMD, 2 SIMDs a CU, 4 waves a workgroup: 3 workgroups a CU, 6 a WGP (the study's kernel 8).
assert ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(f, 128, 0)) == 6
# 12 KB + 20 KB of LDS: 2 fit into the CU's 64 KB.
assert ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(f, 128, 20 << 10)) == 4
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


def test_a_launch_by_configuration(run_program: Run) -> None:
    run_program(
        START
        + """
if not hasattr(hip, "hipDrvLaunchKernelEx"):
    raise SystemExit
config = hip.HIP_LAUNCH_CONFIG()
config.gridDimX = config.gridDimY = config.gridDimZ = 1
config.blockDimX, config.blockDimY, config.blockDimZ, config.sharedMemBytes = 64, 1, 1, 0
f = function("fault")
rt.functions[int(f)].kernel.body = lambda **_: None
ok(hip.hipDrvLaunchKernelEx(config, f, None, None))
assert cards[0].launches[-1][:3] == ("fault", (1, 1, 1), (64, 1, 1))
config.numAttrs = 1
assert hip.hipDrvLaunchKernelEx(config, f, None, None)[0] == E.hipErrorNotSupported
"""
    )


def test_contexts_pools_and_what_is_known_of_a_pointer(run_program: Run) -> None:
    run_program(
        START
        + """
c = ok(hip.hipDevicePrimaryCtxRetain(0))
assert int(ok(hip.hipCtxGetCurrent())) == int(c)
assert hip.hipCtxPopCurrent()[0] == E.hipErrorInvalidContext
ok(hip.hipCtxPushCurrent(c)); assert int(ok(hip.hipCtxPopCurrent())) == int(c)
assert hip.hipCtxPushCurrent(0x10)[0] == E.hipErrorInvalidContext
assert hip.hipDevicePrimaryCtxRetain(1)[0] == E.hipErrorInvalidDevice

A = hip.hipMemPoolAttr
pool = ok(hip.hipDeviceGetDefaultMemPool(0))
def of_pool(which):
    number = ctypes.c_uint64(77)
    ok(hip.hipMemPoolGetAttribute(pool, which, ctypes.addressof(number)))
    return number.value
d = ok(hip.hipMallocFromPoolAsync(1000, pool, None))
e = ok(hip.hipMallocAsync(24, None))
f = ok(hip.hipMalloc(512))
assert (of_pool(A.hipMemPoolAttrUsedMemCurrent), of_pool(A.hipMemPoolAttrUsedMemHigh)) == (1024, 1024)
ok(hip.hipFreeAsync(d, None))
assert (of_pool(A.hipMemPoolAttrUsedMemCurrent), of_pool(A.hipMemPoolAttrUsedMemHigh)) == (24, 1024)
assert hip.hipMallocFromPoolAsync(16, 0x10, None)[0] == E.hipErrorInvalidValue

T = hip.hipPointer_attribute
def of_pointer(which, address, ctype=ctypes.c_uint64):
    cell = ctype()
    code = hip.hipPointerGetAttribute(ctypes.addressof(cell), which, address)[0]
    return cell.value if code == E.hipSuccess else code
assert of_pointer(T.HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, int(f) + 8, ctypes.c_uint) == 2
assert of_pointer(T.HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, int(f) + 8) == int(f)
assert of_pointer(T.HIP_POINTER_ATTRIBUTE_RANGE_SIZE, int(f) + 8) == 512
assert of_pointer(T.HIP_POINTER_ATTRIBUTE_HOST_POINTER, int(f)) == E.hipErrorInvalidValue
assert of_pointer(T.HIP_POINTER_ATTRIBUTE_RANGE_SIZE, int(f) + 512) == E.hipErrorInvalidValue

assert hip.hipDeviceEnablePeerAccess(0, 0)[0] == E.hipErrorInvalidDevice
assert hip.hipDeviceDisablePeerAccess(0)[0] == E.hipErrorPeerAccessNotEnabled
flag = ctypes.c_uint32(5)
ok(hip.hipStreamWriteValue32(None, ctypes.addressof(flag), 9, 0))
assert flag.value == 9
ok(hip.hipStreamWaitValue32(None, ctypes.addressof(flag), 9, 0, 0xFFFFFFFF))
assert hip.hipStreamWaitValue32(None, ctypes.addressof(flag), 10, 0, 0xFFFFFFFF)[0] == E.hipErrorNotReady
k = function("gemm")
lds = hip.hipFuncAttribute.hipFuncAttributeMaxDynamicSharedMemorySize
ok(hip.hipFuncSetAttribute(k, lds, 4096))
assert hip.hipFuncSetAttribute(k, lds, 1 << 20)[0] == E.hipErrorInvalidValue
assert hip.hipFuncSetAttribute(int(d), lds, 0)[0] == E.hipErrorInvalidDeviceFunction
"""
    )


def test_graphs_do_what_was_captured_when_they_are_launched(run_program: Run) -> None:
    run_program(
        START
        + """
k = 8
a, c = np.arange(k, dtype=np.float32), np.empty(1, np.float32)
da, dc = ok(hip.hipMalloc(a.nbytes)), ok(hip.hipMalloc(4))
stream, other, event = ok(hip.hipStreamCreate()), ok(hip.hipStreamCreate()), ok(hip.hipEventCreate())
f, mode = function("gemm"), hip.hipStreamCaptureMode.hipStreamCaptureModeRelaxed
def values(alpha):
    return da, da, dc, *map(ctypes.c_int, (1, 1, k)), ctypes.c_float(alpha), ctypes.c_float(0.0)
def put(alpha, on, source):
    answer = hip.hipMemcpyAsync(da, source, a.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice, stream)
    ok(hip.hipEventRecord(event, stream))
    ok(hip.hipStreamWaitEvent(on, event, 0))
    return hip.hipModuleLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, on, None, values(alpha))[0]
def found():
    ok(hip.hipMemcpy(c, dc, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    return float(c[0])
ok(hip.hipMemset(dc, 0, 4))
assert hip.hipStreamBeginCapture(None, mode)[0] == E.hipErrorStreamCaptureUnsupported
assert hip.hipStreamEndCapture(stream)[0] == E.hipErrorIllegalState
ok(hip.hipStreamBeginCapture(stream, mode))
assert hip.hipStreamBeginCapture(stream, mode)[0] == E.hipErrorIllegalState
assert put(2.0, other, a) == E.hipSuccess  # the other stream waits for an event of this one: it is captured, too
assert hip.hipStreamSynchronize(other)[0] == E.hipErrorStreamCaptureUnsupported
assert hip.hipStreamEndCapture(other)[0] == E.hipErrorStreamCaptureUnmatched
assert hip.hipEventQuery(event)[0] == E.hipErrorCapturedEvent
graph = ok(hip.hipStreamEndCapture(stream))
ok(hip.hipStreamSynchronize(other))
assert found() == 0.0
ready = ok(hip.hipGraphInstantiateWithFlags(graph, 0))
ok(hip.hipGraphDestroy(graph))
ok(hip.hipGraphLaunch(ready, stream))
assert found() == 2.0 * float(a @ a)
a += 1.0  # memory of the host is read when the graph is launched
ok(hip.hipGraphLaunch(ready, stream))
assert found() == 2.0 * float(a @ a)
ok(hip.hipStreamBeginCapture(stream, mode))
put(3.0, stream, a)
graph = ok(hip.hipStreamEndCapture(stream))
ok(hip.hipGraphExecUpdate(ready, graph, None))
ok(hip.hipGraphLaunch(ready, None))
assert found() == 3.0 * float(a @ a)
ok(hip.hipStreamBeginCapture(stream, mode))
graph = ok(hip.hipStreamEndCapture(stream))
assert hip.hipGraphExecUpdate(ready, graph, None)[0] == E.hipErrorGraphExecUpdateFailure
ok(hip.hipGraphExecDestroy(ready))
assert hip.hipGraphLaunch(ready, stream)[0] == E.hipErrorInvalidHandle
"""
    )
