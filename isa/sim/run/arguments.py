"""Initial state of a kernel: a launch -> the kernarg segment with its hidden arguments, the dispatch packet, the SGPRs
and v0. Source: LLVM "User Guide for AMDGPU Backend", Code Object V5 Metadata (hidden arguments), Initial Kernel
Execution State; HSA Runtime Programmer's Reference Manual, hsa_kernel_dispatch_packet_t."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from isa.object.code_object import DescribedKernel
from isa.registers import LANES
from isa.semantics.wave_start import work_item_ids
from isa.sim.ir.state import PRIVATE_APERTURE, SHARED_APERTURE
from isa.sim.run.faults import LaunchError

Triple = tuple[int, int, int]
PACKET_BYTES = 64
KERNARG_LIMIT = 1 << 20
"""Bytes of arguments: far above any real kernel's, far below what would hurt the host."""


@lru_cache(maxsize=256)
def hidden(grid: Triple, block: Triple, dynamic_lds: int, last: Triple | None = None) -> Mapping[str, int]:
    """Hidden argument -> its value, but for services around a card (printf, hostcall, heap, queues)."""
    rests = (0, 0, 0) if last is None else [n % b for n, b in zip(last, block, strict=True)]
    values: dict[str, int] = {
        "hidden_grid_dims": 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1,
        "hidden_private_base": PRIVATE_APERTURE,
        "hidden_shared_base": SHARED_APERTURE,
        "hidden_dynamic_lds_size": dynamic_lds,
    }
    for i, axis in enumerate("xyz"):
        values[f"hidden_block_count_{axis}"] = grid[i] - (rests[i] > 0)
        values[f"hidden_group_size_{axis}"] = block[i]
        values[f"hidden_remainder_{axis}"] = rests[i]
        values[f"hidden_global_offset_{axis}"] = 0
    return values


_SERVICES = frozenset(
    "hidden_none hidden_printf_buffer hidden_hostcall_buffer hidden_multigrid_sync_arg hidden_heap_v1 "
    "hidden_default_queue hidden_completion_action hidden_queue_ptr".split()
)


def kernarg_segment(
    kernel: DescribedKernel, kernarg: bytes, grid: Triple, block: Triple, dynamic_lds: int, last: Triple | None = None
) -> bytes:
    """The whole segment: the explicit arguments as given, the hidden ones filled in; those of services stay what
    `kernarg` has in their place, or 0, which a kernel sees as absent. LaunchError if the arguments do not fit, or if
    the metadata gives a hidden one no place within the segment."""
    if kernel.descriptor.kernarg_bytes > KERNARG_LIMIT:
        raise LaunchError(
            f"kernel {kernel.name} takes too many arguments",
            expected=f"at most {KERNARG_LIMIT} bytes",
            got=f"{kernel.descriptor.kernarg_bytes}",
        )
    size = max(kernel.descriptor.kernarg_bytes, len(kernarg))
    explicit = max((a.offset + a.size for a in kernel.args if not a.hidden), default=0)
    if len(kernarg) < explicit:
        raise LaunchError(
            f"kernel {kernel.name} takes more arguments", expected=f"{explicit} bytes", got=f"{len(kernarg)} bytes"
        )
    segment = bytearray(size)
    segment[: len(kernarg)] = kernarg
    values = hidden(grid, block, dynamic_lds, last)
    for argument in kernel.args:
        if argument.hidden:
            if argument.kind in _SERVICES:
                continue
            if argument.kind not in values:
                raise LaunchError(f"kernel {kernel.name} asks for {argument.kind}, which is not simulated")
            value = values[argument.kind]
            if argument.offset + argument.size > size or value >> 8 * argument.size:
                raise LaunchError(
                    f"kernel {kernel.name}: the metadata has no valid place for {argument.kind}",
                    expected=f"a place for {value:#x} within the {size} bytes of arguments",
                    got=f"{argument.size} bytes at {argument.offset}",
                )
            segment[argument.offset : argument.offset + argument.size] = value.to_bytes(argument.size, "little")
    return bytes(segment)


