"""Devices: there is one, the card of `isa.timing.cards` that the simulated one stands for, and what it says of itself.

Sizes and clocks are that card's, what all have in common is from AMD's "RDNA3 Instruction Set Architecture Reference
Guide" and Chips and Cheese, "Microbenchmarking AMD's RDNA 3". As ROCm does for RDNA, a multiprocessor is a WGP.
"""

from __future__ import annotations

import ctypes
from typing import Any

from hipgemm.simulated_hip.abi import (
    VERSION_NUMBER,
    DeviceProp,
    DevicePropBefore6,
    ErrorCode,
    HipError,
    Int,
    Pointer,
    Size,
    UInt,
    answers,
    call,
    store,
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

# hipDeviceAttribute_t (hip_runtime_api.h) -> the property that answers it, of a dimension with an index; or the answer.
ATTRIBUTES: dict[int, str | tuple[str, int] | int] = {
    0: 0,  # ECC
    2: "asyncEngineCount",
    3: "canMapHostMemory",
    4: "canUseHostPointerForRegisteredMem",
    5: "clockRate",
    6: "computeMode",
    7: "computePreemptionSupported",
    8: "concurrentKernels",
    9: "concurrentManagedAccess",
    10: "cooperativeLaunch",
    11: "cooperativeMultiDeviceLaunch",
    12: "deviceOverlap",
    13: "directManagedMemAccessFromHost",
    14: "globalL1CacheSupported",
    15: "hostNativeAtomicSupported",
    16: "integrated",
    17: "isMultiGpuBoard",
    18: "kernelExecTimeoutEnabled",
    19: "l2CacheSize",
    20: "localL1CacheSupported",
    23: "major",
    24: "managedMemory",
    25: "maxBlocksPerMultiProcessor",
    26: ("maxThreadsDim", 0),
    27: ("maxThreadsDim", 1),
    28: ("maxThreadsDim", 2),
    29: ("maxGridSize", 0),
    30: ("maxGridSize", 1),
    31: ("maxGridSize", 2),
    56: "maxThreadsPerBlock",
    57: "maxThreadsPerMultiProcessor",
    58: "memPitch",
    59: "memoryBusWidth",
    60: "memoryClockRate",
    61: "minor",
    62: "multiGpuBoardGroupID",
    63: "multiProcessorCount",
    65: "pageableMemoryAccess",
    66: "pageableMemoryAccessUsesHostPageTables",
    67: "pciBusID",
    68: "pciDeviceID",
    69: "pciDomainID",
    71: "regsPerBlock",
    72: "regsPerMultiprocessor",
    73: "reservedSharedMemPerBlock",
    74: "sharedMemPerBlock",
    75: "sharedMemPerBlockOptin",
    76: "sharedMemPerMultiprocessor",
    77: "singleToDoublePrecisionPerfRatio",
    78: "streamPrioritiesSupported",
    80: "tccDriver",
    83: "totalConstMem",
    85: "unifiedAddressing",
    87: "warpSize",
    88: "memoryPoolsSupported",
    90: "hostRegisterSupported",
    10000: "clockInstructionRate",
    10002: "maxSharedMemoryPerMultiProcessor",
    10011: "isLargeBar",
    10012: "asicRevision",
    10013: 1,  # hipStreamWaitValue32
    10014: 0,  # images
    10015: "multiProcessorCount",
    10017: "clockInstructionRate",
}


def _properties(rt: Runtime) -> dict[str, Any]:
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


def one(device: int) -> int:
    """The number of the one device there is; another one is refused."""
    if device != 0:
        raise HipError(ErrorCode.InvalidDevice)
    return 0


@call
def hipInit(rt: Runtime, flags: UInt) -> None:
    if flags:
        raise HipError(ErrorCode.InvalidValue)


@call
def hipSetDevice(rt: Runtime, device: Int) -> None:
    one(device)


answers("hipRuntimeGetVersion hipDriverGetVersion", "Int*", lambda rt: VERSION_NUMBER)
answers("hipGetDeviceCount", "Int*", lambda rt: 1)
answers("hipGetDevice hipDeviceGetCacheConfig hipDeviceGetSharedMemConfig", "Int*", lambda rt: 0)
answers("hipDeviceGet", "Int* Int", lambda rt, ordinal: one(ordinal))
answers("hipGetDeviceFlags", "UInt*", lambda rt: 0)
answers("hipChooseDeviceR0600 hipChooseDevice", "Int* Pointer", lambda rt, wanted: 0)
answers("hipDeviceCanAccessPeer", "Int* Int Int", lambda rt, device, peer: one(device) + one(peer))


@call
def hipDeviceSynchronize(rt: Runtime) -> None:
    """Every call has run to its end before it answers, so there is nothing to wait for."""


@call
def hipDeviceReset(rt: Runtime) -> None:
    """Forget everything: handles become invalid, memory is given back, registered memory is the host's alone again."""
    memory = rt.card.memory
    for base in list(rt.allocations):
        memory.free(base)
    for base in list(rt.registered):
        assert isinstance(memory, ReachesHost)
        memory.unregister(base)
    for loaded in rt.modules.values():
        rt.card.unload(loaded.module)
    tables = (rt.allocations, rt.registered, rt.streams, rt.events, rt.modules, rt.functions, rt.blas)
    for table in (*tables, rt.captures, rt.graphs, rt.executables):
        table.clear()


@call
def hipSetDeviceFlags(rt: Runtime, flags: UInt) -> None:
    """How a host thread waits: nobody waits here."""


@call
def hipDeviceGetName(rt: Runtime, out: Pointer, room: Int, device: Int) -> None:
    one(device)
    store_text(out, room, _properties(rt)["name"].decode())


@call
def hipDeviceGetPCIBusId(rt: Runtime, out: Pointer, room: Int, device: Int) -> None:
    one(device)
    store_text(out, room, PCI_BUS_ID)


@call
def hipDeviceGetByPCIBusId(rt: Runtime, out: Pointer, text: Pointer) -> None:
    name = read_text(text)
    if name != PCI_BUS_ID.encode():
        raise HipError(ErrorCode.InvalidValue if name is None else ErrorCode.InvalidDevice)
    store(out, ctypes.c_int, 0)


@call
def hipDeviceTotalMem(rt: Runtime, out: Pointer, device: Int) -> None:
    one(device)
    store(out, ctypes.c_size_t, rt.stands_for.vram_bytes)


@call
def hipDeviceComputeCapability(rt: Runtime, major: Pointer, minor: Pointer, device: Int) -> None:
    one(device)
    properties = _properties(rt)
    store(major, ctypes.c_int, properties["major"])
    store(minor, ctypes.c_int, properties["minor"])


@call
def hipGetDevicePropertiesR0600(rt: Runtime, out: Pointer, device: Int) -> None:
    one(device)
    if not out:
        raise HipError(ErrorCode.InvalidValue)
    properties = DeviceProp(**_properties(rt))
    ctypes.memmove(out, ctypes.addressof(properties), ctypes.sizeof(properties))


@call
def hipGetDeviceProperties(rt: Runtime, out: Pointer, device: Int) -> None:
    """What was built before ROCm 6 means by that name. Such programs know no newer properties."""
    one(device)
    if not out:
        raise HipError(ErrorCode.InvalidValue)
    known = {name for name, _ in DevicePropBefore6._fields_}
    properties = DevicePropBefore6(**{name: v for name, v in _properties(rt).items() if name in known})
    ctypes.memmove(out, ctypes.addressof(properties), ctypes.sizeof(properties))


@call
def hipDeviceGetAttribute(rt: Runtime, out: Pointer, attribute: Int, device: Int) -> None:
    one(device)
    if attribute not in ATTRIBUTES:
        raise HipError(ErrorCode.InvalidValue)
    source = ATTRIBUTES[attribute]
    properties = _properties(rt)
    if isinstance(source, tuple):
        value = properties[source[0]][source[1]]
    else:
        value = source if isinstance(source, int) else properties.get(source, 0)
    store(out, ctypes.c_int, min(value, 0x7FFFFFFF))


@call
def hipDeviceGetLimit(rt: Runtime, out: Pointer, limit: Int) -> None:
    raise HipError(ErrorCode.UnsupportedLimit)


@call
def hipDeviceSetLimit(rt: Runtime, limit: Int, value: Size) -> None:
    raise HipError(ErrorCode.UnsupportedLimit)


@call
def hipDeviceGetUuid(rt: Runtime, out: Pointer, device: Int) -> None:
    one(device)
    if not out:
        raise HipError(ErrorCode.InvalidValue)
    ctypes.memmove(out, _properties(rt)["uuid"], 16)


@call(alias=("hipDeviceSetSharedMemConfig",))
def hipDeviceSetCacheConfig(rt: Runtime, config: Int) -> None:
    """RDNA3 has nothing to choose."""


@call
def hipDeviceEnablePeerAccess(rt: Runtime, peer: Int, flags: UInt) -> None:
    """There is no other device: this one is no peer of its own."""
    raise HipError(ErrorCode.InvalidDevice)


@call
def hipDeviceDisablePeerAccess(rt: Runtime, peer: Int) -> None:
    raise HipError(ErrorCode.PeerAccessNotEnabled if peer == 0 else ErrorCode.InvalidDevice)


@call
def hipDeviceGetP2PAttribute(rt: Runtime, out: Pointer, attribute: Int, device: Int, peer: Int) -> None:
    raise HipError(ErrorCode.InvalidDevice)


@call(alias=("hipProfilerStop",))
def hipProfilerStart(rt: Runtime) -> None:
    """Nobody profiles."""
