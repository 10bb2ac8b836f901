"""Streams and events: the HIP calls that order work.

A call has run to its end before it answers, whatever its stream, so streams only exist and are found idle; an order
of calls that is right on a card is kept. An event remembers how many launches there were. Elapsed time is what the card
predicts for the launches between two events, worked out when it is asked for, and 0 where it can predict none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hipgemm.simulated_hip.abi import (
    ErrorCode,
    HipError,
    Int,
    Pointer,
    UInt,
    answers,
    call,
    does,
    refuse_if,
    store,
    store_if_asked,
)
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import GraphNode, HipEvent, Runtime, Stream
from isa.errors import IsaError

LOWEST, HIGHEST = 1, -1  # priorities of streams
DISABLE_TIMING, INTERPROCESS = 2, 4  # hipEventDisableTiming, hipEventInterprocess
EVENT_FLAGS, RELEASES = 0xE0000007, 0xE0000000  # all; of these at most one
BUILT_IN = (0, 1, 2)  # NULL, hipStreamLegacy, hipStreamPerThread


def known_stream(rt: Runtime, stream: int) -> Stream:
    """The stream of a handle; the built-in ones always are."""
    return Stream() if stream in BUILT_IN else rt.find(rt.streams, stream)


def idle_stream(rt: Runtime, stream: int) -> Stream:
    """A known stream, for what cannot be captured: hipErrorStreamCaptureUnsupported for one that is, whose capture it
    spoils."""
    if stream in rt.captures:
        rt.captures[stream].spoiled = True
        raise HipError(ErrorCode.StreamCaptureUnsupported)
    return known_stream(rt, stream)


def submit(rt: Runtime, stream: int, kind: str, work: Callable[[], None]) -> None:
    """Do work on a stream: at once, or when the graph is launched that the stream is being captured into."""
    known_stream(rt, stream)
    if stream in rt.captures:
        graph = rt.captures[stream]
        refuse_if(graph.spoiled, ErrorCode.StreamCaptureInvalidated)
        graph.ends[stream] = [rt.add(graph, GraphNode(kind, work, graph.ends.get(stream, [])))]
    else:
        work()


def _create(rt: Runtime, flags: int = 0, priority: int = 0) -> int:
    refuse_if(flags not in (0, 1))
    return rt.handle(rt.streams, Stream(flags, max(HIGHEST, min(priority, LOWEST))))


answers("hipStreamCreate", "Handle*", _create)
answers("hipStreamCreateWithFlags", "Handle* UInt", _create)
answers("hipStreamCreateWithPriority", "Handle* UInt Int", _create)


@call
def hipDeviceGetStreamPriorityRange(rt: Runtime, least: Pointer, greatest: Pointer) -> None:
    store_if_asked(least, ctypes.c_int, LOWEST)
    store_if_asked(greatest, ctypes.c_int, HIGHEST)


@call
def hipStreamDestroy(rt: Runtime, stream: Pointer) -> None:
    rt.drop(rt.streams, stream)
    rt.captures.pop(stream, None)


@call(alias=("hipStreamQuery_spt", "hipStreamSynchronize", "hipStreamSynchronize_spt"))
def hipStreamQuery(rt: Runtime, stream: Pointer) -> None:
    idle_stream(rt, stream)
    rt.settled()


@call(alias=("hipStreamWaitEvent_spt",))
def hipStreamWaitEvent(rt: Runtime, stream: Pointer, event: Pointer, flags: UInt) -> None:
    refuse_if(flags not in (0, 1))
    known_stream(rt, stream)
    found = rt.find(rt.events, event)
    capture = found.capture
    if capture is not None and capture in rt.captures.values() and rt.captures.setdefault(stream, capture) is capture:
        capture.ends[stream] = [*dict.fromkeys([*capture.ends.get(stream, []), *found.after])]


answers("hipStreamGetFlags hipStreamGetFlags_spt", "Pointer UInt*", lambda rt, stream: known_stream(rt, stream).flags)
answers(
    "hipStreamGetPriority hipStreamGetPriority_spt",
    "Pointer Int*",
    lambda rt, stream: known_stream(rt, stream).priority,
)
answers("hipStreamGetDevice", "Pointer Int*", lambda rt, stream: known_stream(rt, stream).device)


@call(alias=("hipStreamAddCallback_spt",))
def hipStreamAddCallback(rt: Runtime, stream: Pointer, function: Pointer, data: Pointer, flags: UInt) -> None:
    idle_stream(rt, stream)
    refuse_if(not function or flags)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(function)(stream, 0, data)


@call(alias=("hipLaunchHostFunc_spt",))
def hipLaunchHostFunc(rt: Runtime, stream: Pointer, function: Pointer, data: Pointer) -> None:
    refuse_if(not function)
    submit(rt, stream, "host", lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(data))


@call
def hipExtStreamCreateWithCUMask(rt: Runtime, out: Pointer, words: UInt, mask: Pointer) -> None:
    """Which CUs a stream may use changes nothing here."""
    refuse_if(not words or not mask)
    store(out, ctypes.c_uint64, _create(rt))


@call
def hipGetStreamDeviceId(rt: Runtime, stream: Pointer) -> Int:
    return known_stream(rt, stream).device


def _flags_of(rt: Runtime, stream: int, address: int, bits: int) -> Any:
    width: Any = ctypes.c_uint32 if bits == 32 else ctypes.c_uint64
    idle_stream(rt, stream)
    refuse_if(not is_mapped(address, bits // 8))
    return width.from_address(address)


def _write(rt: Runtime, stream: int, address: int, value: int, flags: int, *, bits: int) -> None:
    _flags_of(rt, stream, address, bits).value = value


def _wait(rt: Runtime, stream: int, address: int, value: int, flags: int, mask: int, *, bits: int) -> None:
    """GEQ (as a signed difference), EQ, AND, NOR, as hipStreamWaitValue has them. What must come to pass has come to
    pass already, since every call has run to its end; else it never will, which is hipErrorNotReady here."""
    found, mine = _flags_of(rt, stream, address, bits).value & mask, value & mask
    sign = 1 << (bits - 1)
    least, every = not (found - mine) & sign, (1 << bits) - 1
    conditions = {0: least, 1: found == mine, 2: found & mine != 0, 3: found | mine != every}
    refuse_if(flags not in conditions)
    if not conditions[flags]:
        raise HipError(ErrorCode.NotReady, IsaError("a stream waits for a value that no call before it has written"))


for _bits, _type in ((32, "UInt"), (64, "Size")):
    _value = f"Pointer Pointer {_type} UInt"
    does(f"hipStreamWriteValue{_bits}", _value, lambda rt, *given, bits=_bits: _write(rt, *given, bits=bits))
    does(f"hipStreamWaitValue{_bits}", f"{_value} {_type}", lambda rt, *given, bits=_bits: _wait(rt, *given, bits=bits))


def _event(rt: Runtime, flags: int = 0) -> int:
    refuse_if(flags & ~EVENT_FLAGS or (flags & RELEASES).bit_count() > 1)
    refuse_if(flags & INTERPROCESS and not flags & DISABLE_TIMING)
    return rt.handle(rt.events, HipEvent(flags))


answers("hipEventCreate", "Handle*", _event)
answers("hipEventCreateWithFlags", "Handle* UInt", _event)


@call
def hipEventDestroy(rt: Runtime, event: Pointer) -> None:
    refuse_if(event and event not in rt.events, ErrorCode.ContextIsDestroyed)
    rt.drop(rt.events, event)


@call(alias=("hipEventRecord_spt",), ignoring={"hipEventRecordWithFlags": ("UInt",)})
def hipEventRecord(rt: Runtime, event: Pointer, stream: Pointer) -> None:
    known_stream(rt, stream)
    found = rt.find(rt.events, event)
    found.capture = rt.captures.get(stream)
    if found.capture is not None:
        found.after = found.capture.ends.get(stream, [])
        return
    rt.timing_asked |= not found.flags & DISABLE_TIMING
    found.at = len(rt.timed)


@contextmanager
def between_events(rt: Runtime, stream: int, start: int, stop: int) -> Iterator[None]:
    """Work that records an event before and one after it, where they are given."""
    if start:
        hipEventRecord(rt, start, stream)
    yield
    if stop:
        hipEventRecord(rt, stop, stream)


@call(alias=("hipEventSynchronize",))
def hipEventQuery(rt: Runtime, event: Pointer) -> None:
    refuse_if(rt.find(rt.events, event).capture is not None, ErrorCode.CapturedEvent)
    rt.settled()


def _milliseconds(rt: Runtime, start: int, stop: int) -> float:
    first, last = rt.find(rt.events, start), rt.find(rt.events, stop)
    if first.at is None or last.at is None or (first.flags | last.flags) & DISABLE_TIMING:
        raise HipError(ErrorCode.InvalidHandle)
    begin, end = sorted((first.at, last.at))
    seconds = sum(report.time_s or 0.0 for report in rt.timed[begin:end])
    return seconds * 1e3 if first.at <= last.at else -seconds * 1e3


answers("hipEventElapsedTime", "Float* Pointer Pointer", _milliseconds)
