"""The HIP sources say the right thing, whatever compiler and card: run as plain C++ on the host, thread by thread.

An oracle that shares nothing with the simulator: the host's compiler, pthreads for the threads of a workgroup, guard
pages around the matrices. Kernels 6 to 8 are kernel 5's source.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from hipgemm.kernels.ladder import LADDER
from isa import toolchain

HOST = Path(__file__).parent / "host"
SIZES = {
    "kernel1": [(1, 1, 1), (16, 16, 16), (37, 50, 19)],
    "kernel2": [(32, 32, 32), (64, 96, 128)],
    "kernel3": [(128, 128, 8), (256, 384, 24)],
    "kernel4": [(128, 128, 8), (256, 384, 24)],
    "kernel5": [(128, 128, 8), (256, 384, 24)],
}
CALL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.check.restype = ctypes.c_double
arguments = [float(a) if "." in a else int(a) for a in sys.argv[2:]]
print(library.check(*(ctypes.c_float(a) if isinstance(a, float) else a for a in arguments)))
"""


@pytest.fixture(scope="module", params=list(SIZES))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    name, out = request.param, tmp_path_factory.mktemp("host") / "check.so"
    flags = ["-x", "c++", "-std=c++17", "-O1", "-fno-exceptions", "-fno-rtti", "-pthread", "-w", f"-I{HOST}"]
    flags += [f'-DSOURCE="{LADDER[name].path}"', f"-DKERNEL={name}"]
    toolchain.build_host_library(HOST / "check.cpp", out, flags)
    return name, out


# at_end 1: the pages after the matrices are out of bounds; 0: those before.
@pytest.mark.parametrize(("alpha", "beta", "at_end"), [(1.0, 0.0, 1), (1.5, -0.5, 0), (0.0, 1.0, 1)])
def test_it_computes_c_and_touches_nothing_else(
    library: tuple[str, Path], alpha: float, beta: float, at_end: int
) -> None:
    name, so = library
    rung = LADDER[name]
    for m, n, k in SIZES[name]:
        rung.check_size(m, n, k)
        numbers = [m, n, k, alpha, beta, *rung.grid(m, n)[:2], *rung.block[:2], at_end]
        done = subprocess.run([sys.executable, "-c", CALL, str(so), *map(str, numbers)], capture_output=True, text=True)
        assert done.returncode == 0, f"{name} at {m} x {n} x {k}: exit {done.returncode} {done.stderr}"
        # Products of noise below 1/4 in size: k of them, each rounded twice to 2^-24.
        assert float(done.stdout) <= 2**-24 * (k + 4), f"{name} at {m} x {n} x {k}"
