"""Arrays people already have, seen as matrices: on the host (NumPy, and what becomes a NumPy array without a copy) or
on the device (DLPack, `__cuda_array_interface__`: PyTorch on ROCm, CuPy, hip-python's own DeviceArray).

`view` asks, in this order: is it a NumPy array; does it have `__dlpack__`, which says where it lies; does it have
`__cuda_array_interface__`. Nothing is converted: an array of another dtype or number of dimensions is rejected with an
error, and strides are kept as they are.

NumPy has no bfloat16 and no float of 8 bits of its own: such arrays on the host are seen as uint16 and uint8, whoever
they come from.
`__cuda_array_interface__` has no word for it either: libraries say "<V2" there, which is taken from an array whose
`dtype` is called bfloat16.

Errors say which argument, what was expected and what was found: `ArrayTypeError` is a TypeError, `ArrayValueError` a
ValueError, and both are IsaErrors.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hipgemm.product import dlpack
from isa.display import number_of
from isa.errors import IsaError

if TYPE_CHECKING:
    import numpy as np

ITEM = 4  # bytes of a float32
_BFLOAT16 = "bfloat16"
STORED = {_BFLOAT16: "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""What NumPy holds the types of ml_dtypes as."""


class ArrayTypeError(IsaError, TypeError):
    """An argument that is not an array of a dtype that is taken."""


class ArrayValueError(IsaError, ValueError):
    """A matrix of the wrong shape, or at the wrong place."""


@dataclass(frozen=True)
class Matrix:
    """On the device: a matrix, a batch of them, of three dimensions, or a vector. strides: in bytes, as NumPy's.

    keep: what keeps the memory alive.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int = ITEM
    keep: Any = None

    @property
    def rows(self) -> int:
        return self.shape[-2]

    @property
    def columns(self) -> int:
        return self.shape[-1]

    @property
    def steps(self) -> tuple[int, ...]:
        """Strides in elements."""
        return tuple(s // self.itemsize for s in self.strides)

    @property
    def T(self) -> Matrix:
        """The matrix transposed, or each of a batch."""
        (*stack, m, n), (*apart, down, along) = self.shape, self.strides
        return replace(self, shape=(*stack, n, m), strides=(*apart, along, down))

    @property
    def dense(self) -> bool:
        """Row by row without gaps: what most kernels take."""
        wanted = dlpack.compact(self.shape, self.itemsize)
        return all(size == 1 or s == w for size, s, w in zip(self.shape, self.strides, wanted, strict=True))

    @property
    def span(self) -> tuple[int, int]:
        """Addresses of the first byte and after the last."""
        reach = [(size - 1) * s for size, s in zip(self.shape, self.strides, strict=True)]
        return (
            self.address + sum(min(x, 0) for x in reach),
            self.address + sum(max(x, 0) for x in reach) + self.itemsize,
        )

    def overlaps(self, other: Matrix) -> bool:
        """Whether the memory of both may have bytes in common."""
        (first, last), (begin, end) = self.span, other.span
        return first < end and begin < last

    @property
    def writes_twice(self) -> bool:
        """Whether two elements lie at the same place: i * row stride = j * column stride within the matrix. Of a batch,
        whether they may: what slices, steps and transpositions make of an array has strides that each reach beyond all
        of the smaller ones'."""
        axes = sorted((abs(s), size) for size, s in zip(self.shape, self.strides, strict=True) if size > 1)
        if 0 in self.shape or not axes:
            return False
        if not axes[0][0]:
            return True
        if len(axes) == 2:
            (rows, m), (columns, n) = axes
            common = math.gcd(rows, columns)
            return columns // common < m and rows // common < n
        reach = 0
        for stride, size in axes:
            if stride <= reach:
                return True
            reach += (size - 1) * stride
        return False


