"""The host's memory as a program names it: by addresses that may be wrong.

A HIP runtime is handed raw addresses. What it reads of its own accord (an image without a length, argument lists,
names) is read only where memory is, so that a mistake ends in an error code and not in a dead process.
"""

from __future__ import annotations

import ctypes
import functools
import mmap


@functools.cache
def _msync() -> ctypes._CFuncPtr:  # type: ignore[name-defined]
    function = ctypes.CDLL(None).msync
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


def is_mapped(address: int, size: int) -> bool:
    """Whether all pages of [address, address + size) exist in this process.

    On Linux msync(MS_ASYNC) does nothing but fail with ENOMEM on a hole.
    """
    if size <= 0:
        return size == 0
    if address <= 0 or address + size > 1 << 64:
        return False
    first = address & -mmap.PAGESIZE
    return bool(_msync()(first, address + size - first, 1) == 0)


def read(address: int, size: int) -> bytes:
    """`size` bytes at an address, none if they are not all there."""
    return ctypes.string_at(address, size) if is_mapped(address, size) else b""


def read_text(address: int) -> bytes | None:
    """The zero-terminated string at an address; None where there is none."""
    text = b""
    while is_mapped(address + len(text), 1):
        room = mmap.PAGESIZE - (address + len(text)) % mmap.PAGESIZE
        piece, end, _ = ctypes.string_at(address + len(text), room).partition(b"\0")
        text += piece
        if end:
            return text
    return None
