"""The headers that HIP source is compiled with: hipcc has ROCm's; other compilers get, until one serves, those of

own     `kernels_hip/include`: a part of HIP's device language, with its mathematics (`ocml`), which AMD's header gets
        from there, too, where AMD's device libraries are not installed.
amd     AMD's own header for hiprtc (rocm-llvm-python brings it) under the names that sources include
        (`kernels_hip/include_amd`, `host_api`): all of HIP's device language, and its API for the host, as hip-python
        declares it; with C++'s standard headers, ziglang's or the system's, and AMD's device libraries where there are
        any (`device_libraries`). A source that misses a name of C++ is given those that clang's wrapper for HIP reads.
rocm    ROCm's or a distribution's, for a clang of the system.

Folders of `-I` come before these, unless they have a HIP of their own. Of several attempts' errors those of the attempt
that came furthest are reported. Limit: no headers of ROCm's other libraries (hipCUB, rocBLAS, Thrust ...);
of the device library ockl what any kernel needs (the linker says so).
"""

from __future__ import annotations

import itertools
import os
import platform
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hipgemm.kernels.compiling import device_libraries, host_api
from hipgemm.kernels.object import INCLUDE, SOURCES
from isa import cache, children, packages, toolchain
from isa.toolchain import Toolchain, ToolError

AMD = SOURCES / "include_amd"
"""AMD's header for hiprtc under the names that sources include."""
WAVE64 = "-mwavefrontsize64"
_BUFFERED = "-mprintf-kind=buffered"
PRINTF = ("-include", str(INCLUDE / "ocml/printf.h"), _BUFFERED)


_LENIENT = tuple(
    f"-Wno-{name}"
    for name in ("unknown-warning-option", "invalid-specialization", "missing-template-arg-list-after-template-kw")
)
"""What clang of ROCm's age does not count as an error."""
_OF_CXX = tuple(
    word for name in ("algorithm", "complex", "new", "sstream", "string", "vector") for word in ("-include", name)
)
_DATA = r"error: no member named 'data' in '(?:const )?HIP_vector_|error: static assertion .*sizeof \(base_vec\)"
_CRASHED = r"clang frontend command failed with exit code 1\d\d"
_ASKED = {
    r"error: .*(?:in namespace 'std'|undefined template 'std::)": _OF_CXX,
    r"undeclared identifier '(?:std(?:err|in|out)?|abort|ato\w|clock|exit|f?print\w+|getenv|mem\w+|puts|qsort|s?rand"
    r"|str\w+|time)'": _OF_CXX,
    "no matching function for call to 'printf'": _OF_CXX,  # of the host
    "std::initializer_list was not found": _OF_CXX,
    "undeclared identifier '_VSTD'": ("-D_VSTD=std",),
    _DATA: ("-D__HIPGEMM_VECTORS_OF_HIP_6__",),
    "note: non-constexpr function 'operator int' cannot be used in a": ("-D__HIPGEMM_WARP_SIZE_OF_HIP_6__",),
    _CRASHED: ("-O1",),
}
"""What an error with AMD's header says -> options for another attempt."""
_OF_HOST = re.compile(rb"<<<|\bhip(?:Malloc|Launch|Memcpy|Success|Error_t|Stream_t)")
"""What only the host's part of a source has, for which this project's header has nothing."""
_HINTS = {
    "The image/texture API not supported on the device": (
        "textures and surfaces are not supported, as instructions on images are not: a card says so by"
        " hipDeviceAttributeImageSupport, headers by __HIP_NO_IMAGE_SUPPORT"
    ),
    r"error: '((?:roc|hip)(?:blas|cub|fft|prim|rand|solver|sparse|tensor|tracer|wmma)\w*|rccl|miopen|thrust|cub)/": (
        "{} is a library of its own, not a part of HIP: -I names the folder of its headers"
    ),
    r"error: '(cu(?:da|blas|rand|fft)\w*\.h\w*)'": (
        "{} is CUDA's: hipify-perl, of ROCm's HIPIFY, makes HIP of CUDA's sources"
    ),
    r"Cannot select: intrinsic %llvm\.amdgcn\.(wmma)": (
        "RDNA4's builtins of {} end in _gfx12, and take half the elements of A and B: lane l holds row or column "
        "l % 16, k from 8 * (l / 16) on; of C column l % 16, rows from 8 * (l / 16) on"
    ),
    r"'__builtin_amdgcn_(wmma)\w+_gfx12' needs target feature": (
        "RDNA3's builtins of {} have no _gfx12, and take twice the elements of A and B: lane l holds row or column "
        "l % 16 whole; of C column l % 16, each second row from l / 16 on"
    ),
}
"""What a compiler says -> what to do about it."""


