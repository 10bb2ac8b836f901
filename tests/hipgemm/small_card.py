"""A card for tests of what stands around a card: its kernels are Python functions over device memory.

Its code object is a real, empty ELF for gfx1100; which kernels "lie" in it is up to the card.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isa.errors import IsaError

F32 = np.float32


def elf(mach: int = 0x41, payload: bytes = b"") -> bytes:
    """A little-endian ELF64 header for AMDGPU, one section header that covers `payload`, nothing else."""
    section = struct.pack("<IIQQQQIIQQ", 0, 1, 0, 0, 128, len(payload), 0, 0, 0, 0)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 64, mach, 64, 56, 0, 64, 1, 0)
    return header + section + payload


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
    metadata: dict[str, Any]
    body: Callable[..., None]


@dataclass
class SmallModule:
    kernels: dict[str, SmallKernel]
    globals: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Report:
    time_s: float | None


def arguments(*sizes: int) -> list[dict[str, Any]]:
    """Metadata of arguments of these sizes, each at its natural alignment, and one hidden one behind them."""
    args, at = [], 0
    for size in sizes:
        at = (at + size - 1) // size * size
        args.append({".offset": at, ".size": size, ".value_kind": "global_buffer" if size == 8 else "by_value"})
        at += size
    return [*args, {".offset": (at + 7) // 8 * 8, ".size": 4, ".value_kind": "hidden_block_count_x"}]


def array(memory: SmallMemory, address: int, count: int) -> np.ndarray:
    """float32 values in device memory; Fault where they are not."""
    found = memory.find(address)
    if found is None or address + 4 * count > sum(found):
        raise Fault(address)
    return np.frombuffer((ctypes.c_float * count).from_address(address), F32)


def gemm(card: SmallCard, kernarg: bytes, **_: Any) -> None:
    """C = alpha*A*B + beta*C as the kernels of the ladder are called."""
    a, b, c, m, n, k, alpha, beta = struct.unpack("<QQQiiiff", kernarg)
    product = F32(alpha) * (array(card.memory, a, m * k).reshape(m, k) @ array(card.memory, b, k * n).reshape(k, n))
    out = array(card.memory, c, m * n).reshape(m, n)
    out[:] = product if beta == 0 else product + F32(beta) * out


def wrong_gemm(card: SmallCard, kernarg: bytes, **_: Any) -> None:
    gemm(card, kernarg)
    c, m, n = (struct.unpack_from("<Q", kernarg, 16)[0], *struct.unpack_from("<ii", kernarg, 24))
    array(card.memory, c, m * n)[-1] += 0.5


def fault(card: SmallCard, **_: Any) -> None:
    array(card.memory, 64, 1)


def interrupt(**_: Any) -> None:
    raise KeyboardInterrupt


def broken(**_: Any) -> None:
    raise ZeroDivisionError("a mistake in the card itself")


GEMM = arguments(8, 8, 8, 4, 4, 4, 4, 4)
BODIES = {"gemm": gemm, "wrong_gemm": wrong_gemm, "fault": fault, "interrupt": interrupt, "broken": broken}


class SmallCard:
    def __init__(self, time_s: float | None = None, room: int = 1 << 28) -> None:
        self.memory, self.time_s, self.launches = SmallMemory(room), time_s, []
        self.variable = self.memory.allocate(16)

    def load(self, image: bytes) -> SmallModule:
        assert image[:4] == b"\x7fELF"
        kernels = {
            name: SmallKernel(
                name,
                {
                    ".name": name,
                    ".args": GEMM if "gemm" in name else [],
                    ".max_flat_workgroup_size": 128,
                    ".vgpr_count": 216,
                    ".group_segment_fixed_size": 12 << 10,
                    ".workgroup_processor_mode": 0,
                },
                body,
            )
            for name, body in BODIES.items()
        }
        return SmallModule(kernels, {"variable": (self.variable, 16)})

    def launch(self, kernel: SmallKernel, grid: Any, block: Any, kernarg: bytes, dynamic_lds: int = 0) -> Report:
        self.launches.append((kernel.name, grid, block, kernarg, dynamic_lds))
        kernel.body(card=self, kernarg=kernarg)
        return Report(self.time_s)
