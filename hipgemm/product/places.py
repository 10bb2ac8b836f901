"""Placement checks: all arguments of a product are on the host or on one device, their producers are done with them,
and no two elements of C share memory. A new C on a device is allocated by the library that owns the other arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hipgemm.product.arrays import ArrayValueError, DeviceArray, Matrix, View

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.measure.device import Device

_BUILT_IN_STREAMS = {1: 0, 2: 2}  # __cuda_array_interface__: 1 the legacy default stream, 2 the thread's own


def on_host(given: Iterable[View]) -> bool:
    """Whether all lie on the host; else all lie on a device. ArrayValueError where they lie on both."""
    sides = [(v.name, v.host is not None) for v in given]
    if len({host for _, host in sides}) > 1:
        places = ", ".join(f"{name} on the {'host' if host else 'device'}" for name, host in sides)
        raise ArrayValueError(
            "the matrices are in different memories", expected="all on the host or all on the device", got=places
        )
    return sides[0][1]


def check_c(c: np.ndarray | Matrix) -> None:
    """ArrayValueError where elements of C share their memory."""
    matrix = c if isinstance(c, Matrix) else Matrix(0, c.shape, c.strides, c.itemsize)
    if matrix.writes_twice:
        raise ArrayValueError("elements of c share their memory", got=f"strides {matrix.steps} of {matrix.shape}")


def ready(device: Device, given: Iterable[View], unread: Iterable[str] = ()) -> None:
    """Wait for what others still do to arrays on the device. ArrayValueError where HIP says that one with elements is
    no memory of it; the `unread` may lie anywhere."""
    for v in given:
        _check(device, v, v.name not in unread)
        if v.stream not in (None, 0):
            device.call("hipStreamSynchronize", device.hip.ihipStream_t(_BUILT_IN_STREAMS.get(v.stream, v.stream)))


def _check(device: Device, v: View, reads: bool) -> None:
    matrix = v.matrix
    if matrix is None or 0 in v.shape or not reads:
        return
    if (v.device is not None and v.device != device.index) or not device.holds(matrix.address):
        raise ArrayValueError(
            f"{v.name} is not in memory of {device.name}",
            expected=f"HIP device {device.index} of the runtime that hip-python opened",
            got=f"address {matrix.address:#x}" + (f" on device {v.device}" if v.device is not None else ""),
            hint="choose with device=; a library with its own HIP must share it with hip-python ($ROCM_PATH)",
        )


def handed_over(made: DeviceArray, to: str) -> Any:
    """A new array as one of the library `to`, if that has `from_dlpack`."""
    take_on = getattr(sys.modules.get(to), "from_dlpack", None)
    return take_on(made) if take_on else made
