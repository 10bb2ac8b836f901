"""How many workgroups a multiprocessor (a WGP) holds at once.

VGPRs are handed out in granules (`isa.targets`), LDS in granules of 1024 bytes; a SIMD holds at most 16 waves.
In CU mode a workgroup's waves share one CU: 2 of the WGP's 4 SIMDs and half of its LDS (ISA guide 12.1; LLVM
AMDGPUBaseInfo.cpp).
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, HipError, Int, Pointer, Size, UInt, call, store
from hipgemm.simulated_hip.calls import device
from hipgemm.simulated_hip.calls.modules import function
from hipgemm.simulated_hip.runtime import Runtime
from isa.object.code_object import DescribedKernel
from isa.targets import target

LDS_GRANULE = 1024


def workgroups_of_wgp(rt: Runtime, kernel: DescribedKernel, threads: int, dynamic_lds: int) -> int:
    """Workgroups of `threads` work-items that fit into one WGP together."""
    on = target(rt.arch)
    waves = -(-threads // device.WAVE)
    halves = 1 if kernel.descriptor.wgp_mode else 2
    simds = device.SIMDS_OF_WGP // halves
    granules = -(-max(kernel.vgprs, 1) // on.granule)
    waves_of_simd = min(device.WAVES_OF_SIMD, on.vgprs // (granules * on.granule))
    by_waves = simds * waves_of_simd // waves
    lds = -(-(kernel.descriptor.lds_bytes + dynamic_lds) // LDS_GRANULE) * LDS_GRANULE
    by_lds = device.LDS_OF_WGP // halves // lds if lds else by_waves
    return halves * min(by_waves, by_lds)


def active(rt: Runtime, out: int, handle: int, threads: int, dynamic_lds: int) -> None:
    if threads <= 0:
        raise HipError(ErrorCode.InvalidValue)
    kernel = function(rt, handle).facts
    fits = threads <= kernel.max_workgroup
    store(out, ctypes.c_int, workgroups_of_wgp(rt, kernel, threads, dynamic_lds) if fits else 0)


@call
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    rt: Runtime, out: Pointer, handle: Pointer, threads: Int, dynamic_lds: Size
) -> None:
    active(rt, out, handle, threads, dynamic_lds)


@call
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    rt: Runtime, out: Pointer, handle: Pointer, threads: Int, dynamic_lds: Size, flags: UInt
) -> None:
    active(rt, out, handle, threads, dynamic_lds)


@call
def hipModuleOccupancyMaxPotentialBlockSize(
    rt: Runtime, grid: Pointer, block: Pointer, handle: Pointer, dynamic_lds: Size, limit: Int
) -> None:
    """The workgroup size with the most waves on a WGP (the largest of equals), and the grid that fills the card."""
    kernel = function(rt, handle).facts
    most = min(kernel.max_workgroup, limit or device.MAX_WORKGROUP)
    best = max(
        range(device.WAVE, max(most, device.WAVE) + 1, device.WAVE),
        key=lambda threads: (threads * workgroups_of_wgp(rt, kernel, threads, dynamic_lds), threads),
    )
    store(block, ctypes.c_int, min(best, most))
    store(grid, ctypes.c_int, rt.stands_for.wgps * workgroups_of_wgp(rt, kernel, best, dynamic_lds))


@call
def hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    rt: Runtime, grid: Pointer, block: Pointer, handle: Pointer, dynamic_lds: Size, limit: Int, flags: UInt
) -> None:
    hipModuleOccupancyMaxPotentialBlockSize(rt, grid, block, handle, dynamic_lds, limit)
