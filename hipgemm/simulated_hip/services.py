"""What a launch needs of the host beside its arguments: where kernels print to (printf.py, hostcall.py), and where the
workgroups of a cooperative launch meet.

They meet in a `struct mg_info` of AMD's device libraries (ROCm/llvm-project, amd/device-libs/ockl/src/cg.cl):
grid.sync() of cooperative_groups.h counts them there in memory, since ROCm 6.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from hipgemm.simulated_hip import hostcall, printf
from hipgemm.simulated_hip.runtime import KernelHandle, Runtime

MEETING_ARGUMENT = "hidden_multigrid_sync_arg"
MEETING = struct.Struct("<QIIQQIIIxxxx")
"""struct mg_info: of many grids, which there are none; this grid's number, how many; work-items before it and of all;
two words that the barrier counts in; the workgroups of this grid."""


@contextmanager
def services(rt: Runtime, launched: KernelHandle, kernarg: bytes, together: int = 0) -> Iterator[bytes]:
    """The kernarg bytes with what a kernel needs that prints: a buffer whose text goes to stdout afterwards, or one
    that is served while it runs. together: workgroups that may wait for one another, in a cooperative launch."""
    places = {a.kind: a.offset for a in launched.facts.args if a.hidden}
    with ExitStack() as ending:
        if hostcall.ARGUMENT in places and rt.take is not None:
            buffer = ending.enter_context(hostcall.Hostcalls(rt.card.memory, rt.take, _print))
            kernarg = _with(kernarg, places[hostcall.ARGUMENT], buffer)
        if printf.ARGUMENT in places and launched.formats:
            buffer = ending.enter_context(_printed(rt, launched.formats))
            kernarg = _with(kernarg, places[printf.ARGUMENT], buffer)
        if MEETING_ARGUMENT in places and together:
            buffer = ending.enter_context(_meeting(rt, together))
            kernarg = _with(kernarg, places[MEETING_ARGUMENT], buffer)
        yield kernarg


def _with(kernarg: bytes, offset: int, address: int) -> bytes:
    padded = kernarg.ljust(offset + 8, b"\0")
    return padded[:offset] + address.to_bytes(8, "little") + padded[offset + 8 :]


@contextmanager
def _meeting(rt: Runtime, workgroups: int) -> Iterator[int]:
    """The address of an mg_info of one grid, at which no workgroup has arrived yet."""
    buffer = rt.card.memory.allocate(MEETING.size)
    try:
        ctypes.memmove(buffer, MEETING.pack(0, 0, 1, 0, 0, 0, 0, workgroups), MEETING.size)
        yield buffer
    finally:
        rt.card.memory.free(buffer)


@contextmanager
def _printed(rt: Runtime, formats: dict[int, str]) -> Iterator[int]:
    """The address of a buffer that printf fills."""
    size = printf.HEADER.size + printf.ROOM
    buffer = rt.card.memory.allocate(size)
    try:
        ctypes.memmove(buffer, printf.HEADER.pack(0, printf.ROOM), printf.HEADER.size)
        yield buffer
        used, _ = printf.HEADER.unpack(ctypes.string_at(buffer, printf.HEADER.size))
        written = ctypes.string_at(buffer, min(size, printf.HEADER.size + used))
        for to_stderr, text in printf.lines(written, formats):
            _print(to_stderr, text)
    finally:
        rt.card.memory.free(buffer)


def _print(to_stderr: bool, text: str) -> None:
    (sys.stderr if to_stderr else sys.stdout).write(text)
