"""Contexts: there is only the device's primary context, and it is current in every thread.

Source: ROCm/clr, hipamd/src/hip_context.cpp: a context is the device, and a thread has a stack of what it pushed.
"""

from __future__ import annotations

import ctypes
import threading

from hipgemm.simulated_hip.abi import (
    Device,
    ErrorCode,
    Pointer,
    UInt,
    answers,
    call,
    does,
    refuse,
    refuse_if,
    store,
    store_if_asked,
)
from hipgemm.simulated_hip.runtime import Runtime

PRIMARY = 0x100
"""The handle of the only context; other handles begin above it."""
API_VERSION = 4


def _known(context: int, code: ErrorCode = ErrorCode.InvalidContext) -> int:
    return context if context == PRIMARY else refuse(code)


def _push(rt: Runtime, by: int) -> None:
    thread = threading.get_ident()
    rt.pushed_contexts[thread] = max(0, rt.pushed_contexts.get(thread, 0) + by)


@call
def hipCtxCreate(rt: Runtime, out: Pointer, flags: UInt, device: Device) -> None:
    store(out, ctypes.c_uint64, PRIMARY)
    _push(rt, 1)


@call
def hipCtxDestroy(rt: Runtime, context: Pointer) -> None:
    _known(context, ErrorCode.InvalidValue)
    _push(rt, -1)


@call
def hipCtxPushCurrent(rt: Runtime, context: Pointer) -> None:
    _known(context)
    _push(rt, 1)


@call
def hipCtxPopCurrent(rt: Runtime, out: Pointer) -> None:
    refuse_if(not rt.pushed_contexts.get(threading.get_ident()), ErrorCode.InvalidContext)
    store_if_asked(out, ctypes.c_uint64, PRIMARY)
    _push(rt, -1)


does("hipCtxSetCurrent", "Pointer", lambda rt, context: context and _known(context))
answers("hipCtxGetCurrent", "Handle*", lambda rt: PRIMARY)
answers("hipCtxGetDevice", "Int*", lambda rt: 0)
answers("hipCtxGetFlags", "UInt*", lambda rt: 0)
answers("hipCtxGetApiVersion", "Pointer Int*", lambda rt, context: _known(context) and API_VERSION)
does("hipCtxSynchronize", "", lambda rt: None)  # nothing is ever in flight
answers("hipDevicePrimaryCtxRetain", "Handle* Device", lambda rt: PRIMARY)
does("hipDevicePrimaryCtxRelease", "Device", lambda rt: None)
does("hipDevicePrimaryCtxSetFlags", "Device UInt", lambda rt, flags: None)


@call
def hipDevicePrimaryCtxGetState(rt: Runtime, device: Device, flags: Pointer, active: Pointer) -> None:
    store_if_asked(flags, ctypes.c_uint, 0)
    store_if_asked(active, ctypes.c_int, 1)
