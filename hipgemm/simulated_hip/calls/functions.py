"""What a kernel is made of, by its handle or by its stub's address on the host, and what a program wishes for it.

LDS beyond 64 KB, caches and bank widths cannot be chosen on RDNA3, so wishes are checked and have no effect.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, FuncAttributes, HipError, Int, Pointer, Size, Text, call, store
from hipgemm.simulated_hip.calls import device, occupancy
from hipgemm.simulated_hip.calls.modules import function
from hipgemm.simulated_hip.calls.registered import function_of
from hipgemm.simulated_hip.runtime import Runtime
from isa.object.code_object import DescribedKernel


def _attributes(kernel: DescribedKernel) -> FuncAttributes:
    """Binary and "ptx" version are 10 * major + minor of the target; LDS is what CUDA calls shared."""
    return FuncAttributes(
        binaryVersion=110,
        ptxVersion=110,
        localSizeBytes=kernel.descriptor.scratch_bytes,
        maxDynamicSharedSizeBytes=device.LDS_OF_WORKGROUP - kernel.descriptor.lds_bytes,
        maxThreadsPerBlock=kernel.max_workgroup,
        numRegs=kernel.vgprs,
        sharedSizeBytes=kernel.descriptor.lds_bytes,
    )


FUNCTION_ATTRIBUTES = {  # hipFunction_attribute -> field of hipFuncAttributes
    0: "maxThreadsPerBlock",
    1: "sharedSizeBytes",
    2: "constSizeBytes",
    3: "localSizeBytes",
    4: "numRegs",
    5: "ptxVersion",
    6: "binaryVersion",
    7: "cacheModeCA",
    8: "maxDynamicSharedSizeBytes",
    9: "preferredShmemCarveout",
}


@call
def hipFuncGetAttribute(rt: Runtime, out: Pointer, attribute: Int, handle: Pointer) -> None:
    attributes = _attributes(function(rt, handle).facts)
    if attribute not in FUNCTION_ATTRIBUTES:
        raise HipError(ErrorCode.InvalidValue)
    store(out, ctypes.c_int, getattr(attributes, FUNCTION_ATTRIBUTES[attribute]))


@call
def hipFuncGetAttributes(rt: Runtime, out: Pointer, handle: Pointer) -> None:
    attributes = _attributes(function(rt, function_of(rt, handle)).facts)
    if not out:
        raise HipError(ErrorCode.InvalidValue)
    ctypes.memmove(out, ctypes.addressof(attributes), ctypes.sizeof(attributes))


@call
def hipFuncSetAttribute(rt: Runtime, host: Pointer, attribute: Int, value: Int) -> None:
    attributes = _attributes(function(rt, function_of(rt, host)).facts)
    if attribute not in (8, 9) or (attribute == 8 and not 0 <= value <= attributes.maxDynamicSharedSizeBytes):
        raise HipError(ErrorCode.InvalidValue)


@call(alias=("hipFuncSetSharedMemConfig",))
def hipFuncSetCacheConfig(rt: Runtime, host: Pointer, config: Int) -> None:
    function_of(rt, host)


@call
def hipKernelNameRef(rt: Runtime, handle: Pointer) -> Text:
    return function(rt, handle).kernel.name if handle in rt.functions else ""


@call(ignoring={"hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": ("UInt",)})
def hipOccupancyMaxActiveBlocksPerMultiprocessor(
    rt: Runtime, out: Pointer, host: Pointer, threads: Int, dynamic_lds: Size
) -> None:
    occupancy.active(rt, out, function_of(rt, host), threads, dynamic_lds)


@call
def hipOccupancyMaxPotentialBlockSize(
    rt: Runtime, grid: Pointer, block: Pointer, host: Pointer, dynamic_lds: Size, limit: Int
) -> None:
    occupancy.hipModuleOccupancyMaxPotentialBlockSize(rt, grid, block, function_of(rt, host), dynamic_lds, limit)
