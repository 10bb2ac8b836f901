"""The native part of the cycle model: the C files of this folder, with structures and names from `engine_abi`, compiled
as `isa.native` says.

Results do not depend on the compiler: there is no contraction to FMA, and no other freedom in the sums.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from isa import native
from isa.timing.native import engine_abi

FILES = "engine.h caches.c coalescing.c issue.c valu.c lds.c memory.c waves.c state.c run.c recording.c".split()
"""In the order in which they are compiled: each sees those before it."""
FLAGS = (*native.FLAGS, "-Og")
"""GCC compiles it in half the time of -O1, and it runs as fast; clang takes it as -O1."""
_TYPES = {
    int: ctypes.c_int64, float: ctypes.c_double, engine_abi.Ints: native.pointer("int64_t"),
    engine_abi.Floats: native.pointer("double"),
}  # fmt: skip
_ELEMENTS = {engine_abi.Ints: np.int64, engine_abi.Floats: np.float64}


def call(function: str, *arguments: Any) -> int:
    """Call an exported function: it takes numbers as int64_t, arrays and the tuples of `layout` by address.

    Raises isa.toolchain.ToolchainMissing where the library lies in no cache and there is no C compiler.
    """
    entry = getattr(_library(), function)
    entry.restype = ctypes.c_int64
    words: list[Any] = []
    kept = []
    for argument in arguments:
        if isinstance(argument, tuple):
            kept.append(_structure(argument))
            words.append(ctypes.c_void_p(ctypes.addressof(kept[-1])))
        elif isinstance(argument, np.ndarray):
            words.append(_address(argument))
        else:
            words.append(ctypes.c_int64(argument))
    return int(entry(*words))


def _address(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def _structure(values: Any) -> ctypes.Structure:
    """The C structure of one of engine_abi.STRUCTS; it lives as long as the arrays do."""
    words: list[Any] = []
    for value, (name, type_) in zip(values, _FIELDS[type(values)].items(), strict=True):
        if type_ in _ELEMENTS:
            assert value.dtype == _ELEMENTS[type_], f"{name} is {value.dtype}"
            words += [_address(value).value, len(value)]
        else:
            words.append(value)
    return STRUCTURES[type(values)](*words)


def _structure_type(struct: type) -> type[ctypes.Structure]:
    fields: list[tuple[str, Any]] = []
    for name, type_ in _FIELDS[struct].items():
        fields.append((name, _TYPES[type_]))
        if type_ in _ELEMENTS:
            fields.append((f"{name}_n", ctypes.c_int64))
    return type(struct.__name__, (ctypes.Structure,), {"_fields_": fields})


_FIELDS: dict[type, dict[str, Any]] = {struct: get_type_hints(struct) for struct in engine_abi.STRUCTS}
STRUCTURES = {struct: _structure_type(struct) for struct in engine_abi.STRUCTS}


def source() -> str:
    """The whole C text."""
    numbers = {name: getattr(engine_abi, name) for name in engine_abi.CONSTANTS}
    header = native.header({**numbers, "CAUSES": len(engine_abi.CAUSES)}, [*STRUCTURES.values(), engine_abi.Log])
    return native.text(header, [Path(__file__).with_name(name) for name in FILES])


@functools.cache
def _library() -> ctypes.CDLL:
    return native.load("timing", source(), FLAGS)


def address(function: str) -> int:
    """Where an exported function lies."""
    return ctypes.cast(getattr(_library(), function), ctypes.c_void_p).value or 0
