"""AMD's code object manager on the simulated card, called as tinygrad calls it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hipgemm.kernels.compiling import device_libraries

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"
SCRIPT = """
import ctypes, os
import numpy as np
from hip import hip

hip.hipRuntimeGetVersion()
comgr = ctypes.CDLL(os.environ["LIBRARY"])
handle = ctypes.c_uint64

def ok(status):
    assert status == 0, status

def made(name, *given):
    out = handle()
    ok(getattr(comgr, f"amd_comgr_create_{name}")(*given, ctypes.byref(out)))
    return out

def text_list(words):
    return (ctypes.c_char_p * len(words))(*words), ctypes.c_size_t(len(words))

def data(kind, name, content):
    out = made("data", kind)
    ok(comgr.amd_comgr_set_data(out, ctypes.c_size_t(len(content)), content))
    ok(comgr.amd_comgr_set_data_name(out, name))
    return out

def content(of, kind):
    found, size = handle(), ctypes.c_size_t()
    ok(comgr.amd_comgr_action_data_get_data(of, kind, ctypes.c_size_t(0), ctypes.byref(found)))
    ok(comgr.amd_comgr_get_data(found, ctypes.byref(size), None))
    out = ctypes.create_string_buffer(size.value)
    ok(comgr.amd_comgr_get_data(found, ctypes.byref(size), out))
    ok(comgr.amd_comgr_release_data(found))
    assert comgr.amd_comgr_release_data(found) == 2, "twice"
    return out.raw

info = made("action_info")
ok(comgr.amd_comgr_action_info_set_language(info, 3))
ok(comgr.amd_comgr_action_info_set_isa_name(info, b"amdgcn-amd-amdhsa--gfx1100"))
ok(comgr.amd_comgr_action_info_set_logging(info, True))

def action(kind, given, *options):
    ok(comgr.amd_comgr_action_info_set_option_list(info, *text_list(options)))
    out = made("data_set")
    return comgr.amd_comgr_do_action(kind, info, given, out), out

def source_set(*objects):
    out = made("data_set")
    for one in objects:
        ok(comgr.amd_comgr_data_set_add(out, one))
    return out
"""


def run(run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    from hipgemm.simulated_hip import rocm_path

    script = tmp_path / "script.py"
    script.write_text(SCRIPT + text)
    monkeypatch.setenv("LIBRARY", str(rocm_path() / "lib" / "libamd_comgr.so"))
    return run_program(COMMAND, "simulate", str(script)).stdout


@pytest.mark.skipif(device_libraries.folder() is None, reason="no device libraries on this machine")
def test_a_source_becomes_a_code_object_that_calls_the_device_libraries(
    run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(
        run_program,
        tmp_path,
        monkeypatch,
        '''
SOURCE = b"""
#include "names.h"
extern "C" __attribute__((device, const)) unsigned long __ockl_get_local_id(unsigned);
extern "C" __attribute__((device)) float __ocml_sin_f32(float);
extern "C" __attribute__((global)) void KERNEL(float *y, const float *x) {
    unsigned long i = __ockl_get_local_id(0);
    y[i] = __ocml_sin_f32(x[i]);
}
"""
given = source_set(data(1, b"<null>", SOURCE), data(2, b"names.h", b"#define KERNEL sines"))
status, bitcode = action(12, given, b"-O3", b"-mcumode", b"-nogpuinc", b"-Xclang", b"-disable-llvm-passes")
assert status == 0, content(bitcode, 5).decode()
status, relocatable = action(4, bitcode, b"-O3", b"-mllvm", b"-amdgpu-internalize-symbols")
assert status == 0, content(relocatable, 5).decode()
status, executable = action(7, relocatable)
assert status == 0
code = content(executable, 8)
assert action(14, given, b"-O3")[0] == 0, "in one step"
assembly = content(action(5, bitcode, b"-O3")[1], 1)
assert b"sines:" in assembly
again = content(action(7, action(8, source_set(data(1, b"sines.s", assembly)))[1])[1], 8)
x = np.concatenate([np.linspace(-7, 7, 31), [1e5]]).astype(np.float32)
for image in (code, again):
    d = [hip.hipMalloc(x.nbytes)[1] for _ in range(2)]
    hip.hipMemcpy(d[1], x, x.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice)
    module = hip.hipModuleLoadData(image)[1]
    kernel = hip.hipModuleGetFunction(module, b"sines")[1]
    assert hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, tuple(d))[0] == 0
    y = np.empty_like(x)
    hip.hipMemcpy(y, d[0], y.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost)
    assert np.abs(y - np.sin(x.astype(np.float64))).max() < 2e-7, y
''',
    )


def test_what_is_wrong_is_answered_with_a_status_and_a_log(
    run_program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(
        run_program,
        tmp_path,
        monkeypatch,
        """
major, minor = ctypes.c_size_t(), ctypes.c_size_t()
comgr.amd_comgr_get_version(ctypes.byref(major), ctypes.byref(minor))
assert major.value == 3
status, out = action(2, source_set(data(1, b"wrong.hip", b"int f( {")))
assert status == 1 and b"error: expected" in content(out, 5)
status, out = action(2, source_set(data(1, b"../out.hip", b"int i;")))
assert status == 1 and b"not the name of a file" in content(out, 5)
status, out = action(9, made("data_set"))
assert status == 1 and b"action 9" in content(out, 5)
ok(comgr.amd_comgr_action_info_set_language(info, 1))
assert action(2, source_set(data(1, b"a.cl", b"int i;")))[0] == 1, "OpenCL"
assert comgr.amd_comgr_action_info_set_isa_name(info, b"amdgcn-amd-amdhsa--gfx906") == 2
assert comgr.amd_comgr_set_data(handle(12345), ctypes.c_size_t(1), b"x") == 2
assert comgr.amd_comgr_get_data(data(1, b"a", b"x"), None, None) == 2
assert comgr.amd_comgr_data_set_add(made("data_set"), made("data", 1)) == 2, "without a name"
assert comgr.amd_comgr_get_isa_metadata(b"x", None) == 1, "refused"
""",
    )
