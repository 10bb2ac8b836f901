"""The native part of the cycle model: the C files of this folder, compiled for this machine at first use.

    engine_abi.py --header--> structures and names  \
                                                  one C text --host's compiler--> library in the cache --ctypes--> call
    engine.h, caches.c, ..., run.c              /

They are compiled as one text, so that functions are inlined across files. It is freestanding C: no headers, no
allocation; whoever calls brings the memory. The library is kept under a hash of its text (`isa.cache`).

Results do not depend on the compiler: there is no contraction to FMA, and no other freedom in the sums.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from isa import cache, toolchain
from isa.timing import engine_abi

FILES = "engine.h caches.c coalescing.c issue.c valu.c lds.c memory.c waves.c state.c run.c".split()
"""In the order in which they are compiled: each sees those before it."""
FLAGS = ("-std=c11", "-O3", "-ffreestanding", "-nostdlib", "-ffp-contract=off", "-fvisibility=hidden")
_TYPES = {int: "int64_t", float: "double", engine_abi.Ints: "int64_t *", engine_abi.Floats: "double *"}
_ELEMENTS = {engine_abi.Ints: np.int64, engine_abi.Floats: np.float64}
_PRELUDE = """\
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT8_TYPE__ int8_t;
typedef __UINT8_TYPE__ uint8_t;
typedef _Bool bool;
enum { false, true };
#define INT32_MAX __INT32_MAX__
#define INT64_MAX __INT64_MAX__
#define EXPORT __attribute__((visibility("default")))
"""


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
            words += [_address(value), len(value)]
        else:
            words.append(value)
    return STRUCTURES[type(values)](*words)


def _structure_type(struct: type) -> type[ctypes.Structure]:
    fields: list[tuple[str, Any]] = []
    for name, type_ in _FIELDS[struct].items():
        if type_ in _ELEMENTS:
            fields += [(name, ctypes.c_void_p), (f"{name}_n", ctypes.c_int64)]
        else:
            fields.append((name, {int: ctypes.c_int64, float: ctypes.c_double}[type_]))
    return type(struct.__name__, (ctypes.Structure,), {"_fields_": fields})


_FIELDS: dict[type, dict[str, Any]] = {struct: get_type_hints(struct) for struct in engine_abi.STRUCTS}
STRUCTURES = {struct: _structure_type(struct) for struct in engine_abi.STRUCTS}


def source() -> str:
    """The whole C text."""
    parts = [_PRELUDE, _header()]
    for name in FILES:
        parts.append(f'#line 1 "{name}"\n{Path(__file__).with_name(name).read_text()}')
    return "\n".join(parts)


def _header() -> str:
    numbers = {name: getattr(engine_abi, name) for name in engine_abi.CONSTANTS}
    lines = ["enum {", *(f"    {name} = {value}," for name, value in numbers.items())]
    lines += [f"    CAUSES = {len(engine_abi.CAUSES)}", "};"]
    for struct in engine_abi.STRUCTS:
        lines.append(f"struct {struct.__name__.lower()} {{")
        for name, type_ in _FIELDS[struct].items():
            lines.append(f"    {_TYPES[type_]} {name};")
            if type_ in _ELEMENTS:
                lines.append(f"    int64_t {name}_n;")
        lines.append("};")
    return "\n".join(lines) + "\n"


@functools.cache
def _library() -> ctypes.CDLL:
    text = source()

    def fill(folder: Path) -> None:
        (folder / "timing.c").write_text(text)
        toolchain.build_host_library(folder / "timing.c", folder / "timing.so", FLAGS)

    folder = cache.make("timing", cache.key(text, *FLAGS, sys.platform, platform.machine()), fill)
    return ctypes.CDLL(str(folder / "timing.so"))
