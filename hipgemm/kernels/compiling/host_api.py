"""HIP's API for the host as C++ headers: hip-python's declarations -> text, and AMD's header for hiprtc -> the same for
host and device.

hip-python repeats HIP's headers in Cython (`cyhip.pxd`: types, structures, functions) and as Python's enumerations (the
values). Names that AMD's header for hiprtc defines are left to that. Parameters that HIP's own header gives a value (a
stream, flags, a symbol's offset and direction, where they are last) have it here, too. Overloads for C++ and launches
are written by hand: `kernels_hip/include_amd/hip/hip_runtime_api.h`.

In the header for hiprtc all functions are the device's. HIP's own has vectors, dim3, both bfloat16, complex numbers and
half for the host, too: `for_both` asks clang for that (`force_cuda_host_device`).

Limits: Cython has neither anonymous members nor bit fields; those of HIP are in `_ANONYMOUS` and `_OF_BITS`.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isa import cache, packages

HEADERS = {"hip_host_api.h": "hip", "hiprtc_host_api.h": "hiprtc"}
"""Header -> the module of hip-python that has its values; `cy` before it, its declarations."""
AMDS = "hiprtc_runtime.h"
_SAME = """
channel_descriptor device_functions driver_types hip_bfloat16 hip_common hip_complex hip_cooperative_groups hip_ext
hip_fp16 hip_math_constants hip_profile hip_texture_types hip_vector_types hip_version library_types math_functions
surface_types texture_types
amd_detail/amd_hip_atomic amd_detail/amd_hip_bf16 amd_detail/amd_hip_fp16 amd_detail/amd_hip_runtime
amd_detail/amd_hip_vector_types amd_detail/amd_warp_functions amd_detail/host_defines"""
"""Headers of HIP all of which is in its hip_runtime.h here."""
_BEGIN, _END = "#pragma clang force_cuda_host_device begin\n", "#pragma clang force_cuda_host_device end\n"
_FOR_BOTH = (
    (r"^template <typename T, unsigned int \w+> struct HIP_vector_base;", r"^extern \"C\" .*\b__ockl_get_local_id\("),
    (r"^struct hip_bfloat16 \{", r"^#define __device__ "),
)  # fmt: skip
"""Where functions for both begin and end."""
_OF_HIP_6 = (
    (r"^  (T x(?:, \w)*;)\n(?=  using value_type)", r"  union { Native_vec_ data; struct { \1 }; };"),
    (r"^  return \*hip_impl::get_native_pointer\(base_vec\);\n", r"  return base_vec.data;"),
)
"""Vectors' member `data`, one of LLVM's, which they had until HIP 7.0 and libraries read: text -> what was before."""
_ANONYMOUS = {
    "hipMemAllocationProp": ("hipMemAllocationType type", "hipMemAllocationProp_union_0"),
    "hipLaunchAttribute_st": ("char pad[4]", "hipLaunchAttribute_st_union_0"),
    "hipGraphNodeParams": ("int reserved0[3]", "hipGraphNodeParams_union_0"),
}
"""Structure -> a member, and the union without a name that comes after it."""
_OF_BITS = ("hipDeviceArch_t",)
"""Structures whose members have a bit each."""
_BY_DEFAULT = {
    r"hipStream_t \w+": "nullptr", r"unsigned int flags": "0", r"size_t (offset|dynSharedMemPerBlk)": "0",
    r"int blockSizeLimit": "0",
}  # fmt: skip
"""A parameter -> its value, where all after it have one."""
_NAMED_ANEW = {name: f"{name}R0600" for name in ("hipGetDeviceProperties", "hipChooseDevice", "hipDeviceProp_t")}
"""Names that stand for a newer structure since HIP 6.0."""


def folder(amds: Path) -> Path:
    """A folder with the headers, made where it is not there: HEADERS, as far as hip-python is installed, and AMDS, of
    `amds`."""
    declared = _declarations()

    def fill(made: Path) -> None:
        text = amds.read_text()
        (made / AMDS).write_text(for_both(text))
        known = _defined(text)
        (made / "hip" / "amd_detail").mkdir(parents=True)
        for name in _SAME.split():
            (made / "hip" / f"{name}.h").write_text("#include <hip/hip_runtime.h>\n")
        (made / "hip" / "hiprtc.h").write_text("#include <hip/hip_runtime.h>\n#include <hiprtc_host_api.h>\n")
        for header, file in declared.items():
            values = getattr(packages.load("hip"), HEADERS[header])
            (made / header).write_text("\n".join(_header(file.read_text(), vars(values), known)) + "\n")

    stamp = f"{amds} {amds.stat().st_mtime_ns}"
    return cache.make("host-api", cache.key(stamp, identity(), Path(__file__).read_bytes()), fill)


def identity() -> str:
    """A text that changes when hip-python's declarations do."""
    return "\n".join(f"{file} {file.stat().st_mtime_ns}" for file in _declarations().values())


def _declarations() -> dict[str, Path]:
    """Header -> the declarations that it is made of, where hip-python is installed: in rocm.bindings since 7.14."""
    for package, prefix in (("rocm.bindings", "cy"), ("hip", "c")):
        at = packages.found(package)
        files = {header: at / f"{prefix}{values}.pxd" for header, values in HEADERS.items()} if at else {}
        if files and all(file.is_file() for file in files.values()):
            return files
    return {}


