"""Packing: numbers, texts, tuples, mappings, arrays and dataclasses -> bytes, and back, for entries of the cache.

A dataclass is packed by its name and fields, and made again only if it is one of those that the reader names: what lies
in a file never decides what is run. Lists come back as tuples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

_DATA, _ARRAY = 1, 2
_PATHS = "surrogateescape"
"""Names of files that are no UTF-8."""


def pack(value: Any) -> bytes:
    """TypeError for what is none of the above."""
    import msgpack

    made: bytes = msgpack.packb(value, default=_packed, unicode_errors=_PATHS)
    return made


def unpack(data: bytes, classes: Iterable[type]) -> Any:
    """classes: of the dataclasses in it. LookupError for what `pack` did not make of these."""
    import msgpack

    known = {c.__name__: c for c in classes}

    def unpacked(kind: int, data: bytes) -> Any:
        if kind == _DATA:
            name, fields = read(data)
            return known[name](**fields)
        import numpy as np

        dtype, shape, octets = read(data)
        return np.frombuffer(octets, dtype).reshape(shape)

    def read(data: bytes) -> Any:
        return msgpack.unpackb(data, ext_hook=unpacked, use_list=False, unicode_errors=_PATHS)

    try:
        return read(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise LookupError from error


def _packed(value: Any) -> Any:
    """What msgpack has no type for."""
    import msgpack

    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return msgpack.ExtType(_DATA, pack((type(value).__name__, fields)))
    import numpy as np

    if isinstance(value, np.ndarray):
        return msgpack.ExtType(_ARRAY, pack((value.dtype.str, value.shape, value.tobytes())))
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value).__name__)
