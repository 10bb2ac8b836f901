"""Small programs for the simulated card: a kernel around a few lines of assembly, and the ladder's kernels."""

from __future__ import annotations

import ctypes
import functools
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from isa import toolchain
from isa.sim.run.card import Card

_KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
.Lend_{name}:
.size {name}, .Lend_{name}-{name}
{functions}
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {scratch}
  .amdhsa_kernarg_size {kernarg}
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 1
  .amdhsa_enable_private_segment {uses_scratch}
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_vgpr_workitem_id 1
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 40
  .amdhsa_float_denorm_mode_32 {denormals}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .wavefront_size: 32
    .sgpr_count: 40
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
    .args:
      - {{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


@functools.cache
def assembled(body: str, functions: str = "", **settings: Any) -> bytes:
    """The code object of a kernel `test(buffer)`: s[0:1] is the kernarg pointer, s2 and s3 the workgroup, v0 the
    work-item (x in bits 9:0, y in bits 19:10). settings: of `source`."""
    return linked(source(body, functions, **settings), settings.get("arch", "gfx1100"))


def source(
    body: str, functions: str = "", lds: int = 1024, scratch: int = 0, vgprs: int = 32, denormals: int = 3,
    arch: str = "gfx1100",
) -> str:  # fmt: skip
    """The assembly of such a kernel."""
    return _KERNEL.format(
        name="test", body=body, functions=functions, lds=lds, scratch=scratch, vgprs=vgprs, denormals=denormals,
        kernarg=8, uses_scratch=int(scratch > 0), arch=arch,
    )  # fmt: skip


@functools.cache
def linked(text: str, arch: str = "gfx1100") -> bytes:
    """The code object of an assembly file."""
    return toolchain.find().code_object(text, name="test.s", arch=arch)


@functools.cache
def compiled(source: Path, flags: tuple[str, ...], cu_mode: bool, include: Path) -> bytes:
    """The code object of a HIP source."""
    tools = toolchain.find()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "test.s"
        tools.compile(source, text, arch="gfx1100", cu_mode=cu_mode, include=include, flags=flags)
        return linked(text.read_text())


def launched(
    image: bytes, data: np.ndarray, grid: tuple[int, int, int] = (1, 1, 1), block: tuple[int, int, int] = (32, 1, 1),
    card: Card | None = None, **options: Any,
) -> np.ndarray:  # fmt: skip
    """What a launch of the kernel `test` leaves of an array, to which its argument points."""
    card = card or Card(capacity=1 << 24)
    (at,) = put(card, data)
    card.launch(card.load(image).kernels["test"], grid, block, struct.pack("<Q", at), **options)
    left = held(at, data)
    card.memory.free(at)
    return left


def put(card: Card, *arrays: np.ndarray) -> list[int]:
    """The addresses of copies in the memory of a card: who reads or writes beyond one is caught."""
    addresses = [card.memory.allocate(max(x.nbytes, 4)) for x in arrays]
    for address, x in zip(addresses, map(np.ascontiguousarray, arrays), strict=True):
        ctypes.memmove(address, x.ctypes.data, x.nbytes)
    return addresses


def held(address: int, like: np.ndarray) -> np.ndarray:
    """What lies there, as an array of this type and shape."""
    return np.frombuffer(ctypes.string_at(address, like.nbytes), like.dtype).reshape(like.shape).copy()