@dataclass(frozen=True)
class View:
    """An argument: `host` if it lies on the host, else `matrix`. module: the library that it came from.

    device: its number as DLPack has it, None where it is not said. stream: that its producer still works on.
    """

    name: str
    module: str
    dtype: str
    shape: tuple[int, ...]
    host: np.ndarray | None = None
    matrix: Matrix | None = None
    device: int | None = None
    stream: int | None = None
    read_only: bool = False

    @property
    def lying(self) -> np.ndarray | Matrix:
        """Wherever it does."""
        found = self.matrix if self.host is None else self.host
        assert found is not None
        return found

    @property
    def dense(self) -> bool:
        """Its elements follow one another, the last axis fastest."""
        return self.lying.dense if isinstance(self.lying, Matrix) else self.lying.flags.c_contiguous


@dataclass(frozen=True)
class _Wanted:
    """What an argument must be: of one of these dtypes, by NumPy's names, with so many dimensions."""

    name: str
    dtypes: Collection[str]
    dims: Collection[int]

    def check(self, dtype: str, shape: tuple[int, ...]) -> None:
        if dtype not in self.dtypes:
            raise ArrayTypeError(f"{self.name} has the wrong dtype", expected=" or ".join(self.dtypes), got=dtype)
        if len(shape) not in self.dims:
            kind = "vector" if 1 in self.dims else "matrix"
            expected = " or ".join(f"{number_of(n, 'dimension')}" for n in self.dims)
            expected += " of a batch" if 3 in self.dims else ""
            raise ArrayValueError(f"{self.name} is not a {kind}", expected=expected, got=f"shape {tuple(shape)}")


def view(name: str, array: Any, dtypes: Collection[str] = ("float32",), dims: Collection[int] = (2,)) -> View:
    """See an argument called `name`, of one of these dtypes, as a matrix, or as what has so many dimensions. Raises
    ArrayTypeError, ArrayValueError."""
    import numpy as np

    wanted = _Wanted(name, dtypes, dims)
    module = type(array).__module__.partition(".")[0]
    if isinstance(array, np.ndarray):
        return _host(wanted, module, array)
    try:
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            kind, number = (int(x) for x in array.__dlpack_device__())
            if getattr(array, "is_neg", bool)():  # PyTorch: the sign is kept beside the memory, and DLPack forgets it
                raise ArrayTypeError(f"{name} is a view that negates", got=_type(array), hint=f"{name}.resolve_neg()")
            if kind not in (dlpack.CPU, dlpack.ROCM_HOST, dlpack.CUDA_HOST, dlpack.ROCM, dlpack.CUDA):
                raise ArrayValueError(
                    f"{name} is in memory that HIP cannot access",
                    expected="the host or an AMD card",
                    got=f"DLPack device type {kind}",
                )
            found = dlpack.lend(array)
            wanted.check(found.dtype, found.shape)
            if kind in (dlpack.CPU, dlpack.ROCM_HOST, dlpack.CUDA_HOST):
                return _lent(wanted, module, array, found)
            matrix = Matrix(found.address, found.shape, found.strides, found.itemsize, found)
            return _on_device(wanted, module, found.dtype, matrix, number, bool(found.read_only))
        interface = getattr(array, "__cuda_array_interface__", None)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, IsaError):
            raise
        raise ArrayTypeError(f"{name} cannot be used as an array: {error}", got=_type(array)) from error
    if isinstance(interface, dict):
        return _cuda_array(wanted, module, array, interface)
    raise ArrayTypeError(
        f"{name} is not an array",
        expected="a NumPy array, or one with __dlpack__ or __cuda_array_interface__",
        got=_type(array),
        hint=f"numpy.asarray({name}, numpy.{next(iter(dtypes))})",
    )


