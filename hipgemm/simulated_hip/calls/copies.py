"""Copies and fills: `memmove` once both ends are known to be what the call says (see `memory.reachable`).

A call has run to its end before it answers, also one that names a stream.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, HipError, Int, Pointer, Size, call
from hipgemm.simulated_hip.calls.device import one
from hipgemm.simulated_hip.calls.memory import reachable
from hipgemm.simulated_hip.calls.streams import submit
from hipgemm.simulated_hip.runtime import Runtime

HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT, WITHOUT_CU = 0, 1, 2, 3, 4, 1024
ON_DEVICE = {  # hipMemcpyKind -> whether (destination, source) must be the device's
    HOST_TO_HOST: (False, False),
    HOST_TO_DEVICE: (True, False),
    DEVICE_TO_HOST: (False, True),
    DEVICE_TO_DEVICE: (True, True),
    DEFAULT: (False, False),
    WITHOUT_CU: (True, True),
}


def _copy(rt: Runtime, destination: int, source: int, size: int, kind: int) -> None:
    if kind not in ON_DEVICE:
        raise HipError(ErrorCode.InvalidMemcpyDirection)
    to_device, from_device = ON_DEVICE[kind]
    reachable(rt, destination, size, to_device)
    reachable(rt, source, size, from_device)
    ctypes.memmove(destination, source, size)


def _fill(rt: Runtime, destination: int, value: int, size: int, ctype: type = ctypes.c_uint8, stream: int = 0) -> None:
    """Set `size` elements of a C type."""
    submit(rt, stream, "fill", lambda: _fill_now(rt, destination, value, size, ctype))


def _fill_now(rt: Runtime, destination: int, value: int, size: int, ctype: type) -> None:
    width = ctypes.sizeof(ctype)
    reachable(rt, destination, size * width, on_device=True)
    if width == 1:
        ctypes.memset(destination, value & 0xFF, size)
        return
    # Doubling: each pass copies what is filled already.
    if size:
        ctypes.memmove(destination, (value & ((1 << 8 * width) - 1)).to_bytes(width, "little"), width)
    done = 1
    while done < size:
        step = min(done, size - done)
        ctypes.memmove(destination + done * width, destination, step * width)
        done += step


@call(alias=("hipMemcpy_spt",))
def hipMemcpy(rt: Runtime, destination: Pointer, source: Pointer, size: Size, kind: Int) -> None:
    _copy(rt, destination, source, size, kind)


@call(alias=("hipMemcpyAsync_spt", "hipMemcpyWithStream"))
def hipMemcpyAsync(rt: Runtime, destination: Pointer, source: Pointer, size: Size, kind: Int, stream: Pointer) -> None:
    submit(rt, stream, "copy", lambda: _copy(rt, destination, source, size, kind))


def _declare_copies(name: str, kind: int) -> None:
    def now(rt: Runtime, destination: Pointer, source: Pointer, size: Size) -> None:
        _copy(rt, destination, source, size, kind)

    def on_stream(rt: Runtime, destination: Pointer, source: Pointer, size: Size, stream: Pointer) -> None:
        hipMemcpyAsync(rt, destination, source, size, kind, stream)

    now.__name__, on_stream.__name__ = name, f"{name}Async"
    call(now)
    call(on_stream)


for _name, _kind in (("HtoD", HOST_TO_DEVICE), ("DtoH", DEVICE_TO_HOST), ("DtoD", DEVICE_TO_DEVICE)):
    _declare_copies(f"hipMemcpy{_name}", _kind)


@call
def hipMemcpyPeer(
    rt: Runtime, destination: Pointer, to_device: Int, source: Pointer, from_device: Int, size: Size
) -> None:
    hipMemcpyPeerAsync(rt, destination, to_device, source, from_device, size, 0)


@call
def hipMemcpyPeerAsync(
    rt: Runtime, destination: Pointer, to_device: Int, source: Pointer, from_device: Int, size: Size, stream: Pointer
) -> None:
    one(to_device)
    one(from_device)
    hipMemcpyAsync(rt, destination, source, size, DEVICE_TO_DEVICE, stream)


@call(alias=("hipMemcpy2D_spt",))
def hipMemcpy2D(
    rt: Runtime,
    destination: Pointer,
    to_pitch: Size,
    source: Pointer,
    from_pitch: Size,
    width: Size,
    height: Size,
    kind: Int,
) -> None:
    if width > to_pitch or width > from_pitch:
        raise HipError(ErrorCode.InvalidPitchValue)
    if width and to_pitch == from_pitch == width:
        _copy(rt, destination, source, width * height, kind)
        return
    for row in range(height if width else 0):
        _copy(rt, destination + row * to_pitch, source + row * from_pitch, width, kind)


@call(alias=("hipMemcpy2DAsync_spt",))
def hipMemcpy2DAsync(
    rt: Runtime,
    destination: Pointer,
    to_pitch: Size,
    source: Pointer,
    from_pitch: Size,
    width: Size,
    height: Size,
    kind: Int,
    stream: Pointer,
) -> None:
    submit(
        rt, stream, "copy",
        lambda: hipMemcpy2D(rt, destination, to_pitch, source, from_pitch, width, height, kind),
    )  # fmt: skip


def _declare_fills(name: str, type_: str, element: type, ends: tuple[str, ...] = ()) -> None:
    """type_: that of the value; ends: of further names with the same meaning."""

    def now(rt: Runtime, destination: Pointer, value: int, count: Size) -> None:
        _fill(rt, destination, value, count, element)

    def on_stream(rt: Runtime, destination: Pointer, value: int, count: Size, stream: Pointer) -> None:
        _fill(rt, destination, value, count, element, stream)

    for function, whole in ((now, name), (on_stream, f"{name}Async")):
        function.__name__ = whole
        function.__annotations__["value"] = type_
        call(function, alias=tuple(whole + end for end in ends))


_declare_fills("hipMemset", "Int", ctypes.c_uint8, ("_spt",))
_declare_fills("hipMemsetD8", "UByte", ctypes.c_uint8)
_declare_fills("hipMemsetD16", "UShort", ctypes.c_uint16)
_declare_fills("hipMemsetD32", "Int", ctypes.c_uint32)


@call(alias=("hipMemset2D_spt",))
def hipMemset2D(rt: Runtime, destination: Pointer, pitch: Size, value: Int, width: Size, height: Size) -> None:
    if width > pitch:
        raise HipError(ErrorCode.InvalidPitchValue)
    for row in range(height):
        _fill(rt, destination + row * pitch, value, width)