@dataclass(frozen=True)
class Headers:
    """include, flags: what `Toolchain.compile` of `tools` takes."""

    called: str
    tools: Toolchain
    include: Path | None
    flags: tuple[str, ...] = ()


def compile_kernel(
    tools: Toolchain, source: Path, out: Path, *, arch: str, cu_mode: bool, flags: Sequence[str], whole: bool = False
) -> str:
    """`Toolchain.compile` with the first headers that serve. Returns what was said, ToolError where none serves. whole:
    the device's part of a program, with headers whose types the host's part has, too; no temps are kept."""
    errors: list[ToolError] = []
    calls_host = amds_header() is not None and _OF_HOST.search(source.read_bytes()) is not None
    own = any((Path(flag[2:]) / "hip/hip_runtime.h").is_file() for flag in flags if flag.startswith("-I"))
    for headers in choices(tools, arch, WAVE64 in flags):
        if (whole or calls_host) and headers.include == INCLUDE and headers.tools.kind != "hipcc":
            continue
        include, given = headers.include, [*headers.flags, *flags]
        if include and not own and headers.tools.kind != "hipcc":
            include, given = None, [*flags, f"-I{include}", *headers.flags]
        compiled = partial(
            headers.tools.compile, source, out, arch=arch, cu_mode=cu_mode, include=include, keep=not whole,
            rocm=headers.include is None,
        )  # fmt: skip
        try:
            said = as_asked(compiled, given)
        except ToolError as error:
            errors.append(error)
            continue
        return said if headers.tools == tools else f"with {headers.called}, by {headers.tools}\n{said}".strip()
    if not errors:
        packages.load("rocm.llvm")
    shown = max(errors, key=lambda error: _reached(error.message, source))
    for missing, hint in _HINTS.items():
        if found := re.search(missing, shown.message):
            raise ToolError(shown.message, hint=hint.format(*found.groups()))
    raise shown


def as_asked(attempt: Callable[..., str], flags: Sequence[str]) -> str:
    """What an attempt to compile says, called with `flags`, and with what the errors of earlier ones ask for."""
    note = ""
    while True:
        try:
            return f"{note}{attempt(flags=flags)}".strip()
        except ToolError as error:
            if re.search(_CRASHED, error.message):
                note = "warning: the compiler crashed, and compiled with -O1 then\n"
            asked = (options for said, options in _ASKED.items() if re.search(said, error.message))
            if (options := next((each for each in asked if each[-1] not in flags), None)) is None:
                raise
            flags = [*flags, *options]


def _reached(said: str, source: Path) -> tuple[int, int]:
    """How far a compiler came that rejects a source, to be compared: the line at which it first found an error, there
    or in what is included there, and fewer errors."""
    if not re.search(r":\d+:\d+: (?:fatal )?error:", said):
        return sys.maxsize, 0  # the source was read: the compiler crashed, or had no more time or memory
    if re.search(r"^/usr/.* fatal error:", said, re.M):
        return 0, 0  # in the system's headers, which have others to go with than these
    before, _, _ = said.partition("error:")
    lines = re.findall(rf"(?:^|from ){re.escape(str(source.resolve()))}:(\d+)", before, re.M)
    return int(lines[-1]) if lines else 0, -said.count("error:")


