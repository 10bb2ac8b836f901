"""Placement checks: all arguments of a product are on the host or on one device, their producers are done with them,
and no two elements of C share memory. A new C on a device is allocated by the library that owns the other arrays.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hipgemm.product import dlpack
from hipgemm.product.arrays import ITEM, STORED, ArrayValueError, Matrix, View, numpy_type, view

if TYPE_CHECKING:
    import numpy as np

    from hipgemm.measure.device import Buffer, Device

_HELD = ("float32", "float16", "int8", "uint8", "uint16", "int32", "uint32", *STORED)
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


def matrix_in(buffer: Buffer, *shape: int, itemsize: int = ITEM) -> Matrix:
    """Dense, at the start of a buffer."""
    return Matrix(buffer.address, shape, dlpack.compact(shape, itemsize), itemsize, buffer)


class DeviceArray:
    """An array on the device that sgemm or gemm made: DLPack and `__cuda_array_interface__`, freed with its last
    reference.

    `torch.from_dlpack(x)`, `cupy.from_dlpack(x)` and `x.numpy()` take it on. dtype: as NumPy, or ml_dtypes, names it.
    """

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: str = "float32") -> None:
        self._device, self.shape, self.dtype = device, shape, dtype
        self._itemsize = int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8
        self._buffer = device.buffer(max(ITEM, self._itemsize * math.prod(shape)))
        weakref.finalize(self, self._buffer.free)

    @staticmethod
    def of(array: np.ndarray, device: Device) -> DeviceArray:
        """A copy of a NumPy array on the device: of floats of 16 or 32 bits, or integers of at most 32."""
        import numpy as np

        seen = view("array", array, _HELD, range(65))
        made = DeviceArray(device, seen.shape, seen.dtype)
        if array.size:
            made._buffer.upload(np.ascontiguousarray(seen.lying))
        return made

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        import numpy as np

        dtype = numpy_type(self.dtype)
        copy = np.empty(self.shape, STORED.get(self.dtype, dtype))
        if copy.size:
            self._buffer.download(copy)
        return copy.view(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        import numpy as np

        typestr = "<V2" if self.dtype == "bfloat16" else np.dtype(self.dtype).str
        data = self._buffer.address, False
        return {"shape": self.shape, "typestr": typestr, "data": data, "strides": None, "stream": None, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.ROCM, self._device.index

    def __dlpack__(self, **_: Any) -> Any:
        """All work on it is done, so the consumer's stream does not matter; neither do the newer options matter, all
        of which a producer may leave unheeded."""
        steps = dlpack.compact(self.shape)
        return dlpack.capsule(self, self._buffer.address, self.shape, steps, self.__dlpack_device__(), self.dtype)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, on {self._device.name})"
