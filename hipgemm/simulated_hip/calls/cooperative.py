"""Cooperative launches: all workgroups of the grid are resident at once, so they may wait for one another.

On the simulated card so may those of any launch, as many as a card holds (`isa.sim.run.turns`); what a cooperative one
has beside is what its barriers need: a place to meet, and `ds_gws_barrier`, which `grid.sync()` was until ROCm 5. As on
a card, a grid that does not fit is refused: hipErrorCooperativeLaunchTooLarge.

Source: ROCm/clr, hipamd/src/hip_module.cpp (ihipModuleLaunchKernel).
"""

from __future__ import annotations

from math import prod

from hipgemm.simulated_hip.abi import ErrorCode, HipError, does
from hipgemm.simulated_hip.calls.modules import SHAPE, Triple, function, launch
from hipgemm.simulated_hip.calls.occupancy import workgroups_of_wgp
from hipgemm.simulated_hip.runtime import Runtime
from isa.errors import IsaError


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
