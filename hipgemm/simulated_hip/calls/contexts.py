"""Contexts: there is the device's primary one, and every thread is in it.

Source: ROCm/clr, hipamd/src/hip_context.cpp: a context is the device, and a thread has a stack of what it pushed.
"""

from __future__ import annotations

import ctypes
import threading

from hipgemm.simulated_hip.abi import ErrorCode, HipError, Int, Pointer, UInt, answers, call, store
from hipgemm.simulated_hip.calls.device import one
from hipgemm.simulated_hip.runtime import Runtime

PRIMARY = 0x100
"""The handle of the only context; other handles begin above it."""
API_VERSION = 4


def _known(context: int, code: ErrorCode = ErrorCode.InvalidContext) -> None:
    if context != PRIMARY:
        raise HipError(code)


def _push(rt: Runtime, by: int) -> None:
    thread = threading.get_ident()
    rt.pushed_contexts[thread] = max(0, rt.pushed_contexts.get(thread, 0) + by)


@call
def hipCtxCreate(rt: Runtime, out: Pointer, flags: UInt, device: Int) -> None:
    one(device)
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
    if not rt.pushed_contexts.get(threading.get_ident()):
        raise HipError(ErrorCode.InvalidContext)
    if out:
        store(out, ctypes.c_uint64, PRIMARY)
    _push(rt, -1)


@call
def hipCtxSetCurrent(rt: Runtime, context: Pointer) -> None:
    if context:
        _known(context)


answers("hipCtxGetCurrent", "Handle*", lambda rt: PRIMARY)
answers("hipCtxGetDevice", "Int*", lambda rt: 0)
answers("hipCtxGetFlags", "UInt*", lambda rt: 0)


@call
def hipCtxGetApiVersion(rt: Runtime, context: Pointer, out: Pointer) -> None:
    _known(context)
    store(out, ctypes.c_int, API_VERSION)


@call
def hipCtxSynchronize(rt: Runtime) -> None:
    """Nothing is ever under way."""


@call
def hipDevicePrimaryCtxRetain(rt: Runtime, out: Pointer, device: Int) -> None:
    one(device)
    store(out, ctypes.c_uint64, PRIMARY)


@call
def hipDevicePrimaryCtxRelease(rt: Runtime, device: Int) -> None:
    one(device)


@call
def hipDevicePrimaryCtxSetFlags(rt: Runtime, device: Int, flags: UInt) -> None:
    one(device)


@call
def hipDevicePrimaryCtxGetState(rt: Runtime, device: Int, flags: Pointer, active: Pointer) -> None:
    one(device)
    if flags:
        store(flags, ctypes.c_uint, 0)
    if active:
        store(active, ctypes.c_int, 1)