def for_both(text: str) -> str:
    """AMD's header with functions for host and device in it, and vectors' `data`. What is not found stays as it is."""
    for pattern, before in _OF_HIP_6:
        text = re.sub(
            pattern, rf"#ifdef __HIPGEMM_VECTORS_OF_HIP_6__\n{before}\n#else\n\g<0>#endif\n", text, flags=re.M
        )
    text = text.replace("#define __HOST_DEVICE__ __device__\n", "#define __HOST_DEVICE__ __host__ __device__\n")
    for first, last in _FOR_BOTH:
        begin = re.search(first, text, re.M)
        end = begin and re.compile(last, re.M).search(text, begin.end())
        if begin and end:
            text = "".join(
                (text[: begin.start()], _BEGIN, text[begin.start() : end.start()], _END, text[end.start() :])
            )
    return text


def _defined(text: str) -> set[str]:
    """Names of types and macros in AMD's header, as hiprtc reads it."""
    lines, skipped, depth = [], 0, 0
    for line in text.splitlines():
        word = line.split(maxsplit=1)[:1]
        if word in (["#if"], ["#ifdef"], ["#ifndef"]):
            depth += 1
            skipped = skipped or depth * (line.replace(" ", "").startswith("#if!defined(__HIPCC_RTC__)"))
        elif word == ["#else"] and skipped == depth:
            skipped = 0
        elif word == ["#endif"]:
            skipped = 0 if skipped == depth else skipped
            depth -= 1
        lines += [] if skipped else [line]
    seen = "\n".join(lines)
    pattern = r"^(?:typedef )?(?:struct|enum|union) (?:\w+ )?(\w+)\s*[{;]|^} ?(\w+);|^typedef [^{]*?(\w+);"
    pattern += r"|^#define (\w+)|\busing (\w+) ="
    return {name for names in re.findall(pattern, seen, re.M) for name in names if name} | {"hipCreateChannelDesc"}


def _header(pxd: str, values: Mapping[str, object], known: Collection[str]) -> Iterator[str]:
    """The lines of a header. pxd: Cython; values: of enumerations and macros; known: names to leave out."""
    yield '#pragma once\n#include <cstddef>\n#include <cstdint>\nextern "C" {'
    for old, new in _NAMED_ANEW.items():
        yield f"#define {old} {new}"
    blocks = list(_blocks(pxd))
    bodies = {name: members for _, name, members in blocks}
    for kind, name, members in blocks:
        if name in known or name.startswith("__"):
            continue
        if kind == "enum":
            numbers = ", ".join(f"{member} = {number}" for member, number in _numbers(name, members, values))
            yield f"typedef enum {name} {{ {numbers} }} {name};" if name else f"enum {{ {numbers} }};"
        elif kind in ("struct", "union"):
            after, union = _ANONYMOUS.get(name, ("", ""))
            members = [f"{m}; union {{ {_body(bodies[union])} }}" if m == after else m for m in members]
            members = [f"{member} : 1" for member in members] if name in _OF_BITS else members
            yield f"typedef {kind} {name} {name};" + (f" {kind} {name} {{ {_body(members)} }};" if members else "")
        elif kind == "ctypedef":
            yield f"typedef {members[0]};"
        elif kind == "function":
            yield f"{members[0]} {name}({', '.join(_with_values(members[1:]))});"
        elif isinstance(number := values.get(name), int):
            number = number if number > -8 else f"{number & 0xFFFFFFFF:#x}"
            yield f"#define {name} {f'((void *){number})' if 'LAUNCH_PARAM' in name else number}"
    yield "}"


def _body(members: Sequence[str]) -> str:
    return " ".join(f"{member};" for member in members)


def _blocks(pxd: str) -> Iterator[tuple[str, str, list[str]]]:
    """What Cython declares, in order: (kind, name, members). Of a function these are its type and its parameters."""
    lines = [line for line in pxd.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for at, line in enumerate(lines):
        if found := re.match(r"\s*(?:cdef|ctypedef) (enum|struct|union) ?(\w*)(?: \"(\w+)\")?:", line):
            deeper = itertools.takewhile(depths[at].__lt__, depths[at + 1 :])
            members = [line.strip() for line, _ in zip(lines[at + 1 :], deeper, strict=False)]
            yield found[1], found[3] or found[2], [member for member in members if member != "pass"]
        elif found := re.match(r"\s*ctypedef (?!bint)(.*?)(\w+)(\) .*)?$", line):
            yield "ctypedef", found[2], [line.strip().removeprefix("ctypedef ")]
        elif found := re.match(r"cdef ([^(]*?)(\w+)\((.*)\) (?:except|noexcept)", line):
            yield "function", found[2], [found[1], *filter(None, re.split(r", ?(?![^(]*\))", found[3]))]
        elif found := re.match(r"\s*cdef [\w *]*?(\w+)$", line):
            yield "macro", found[1], []


def _numbers(name: str, members: Sequence[str], values: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    kind = values.get(name)
    given = kind.__members__ if isinstance(kind, type) and issubclass(kind, enum.Enum) else values
    for member in members:
        number: Any = given.get(member)
        yield member, int(number.value if isinstance(number, enum.Enum) else number)


def _with_values(parameters: Sequence[str]) -> list[str]:
    """Parameters with values for the last ones."""
    found = list(parameters)
    for at in reversed(range(len(found))):
        value = next((value for pattern, value in _BY_DEFAULT.items() if re.fullmatch(pattern, found[at])), None)
        if value is None:
            break
        found[at] += f" = {value}"
    return found
