"""What any supported compiler makes of kernels 1 to 5, at any level and with spills, runs and gives the right answer.

-O0 keeps every variable in scratch and calls functions; a cap of 128 VGPRs makes kernel 5 spill, and the spills live
across barriers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hipgemm.kernels.build import Linked
from hipgemm.kernels.compiling.headers import INCLUDE
from hipgemm.kernels.ladder import LADDER
from hipgemm.launch.gemm import gemm
from hipgemm.launch.problem import Problem
from hipgemm.measure.device import Device
from hipgemm.measure.measure import measure_launch
from isa import toolchain
from isa.toolchain import Toolchain

COMPILERS = [t for t in toolchain.available() if t.kind != "hipcc"]
KERNELS = ["kernel1", "kernel2", "kernel3", "kernel4", "kernel5"]
PROBLEM = Problem(128, 256, 64, alpha=1.5, beta=-0.5)


def check(tools: Toolchain, kernel: str, flags: list[str], folder: Path) -> int:
    """Compile, link, run, check. Gives back the bytes of scratch that a work-item uses."""
    row = LADDER[kernel]
    text = folder / "k.s"
    tools.compile(row.path, text, arch="gfx1100", cu_mode=row.cu_mode, include=INCLUDE, flags=flags)
    image = tools.code_object(text.read_text())
    result = measure_launch(Linked(row, image), gemm(row, PROBLEM), Device.open("simulated")).result
    assert result.correct, result
    return result.scratch_bytes or 0


CAP = """
#include <hip/hip_runtime.h>
#undef __launch_bounds__
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_num_vgpr(128)))
"""


def capped(folder: Path) -> list[str]:
    """Compiler flags that leave 128 VGPRs."""
    (folder / "cap.h").write_text(CAP)
    return ["-O3", "-include", str(folder / "cap.h")]


def test_spills_live_across_barriers(tmp_path: Path) -> None:
    assert check(COMPILERS[0], "kernel5", capped(tmp_path), tmp_path) > 0


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "128 VGPRs"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("tools", COMPILERS, ids=str)
def test_every_level_of_every_compiler(tools: Toolchain, kernel: str, level: str, tmp_path: Path) -> None:
    check(tools, kernel, [level] if level.startswith("-") else capped(tmp_path), tmp_path)
