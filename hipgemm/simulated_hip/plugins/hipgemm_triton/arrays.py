"""Arrays for Triton: memory of the host that stands for the card's.

An array is registered with the runtime as a whole, with whatever it is a view of, once its address is asked for, and
until it is gone. So kernels read and write it in place, and an access outside of it is a fault. A kernel may write to
whatever it is given, so read-only memory is rejected with an error.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import weakref
from typing import Any

import numpy as np

_registered: dict[int, int] = {}


class HostTensor:
    """A NumPy array as Triton takes tensors. dtype: Triton's or NumPy's, if not the array's own: `HostTensor(words,
    triton.language.bfloat16)`. Registered from its first `data_ptr()` for as long as the array's memory lives."""

    device = "cpu"

    def __init__(self, array: np.ndarray, dtype: Any = None) -> None:
        self.array, self.shape = array, array.shape
        self.dtype = array.dtype if dtype is None else dtype

    @property
    def data(self) -> Any:
        return self.array.data

    def data_ptr(self) -> int:
        owner = self._owner
        if not self.array.flags.writeable:
            raise ValueError("a kernel may write to its arguments, and this array is read-only: pass a copy")
        spans = [(n - 1) * s for n, s in zip(owner.shape, owner.strides, strict=True)] if owner.size else []
        low = owner.ctypes.data + sum(s for s in spans if s < 0)
        reach(owner, low, sum(map(abs, spans)) + owner.itemsize if owner.size else 0)
        return self.array.ctypes.data

    def ptr_range(self) -> int:
        """Bytes of the memory that it lies in."""
        return self._owner.nbytes

    def stride(self, axis: int | None = None) -> Any:
        steps = tuple(s // self.array.itemsize for s in self.array.strides)
        return steps if axis is None else steps[axis]

    def element_size(self) -> int:
        return self.array.itemsize

    def numel(self) -> int:
        return self.array.size

    def copy_(self, other: HostTensor) -> None:
        self.array[...] = other.array

    def clone(self) -> HostTensor:
        return HostTensor(self.array.copy(), self.dtype)

    def zero_(self) -> None:
        self.array[...] = 0

    @property
    def _owner(self) -> np.ndarray:
        owner = self.array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return owner


def reach(owner: object, base: int, size: int) -> None:
    """Let kernels reach `size` bytes, for as long as `owner` lives."""
    if not size or _registered.get(base) == size:
        return
    if base in _registered:
        _let_go(base)
    code = hip().hipHostRegister(ctypes.c_void_p(base), ctypes.c_size_t(size), 0)
    if code and code != 712:  # part of what is registered already, under another owner
        raise RuntimeError(
            f"the simulated card cannot access {size} bytes at {base:#x}: hipHostRegister returns {code}"
        )
    if not code:
        _registered[base] = size
        weakref.finalize(owner, _let_go, base).atexit = False


def _let_go(base: int) -> None:
    if _registered.pop(base, None) is not None:
        hip().hipHostUnregister(ctypes.c_void_p(base))


@functools.cache
def hip() -> ctypes.CDLL:
    """The simulated card's library."""
    return ctypes.CDLL(os.environ["TRITON_LIBHIP_PATH"])


def reachable(value: Any) -> Any:
    """An argument of a launch as Triton takes it: arrays as `HostTensor`, also inside of tuples and descriptors."""
    if isinstance(value, np.ndarray):
        return HostTensor(value)
    if type(value) is tuple:
        return tuple(map(reachable, value))
    if isinstance(getattr(value, "base", None), np.ndarray) and hasattr(value, "block_shape"):
        value.base = HostTensor(value.base)
    return value


def teach_torch() -> None:
    """A CPU tensor's address is one that kernels reach, if there is torch in this process."""
    torch = sys.modules.get("torch")
    if torch is None or hasattr(torch.Tensor.data_ptr, "known_to_the_card"):
        return
    plain = torch.Tensor.data_ptr

    def data_ptr(tensor: Any) -> int:
        address: int = plain(tensor)
        if tensor.device.type == "cpu" and address:
            whole = tensor._base if tensor._base is not None else tensor
            storage = whole.untyped_storage() if hasattr(whole, "untyped_storage") else whole.storage()
            reach(whole, storage.data_ptr(), storage.nbytes())
        return address

    data_ptr.known_to_the_card = True  # type: ignore[attr-defined]
    torch.Tensor.data_ptr = data_ptr
