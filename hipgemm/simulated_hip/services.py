"""What a launch needs of the host beside its arguments: where kernels print to (printf.py, hostcall.py)."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from hipgemm.simulated_hip import hostcall, printf
from hipgemm.simulated_hip.runtime import KernelHandle, Runtime


@contextmanager
def services(rt: Runtime, launched: KernelHandle, kernarg: bytes) -> Iterator[bytes]:
    """The kernarg bytes with what a kernel needs that prints: a buffer whose text goes to stdout afterwards, or one
    that is served while it runs."""
    places = {a.kind: a.offset for a in launched.facts.args if a.hidden}
    with ExitStack() as ending:
        if hostcall.ARGUMENT in places and rt.take is not None:
            buffer = ending.enter_context(hostcall.Hostcalls(rt.card.memory, rt.take, _print))
            kernarg = _with(kernarg, places[hostcall.ARGUMENT], buffer)
        if printf.ARGUMENT in places and launched.formats:
            buffer = ending.enter_context(_printed(rt, launched.formats))
            kernarg = _with(kernarg, places[printf.ARGUMENT], buffer)
        yield kernarg


def _with(kernarg: bytes, offset: int, address: int) -> bytes:
    padded = kernarg.ljust(offset + 8, b"\0")
    return padded[:offset] + address.to_bytes(8, "little") + padded[offset + 8 :]


@contextmanager
def _printed(rt: Runtime, formats: dict[int, str]) -> Iterator[int]:
    """The address of a buffer that printf fills."""
    size = printf.HEADER.size + printf.ROOM
    buffer = rt.card.memory.allocate(size)
    try:
        ctypes.memmove(buffer, printf.HEADER.pack(0, printf.ROOM), printf.HEADER.size)
        yield buffer
        for to_stderr, text in printf.lines(ctypes.string_at(buffer, size), formats):
            _print(to_stderr, text)
    finally:
        rt.card.memory.free(buffer)


def _print(to_stderr: bool, text: str) -> None:
    (sys.stderr if to_stderr else sys.stdout).write(text)
