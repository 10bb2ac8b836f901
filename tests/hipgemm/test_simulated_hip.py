"""The simulated HIP runtime as hip-python sees it."""

import ctypes
from pathlib import Path

import pytest
from verbs import Run

from hipgemm import simulated_hip
from hipgemm.simulated_hip import library
from hipgemm.simulated_hip.abi import ErrorCode
from hipgemm.simulated_hip.calls import CALLS
from hipgemm.simulated_hip.runtime import Runtime
from isa.timing.machine.cards import card
from isa.toolchain import build_host_library


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


def test_what_stands_in_exports_no_call_of_a_library_that_is_installed() -> None:
    """Else a program that is linked with both finds the wrong one."""
    text = library.stand_ins(CALLS)
    folder = library.build(simulated_hip._source(), text, {"libMIOpen.so.1", "librocblas.so.5"}) / "lib"

    def exported(name: str) -> list[str]:
        opened = ctypes.CDLL(str(folder / name))
        calls = (
            "miopenCreate",
            "miopenGetErrorString",
            "rocblas_sgemm",
            "rocblas_create_handle",
            "rsmi_init",
            "hipblasSgemm",
        )
        return [call for call in calls if hasattr(opened, call)]

    assert not (folder / "libMIOpen.so.1").exists()
    assert exported("librocm_smi64.so.1") == ["rsmi_init", "hipblasSgemm"]
    assert exported("librocblas.so.4") == ["rocblas_sgemm", "rocblas_create_handle"]


def test_the_library_comes_from_zig_where_there_is_no_c_compiler(
    run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run_program(
        "from hipgemm import simulated_hip\nsimulated_hip.install()\n"
        "from hip import hip\nassert hip.hipGetDeviceCount() == (0, 1)\n"
    )
    assert list((tmp_path / "cache" / "hipgemm" / "simulated_hip").glob("*/lib/libamdhip64.so"))


def test_an_error_without_a_text_is_named() -> None:
    said: list[str] = []
    rt = Runtime(lambda: next(iter(())), card("7900 XTX"), said.append)
    words = (ctypes.c_uint64 * 8)(ctypes.addressof(ctypes.c_uint64()), 64)
    assert rt.dispatch(list(CALLS).index("hipMalloc"), words) == ErrorCode.Unknown
    assert said == ["hipgemm: hipErrorUnknown\nStopIteration()"]
