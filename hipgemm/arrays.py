"""Arrays people already have, seen as matrices: on the host (NumPy, and what becomes a NumPy array without a copy) or
on the device (DLPack, `__cuda_array_interface__`: PyTorch on ROCm, CuPy, hip-python's own DeviceArray).

`view` asks, in this order: is it a NumPy array; does it have `__dlpack__`, which says where it lies; does it have
`__cuda_array_interface__`. Nothing is converted: a matrix of another dtype or shape is refused, and strides are kept as
they are.

Errors say which argument, what was expected and what was found: `ArrayTypeError` is a TypeError, `ArrayValueError` a
ValueError, and both are IsaErrors.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hipgemm import dlpack
from hipgemm.device import Buffer, Device
from isa.errors import IsaError

if TYPE_CHECKING:
    import numpy as np

ITEM = 4  # bytes of a float32


class ArrayTypeError(IsaError, TypeError):
    """An argument that is no float32 matrix."""


class ArrayValueError(IsaError, ValueError):
    """A matrix of the wrong shape, or at the wrong place."""


@dataclass(frozen=True)
class Matrix:
    """float32 on the device: element (i, j) lies `i * row_stride + j * column_stride` elements from `address`.

    keep: what keeps the memory alive.
    """

    address: int
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    keep: Any = None

    @property
    def transposed(self) -> Matrix:
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            row_stride=self.column_stride,
            column_stride=self.row_stride,
        )

    @property
    def dense(self) -> bool:
        """Row by row without gaps: what the kernels take."""
        return (self.columns == 1 or self.column_stride == 1) and (self.rows == 1 or self.row_stride == self.columns)

    @property
    def span(self) -> tuple[int, int]:
        """Addresses of the first byte and after the last."""
        reach = [(self.rows - 1) * self.row_stride, (self.columns - 1) * self.column_stride]
        return (
            self.address + ITEM * sum(min(x, 0) for x in reach),
            self.address + ITEM * (sum(max(x, 0) for x in reach) + 1),
        )

    def overlaps(self, other: Matrix) -> bool:
        """Whether the memory of both may have bytes in common."""
        (first, last), (begin, end) = self.span, other.span
        return first < end and begin < last

    @property
    def writes_twice(self) -> bool:
        """Whether two elements lie at the same place: i * row_stride = j * column_stride within the matrix."""
        rows, columns = abs(self.row_stride), abs(self.column_stride)
        if not self.rows or not self.columns:
            return False
        if not rows or not columns:
            return (not rows and self.rows > 1) or (not columns and self.columns > 1)
        common = math.gcd(rows, columns)
        return columns // common < self.rows and rows // common < self.columns

    @staticmethod
    def of(buffer: Buffer, rows: int, columns: int) -> Matrix:
        """A dense matrix at the start of a buffer."""
        return Matrix(buffer.address, rows, columns, columns, 1, buffer)


@dataclass(frozen=True)
class View:
    """An argument: `host` if it lies on the host, else `matrix`. module: the library that it came from.

    device: its number as DLPack has it, None where it is not said. stream: that its producer still works on.
    """

    name: str
    module: str
    shape: tuple[int, int]
    host: np.ndarray | None = None
    matrix: Matrix | None = None
    device: int | None = None
    stream: int | None = None
    read_only: bool = False


def view(name: str, array: Any) -> View:
    """See an argument called `name` as a float32 matrix. Raises ArrayTypeError, ArrayValueError."""
    import numpy as np

    module = type(array).__module__.partition(".")[0]
    if isinstance(array, np.ndarray):
        return _host(name, module, array)
    try:
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            kind, number = (int(x) for x in array.__dlpack_device__())
            if getattr(array, "is_neg", bool)():  # PyTorch: the sign is kept beside the memory, and DLPack forgets it
                raise ArrayTypeError(f"{name} is a view that negates", got=_type(array), hint=f"{name}.resolve_neg()")
            if kind in (dlpack.CPU, dlpack.ROCM_HOST, dlpack.CUDA_HOST):
                return _host(name, module, _by_dlpack(array))
            if kind not in (dlpack.ROCM, dlpack.CUDA):
                raise ArrayValueError(
                    f"{name} lies where HIP cannot reach it",
                    expected="the host or an AMD card",
                    got=f"DLPack device type {kind}",
                )
            # Without a stream the producer orders itself before the default stream, which is the one used here.
            found = dlpack.borrow(array.__dlpack__())
            return _on_device(name, module, found.dtype, found.address, found.shape, found.strides, found, number)
        interface = getattr(array, "__cuda_array_interface__", None)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, IsaError):
            raise
        raise ArrayTypeError(f"{name} cannot be seen as an array: {error}", got=_type(array)) from error
    if isinstance(interface, dict):
        return _cuda_array(name, module, array, interface)
    raise ArrayTypeError(
        f"{name} is no array",
        expected="a NumPy array, or one with __dlpack__ or __cuda_array_interface__",
        got=_type(array),
        hint=f"numpy.asarray({name}, numpy.float32)",
    )


def _by_dlpack(array: Any) -> np.ndarray:
    """Another library's array on the host. What came by DLPack before version 1 NumPy calls read-only, since that has
    no word for it; the library's own `__array__` knows."""
    import numpy as np

    seen = np.from_dlpack(array)
    if not seen.flags.writeable and hasattr(array, "__array__"):
        own = np.asarray(array)
        if own.ctypes.data == seen.ctypes.data and own.strides == seen.strides:
            return own
    return seen


