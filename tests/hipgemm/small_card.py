"""A card for tests of what stands around a card: its kernels are Python functions over device memory.

Its code object is a real one, with kernels of the same names that do nothing.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hipgemm.kernels import ladder as kernels
from isa import toolchain
from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.gemm import names
from isa.object import code_object
from isa.sim.run.faults import Place, StoppedFault

F32 = np.float32


def assembly(name: str, sizes: tuple[int, ...] = ()) -> tuple[str, str]:
    """Text and metadata of a kernel that only ends: 216 VGPRs, 12 KB of LDS, CU mode, arguments of these sizes."""
    args, at = "", 0
    for size in sizes:
        at = (at + size - 1) // size * size
        kind = "global_buffer\n        .address_space: global" if size == 8 else "by_value"
        args += f"      - .offset: {at}\n        .size: {size}\n        .value_kind: {kind}\n"
        at += size
    at = (at + 7) // 8 * 8
    args += f"      - .offset: {at}\n        .size: 4\n        .value_kind: hidden_block_count_x\n"
    return (
        f"""
    .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
    .text
    .globl {name}
    .p2align 8
    .type {name},@function
{name}:
    s_endpgm
.L{name}_end:
    .size {name}, .L{name}_end-{name}
    .section .rodata,"a",@progbits
    .p2align 6
    .amdhsa_kernel {name}
      .amdhsa_next_free_vgpr 216
      .amdhsa_next_free_sgpr 16
      .amdhsa_group_segment_fixed_size 12288
      .amdhsa_kernarg_size {at + 4}
      .amdhsa_wavefront_size32 1
      .amdhsa_workgroup_processor_mode 0
    .end_amdhsa_kernel
