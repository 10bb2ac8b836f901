"""`tools/shipped.py`: code objects are found where libraries hold them."""

import struct
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from tools import shipped

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void twice(float *p) { p[threadIdx.x] *= 2.0f; }
"""


def library(image: bytes) -> bytes:
    target = b"hipv4-amdgcn-amd-amdhsa--gfx1100"
    start = 24 + 8 + 24 + len(target)
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, start, len(image), len(target)) + target + image


def test_bundles_are_found_inside_of_files_once(tmp_path: Path, compile_hip: Callable[..., tuple[str, bytes]]) -> None:
    _, image = compile_hip(SOURCE)
    (tmp_path / "plain.so").write_bytes(library(image) + b"after")
    (tmp_path / "twice.so").write_bytes(library(image))
    (tmp_path / "text").write_text("nothing")
    assert [name for _, name in shipped.kernels(tmp_path, "gfx1100")] == ["twice"]
    (tmp_path / "plain.so").unlink()
    done = CliRunner().invoke(shipped.main, [str(tmp_path), "--show", "WAIT"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "1 of 1 kernels"
