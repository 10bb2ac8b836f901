"""AMD's device libraries, which compilers link into kernels: ocml (mathematics) and ockl (the rest), as LLVM bitcode.

Their functions read constants that say for which target and with which options they are compiled; clang's driver links
a file of its own for each value. Here they are one text (`_CONSTANTS`), so that two files are enough, wherever they
come from: ROCm, a distribution, the wheels of Triton or IREE; but none that lacks what AMD's header calls (Debian
12's). What a kernel does not call is not linked.

Sources: ROCm/llvm-project, amd/device-libs (oclc.h, doc/OCML.md); clang/lib/Driver/ToolChains/AMDGPU.cpp for values.
"""

from __future__ import annotations

import glob
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from isa import cache, toolchain
from isa.errors import IsaError
from isa.toolchain import Toolchain

NAMES = ("ocml.bc", "ockl.bc")
_LATEST = b"__ockl_steadyctr_u64"
"""What AMD's header calls that its libraries have had for the shortest time."""
_NAMED, _OWN = "HIP_DEVICE_LIB_PATH", "own"
"""The variable that names a folder, or _OWN for none: this project's functions (`kernels_hip/include/ocml`)."""
_CONSTANTS = """\
target triple = "amdgcn-amd-amdhsa"
@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 {isa}, align 4
@__oclc_ABI_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 500, align 4
@__oclc_finite_only_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_unsafe_math_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_daz_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_correctly_rounded_sqrt32 = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 1, align 1
@__oclc_wavefrontsize64 = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 {wave64}, align 1
"""


def folder() -> Path | None:
    """Where both libraries lie: as _NAMED says, in a ROCm, in a distribution's place, in a wheel."""
    named = os.environ.get(_NAMED)
    if named == _OWN:
        return None
    held = (f for f in map(Path, _folders()) if all((f / name).is_file() for name in NAMES))
    return next((f for f in held if str(f) == named or _LATEST in (f / "ockl.bc").read_bytes()), None)


def is_chosen() -> bool:
    """Whether AMD's libraries were asked for, which this project's own header does without otherwise."""
    return os.environ.get(_NAMED, _OWN) != _OWN


def choose(given: str) -> None:
    """Has this process, and those that it starts, take the libraries in a folder, or this project's for "own". IsaError
    where they are not there."""
    os.environ[_NAMED] = given
    if given != _OWN and folder() != Path(given):
        raise IsaError(
            f"{given} does not have {' and '.join(NAMES)}", expected="a folder of AMD's device libraries, or own"
        )


def _folders() -> Iterator[str]:
    if named := os.environ.get(_NAMED):
        yield named
    for root in (os.environ.get("ROCM_PATH"), "/opt/rocm"):
        if root:
            yield f"{root}/amdgcn/bitcode"
            yield f"{root}/lib/llvm/amdgcn/bitcode"
    for pattern in (
        "/usr/lib/*/amdgcn/bitcode",
        "/usr/lib/clang/*/amdgcn/bitcode",
        "/usr/lib/clang/*/lib/amdgcn/bitcode",
    ):
        yield from sorted(glob.glob(pattern), reverse=True)
    wheels = {"triton": "backends/amd/lib", "iree": "compiler/_mlir_libs/iree_platform_libs/rocm"}
    for package, place in wheels.items():
        spec = importlib.util.find_spec(package)
        for at in (spec and spec.submodule_search_locations) or ():
            yield f"{at}/{place}"


def flags(tools: Toolchain, arch: str, wave64: bool = False) -> list[str]:
    """The options with which a compiler of HIP links the libraries; nothing where there are none."""
    if (libraries := folder()) is None:
        return []
    files = [*(libraries / name for name in NAMES), _constants(tools, arch, wave64)]
    return [word for file in files for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(file))]


def _constants(tools: Toolchain, arch: str, wave64: bool) -> Path:
    digits = toolchain.check_arch(arch).removeprefix("gfx")
    number = int(digits[:-2]) * 1000 + int(digits[-2]) * 100 + int(digits[-1], 16)
    text = _CONSTANTS.format(isa=number, wave64=int(wave64))

    def fill(made: Path) -> None:
        (made / "constants.ll").write_text(text)
        tools.bitcode(made / "constants.ll", made / "constants.bc", arch=arch)

    return cache.make("device-libraries", cache.key(text, arch, tools.identity), fill) / "constants.bc"
