"""Copies and fills: `memmove`, after both ends are checked against the kind of copy (see `memory.reachable`).

A call has run to its end before it answers, also one that names a stream.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, Int, Pointer, Size, call, does, refuse_if
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
    refuse_if(kind not in ON_DEVICE, ErrorCode.InvalidMemcpyDirection)
    to_device, from_device = ON_DEVICE[kind]
    reachable(rt, destination, size, to_device)
    reachable(rt, source, size, from_device)
    ctypes.memmove(destination, source, size)


def fill(rt: Runtime, destination: int, value: int, size: int, stream: int = 0, *, width: int = 1) -> None:
    """Set `size` elements of so many bytes."""
    submit(rt, stream, "fill", lambda: _fill_now(rt, destination, value, size, width))


def _fill_now(rt: Runtime, destination: int, value: int, size: int, width: int) -> None:
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


def _copy_and_wait(rt: Runtime, *given: int) -> None:
    rt.settled()
    _copy(rt, *given)


does("hipMemcpy hipMemcpy_spt", "Pointer Pointer Size Int", _copy_and_wait)


@call(alias=("hipMemcpyAsync_spt", "hipMemcpyWithStream"))
def hipMemcpyAsync(rt: Runtime, destination: Pointer, source: Pointer, size: Size, kind: Int, stream: Pointer) -> None:
    submit(rt, stream, "copy", lambda: _copy(rt, destination, source, size, kind))


for _name, _kind in (("HtoD", HOST_TO_DEVICE), ("DtoH", DEVICE_TO_HOST), ("DtoD", DEVICE_TO_DEVICE)):
    does(
        f"hipMemcpy{_name}",
        "Pointer Pointer Size",
        lambda rt, to, of, n, kind=_kind: _copy_and_wait(rt, to, of, n, kind),
    )
    does(
        f"hipMemcpy{_name}Async",
        "Pointer Pointer Size Pointer",
        lambda rt, to, of, n, stream, kind=_kind: hipMemcpyAsync(rt, to, of, n, kind, stream),
    )


def _from_peer(rt: Runtime, to: int, of: int, size: int, stream: int = 0) -> None:
    hipMemcpyAsync(rt, to, of, size, DEVICE_TO_DEVICE, stream)


does("hipMemcpyPeer", "Pointer Device Pointer Device Size", _from_peer)
does("hipMemcpyPeerAsync", "Pointer Device Pointer Device Size Pointer", _from_peer)


def _copy_2d(
    rt: Runtime, destination: int, to_pitch: int, source: int, from_pitch: int, width: int, height: int, kind: int
) -> None:
    refuse_if(width > to_pitch or width > from_pitch, ErrorCode.InvalidPitchValue)
    if width and to_pitch == from_pitch == width:
        _copy(rt, destination, source, width * height, kind)
        return
    for row in range(height if width else 0):
        _copy(rt, destination + row * to_pitch, source + row * from_pitch, width, kind)


_RECTANGLE = "Pointer Size Pointer Size Size Size Int"
does("hipMemcpy2D hipMemcpy2D_spt", _RECTANGLE, _copy_2d)
does(
    "hipMemcpy2DAsync hipMemcpy2DAsync_spt",
    f"{_RECTANGLE} Pointer",
    lambda rt, *given: submit(rt, given[-1], "copy", lambda: _copy_2d(rt, *given[:-1])),
)
for _names, _type, _width in (
    ("hipMemset{0} hipMemset{0}_spt", "Int", 1),
    ("hipMemsetD8{0}", "UByte", 1),
    ("hipMemsetD16{0}", "UShort", 2),
    ("hipMemsetD32{0}", "Int", 4),
):
    for _end, _stream in (("", ""), ("Async", " Pointer")):
        does(
            _names.format(_end),
            f"Pointer {_type} Size{_stream}",
            lambda rt, *given, width=_width: fill(rt, *given, width=width),
        )


@call(alias=("hipMemset2D_spt",))
def hipMemset2D(rt: Runtime, destination: Pointer, pitch: Size, value: Int, width: Size, height: Size) -> None:
    refuse_if(width > pitch, ErrorCode.InvalidPitchValue)
    for row in range(height):
        fill(rt, destination + row * pitch, value, width)
