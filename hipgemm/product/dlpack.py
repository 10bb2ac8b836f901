"""DLPack: an array of another library as address, shape and strides, and ours as one.

The structures are those of dlpack.h (DLPack 1.0; https://dmlc.github.io/dlpack). A producer hands out a PyCapsule
named "dltensor", or "dltensor_versioned", which also says whether the array may be written to. `borrow` reads it
without consuming it: the capsule stays the owner and gives the array back when it is dropped, so whoever uses the
address keeps the capsule. `capsule` makes one, of the older kind: what it points to lives until the consumer calls its
deleter, or until the capsule goes unconsumed.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

CPU, CUDA, ROCM, ROCM_HOST, CUDA_HOST = 1, 2, 10, 11, 3  # DLDeviceType
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}  # DLDataTypeCode
_BYTES = {10: "float8_e4m3fn", 12: "float8_e5m2"}  # the same of DLPack 1.1
_NAME, _VERSIONED = b"dltensor", b"dltensor_versioned"
_VERSION = (1, 0)
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True)
class Borrowed:
    """strides: in bytes. dtype: as NumPy names it. read_only: None where it is not said. capsule: keep it for as long
    as the address is used."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    read_only: bool | None
    capsule: Any


def lend(array: Any) -> Borrowed:
    """What an array with `__dlpack__` gives. Without a stream the producer orders itself before the default stream,
    which is the one used here."""
    try:
        return borrow(array.__dlpack__(max_version=_VERSION))
    except TypeError:  # from before version 1
        return borrow(array.__dlpack__())


def borrow(capsule: Any) -> Borrowed:
    """What a capsule of DLPack holds. Raises TypeError for any other object."""
    name = next((n for n in (_NAME, _VERSIONED) if _is_capsule(capsule, n)), None)
    if name is None:
        raise TypeError(f"__dlpack__ gave no capsule named dltensor: {capsule!r}")
    at = _pointer(id(capsule), name)
    read_only = None
    if name == _VERSIONED:
        managed = _ManagedVersioned.from_address(at)
        if managed.major != _VERSION[0]:
            raise TypeError(f"DLPack of version {managed.major} is not known")
        tensor, read_only = managed.tensor, bool(managed.flags & _READ_ONLY)
    else:
        tensor = _Managed.from_address(at).tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    kind = tensor.dtype
    itemsize = max(1, kind.bits * kind.lanes // 8)
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else compact(shape)
    dtype = _BYTES.get(kind.code) or f"{_KINDS.get(kind.code, f'dtype code {kind.code}, ')}{kind.bits}"
    dtype += f"x{kind.lanes}" * (kind.lanes != 1)
    address = (tensor.data or 0) + tensor.byte_offset
    return Borrowed(address, shape, tuple(itemsize * s for s in strides), dtype, itemsize, read_only, capsule)


def compact(shape: tuple[int, ...], itemsize: int = 1) -> tuple[int, ...]:
    """Strides of an array whose elements follow each other, the last axis fastest."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


_alive: dict[int, Any] = {}  # DLManagedTensor's address -> what must live as long as it does


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(managed: int) -> None:
    _alive.pop(managed, None)


# Prototypes of their own: a dying capsule is handled by its bare address, as no reference to it may be made any more.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def _is_capsule(found: Any, name: bytes) -> bool:
    return type(found).__name__ == "PyCapsule" and bool(_is_valid(id(found), name))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    """A capsule goes: give back what it holds unless a consumer took it (and renamed the capsule)."""
    if _is_valid(capsule, _NAME):
        _alive.pop(_pointer(capsule, _NAME), None)


def capsule(
    owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], device: tuple[int, int],
    dtype: str = "float32",
) -> Any:  # fmt: skip
    """A capsule for data at an address, which `owner` keeps alive. strides: in elements."""
    dims = (ctypes.c_int64 * len(shape))(*shape)
    steps = (ctypes.c_int64 * len(strides))(*strides)
    kind = dtype.rstrip("0123456789")
    code = next(code for code, name in _KINDS.items() if name == kind)
    bits = int(dtype.removeprefix(kind))
    tensor = _Tensor(address, _Device(*device), len(shape), _DataType(code, bits, 1), dims, steps, 0)
    managed = _Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    at = ctypes.addressof(managed)
    _alive[at] = (managed, dims, steps, owner)
    return _new(at, _NAME, ctypes.cast(_drop, ctypes.c_void_p))
