"""Kernels of waves of 64: lint, run, time, build and opt take them, as assembly or HIP; others name what they are."""

from pathlib import Path

import numpy as np
import pytest
from verbs import invoked

import hipgemm
from hipgemm.kernels.compiling import headers
from isa import toolchain
from isa.asm.disassembler import disassemble

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")

WARPS = """
#include <hip/hip_runtime.h>
extern "C" __global__ void warps(float *a, unsigned long long *b) {
    float v = a[threadIdx.x];
    for (int o = 16; o; o /= 2) v += __shfl_xor(v, o);
    a[threadIdx.x] = v;
    b[threadIdx.x] = __ballot(threadIdx.x % 3 == 0) + warpSize + __lane_id();
}
"""


def test_source_for_such_waves_is_taken_as_its_assembly_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the verbs that take that; the others name it."""
    if headers.amds_header() is None:
        pytest.skip("no rocm-llvm-python here")
    (tmp_path / "warps.hip").write_text(WARPS)
    monkeypatch.chdir(tmp_path)
    launch = "--grid 1 --block 64 --arg a=arange:f32:64 --arg b=zeros:u64:64"
    codes = {"lint": 0, f"time {launch}": 0, "build": 0, "inspect": 0, f"check {launch}": 2}
    for verb, code in codes.items():
        first, *rest = verb.split()
        done = invoked([first, "warps.hip", *rest, "--", "-mwavefrontsize64"], code=code)
        assert code == 0 or "64" in done.stderr
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.uint64)
    hipgemm.kernel("warps.hip", flags=("-mwavefrontsize64",))(1, 64, a, b)
    assert a.tolist() == [496.0] * 32 + [1520.0] * 32
    assert [int(x) for x in b] == [0x9249249249249249 + 64 + lane for lane in range(64)]


def test_masks_of_such_waves_are_pairs() -> None:
    """`v_add_co_ci_u32_e32 v1, vcc, s3, v1, vcc`."""
    code = bytes.fromhex("03020240")
    assert [text for _, _, text in disassemble(code)] == ["v_add_co_ci_u32_e32 v1, vcc_lo, s3, v1, vcc_lo"]
    assert [text for _, _, text in disassemble(code, wave64=True)] == ["v_add_co_ci_u32_e32 v1, vcc, s3, v1, vcc"]
