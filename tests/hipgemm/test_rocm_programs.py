"""Scripts in the place of ROCm's programs: a build of many commands, and what each answers."""

import os
import subprocess
from pathlib import Path

import pytest

from hipgemm import simulated_hip
from hipgemm.simulated_hip import attach
from isa import toolchain

MAIN = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#include "twice.h"
extern "C" int three(void);
int main() {
    std::vector<float> y(64, three());
    float *x;
    if (hipMalloc(&x, 256) || hipMemcpy(x, y.data(), 256, hipMemcpyHostToDevice)) return 1;
    twice(x, 64);
    if (hipMemcpy(y.data(), x, 256, hipMemcpyDeviceToHost)) return 1;
    std::printf("%g\\n", y[63]);
}
"""
KERNEL = """
#include <hip/hip_runtime.h>
#include "twice.h"
__global__ void doubled(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
void twice(float *x, int n) { doubled<<<(n + 31) / 32, 32>>>(x, n); }
"""
MAKEFILE = """
prog: main.o libkernel.a three.o
\t$(ROCM_PATH)/bin/hipcc main.o three.o -L. -lkernel -o $@ -lstdc++ -lm
libkernel.a: kernel.hip
\t$(ROCM_PATH)/bin/hipcc --emit-static-lib -I include $< -o $@
%.o: %.hip
\t$(ROCM_PATH)/bin/hipcc -O2 -MMD --offload-arch=native -I include -c $< -o $@
%.o: %.c
\t$(ROCM_PATH)/bin/hipcc -c $< -o $@
"""


@pytest.fixture
def there() -> dict[str, str]:
    """The environment of a simulated 7600, without the flags of a ``make`` that runs these tests."""
    outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return attach.environment("7600", None, outside)


def run(there: dict[str, str], command: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=there, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_makefile_for_hipcc_builds_and_runs(tmp_path: Path, there: dict[str, str]) -> None:
    if toolchain.find().kind == "hipcc":
        pytest.skip("a hipcc is installed, and would be asked")
    for name, text in {"main.hip": MAIN, "kernel.hip": KERNEL, "Makefile": MAKEFILE}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "include").mkdir()
    (tmp_path / "include/twice.h").write_text("void twice(float *, int);\n")
    (tmp_path / "three.c").write_text("int three(void) { return 3; }\n")
    status, said = run(there, "make && ./prog", tmp_path)
    assert (status, said.splitlines()[-1]) == (0, "6"), said
    assert "twice.h" in (tmp_path / "main.d").read_text()
    (tmp_path / "kernel.hip").write_text(KERNEL.replace("i < n", "i < m"))
    status, said = run(there, "make", tmp_path)
    assert status
    assert "undeclared identifier 'm'" in said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rocm_agent_enumerator", "gfx000\ngfx1102"),
        ("$ROCM_PATH/llvm/bin/amdgpu-arch", "gfx1102"),
        ("rocminfo | grep -E '^ +Name: +gfx'", "  Name:                    gfx1102"),
        ("hipconfig --platform --version", "7.2.0 amd"),
        ("hipconfig | grep ^runtime", "runtime         : rocclr"),
        ("hipconfig --colour || true", "hipconfig --colour\n  expected: -v"),
        ("rocm-smi --showtemp || true", "rocm-smi is not there: the simulated card has nothing to measure"),
        ("$ROCM_PATH/bin/hipcc --version | head -1", "HIP version: 7.2.0"),
    ],
)
def test_answers(command: str, said: str, tmp_path: Path, there: dict[str, str]) -> None:
    status, got = run(there, command, tmp_path)
    assert (status, got[: len(said)]) == (0, said)


def test_a_reader_may_leave_early(tmp_path: Path, there: dict[str, str]) -> None:
    assert run(there, "rocminfo | true", tmp_path) == (0, "")


def test_bundles_are_made_and_taken_apart(tmp_path: Path, there: dict[str, str]) -> None:
    image = toolchain.find().code_object("s_endpgm\n")
    (tmp_path / "a.co").write_bytes(image)
    (tmp_path / "none").touch()
    bundler = "$ROCM_PATH/llvm/bin/clang-offload-bundler -type=o"
    both = "-targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx1100"
    for words in (f"{both} -input=none -input=a.co -output=fat", f"{both} -unbundle -input=fat -output=x,b.co"):
        assert run(there, f"{bundler} {words}", tmp_path) == (0, "")
    assert (tmp_path / "b.co").read_bytes() == image
    assert run(there, f"{bundler} -targets=a -input=fat", tmp_path)[0] == 1


def test_scripts_are_no_hipcc() -> None:
    script = simulated_hip.rocm_path() / "bin/hipcc"
    assert os.access(script, os.X_OK)
    assert not toolchain.is_installed(script)
    assert toolchain.is_installed(Path("/bin/sh"))
