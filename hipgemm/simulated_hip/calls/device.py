"""Devices and their properties: there is one device, the card of `isa.timing.machine.cards` that is simulated.

Sizes and clocks are that card's, what all have in common is from AMD's "RDNA3 Instruction Set Architecture Reference
Guide" and Chips and Cheese, "Microbenchmarking AMD's RDNA 3". As ROCm does for RDNA, a multiprocessor is a WGP.
"""

from __future__ import annotations

import ctypes
from typing import Any

from hipgemm.simulated_hip.abi import (
    VERSION_NUMBER,
    Device,
    DeviceProp,
    DevicePropBefore6,
    ErrorCode,
    HipError,
    Pointer,
    answers,
    call,
    does,
    refuse,
    refuse_if,
    store,
    store_bytes,
    store_text,
)
from hipgemm.simulated_hip.card import ReachesHost
from hipgemm.simulated_hip.host import read_text
from hipgemm.simulated_hip.runtime import Runtime
from isa.analysis.resources import LDS_PER_CU, WAVE_SLOTS
from isa.targets import target

WAVE = 32
SIMDS_OF_WGP = 4
LDS_OF_WGP = 2 * LDS_PER_CU
LDS_OF_WORKGROUP = LDS_PER_CU
MAX_WORKGROUP = 1024
MAX_GRID = (0x7FFFFFFF, 65535, 65535)  # workgroups, as hipDeviceProp_t says on every AMD card

PCI_BUS_ID = "0000:00:00.0"

SIMULATED = " simulated by hipgemm"
"""What stands after the card's name in the device's."""

PROPERTIES: dict[str, Any] = {
    "sharedMemPerBlock": LDS_OF_WORKGROUP,
    "warpSize": WAVE,
    "memPitch": 0x7FFFFFFF,
    "maxThreadsPerBlock": MAX_WORKGROUP,
    "maxThreadsDim": (MAX_WORKGROUP,) * 3,
    "maxGridSize": MAX_GRID,
    "totalConstMem": 0x7FFFFFFF,
    "canMapHostMemory": 1,
    "concurrentKernels": 1,
    "unifiedAddressing": 1,
    "maxThreadsPerMultiProcessor": SIMDS_OF_WGP * WAVE_SLOTS * WAVE,
    "globalL1CacheSupported": 1,
    "localL1CacheSupported": 1,
    "sharedMemPerMultiprocessor": LDS_OF_WGP,
    "managedMemory": 1,
    "cooperativeLaunch": 1,
    "memoryPoolsSupported": 1,
    "sharedMemPerBlockOptin": LDS_OF_WORKGROUP,
    "maxBlocksPerMultiProcessor": 32,
    "maxSharedMemoryPerMultiProcessor": LDS_OF_WGP,
    "clockInstructionRate": 100_000,
}


def _from(first: int, names: str) -> dict[int, str]:
    return dict(enumerate(names.split(), first))


# hipDeviceAttribute_t (hip_runtime_api.h) -> the property that answers it, of a dimension with an index; or the answer.
ATTRIBUTES: dict[int, str | tuple[str, int] | int] = {
    0: 0,  # ECC
    **_from(2, "asyncEngineCount canMapHostMemory canUseHostPointerForRegisteredMem clockRate"),
    **_from(6, "computeMode computePreemptionSupported concurrentKernels concurrentManagedAccess cooperativeLaunch"),
    **_from(11, "cooperativeMultiDeviceLaunch deviceOverlap directManagedMemAccessFromHost globalL1CacheSupported"),
    **_from(15, "hostNativeAtomicSupported integrated isMultiGpuBoard kernelExecTimeoutEnabled l2CacheSize"),
    20: "localL1CacheSupported",
    **_from(23, "major managedMemory maxBlocksPerMultiProcessor"),
    **{first + axis: (name, axis) for first, name in ((26, "maxThreadsDim"), (29, "maxGridSize")) for axis in range(3)},
    **_from(56, "maxThreadsPerBlock maxThreadsPerMultiProcessor memPitch memoryBusWidth memoryClockRate minor"),
    **_from(62, "multiGpuBoardGroupID multiProcessorCount"),
    **_from(65, "pageableMemoryAccess pageableMemoryAccessUsesHostPageTables pciBusID pciDeviceID pciDomainID"),
    **_from(71, "regsPerBlock regsPerMultiprocessor reservedSharedMemPerBlock sharedMemPerBlock"),
    **_from(75, "sharedMemPerBlockOptin sharedMemPerMultiprocessor singleToDoublePrecisionPerfRatio"),
    78: "streamPrioritiesSupported",
    80: "tccDriver",
    83: "totalConstMem",
    85: "unifiedAddressing",
    **_from(87, "warpSize memoryPoolsSupported"),
    90: "hostRegisterSupported",
    10000: "clockInstructionRate",
    10002: "maxSharedMemoryPerMultiProcessor",
    **_from(10011, "isLargeBar asicRevision"),
    10013: 1,  # hipStreamWaitValue32
    10014: 0,  # images
    10015: "multiProcessorCount",
    10017: "clockInstructionRate",
}


