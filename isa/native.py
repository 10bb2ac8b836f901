"""The project's own C: compiled for this machine at first use, kept in the cache, loaded by each process.

    numbers and ctypes structures --header--> \\
                                               one C text --host's compiler--> library in the cache --ctypes--> call
    the files of a folder                     /

They are compiled as one text, so that functions are inlined across files. It is freestanding C: no headers, no
allocation; whoever calls brings the memory. The library is kept under a hash of its text (`isa.cache`); which compilers
can make it says `isa.toolchain.build_host_library`, which raises ToolchainMissing where there is none.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isa import cache, toolchain

FLAGS = ("-std=c11", "-ffreestanding", "-nostdlib", "-ffp-contract=off", "-fvisibility=hidden")
_TYPES = {
    ctypes.c_uint8: "uint8_t", ctypes.c_uint16: "uint16_t", ctypes.c_uint32: "uint32_t", ctypes.c_uint64: "uint64_t",
    ctypes.c_int64: "int64_t", ctypes.c_double: "double",
}  # fmt: skip
_PRELUDE = """\
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT8_TYPE__ int8_t;
typedef __UINT8_TYPE__ uint8_t;
typedef _Bool bool;
enum { false, true };
#define INT32_MAX __INT32_MAX__
#define INT64_MAX __INT64_MAX__
#define EXPORT __attribute__((visibility("default")))
"""


@functools.cache
def pointer(to: str) -> type[ctypes.c_uint64]:
    """The type of a structure's field that holds an address: a number to Python, `to *` to C."""
    return type("Address", (ctypes.c_uint64,), {"to": to})


def header(numbers: Mapping[str, int], structures: Sequence[type[ctypes.Structure]]) -> str:
    """C for numbers, as an enumeration, and for structures, by their names in small letters."""
    lines = ["enum {", *(f"    {name} = {int(value)}{'u' * (value >> 63)}," for name, value in numbers.items()), "};"]
    for structure in structures:
        lines.append(f"struct {structure.__name__.lower()} {{")
        for name, type_, *_ in structure._fields_:
            size = f"[{type_._length_}]" if issubclass(type_, ctypes.Array) else ""
            element: Any = type_._type_ if issubclass(type_, ctypes.Array) else type_
            c_type = f"{element.to} *" if hasattr(element, "to") else f"{_TYPES[element]} "
            lines.append(f"    {c_type}{name}{size};")
        lines.append("};")
    return "\n".join(lines) + "\n"


def text(top: str, files: Sequence[Path]) -> str:
    """One C text: the types that there are, `top`, and the files, each of which sees those before it."""
    return "\n".join([_PRELUDE, top, *(f'#line 1 "{file.name}"\n{file.read_text()}' for file in files)])


def build(kind: str, source: str, flags: Sequence[str], name: str, links: Sequence[str] = ()) -> Path:
    """The cache's folder in which the library `name` was compiled from C. links: other names for it, in its folder."""

    def fill(folder: Path) -> None:
        library = folder / name
        library.parent.mkdir(exist_ok=True)
        library.with_suffix(".c").write_text(source)
        toolchain.build_host_library(library.with_suffix(".c"), library, flags)
        for link in links:
            (folder / link).symlink_to(library.name)

    return cache.make(kind, cache.key(source, *flags, *links, sys.platform, platform.machine()), fill)


def load(kind: str, source: str, flags: Sequence[str]) -> ctypes.CDLL:
    """The library that is compiled from C, ready to be called."""
    return ctypes.CDLL(str(build(kind, source, flags, f"{kind}.so") / f"{kind}.so"))
