"""How many workgroups a multiprocessor (a WGP) holds at once.

By `isa.analysis.resources`: in CU mode, where a workgroup's waves share one CU, twice as many as a CU holds.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, HipError, Int, Pointer, Size, call, store
from hipgemm.simulated_hip.calls import device
from hipgemm.simulated_hip.calls.modules import function
from hipgemm.simulated_hip.runtime import Runtime
from isa.analysis import resources
from isa.object.code_object import DescribedKernel
from isa.targets import target


def workgroups_of_wgp(rt: Runtime, kernel: DescribedKernel, threads: int, dynamic_lds: int) -> int:
    """Workgroups of `threads` work-items that fit into one WGP together."""
    waves = -(-threads // device.WAVE)
    halves = 1 if kernel.descriptor.wgp_mode else 2
    lds = kernel.descriptor.lds_bytes + dynamic_lds
    limits = resources.workgroup_limits(kernel.vgprs, lds, waves, device.SIMDS_OF_WGP // halves, target(rt.arch))
    return halves * min(limits.values())


def active(rt: Runtime, out: int, handle: int, threads: int, dynamic_lds: int) -> None:
    if threads <= 0:
        raise HipError(ErrorCode.InvalidValue)
    kernel = function(rt, handle).facts
    fits = threads <= kernel.max_workgroup
    store(out, ctypes.c_int, workgroups_of_wgp(rt, kernel, threads, dynamic_lds) if fits else 0)


@call(ignoring={"hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": ("UInt",)})
def hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    rt: Runtime, out: Pointer, handle: Pointer, threads: Int, dynamic_lds: Size
) -> None:
    active(rt, out, handle, threads, dynamic_lds)


@call(ignoring={"hipModuleOccupancyMaxPotentialBlockSizeWithFlags": ("UInt",)})
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