def properties(rt: Runtime) -> dict[str, Any]:
    """PROPERTIES, with what depends on the card after them.

    A clock of GDDR6 is 16 bits of a pin (AMD calls the 20 Gbit/s of the 7900 XTX 1250 MHz), one of DDR5 two (assumed).
    """
    on = rt.stands_for
    registers = target(on.arch).vgprs * WAVE * SIMDS_OF_WGP
    return {
        "name": f"{on.name}{SIMULATED}".encode(),
        "uuid": f"hipgemm-{on.arch:>8}".encode()[:16],
        "totalGlobalMem": on.vram_bytes,
        "regsPerBlock": registers,
        "clockRate": 1000 * on.clock_mhz,
        "major": int(on.arch[3:-2]),
        "minor": int(on.arch[-2]),
        "multiProcessorCount": on.wgps,
        "integrated": int(on.integrated),
        "memoryClockRate": round(8 * on.vram_bandwidth / on.bus_bits / (2 if on.integrated else 16) / 1000),
        "memoryBusWidth": on.bus_bits,
        "l2CacheSize": on.l2_bytes,
        "regsPerMultiprocessor": registers,
        "gcnArchName": on.arch.encode(),
        "hostRegisterSupported": int(isinstance(rt.card.memory, ReachesHost)),
        **PROPERTIES,
    }


does("hipInit", "UInt", lambda rt, flags: flags and refuse(ErrorCode.InvalidValue))
does("hipSetDevice", "Device", lambda rt: None)
answers("hipRuntimeGetVersion hipDriverGetVersion", "Int*", lambda rt: VERSION_NUMBER)
answers("hipGetDeviceCount", "Int*", lambda rt: 1)
answers("hipGetDevice hipDeviceGetCacheConfig hipDeviceGetSharedMemConfig", "Int*", lambda rt: 0)
answers("hipDeviceGet", "Int* Device", lambda rt: 0)
answers("hipGetDeviceFlags", "UInt*", lambda rt: 0)
answers("hipChooseDeviceR0600 hipChooseDevice", "Int* Pointer", lambda rt, wanted: 0)
answers("hipDeviceCanAccessPeer", "Int* Device Device", lambda rt: 0)
# Every call has run to its end before it answers, so there is nothing to wait for, and there is no profiler.
does("hipDeviceSynchronize", "", lambda rt: rt.settled())
does("hipProfilerStart hipProfilerStop", "", lambda rt: None)
does("hipSetDeviceFlags", "UInt", lambda rt, flags: None)
does("hipDeviceSetCacheConfig hipDeviceSetSharedMemConfig", "Int", lambda rt, config: None)  # nothing to choose
does("hipDeviceGetLimit", "Pointer Int", lambda rt, *_: refuse(ErrorCode.UnsupportedLimit))
does("hipDeviceSetLimit", "Int Size", lambda rt, *_: refuse(ErrorCode.UnsupportedLimit))


@call
def hipDeviceReset(rt: Runtime) -> None:
    """Forget everything: handles become invalid, memory is given back, registered memory is the host's alone again."""
    memory = rt.card.memory
    for base in list(rt.allocations):
        memory.free(base)
    for base in list(rt.registered):
        assert isinstance(memory, ReachesHost)
        memory.unregister(base)
    for loaded in list(rt.modules.values()):
        rt.card.unload(loaded.module)
    tables = (rt.allocations, rt.registered, rt.streams, rt.events, rt.modules, rt.functions, rt.blas)
    for table in (*tables, rt.captures, rt.graphs, rt.executables):
        table.clear()


def _name(rt: Runtime) -> str:
    found: str = properties(rt)["name"].decode()
    return found


does("hipDeviceGetName", "Pointer Int Device", lambda rt, out, room: store_text(out, room, _name(rt)))
does("hipDeviceGetPCIBusId", "Pointer Int Device", lambda rt, out, room: store_text(out, room, PCI_BUS_ID))
does("hipDeviceGetUuid", "Pointer Device", lambda rt, out: store_bytes(out, properties(rt)["uuid"]))
answers("hipDeviceTotalMem", "Size* Device", lambda rt: rt.stands_for.vram_bytes)


def _bus(rt: Runtime, text: int) -> int:
    name = read_text(text)
    if name != PCI_BUS_ID.encode():
        raise HipError(ErrorCode.InvalidValue if name is None else ErrorCode.InvalidDevice)
    return 0


answers("hipDeviceGetByPCIBusId", "Int* Pointer", _bus)


@call
def hipDeviceComputeCapability(rt: Runtime, major: Pointer, minor: Pointer, device: Device) -> None:
    for where, name in ((major, "major"), (minor, "minor")):
        store(where, ctypes.c_int, properties(rt)[name])


def _all_of(structure: type[ctypes.Structure], rt: Runtime) -> ctypes.Structure:
    """The properties that a structure has."""
    known = {field[0] for field in structure._fields_}
    return structure(**{name: value for name, value in properties(rt).items() if name in known})


# What was built before ROCm 6 means an older structure by the name without a number.
does("hipGetDevicePropertiesR0600", "Pointer Device", lambda rt, out: store_bytes(out, _all_of(DeviceProp, rt)))
does("hipGetDeviceProperties", "Pointer Device", lambda rt, out: store_bytes(out, _all_of(DevicePropBefore6, rt)))


def _attribute(rt: Runtime, attribute: int) -> int:
    refuse_if(attribute not in ATTRIBUTES)
    source = ATTRIBUTES[attribute]
    known = properties(rt)
    if isinstance(source, tuple):
        value = known[source[0]][source[1]]
    else:
        value = source if isinstance(source, int) else known.get(source, 0)
    return min(value, 0x7FFFFFFF)


answers("hipDeviceGetAttribute", "Int* Int Device", _attribute)
# There is no other device, and this one is no peer of its own.
does("hipDeviceEnablePeerAccess", "Int UInt", lambda rt, *_: refuse(ErrorCode.InvalidDevice))
does("hipDeviceDisablePeerAccess", "Device", lambda rt: refuse(ErrorCode.PeerAccessNotEnabled))
does("hipDeviceGetP2PAttribute", "Pointer Int Int Int", lambda rt, *_: refuse(ErrorCode.InvalidDevice))
