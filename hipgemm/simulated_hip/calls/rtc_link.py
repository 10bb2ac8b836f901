"""Linking in hiprtc: bitcode of several programs into one code object.

Parts are what `hiprtcGetBitcode` gave of programs compiled with -fgpu-rdc, or LLVM IR of the program's own, as bitcode
or as text. They become one module by the linker of the toolchain that compiles (link-time optimisation), for the card's
own target. An error of the linker is HIPRTC_ERROR_LINKING, and its text goes to stderr. Options (of the just-in-time
compiler) have no effect here. Not simulated: bundled bitcode, archives, SPIR-V.

Sources: ROCm/clr, hipamd/src/hiprtc/hiprtcInternal.cpp; numbers of input types from hip_runtime_api.h.
"""

from __future__ import annotations

import ctypes
import os
from functools import partial
from pathlib import Path

from hipgemm.simulated_hip.abi import Pointer, UInt, call, does, refuse_if, store
from hipgemm.simulated_hip.calls.rtc import Rtc, RtcError
from hipgemm.simulated_hip.host import is_mapped, read, read_text
from hipgemm.simulated_hip.runtime import RtcLink, Runtime
from isa import cache, toolchain
from isa.errors import IsaError

BITCODE = 100  # hipJitInputLLVMBitcode
MAGIC = b"BC\xc0\xde"


_refuse_if = partial(refuse_if, code=Rtc.ERROR_INVALID_INPUT, error=RtcError)


def _link(rt: Runtime, handle: int) -> RtcLink:
    _refuse_if(handle not in rt.links)
    return rt.links[handle]


def _refuse(rt: Runtime, code: Rtc, error: IsaError) -> RtcError:
    """An answer with words: hiprtc has no other place for them than the log of a program."""
    if rt.say is not None:
        rt.say(f"hipgemm: HIPRTC_{code.name}\n{error}")
    return RtcError(code)


def _add(rt: Runtime, state: int, kind: int, name: str, data: bytes) -> None:
    if kind != BITCODE:
        raise _refuse(
            rt,
            Rtc.ERROR_INVALID_INPUT,
            IsaError(f"{name} cannot be linked", expected=f"LLVM bitcode or IR, type {BITCODE}", got=f"type {kind}"),
        )
    _link(rt, state).parts.append((name, data))


@call
def hiprtcLinkCreate(rt: Runtime, count: UInt, options: Pointer, values: Pointer, out: Pointer) -> None:
    _refuse_if(not is_mapped(out, 8))
    store(out, ctypes.c_uint64, rt.handle(rt.links, RtcLink()))


def _add_data(rt: Runtime, state: int, kind: int, image: int, size: int, name: int, *_: int) -> None:
    _refuse_if(not size or not is_mapped(image, size))
    _add(rt, state, kind, os.fsdecode(read_text(name) or b"LLVM bitcode"), read(image, size))


def _add_file(rt: Runtime, state: int, kind: int, file: int, *_: int) -> None:
    name = os.fsdecode(read_text(file) or b"")
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise _refuse(rt, Rtc.ERROR_INVALID_INPUT, IsaError(f"cannot read {name!r}: {error.strerror}")) from error
    _add(rt, state, kind, name, data)


_OPTIONS = "UInt Pointer Pointer"
does("hiprtcLinkAddData", f"Pointer Int Pointer Size Pointer {_OPTIONS}", _add_data)
does("hiprtcLinkAddFile", f"Pointer Int Pointer {_OPTIONS}", _add_file)


@call
def hiprtcLinkComplete(rt: Runtime, state: Pointer, out: Pointer, size: Pointer) -> None:
    """The code object belongs to the link: it is gone with hiprtcLinkDestroy."""
    link = _link(rt, state)
    _refuse_if(not is_mapped(out, 8) or not is_mapped(size, 8))
    try:
        code = _code(link, rt.arch)
    except IsaError as error:
        raise _refuse(rt, Rtc.ERROR_LINKING, error) from error
    link.code = ctypes.create_string_buffer(code, len(code))
    store(out, ctypes.c_uint64, ctypes.addressof(link.code))
    store(size, ctypes.c_size_t, len(code))


def _destroy(rt: Runtime, state: int) -> None:
    _link(rt, state)
    del rt.links[state]


does("hiprtcLinkDestroy", "Pointer", _destroy)


def _code(link: RtcLink, arch: str) -> bytes:
    """The linked code object; found in the cache if the same parts were linked before."""
    if not link.parts:
        raise IsaError("there is nothing to link", hint="hiprtcLinkAddData")
    tools = toolchain.find()

    def fill(folder: Path) -> None:
        parts = []
        for i, (_, data) in enumerate(link.parts):
            parts.append(folder / f"{i}.bc")
            if data.startswith(MAGIC):
                parts[-1].write_bytes(data)
            else:
                (folder / f"{i}.ll").write_bytes(data.rstrip(b"\0"))
                tools.bitcode(folder / f"{i}.ll", parts[-1], arch=arch)
        tools.link_bitcode(parts, folder / "code", arch=arch)

    key = cache.key("link", arch, tools.identity, *(data for _, data in link.parts))
    return (cache.make("hiprtc", key, fill) / "code").read_bytes()
