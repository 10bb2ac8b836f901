"""How many workgroups a multiprocessor (a WGP) can run at once.

By `isa.analysis.resources`: in CU mode, where a workgroup's waves share one CU, twice as many as a CU holds.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import answers, does, refuse_if, store
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
