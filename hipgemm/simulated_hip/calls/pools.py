"""Memory pools: the source of asynchronous allocations. All pools share the card's memory; an allocation is immediate.

A pool knows how much of it is in use, for hipMemPoolGetAttribute; it keeps nothing back, so that what is reserved is
what is used. Pools cannot be shared with other processes.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import (
    Device,
    ErrorCode,
    HipError,
    Int,
    Pointer,
    Size,
    answers,
    call,
    does,
    refuse_if,
    store,
)
from hipgemm.simulated_hip.calls.memory import allocate
from hipgemm.simulated_hip.calls.streams import idle_stream
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import Pool, Runtime

DEFAULT = 0x200
"""The handle of the device's own pool."""
REUSE = (1, 2, 3)  # hipMemPoolReuse...: int
THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(4, 9)  # uint64_t
READ_WRITE = 3


def _pool(rt: Runtime, handle: int) -> Pool:
    if handle == DEFAULT:
        return rt.pools.setdefault(DEFAULT, Pool())
    refuse_if(handle not in rt.pools)
    return rt.pools[handle]


@call
def hipMemPoolCreate(rt: Runtime, out: Pointer, properties: Pointer) -> None:
    refuse_if(not properties)
    store(out, ctypes.c_uint64, rt.handle(rt.pools, Pool()))


@call
def hipMemPoolDestroy(rt: Runtime, pool: Pointer) -> None:
    _pool(rt, pool)
    refuse_if(pool == DEFAULT)
    del rt.pools[pool]
    if rt.current_pool == pool:
        rt.current_pool = 0


does("hipMemPoolTrimTo", "Pointer Size", lambda rt, pool, keep: _pool(rt, pool))


@call
def hipMemPoolSetAttribute(rt: Runtime, pool: Pointer, attribute: Int, value: Pointer) -> None:
    found = _pool(rt, pool)
    wide = attribute not in REUSE
    refuse_if(attribute not in (*REUSE, THRESHOLD, RESERVED_HIGH, USED_HIGH) or not is_mapped(value, 8 if wide else 4))
    given = (ctypes.c_uint64 if wide else ctypes.c_int).from_address(value).value
    if attribute in (RESERVED_HIGH, USED_HIGH):
        refuse_if(given)
        found.most = rt.allocated(pool)
    else:
        found.attributes[attribute] = given


@call
def hipMemPoolGetAttribute(rt: Runtime, pool: Pointer, attribute: Int, value: Pointer) -> None:
    found = _pool(rt, pool)
    if attribute in REUSE:
        store(value, ctypes.c_int, found.attributes.get(attribute, 1))
    elif attribute == THRESHOLD:
        store(value, ctypes.c_uint64, found.attributes.get(attribute, 0))
    elif attribute in (RESERVED, USED):
        store(value, ctypes.c_uint64, rt.allocated(pool))
    elif attribute in (RESERVED_HIGH, USED_HIGH):
        store(value, ctypes.c_uint64, found.most)
    else:
        raise HipError(ErrorCode.InvalidValue)


@call
def hipMemPoolSetAccess(rt: Runtime, pool: Pointer, descriptions: Pointer, count: Size) -> None:
    _pool(rt, pool)
    refuse_if(not descriptions or not count)


answers("hipMemPoolGetAccess", "Int* Pointer Pointer", lambda rt, pool, location: _pool(rt, pool) and READ_WRITE)
answers("hipDeviceGetDefaultMemPool", "Handle* Device", lambda rt: DEFAULT)
answers("hipDeviceGetMemPool", "Handle* Device", lambda rt: rt.current_pool or DEFAULT)


@call
def hipDeviceSetMemPool(rt: Runtime, device: Device, pool: Pointer) -> None:
    _pool(rt, pool)
    rt.current_pool = pool


@call
def hipMallocFromPoolAsync(rt: Runtime, out: Pointer, size: Size, pool: Pointer, stream: Pointer) -> None:
    idle_stream(rt, stream)
    found = _pool(rt, pool)
    allocate(rt, out, size, "device", pool=pool)
    found.most = max(found.most, rt.allocated(pool))


does(
    "hipMallocAsync",
    "Pointer Size Pointer",
    lambda rt, out, size, stream: hipMallocFromPoolAsync(rt, out, size, rt.current_pool or DEFAULT, stream),
)
