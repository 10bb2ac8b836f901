"""hip-python 7.2, whose bindings differ from 10.0's: the whole ladder and the runtime's tests, in an environment of its
own that pip makes (`pytest -m slow`; it downloads 300 MB)."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from verbs import Run

from hipgemm.kernels.ladder import LADDER
from isa.toolchain import build_host_library

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
OLDER = "hip-python==7.2.2.562.43"


def pins() -> str:
    """The project's own pins of everything but hip-python and what that needs."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if not line.startswith(("hip-python", "rocm-bindings")))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("older")
    venv.create(folder, with_pip=True)
    program = str(folder / "bin" / "python")

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **environment}
        return subprocess.run([program, *arguments], cwd=ROOT, env=given, capture_output=True, text=True, check=False)

    (folder / "pins.txt").write_text(pins())
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(folder / "pins.txt"))
    done = run(*install, OLDER, f"{ROOT}[sim,toolchain,dev]")
    if done.returncode:
        pytest.skip(f"{OLDER} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return run


def test_the_whole_ladder(python: Run) -> None:
    assert python("-c", "import hip.chip").returncode == 0, "this is the older one"
    command = "from hipgemm.cli import main; main()"
    done = python("-c", command, "bench", "-n", "256", "--beta", "0.5", "--device", "simulated", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    records = {record["kernel"]: record for record in map(json.loads, done.stdout.splitlines())}
    assert [k for k, r in records.items() if r.get("correct")] == list(LADDER)
    assert all(r["environment"]["hip_python"] == OLDER.split("==")[1] for r in records.values() if "correct" in r)


@pytest.mark.parametrize("file", ["test_simulated_hip.py", "test_hiprtc.py", "test_sgemm.py", "test_bench.py"])
def test_everything_that_goes_through_hip_python(python: Run, file: str) -> None:
    done = python("-m", "pytest", "-q", "-x", f"tests/hipgemm/{file}")
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout.splitlines()[-1], file=sys.stderr)


HIPBLAS = """
#include <stddef.h>
static void *made = &made, *stream_set;
int hipblasCreate(void **handle) { *handle = made; return 0; }
int hipblasSetStream(void *handle, void *stream) { stream_set = stream; return handle != made; }
int hipblasSgemm(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
                 const float *b, int ldb, const float *beta, float *c, int ldc) {
    if (handle != made || ta != 111 || tb != 111 || !stream_set) return 7;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += a[i + (size_t)p * lda] * b[p + (size_t)j * ldb];
            c[i + (size_t)j * ldc] = *alpha * sum + *beta * c[i + (size_t)j * ldc];
        }
    return 0;
}
"""
KERNEL0 = """
from hipgemm.product import blas
from hipgemm.measure.device import Device
from hipgemm.measure.measure import measure_subject
from hipgemm.launch.problem import Problem
device, problem = Device.open("simulated"), Problem(5, 7, 3, 1.5, -0.5)
result = measure_subject(blas.subject(*blas.hipblas(), problem), device).result
assert result.correct, result
print(result.made_by)
"""


def test_kernel0_through_hipblas(python: Run, tmp_path: Path) -> None:
    """hipBLAS's binding is part of the older hip-python; the library under it is a small one."""
    (tmp_path / "hipblas.c").write_text(HIPBLAS)
    build_host_library(tmp_path / "hipblas.c", tmp_path / "libhipblas.so")
    done = python("-c", KERNEL0, LD_LIBRARY_PATH=str(tmp_path))
    assert done.stdout == "hipBLAS through hip-python\n", done.stderr
    missing = python("-c", KERNEL0, LD_LIBRARY_PATH="")
    if missing.returncode:
        assert "no hipBLAS through hip-python" in missing.stderr