""",
        f"""
    - .name: {name}
      .symbol: {name}.kd
      .kernarg_segment_size: {at + 4}
      .kernarg_segment_align: 8
      .group_segment_fixed_size: 12288
      .private_segment_fixed_size: 0
      .wavefront_size: 32
      .sgpr_count: 16
      .vgpr_count: 216
      .max_flat_workgroup_size: 128
      .args:
{args}""",
    )


@functools.cache
def elf(arch: str = "gfx1100") -> bytes:
    """A linked code object with all the kernels below."""
    code, metadata = "", "amdhsa.version: [1, 2]\namdhsa.kernels:\n"
    for name in BODIES:
        text, entry = assembly(name, GEMM if "gemm" in name else ())
        code, metadata = code + text, metadata + entry
    text = f"{code}\n.amdgpu_metadata\n---\n{metadata}\n...\n.end_amdgpu_metadata\n"
    return toolchain.find().code_object(text.replace("gfx1100", arch), arch=arch, name="small.s")


def bundle(*entries: tuple[str, bytes]) -> bytes:
    """A __CLANG_OFFLOAD_BUNDLE__ of (target, bytes)."""
    table = sum(24 + len(name) for name, _ in entries)
    head, body, at = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), b"", 32 + table
    for name, data in entries:
        head += struct.pack("<QQQ", at + len(body), len(data), len(name)) + name.encode()
        body += data
    return head + body


class OutOfMemory(IsaError):
    pass


class Fault(IsaError):
    """An access outside every allocation."""

    def __init__(self, address: int) -> None:
        super().__init__(f"lane 3 of workgroup (0, 0, 0) reads 0x{address:x}: outside every allocation")
        self.address = address


class SmallMemory:
    def __init__(self, room: int = 1 << 28) -> None:
        self.room, self.live = room, {}

    def allocate(self, size: int) -> int:
        if size > self.room:
            raise OutOfMemory(f"{size} bytes do not fit")
        block = mmap.mmap(-1, size)  # page-aligned
        address = ctypes.addressof(ctypes.c_char.from_buffer(block))
        self.live[address] = (size, block)
        return address

    def free(self, address: int) -> None:
        del self.live[address]

    def find(self, address: int) -> tuple[int, int] | None:
        return next(((b, s) for b, (s, _) in self.live.items() if b <= address < b + s), None)


@dataclass
class SmallKernel:
    name: str
    body: Callable[..., None]


@dataclass
class SmallModule:
    kernels: dict[str, SmallKernel]
    globals: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Report:
    time_s: float | None
    band_s: tuple[float, float] | None = None


def array(memory: SmallMemory, address: int, count: int) -> np.ndarray:
    """float32 values in device memory; Fault where they are not."""
    found = memory.find(address)
    if found is None or address + 4 * count > sum(found):
        raise Fault(address)
    return np.frombuffer((ctypes.c_float * count).from_address(address), F32)


def gemm(card: SmallCard, kernarg: bytes, trans: str = "nn", **_: Any) -> None:
    """C = alpha*A*B + beta*C as the kernels of the ladder are called, or those that find A or B transposed."""
    a, b, c, m, n, k, alpha, beta = struct.unpack_from("<QQQiiiff", kernarg)

    def operand(address: int, rows: int, columns: int, letter: str) -> np.ndarray:
        flat = array(card.memory, address, rows * columns)
        return flat.reshape(columns, rows).T if letter == "t" else flat.reshape(rows, columns)

    product = F32(alpha) * (operand(a, m, k, trans[0]) @ operand(b, k, n, trans[1]))
    out = array(card.memory, c, m * n).reshape(m, n)
    out[:] = product if beta == 0 else product + F32(beta) * out


def strided_copy(card: SmallCard, kernarg: bytes, **_: Any) -> None:
    """target[i, j] = scale * source[i, j] inside the source, 0 elsewhere, as kernels_hip/strided_copy.hip."""
    source, s0, s1, rows, columns, target, t0, t1, to_rows, to_columns, scale = struct.unpack("<QqqiiQqqiif", kernarg)

    def elements(address: int, count: tuple[int, int], strides: tuple[int, int]) -> np.ndarray:
        for i in (0, count[0] - 1):
            for j in (0, count[1] - 1):
                array(card.memory, address + 4 * (i * strides[0] + j * strides[1]), 1)
        base = np.frombuffer((ctypes.c_float * 1).from_address(address), F32)
        return np.lib.stride_tricks.as_strided(base, count, [4 * s for s in strides])

    out = elements(target, (to_rows, to_columns), (t0, t1))
    if scale and rows and columns:
        read = (min(rows, to_rows), min(columns, to_columns))
        values = F32(scale) * elements(source, read, (s0, s1))
        out[:] = 0
        out[: read[0], : read[1]] = values
    else:
        out[:] = 0


def wrong_gemm(card: SmallCard, kernarg: bytes, **_: Any) -> None:
    gemm(card, kernarg)
    c, m, n = (struct.unpack_from("<Q", kernarg, 16)[0], *struct.unpack_from("<ii", kernarg, 24))
    array(card.memory, c, m * n)[-1] += 0.5


def fault(card: SmallCard, **_: Any) -> None:
    array(card.memory, 64, 1)


def trap(**_: Any) -> None:
    place = Place("trap", parse_instruction("s_trap 2"), (0, 0, 0), 0, -1)
    raise StoppedFault("the kernel traps", place, 0, expected="no s_trap")


def interrupt(**_: Any) -> None:
    raise KeyboardInterrupt


def broken(**_: Any) -> None:
    raise ZeroDivisionError("a mistake in the card itself")


GEMM = (8, 8, 8, 4, 4, 4, 4, 4)
LADDER = dict.fromkeys(kernels.LADDER, gemm)
BODIES = {
    "gemm": gemm, "wrong_gemm": wrong_gemm, "fault": fault, "trap": trap, "interrupt": interrupt, "broken": broken,
}  # fmt: skip
HELPERS = {"strided_copy": strided_copy}


class SmallCard:
    """time_s, band_s: what it predicts for each launch. bodies: by kernel name, beside the ladder's."""

    def __init__(
        self, time_s: float | None = None, room: int = 1 << 28, bodies: dict[str, Callable[..., None]] | None = None,
        band_s: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        self.band_s = band_s
        self.memory, self.time_s, self.launches, self.unloaded = SmallMemory(room), time_s, [], []
        self.bodies = {**BODIES, **LADDER, **HELPERS, **(bodies or {})}
        self.variable = self.memory.allocate(16)

    def load(self, image: bytes) -> SmallModule:
        assert image[:4] == b"\x7fELF"
        kernels = {name: SmallKernel(name, body) for name, body in self.bodies.items()}
        for name in filter(names.is_name, code_object.load(image).kernels):
            kernels.setdefault(name, SmallKernel(name, functools.partial(gemm, trans=name[-2:])))
        return SmallModule(kernels, {"variable": (self.variable, 16)})

    def unload(self, module: SmallModule) -> None:
        self.unloaded.append(module)

    def launch(
        self, kernel: SmallKernel, grid: Any, block: Any, kernarg: bytes, dynamic_lds: int = 0, last: Any = None
    ) -> Report:
        self.launches.append((kernel.name, grid, block, kernarg, dynamic_lds, *([last] if last else [])))
        kernel.body(card=self, kernarg=kernarg)
        return Report(self.time_s, self.band_s)
