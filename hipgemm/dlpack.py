"""DLPack: an array of another library as address, shape and strides, and ours as one.

The structures are those of dlpack.h (DLPack 1.0; https://dmlc.github.io/dlpack). A producer hands out a PyCapsule
named "dltensor". `borrow` reads it without consuming it: the capsule stays the owner and gives the array back when it
is dropped, so whoever uses the address keeps the capsule. `capsule` makes one: what it points to lives until the
consumer calls its deleter, or until the capsule goes unconsumed.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

CPU, CUDA, ROCM, ROCM_HOST, CUDA_HOST = 1, 2, 10, 11, 3  # DLDeviceType
_FLOAT = 2  # DLDataTypeCode
_KINDS = {0: "int", 1: "uint", _FLOAT: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_NAME = b"dltensor"


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


@dataclass(frozen=True)
class Borrowed:
    """strides: in elements. dtype: as NumPy names it. capsule: keep it for as long as the address is used."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    capsule: Any


def borrow(capsule: Any) -> Borrowed:
    """What a capsule of the name "dltensor" holds. Raises TypeError for any other object."""
    if type(capsule).__name__ != "PyCapsule" or not _is_valid(id(capsule), _NAME):
        raise TypeError(f"__dlpack__ gave no capsule named dltensor: {capsule!r}")
    tensor = _Managed.from_address(_pointer(id(capsule), _NAME)).tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else compact(shape)
    kind = tensor.dtype
    name = f"{_KINDS.get(kind.code, f'dtype code {kind.code}, ')}{kind.bits}" + (f"x{kind.lanes}" * (kind.lanes != 1))
    return Borrowed((tensor.data or 0) + tensor.byte_offset, shape, strides, name, capsule)


def compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of an array whose elements follow each other, the last axis fastest."""
    strides = [1] * len(shape)
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


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    """A capsule goes: give back what it holds unless a consumer took it (and renamed the capsule)."""
    if _is_valid(capsule, _NAME):
        _alive.pop(_pointer(capsule, _NAME), None)


def capsule(owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], device: tuple[int, int]) -> Any:
    """A capsule for float32 data at an address, which `owner` keeps alive. strides: in elements."""
    dims = (ctypes.c_int64 * len(shape))(*shape)
    steps = (ctypes.c_int64 * len(strides))(*strides)
    tensor = _Tensor(address, _Device(*device), len(shape), _DataType(_FLOAT, 32, 1), dims, steps, 0)
    managed = _Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    at = ctypes.addressof(managed)
    _alive[at] = (managed, dims, steps, owner)
    return _new(at, _NAME, ctypes.cast(_drop, ctypes.c_void_p))