def _host(name: str, module: str, array: np.ndarray) -> View:
    import numpy as np

    if isinstance(array, np.ma.MaskedArray):
        raise ArrayTypeError(f"{name} is a masked array", expected="one without a mask", hint=f"{name}.filled(...)")
    _check(name, _named(array.dtype), array.shape)
    return View(name, module, array.shape, host=array, read_only=not array.flags.writeable)


def _cuda_array(name: str, module: str, array: Any, interface: dict[str, Any]) -> View:
    """CUDA array interface, version 3 (Numba's documentation); strides are bytes there."""
    import numpy as np

    shape = tuple(int(x) for x in interface["shape"])
    try:
        dtype = _named(np.dtype(interface["typestr"]))
    except TypeError:
        dtype = str(interface["typestr"])
    address, read_only = interface["data"]
    strides = interface.get("strides")
    _check(name, dtype, shape)
    if interface.get("mask") is not None:
        raise ArrayTypeError(f"{name} is a masked array", expected="one without a mask")
    if strides is not None and any(s % ITEM for s in strides):
        raise ArrayValueError(f"{name} has strides of part of an element", got=f"strides {strides} bytes")
    steps = dlpack.compact(shape) if strides is None else tuple(s // ITEM for s in strides)
    seen = _on_device(name, module, dtype, int(address or 0), shape, steps, array, None)
    return replace(seen, stream=interface.get("stream"), read_only=bool(read_only))


def _on_device(
    name: str,
    module: str,
    dtype: str,
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    keep: Any,
    number: int | None,
) -> View:
    _check(name, dtype, shape)
    if address % ITEM:
        raise ArrayValueError(f"{name} is not aligned", expected=f"a multiple of {ITEM}", got=f"address {address:#x}")
    rows, columns = shape
    return View(
        name,
        module,
        (rows, columns),
        matrix=Matrix(address, rows, columns, strides[0], strides[1], keep),
        device=number,
    )


def _check(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    if dtype != "float32":
        raise ArrayTypeError(f"{name} has the wrong dtype", expected="float32", got=dtype)
    if len(shape) != 2:
        raise ArrayValueError(f"{name} is no matrix", expected="2 dimensions", got=f"shape {tuple(shape)}")


def _named(dtype: np.dtype) -> str:
    """Its name; that of the other byte order with NumPy's letters, ">f4"."""
    return dtype.name if dtype.isnative else f"{dtype.name} of the other byte order, {dtype.str!r}"


def _type(array: Any) -> str:
    return f"{type(array).__module__}.{type(array).__qualname__}"


class DeviceArray:
    """A float32 matrix on the device that sgemm made: DLPack and `__cuda_array_interface__`, freed when nobody has it.

    `torch.from_dlpack(x)`, `cupy.from_dlpack(x)` and `x.numpy()` take it on.
    """

    dtype = "float32"

    def __init__(self, device: Device, shape: tuple[int, int]) -> None:
        self._device, self.shape = device, shape
        self._buffer = device.buffer(max(ITEM, ITEM * shape[0] * shape[1]))
        weakref.finalize(self, self._buffer.free)

    @staticmethod
    def of(array: np.ndarray, device: Device) -> DeviceArray:
        """A copy of a NumPy matrix on the device."""
        import numpy as np

        _check("array", _named(array.dtype), array.shape)
        made = DeviceArray(device, array.shape)
        if array.size:
            made._buffer.upload(np.ascontiguousarray(array))
        return made

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        import numpy as np

        copy = np.empty(self.shape, np.float32)
        if copy.size:
            self._buffer.download(copy)
        return copy

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = self._buffer.address, False
        return {"shape": self.shape, "typestr": "<f4", "data": data, "strides": None, "stream": None, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.ROCM, self._device.index

    def __dlpack__(self, **_: Any) -> Any:
        """All work on it is done, so the consumer's stream does not matter; neither do the newer options matter, all
        of which a producer may leave unheeded."""
        return dlpack.capsule(
            self, self._buffer.address, self.shape, dlpack.compact(self.shape), self.__dlpack_device__()
        )

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype=float32, on {self._device.name})"
