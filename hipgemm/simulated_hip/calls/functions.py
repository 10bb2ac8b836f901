"""Attributes of kernels: a handle or a host stub's address -> a kernel's attributes, and preferences set for it.

LDS beyond 64 KB, caches and bank widths cannot be chosen on RDNA3, so wishes are checked and have no effect.
"""

from __future__ import annotations

from hipgemm.simulated_hip.abi import (
    FuncAttributes,
    Int,
    Pointer,
    Text,
    answers,
    call,
    does,
    refuse_if,
    store_bytes,
)
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


def _attribute(rt: Runtime, attribute: int, handle: int) -> int:
    attributes = _attributes(function(rt, handle).facts)
    refuse_if(attribute not in FUNCTION_ATTRIBUTES)
    found: int = getattr(attributes, FUNCTION_ATTRIBUTES[attribute])
    return found


def _of_stub(rt: Runtime, host: int) -> FuncAttributes:
    return _attributes(function(rt, function_of(rt, host)).facts)


answers("hipFuncGetAttribute", "Int* Int Pointer", _attribute)
does("hipFuncGetAttributes", "Pointer Pointer", lambda rt, out, host: store_bytes(out, _of_stub(rt, host)))
does("hipFuncSetCacheConfig hipFuncSetSharedMemConfig", "Pointer Int", lambda rt, host, _: function_of(rt, host))


@call
def hipFuncSetAttribute(rt: Runtime, host: Pointer, attribute: Int, value: Int) -> None:
    attributes = _of_stub(rt, host)
    refuse_if(attribute not in (8, 9) or (attribute == 8 and not 0 <= value <= attributes.maxDynamicSharedSizeBytes))


@call
def hipKernelNameRef(rt: Runtime, handle: Pointer) -> Text:
    return function(rt, handle).kernel.name if handle in rt.functions else ""


for _name, _more in (("", ""), ("WithFlags", " UInt")):
    answers(
        f"hipOccupancyMaxActiveBlocksPerMultiprocessor{_name}",
        f"Int* Pointer Int Size{_more}",
        lambda rt, host, *given: occupancy.active(rt, function_of(rt, host), *given),
    )
does(
    "hipOccupancyMaxPotentialBlockSize",
    "Pointer Pointer Pointer Size Int",
    lambda rt, grid, block, host, *given: occupancy.best(rt, grid, block, function_of(rt, host), *given),
)