def choices(tools: Toolchain, arch: str, wave64: bool = False) -> Iterator[Headers]:
    """The headers that `tools` may compile with, in the order in which they are tried. wave64: for waves of 64 lanes,
    which this project's own header does not know."""
    chosen = device_libraries.is_chosen() and tools.kind != "hipcc"
    libraries = device_libraries.flags(tools, arch, wave64) if chosen else []
    named = ["-D__HIPGEMM_AMD_DEVICE_LIBRARY__"] if libraries else []
    printf = [] if tools.kind == "hipcc" else [_BUFFERED]
    if tools.kind == "hipcc" or not wave64:
        yield Headers("this project's header", tools, INCLUDE, (*printf, *named, *libraries))
    if tools.kind == "hipcc":
        return
    if amds := amds_header():
        flags = (*of_hiprtc(amds, tools, arch, wave64), *_standard(tools), *_LENIENT)
        yield Headers("AMD's header for hiprtc", tools, AMD, flags)
    clang = next((found for found in toolchain.available() if found.kind == "clang"), None)
    if clang and (root := _rocm()):
        flags = (f"--rocm-path={root}", *device_libraries.flags(clang, arch, wave64))
        yield Headers(f"the headers of {root}", clang, None, flags)


def of_hiprtc(header: Path, tools: Toolchain, arch: str, wave64: bool = False) -> list[str]:
    """Options that go with the folder AMD: its header, and the device libraries or what replaces a part of them."""
    libraries = device_libraries.flags(tools, arch, wave64) or [
        "-D__HIP_NO_IMAGE_SUPPORT=1",
        "-include",
        str(AMD / "without_libraries.h"),
    ]
    waves = ["-D__HIPGEMM_WAVE64__"] if wave64 else []
    return [f"-I{host_api.folder(header)}", "-include", "hip/hip_runtime.h", *PRINTF, *waves, *libraries]


def for_host(tools: Toolchain) -> list[str]:
    """Options for the host's part of a program. IsaError where AMD's header is not installed."""
    if (amds := amds_header()) is None:
        packages.load("rocm.llvm")
        raise ToolError("hiprtc_runtime.h is not in rocm-llvm-python, and HIP's host part needs it")
    own = [f"-I{AMD}", f"-I{host_api.folder(amds)}", "-include", "hip/hip_runtime.h", *PRINTF[:2]]
    return [*own, *_OF_CXX, *_standard(tools), *_LENIENT]


def files() -> list[Path]:
    """All headers of this project."""
    return sorted(file for folder in (INCLUDE, AMD) for file in folder.rglob("*.h"))


def identity() -> str:
    """A text that changes when a source might be compiled with other headers."""
    files = [amds_header(), *((folder / "ocml.bc") for folder in [device_libraries.folder()] if folder), _rocm()]
    made = host_api.identity() if amds_header() else ""
    return "\n".join([made, *(f"{file} {file.stat().st_mtime_ns}" for file in files if file)])


def amds_header() -> Path | None:
    """hiprtc_runtime.h, where it is installed."""
    with suppress(packages.PackageMissing):
        header = packages.folder("rocm.llvm").parent / "amd_comgr" / "hiprtc_runtime.h"
        return header if header.is_file() else None
    return None


def _rocm() -> Path | None:
    roots = [Path(root) for root in (os.environ.get("ROCM_PATH"), "/opt/rocm", "/usr") if root]
    return next((root for root in roots if (root / "include/hip/hip_runtime.h").is_file()), None)


def _standard(tools: Toolchain) -> list[str]:
    """Options for the headers of C and C++ that ziglang brings for its own programs: `zig c++` says them. A clang of
    the system finds the system's."""
    if tools.kind != "ziglang":
        return []

    def fill(folder: Path) -> None:
        (folder / "empty.cpp").touch()
        target = f"{platform.machine().replace('arm64', 'aarch64').replace('AMD64', 'x86_64')}-linux-gnu"
        own = {name: str(folder) for name in ("ZIG_LOCAL_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR")}
        command = [tools.compiler[0], "c++", "-target", target, "-c", "empty.cpp", "-o", "empty.o"]
        done = children.run(command, toolchain.COMPILER, folder, os.environ | own | {"ZIG_VERBOSE_CC": "1"})
        words = shlex.split(done.said.partition("\n")[0])
        folders = [pair for pair in itertools.pairwise(words) if pair[0] == "-isystem"]
        defined = [word for word in words if re.match(r"-D_|-nostdinc", word)]
        (folder / "options").write_text("\n".join([*defined, *(word for pair in folders for word in pair)]))

    made = cache.make("standard-headers", cache.key(tools.identity), fill)
    return (made / "options").read_text().split("\n")
