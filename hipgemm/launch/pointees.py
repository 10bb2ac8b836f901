"""Whether an array may be given for a pointer: the type that it points to, by its name in C, against NumPy's type.

What is certainly another type is rejected: other sizes of floats, floats for integers and integers for floats, wider or
narrower integers. What reads the same bytes in another way is not: bytes are taken for all, all are taken for pointers
to bytes; unsigned integers carry floats (u16 a half or a bf16, u32 a float or two halves), unsigned and vectors of
integers whatever they are given; signs do not count; the elements of a vector are numbers of its type.

Limits: structures, `void`, pointers to pointers and types whose name is not known here take anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_QUALIFIERS = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|__global|global)\b")
_TYPES = {
    "short": "i16", "int": "i32", "long": "i64", "long int": "i64", "long long": "i64", "long long int": "i64",
    "unsigned short": "u16", "unsigned int": "u32", "unsigned": "u32", "unsigned long": "u64",
    "unsigned long long": "u64", "ushort": "u16", "uint": "u32", "ulong": "u64", "bool": "bool",
    "i16": "i16", "i32": "i32", "i64": "i64", "u16": "u16", "u32": "u32", "u64": "u64",
    "float": "f32", "double": "f64", "half": "f16", "_Float16": "f16", "__fp16": "f16", "__half": "f16",
    "__half2": "f16 x", "half2": "f16 x", "__bf16": "bf16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16",
    "__hip_bfloat162": "bf16 x", "f16": "f16", "f32": "f32", "f64": "f64", "bf16": "bf16",
}  # fmt: skip
_VECTOR = re.compile(r"HIP_vector_(?:type|base)<(.+), \d+[uU]?L*>|(.+?) ?__vector(?:\(\d+\))?|([a-z]+?)(?:2|3|4|8|16)")


def element(type_: str) -> str:
    """What a pointer of that type points to: `f32`, `bf16`, `i64`, `bool`; ` x` after it for a vector of these. "" for
    what is not known, or may be anything."""
    name = " ".join(_QUALIFIERS.sub(" ", type_).replace("*", " * ").split())
    if not name.endswith(" *"):
        return ""
    name = name.removesuffix(" *").replace("long unsigned int", "unsigned long")
    if name in _TYPES:
        return _TYPES[name]
    vector = _VECTOR.fullmatch(name)
    inner = next(filter(None, vector.groups()), "") if vector else ""
    return f"{_TYPES[inner]} x" if inner in _TYPES else ""


def size(type_: str) -> int:
    """How many bytes an element has that such a pointer points to; 0 where that is not known."""
    if re.search(r"\bchar ?\*$", type_):
        return 1
    return _bytes(element(type_).partition(" ")[0])


def _bytes(kind: str) -> int:
    return 1 if kind == "bool" else int(re.sub(r"\D", "", kind) or 0) // 8


def word(type_: str) -> str:
    """The type of numbers to give for such a pointer, as a launch says it."""
    return {"": "f32", "bool": "u8", "bf16": "u16"}.get(found := element(type_).partition(" ")[0], found)


def takes(type_: str, dtype: np.dtype) -> bool:
    """Whether an array of that type may be what a pointer points to."""
    kind, vector, _ = element(type_).partition(" ")
    if not kind or dtype.itemsize == 1 or dtype.kind not in "biufc":
        return True
    if kind == "bool":
        return False
    size = _bytes(kind)
    if kind[0] in "fb":
        if dtype.kind == "c":
            return kind[0] == "f" and dtype.itemsize == 2 * size
        if dtype.kind == "f":
            return kind[0] == "f" and dtype.itemsize == size
        if size == 2:
            return dtype.itemsize == 2 or dtype.str[1:] == "u4"
        return dtype.kind == "u" and dtype.itemsize == size
    if vector or kind[0] == "u":
        return dtype.kind in "fc" or bool(vector) or dtype.itemsize == size
    return dtype.kind in "iu" and dtype.itemsize == size
