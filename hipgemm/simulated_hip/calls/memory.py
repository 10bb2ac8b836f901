"""Memory: the card's allocations, and the attributes of an address.

Device, pinned and managed memory all come from the card and are memory of this process at its own address. What a call
may touch `reachable` says: an end that lies in an allocation must lie in it whole; one that must be the device's must
lie in one; any other must be mapped in this process and not be the card's, since freed memory belongs to no allocation.
Registered host memory is known, but the card cannot reach it unless its memory `ReachesHost`.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import (
    ErrorCode,
    HipError,
    Int,
    Pointer,
    PointerAttributes,
    Size,
    UInt,
    answers,
    call,
    does,
    known,
    refuse_if,
    store,
    store_bytes,
    store_if_asked,
)
from hipgemm.simulated_hip.calls.streams import idle_stream
from hipgemm.simulated_hip.card import KnowsItsOwn, ReachesHost
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import Allocation, Runtime
from isa.errors import IsaError

PITCH = 256
ATTACHMENTS = (1, 2)  # hipMemAttachGlobal, hipMemAttachHost
PLACES = (-1, 0)  # the host, the device
ADVICE = (1, 2, 3, 4, 5, 6, 100, 101)  # hipMemoryAdvise; the first two are of no device
MEMORY_TYPE = {"host": 1, "device": 2, "managed": 3}


def allocate(rt: Runtime, out: int, size: int, kind: str, flags: int = 0, pool: int = 0) -> None:
    """Memory of a kind of `Allocation`, its address stored through `out`; NULL for none."""
    refuse_if(not out)
    store(out, ctypes.c_uint64, 0)
    if size == 0:
        return
    refuse_if(size > rt.stands_for.vram_bytes - rt.allocated(), ErrorCode.OutOfMemory)
    try:
        address = rt.card.memory.allocate(size)
    except (IsaError, MemoryError) as error:
        raise HipError(ErrorCode.OutOfMemory, error) from error
    rt.allocations[address] = Allocation(size, kind, flags, pool)
    store(out, ctypes.c_uint64, address)


def _release(rt: Runtime, address: int, *kinds: str) -> None:
    if address == 0:
        return
    _known(rt, address, *kinds)
    rt.card.memory.free(address)
    del rt.allocations[address]


def reachable(rt: Runtime, address: int, size: int, on_device: bool) -> None:
    """An error for a range that is not memory of the kind asked for."""
    if size == 0:
        return
    found = rt.card.memory.find(address)
    if found is not None:
        if address + size > found[0] + found[1]:
            base, room = found
            raise HipError(
                ErrorCode.InvalidValue,
                IsaError(
                    f"{size} bytes at {address:#x} extend beyond their allocation",
                    got=f"an allocation of {room} bytes at {base:#x}",
                ),
            )
        return
    memory = rt.card.memory
    freed = isinstance(memory, KnowsItsOwn) and memory.owns(address)
    if on_device or freed or not is_mapped(address, size):
        raise HipError(
            ErrorCode.InvalidValue,
            IsaError(
                f"{size} bytes at {address:#x} are not mapped",
                expected="memory of the device" if on_device else "memory of the device or the host",
                hint="was it freed?" if freed else None,
            ),
        )


@call
def hipMallocManaged(rt: Runtime, out: Pointer, size: Size, flags: UInt) -> None:
    refuse_if(not size or flags not in ATTACHMENTS)
    allocate(rt, out, size, "managed", flags)


does("hipMalloc", "Pointer Size", lambda rt, out, size: allocate(rt, out, size, "device"))
does("hipMallocHost hipMemAllocHost", "Pointer Size", lambda rt, out, size: allocate(rt, out, size, "host"))
for _names, _kind in (
    ("hipExtMallocWithFlags", "device"),
    ("hipHostMalloc hipHostAlloc hipExtHostAlloc", "host"),
):
    does(_names, "Pointer Size UInt", lambda rt, out, size, flags, kind=_kind: allocate(rt, out, size, kind, flags))


@call
def hipMallocPitch(rt: Runtime, out: Pointer, pitch: Pointer, width: Size, height: Size) -> None:
    row = (width + PITCH - 1) // PITCH * PITCH
    store(pitch, ctypes.c_size_t, row)
    allocate(rt, out, row * height, "device")


@call
def hipMemAllocPitch(rt: Runtime, out: Pointer, pitch: Pointer, width: Size, height: Size, element: UInt) -> None:
    refuse_if(element not in (4, 8, 16))
    hipMallocPitch(rt, out, pitch, width, height)


@call
def hipFreeAsync(rt: Runtime, address: Pointer, stream: Pointer) -> None:
    idle_stream(rt, stream)
    _release(rt, address, "device", "managed")


does("hipFree", "Pointer", lambda rt, address: _release(rt, address, "device", "managed"))
does("hipHostFree hipFreeHost", "Pointer", lambda rt, address: _release(rt, address, "host"))


def _reached(rt: Runtime, address: int, flags: int) -> int:
    refuse_if(flags or rt.card.memory.find(address) is None)
    return address


def _known(rt: Runtime, address: int, *kinds: str) -> Allocation:
    """The allocation that begins there, of one of these kinds."""
    found = known(rt.allocations.get(address))
    refuse_if(found.kind not in kinds)
    return found


answers("hipHostGetDevicePointer", "Handle* Pointer UInt", _reached)
answers("hipHostGetFlags", "UInt* Pointer", lambda rt, address: _known(rt, address, "host").flags)
answers("hipMemPtrGetInfo", "Pointer Size*", lambda rt, address: _known(rt, address, *MEMORY_TYPE).size)


@call
def hipHostRegister(rt: Runtime, address: Pointer, size: Size, flags: UInt) -> None:
    refuse_if(not address or not size or not is_mapped(address, size))
    memory = rt.card.memory
    if not isinstance(memory, ReachesHost):
        raise HipError(ErrorCode.NotSupported)
    refuse_if(address in rt.registered, ErrorCode.HostMemoryAlreadyRegistered)
    try:
        memory.register(address, size)
    except IsaError as error:
        raise HipError(ErrorCode.HostMemoryAlreadyRegistered, error) from error
    rt.registered[address] = size


@call
def hipHostUnregister(rt: Runtime, address: Pointer) -> None:
    memory = rt.card.memory
    if address not in rt.registered or not isinstance(memory, ReachesHost):
        raise HipError(ErrorCode.HostMemoryNotRegistered)
    memory.unregister(address)
    del rt.registered[address]


@call
def hipMemGetInfo(rt: Runtime, free: Pointer, total: Pointer) -> None:
    there = rt.stands_for.vram_bytes
    store(free, ctypes.c_size_t, there - rt.allocated())
    store(total, ctypes.c_size_t, there)


@call
def hipMemGetAddressRange(rt: Runtime, base: Pointer, size: Pointer, address: Pointer) -> None:
    found = known(rt.card.memory.find(address), ErrorCode.NotFound)
    store_if_asked(base, ctypes.c_uint64, found[0])
    store_if_asked(size, ctypes.c_size_t, found[1])


@call
def hipPointerGetAttributes(rt: Runtime, out: Pointer, address: Pointer) -> None:
    refuse_if(not out or not address)
    answer = PointerAttributes()
    found = rt.card.memory.find(address)
    kept = rt.allocations.get(found[0]) if found else None
    if kept is not None:
        answer.type = MEMORY_TYPE[kept.kind]
        answer.devicePointer = address
        answer.hostPointer = None if kept.kind == "device" else address
        answer.isManaged, answer.allocationFlags = int(kept.kind == "managed"), kept.flags
    elif found and found[0] in rt.registered:
        answer.type = MEMORY_TYPE["host"]
        answer.devicePointer = answer.hostPointer = address
    else:
        answer.hostPointer = address
    store_bytes(out, answer)


@call
def hipPointerGetAttribute(rt: Runtime, out: Pointer, attribute: Int, address: Pointer) -> None:
    """One of hipPointer_attribute, for memory of the card; hipErrorInvalidValue for other memory, as in AMD's runtime,
    and for attributes that it does not support either."""
    refuse_if(not out)
    found = known(rt.card.memory.find(address))
    kept = rt.allocations.get(found[0])
    kind = kept.kind if kept else "host"
    if attribute == 4 and kind == "device":  # no address on the host
        raise HipError(ErrorCode.InvalidValue)
    values: dict[int, tuple[type, int]] = {
        2: (ctypes.c_uint, MEMORY_TYPE[kind]),
        3: (ctypes.c_uint64, address),
        4: (ctypes.c_uint64, address),
        6: (ctypes.c_uint64, found[0]),  # HIP_POINTER_ATTRIBUTE_BUFFER_ID: any number that no other buffer has
        8: (ctypes.c_bool, kind == "managed"),
        9: (ctypes.c_int, 0),
        11: (ctypes.c_uint64, found[0]),
        12: (ctypes.c_size_t, found[1]),
        13: (ctypes.c_bool, True),
        16: (ctypes.c_int, 3),
    }
    refuse_if(attribute not in values)
    store(out, *values[attribute])


@call
def hipDrvPointerGetAttributes(rt: Runtime, count: UInt, attributes: Pointer, data: Pointer, address: Pointer) -> None:
    """As hipPointerGetAttribute for each; what has no value gets 0."""
    refuse_if(not is_mapped(attributes, 4 * count) or not is_mapped(data, 8 * count))
    kinds = (ctypes.c_int * count).from_address(attributes)
    for kind, out in zip(kinds, (ctypes.c_uint64 * count).from_address(data), strict=True):
        try:
            hipPointerGetAttribute(rt, out, kind, address)
        except HipError:
            store(out, ctypes.c_int, 0)


@call
def hipMemPrefetchAsync(rt: Runtime, address: Pointer, size: Size, device: Int, stream: Pointer) -> None:
    idle_stream(rt, stream)
    refuse_if(not size)
    refuse_if(device not in PLACES, ErrorCode.InvalidDevice)
    reachable(rt, address, size, on_device=True)


@call
def hipMemAdvise(rt: Runtime, address: Pointer, size: Size, advice: Int, device: Int) -> None:
    refuse_if(not size or advice not in ADVICE)
    refuse_if(device not in PLACES and advice not in ADVICE[:2], ErrorCode.InvalidDevice)
    reachable(rt, address, size, on_device=True)
