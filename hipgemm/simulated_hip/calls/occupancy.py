"""Occupancy: a kernel and a block size -> how many workgroups a multiprocessor (a WGP) runs at once.

By `isa.analysis.resources`: in CU mode, where a workgroup's waves share one CU, twice as many as a CU holds.

Cooperative launches: all workgroups of the grid are resident at once, so they may wait for one another.

On the simulated card so may those of any launch, as many as a card holds (`isa.sim.run.turns`); what a cooperative one
has beside is what its barriers need: a place to meet, and `ds_gws_barrier`, which `grid.sync()` was until ROCm 5. As on
a card, a grid that does not fit is refused: hipErrorCooperativeLaunchTooLarge.

Source: ROCm/clr, hipamd/src/hip_module.cpp (ihipModuleLaunchKernel).
"""

from __future__ import annotations

import ctypes
from math import prod

from hipgemm.simulated_hip.abi import ErrorCode, HipError, answers, does, refuse_if, store
from hipgemm.simulated_hip.calls import device
from hipgemm.simulated_hip.calls.modules import SHAPE, Triple, function, launch
from hipgemm.simulated_hip.runtime import Runtime
from isa.analysis import resources
from isa.errors import IsaError
from isa.object.code_object import DescribedKernel
from isa.targets import target


def workgroups_of_wgp(rt: Runtime, kernel: DescribedKernel, threads: int, dynamic_lds: int) -> int:
    """Workgroups of `threads` work-items that fit into one WGP together."""
    waves = -(-threads // device.WAVE)
    halves = 1 if kernel.descriptor.wgp_mode else 2
    lds = kernel.descriptor.lds_bytes + dynamic_lds
    limits = resources.workgroup_limits(kernel.vgprs, lds, waves, device.SIMDS_OF_WGP // halves, target(rt.arch))
    return halves * min(limits.values())


def active(rt: Runtime, handle: int, threads: int, dynamic_lds: int, flags: int = 0) -> int:
    """Workgroups on a WGP at once."""
    refuse_if(threads <= 0)
    kernel = function(rt, handle).facts
    return workgroups_of_wgp(rt, kernel, threads, dynamic_lds) if threads <= kernel.max_workgroup else 0


def best(rt: Runtime, grid: int, block: int, handle: int, dynamic_lds: int, limit: int, flags: int = 0) -> None:
    """The workgroup size with the most waves on a WGP (the largest of equals), and the grid that fills the card."""
    kernel = function(rt, handle).facts
    most = min(kernel.max_workgroup, limit or device.MAX_WORKGROUP)
    found = max(
        range(device.WAVE, max(most, device.WAVE) + 1, device.WAVE),
        key=lambda threads: (threads * workgroups_of_wgp(rt, kernel, threads, dynamic_lds), threads),
    )
    store(block, ctypes.c_int, min(found, most))
    store(grid, ctypes.c_int, rt.stands_for.wgps * workgroups_of_wgp(rt, kernel, found, dynamic_lds))


for _end, _more in (("", ""), ("WithFlags", " UInt")):
    answers(f"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor{_end}", f"Int* Pointer Int Size{_more}", active)
    does(f"hipModuleOccupancyMaxPotentialBlockSize{_end}", f"Pointer Pointer Pointer Size Int{_more}", best)


def launch_cooperative(
    rt: Runtime, handle: int, grid: Triple, block: Triple, dynamic_lds: int, stream: int, parameters: int
) -> None:
    """`modules.launch`, for a grid that the card holds at once."""
    kernel = function(rt, handle).facts
    total, threads = prod(grid), prod(block)
    room = rt.stands_for.wgps * workgroups_of_wgp(rt, kernel, threads, dynamic_lds) if threads else total
    if total > room:
        raise HipError(
            ErrorCode.CooperativeLaunchTooLarge,
            IsaError(f"{kernel.name}: the card cannot run the whole grid at once", expected=f"{room}", got=f"{total}"),
        )
    launch(rt, handle, grid, block, dynamic_lds, stream, parameters, 0, cooperative=True)


does(
    "hipModuleLaunchCooperativeKernel",
    f"Pointer {SHAPE} UInt Pointer Pointer",
    lambda rt, handle, *given: launch_cooperative(rt, handle, given[:3], given[3:6], *given[6:]),
)