def _lent(wanted: _Wanted, module: str, array: Any, lent: dlpack.Borrowed) -> View:
    """Another library's array on the host. DLPack before version 1 has no word for what may not be written to: the
    library's own `__array__` knows."""
    import numpy as np

    stored = np.dtype(STORED.get(lent.dtype, lent.dtype))
    given = {
        "version": 3, "shape": lent.shape, "typestr": stored.str, "strides": lent.strides,
        "data": (lent.address, bool(lent.read_only)),
    }  # fmt: skip
    kept = SimpleNamespace(__array_interface__=given, lent=lent)  # the array keeps it, and it the memory
    seen = np.empty(lent.shape, stored) if 0 in lent.shape else np.asarray(kept)
    read_only = lent.read_only
    if read_only is None:
        own = np.asarray(array) if hasattr(array, "__array__") and lent.dtype not in STORED else None
        read_only = own is None or not own.flags.writeable or (own.size > 0 and own.ctypes.data != lent.address)
    return View(wanted.name, module, lent.dtype, lent.shape, host=seen, read_only=read_only)


def _host(wanted: _Wanted, module: str, array: np.ndarray) -> View:
    import numpy as np

    name, dtype = wanted.name, _named(array.dtype)
    if isinstance(array, np.ma.MaskedArray):
        raise ArrayTypeError(f"{name} is a masked array", expected="one without a mask", hint=f"{name}.filled(...)")
    wanted.check(dtype, array.shape)
    stored = array.view(STORED[dtype]) if dtype in STORED else array
    return View(name, module, dtype, array.shape, host=stored, read_only=not array.flags.writeable)


def _cuda_array(wanted: _Wanted, module: str, array: Any, interface: dict[str, Any]) -> View:
    """CUDA array interface, version 3 (Numba's documentation)."""
    import numpy as np

    name = wanted.name
    shape = tuple(int(x) for x in interface["shape"])
    typestr = str(interface["typestr"])
    itemsize = 1
    if typestr.endswith("V2") and str(getattr(array, "dtype", "")).endswith(_BFLOAT16):
        dtype, itemsize = _BFLOAT16, 2
    else:
        try:
            dtype, itemsize = _named(np.dtype(typestr)), np.dtype(typestr).itemsize
        except TypeError:
            dtype = typestr
    address, read_only = interface["data"]
    strides = interface.get("strides")
    wanted.check(dtype, shape)
    if interface.get("mask") is not None:
        raise ArrayTypeError(f"{name} is a masked array", expected="one without a mask")
    if strides is not None and any(s % itemsize for s in strides):
        raise ArrayValueError(f"{name} has strides of part of an element", got=f"strides {strides} bytes")
    strides = dlpack.compact(shape, itemsize) if strides is None else tuple(strides)
    matrix = Matrix(int(address or 0), shape, strides, itemsize, array)
    seen = _on_device(wanted, module, dtype, matrix, None, bool(read_only))
    return replace(seen, stream=interface.get("stream"))


def _on_device(wanted: _Wanted, module: str, dtype: str, matrix: Matrix, number: int | None, read_only: bool) -> View:
    name, item = wanted.name, matrix.itemsize
    if matrix.address % item:
        raise ArrayValueError(
            f"{name} is not aligned", expected=f"a multiple of {item}", got=f"address {matrix.address:#x}"
        )
    return View(name, module, dtype, matrix.shape, matrix=matrix, device=number, read_only=read_only)


def _named(dtype: np.dtype) -> str:
    """Its name; that in non-native byte order with NumPy's letters, ">f4"."""
    return dtype.name if dtype.isnative else f"{dtype.name} in non-native byte order, {dtype.str!r}"


def _type(array: Any) -> str:
    return f"{type(array).__module__}.{type(array).__qualname__}"


def type_name(dtype: Any) -> str:
    """What is said as NumPy's dtype, another library's, or a name."""
    import numpy as np

    try:
        return np.dtype(dtype).name
    except TypeError:  # torch.bfloat16, or "bfloat16" before ml_dtypes is imported
        return str(dtype).rpartition(".")[2]


def numpy_type(name: str) -> np.dtype:
    """NumPy's dtype of that name; ArrayTypeError for those of ml_dtypes where it is not installed."""
    import numpy as np

    if name not in STORED:
        return np.dtype(name)
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except ModuleNotFoundError as error:
        raise ArrayTypeError(f"NumPy has no {name}", hint="pip install ml_dtypes, or pass a c to be filled") from error