def dispatch_packet(
    grid: Triple, block: Triple, scratch: int, lds: int, kernarg: int, last: Triple | None = None
) -> bytes:
    """hsa_kernel_dispatch_packet_t; grid in workgroups."""
    items = [(g - 1) * b + n for g, b, n in zip(grid, block, last or block, strict=True)]
    return struct.pack("<HH3HxxIIIIIQQQQ", 2, 3, *block, *items, scratch, lds, 0, kernarg, 0, 0)


def scalar_registers(
    kernel: DescribedKernel, kernarg: int, packet: int, scratch: int
) -> tuple[ctypes.Array[ctypes.c_uint32], list[tuple[int, int]]]:
    """(what s0 to s127 begin with; of workgroup id x, y, z and the wave's number in the workgroup the scalar register
    that it is added to, and its lowest bit: register 124 for one that the kernel did not ask for)."""
    registers = (ctypes.c_uint32 * 128)()
    values = {"kernarg_segment_ptr": kernarg, "dispatch_ptr": packet, "private_segment_size": scratch}
    descriptor = kernel.descriptor
    for name, reg in descriptor.user.items():
        if name == "kernarg_preload":
            raise LaunchError(f"kernel {kernel.name} preloads arguments into SGPRs, which is not simulated")
        value = values.get(name, 0)
        for i in range(reg.count):
            registers[reg.index + i] = value >> 32 * i & 0xFFFFFFFF
    places = [descriptor.group_ids.get(axis, (124, 0, 32))[:2] for axis in "xyz"]
    return registers, [*places, descriptor.family.wave_id]


Words = ctypes.Array[ctypes.c_uint32]


def work_items(kernel: DescribedKernel, block: Triple, last: Triple | None = None) -> tuple[Words, Words, Words]:
    """(v0 of each wave: x, y and z by 10 bits each as far as the kernel asked, EXEC of each wave in two words, and of
    each kind of workgroup its first wave there and how many it has), which nobody may write to: the next launch has the
    same. A kind has a bit for each axis along which a workgroup is the last, of `last` work-items."""
    lanes, axes = LANES if kernel.descriptor.wave32 else 2 * LANES, kernel.descriptor.workitem_id + 1
    return _kinds(block, last or block, lanes, axes)


@lru_cache(maxsize=256)
def _kinds(block: Triple, last: Triple, lanes: int, axes: int) -> tuple[Words, Words, Words]:
    shapes = [tuple((block, last)[kind >> i & 1][i] for i in range(3)) for kind in range(8)]
    first: dict[tuple[int, ...], tuple[int, int]] = {}
    ids: list[int] = []
    execs: list[int] = []
    for shape in dict.fromkeys(shapes):
        of_waves = _work_items(shape, lanes, axes)  # type: ignore[arg-type]
        first[shape] = len(execs) // 2, len(of_waves[1]) // 2
        ids += of_waves[0]
        execs += of_waves[1]
    kinds = [word for shape in shapes for word in first[shape]]
    v0, masks, numbers = ((ctypes.c_uint32 * len(words))(*words) for words in (ids, execs, kinds))
    return v0, masks, numbers


def _work_items(block: Triple, lanes: int, axes: int) -> tuple[list[int], list[int]]:
    count = block[0] * block[1] * block[2]
    waves = -(-count // lanes)
    items = np.arange(waves * lanes, dtype=np.uint32)
    ids = np.where(items < count, work_item_ids(items, block, axes), 0).astype(np.uint32)
    masks = [(1 << min(lanes, count - lanes * wave)) - 1 for wave in range(waves)]
    execs = [word for mask in masks for word in (mask & 0xFFFFFFFF, mask >> 32)]
    return ids.tolist(), execs
