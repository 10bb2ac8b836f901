"""hiprtc: compiles HIP source to code objects at run time, with the compiler that builds the kernels.

Real hiprtc is a library of its own, libhiprtc.so; here the same library answers, and hip-python is pointed to it. A
source is compiled as hiprtc does it: the HIP header and AMD's macros are there without an include (`__HIPCC_RTC__`,
`__HIP_PLATFORM_AMD__`, `HIP_VERSION` and its parts), -O3, no host code, one code object for the target of
`--offload-arch` (the card's own if not given). With -fgpu-rdc it becomes bitcode instead, for `rtc_link`.
What the compiler says is the program's log.

The HIP header is AMD's own for hiprtc, out of rocm-llvm-python, with AMD's device libraries where they are found
(`hipgemm.kernels.compiling.headers`), else the freestanding one of this project, which has no libm beyond the
compiler's builtins.

A name expression (`f<int>`, `&variable`) becomes a pointer after the source, so that it is instantiated as C++ has it
and found under its symbol's name in the assembly.

Sources: ROCm/clr, hipamd/src/hiprtc; hiprtc.h for types and codes.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import partial
from pathlib import Path

from hipgemm.kernels.compiling import command_line, kept
from hipgemm.kernels.compiling import headers as hip_headers
from hipgemm.kernels.object import INCLUDE
from hipgemm.simulated_hip.abi import (
    VERSION,
    VERSION_NUMBER,
    Answer,
    Int,
    Pointer,
    Text,
    answers,
    call,
    does,
    known,
    refuse_if,
    store,
)
from hipgemm.simulated_hip.host import is_mapped, read_text
from hipgemm.simulated_hip.runtime import RtcProgram, Runtime
from isa import cache, toolchain
from isa.errors import IsaError

MACROS = ("-D__HIPCC_RTC__", *map("-DHIP_VERSION_{}={}".format, ("MAJOR", "MINOR", "PATCH"), VERSION))
FLAGS = ("-O3", *MACROS)
RELOCATABLE = "-fgpu-rdc"
POINTER = "__hipgemm_name_"
LOWERED = re.compile(rf"^{POINTER}(\d+):\n\s*\.quad\s+(\S+)", re.M)
ARCH_OPTIONS = ("--offload-arch=", "--gpu-architecture=")


class Rtc(IntEnum):
    """hiprtcResult: the codes that are given here, by their names without HIPRTC_."""

    SUCCESS = 0
    OUT_OF_MEMORY = 1
    ERROR_PROGRAM_CREATION_FAILURE = 2
    ERROR_INVALID_INPUT = 3
    ERROR_INVALID_PROGRAM = 4
    ERROR_INVALID_OPTION = 5
    ERROR_COMPILATION = 6
    ERROR_BUILTIN_OPERATION_FAILURE = 7
    ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8
    ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9
    ERROR_NAME_EXPRESSION_NOT_VALID = 10
    ERROR_INTERNAL_ERROR = 11
    ERROR_LINKING = 100


class RtcError(Answer):
    """A hiprtc call's answer other than success; it is no HIP error, so hipGetLastError does not know it."""

    def __init__(self, code: Rtc) -> None:
        super().__init__(code)


_refuse_if = partial(refuse_if, code=Rtc.ERROR_INVALID_INPUT, error=RtcError)


def _text(address: int) -> bytes:
    return known(read_text(address), Rtc.ERROR_INVALID_INPUT, RtcError)


def _texts(address: int, count: int) -> list[str]:
    _refuse_if(count and not is_mapped(address, 8 * count))
    return [os.fsdecode(_text(ctypes.c_uint64.from_address(address + 8 * i).value)) for i in range(count)]


def _program(rt: Runtime, handle: int) -> RtcProgram:
    _refuse_if(handle not in rt.programs, code=Rtc.ERROR_INVALID_PROGRAM)
    return rt.programs[handle]


def _made(made: bytes | None) -> bytes:
    """What a program was compiled to, the one or the other."""
    return known(made, Rtc.ERROR_INVALID_PROGRAM, RtcError)


def _give(out: int, data: bytes) -> None:
    """Write into a buffer whose size the program asked for before."""
    _refuse_if(not is_mapped(out, len(data)))
    ctypes.memmove(out, data, len(data))


@call
def hiprtcVersion(rt: Runtime, major: Pointer, minor: Pointer) -> None:
    for where, number in zip((major, minor), VERSION, strict=False):
        store(where, ctypes.c_int, number)


@call
def hiprtcGetErrorString(rt: Runtime, code: Int) -> Text:
    known = code in Rtc._value2member_map_
    return f"HIPRTC_{Rtc(code).name}" if known else "Invalid HIPRTC error code"


@call
def hiprtcCreateProgram(
    rt: Runtime, out: Pointer, source: Pointer, name: Pointer, count: Int, headers: Pointer, names: Pointer
) -> None:
    _refuse_if(not out or not source or count < 0)
    included = dict(zip(_texts(names, count), _texts(headers, count), strict=True))
    called = os.fsdecode(_text(name)) if name else ""
    made = RtcProgram(_text(source), Path(called).name or "CompileSource", included)
    store(out, ctypes.c_uint64, rt.handle(rt.programs, made))


@call
def hiprtcDestroyProgram(rt: Runtime, program: Pointer) -> None:
    _refuse_if(not is_mapped(program, 8))
    handle = ctypes.c_uint64.from_address(program)
    _program(rt, handle.value)
    del rt.programs[handle.value]
    handle.value = 0


@call
def hiprtcCompileProgram(rt: Runtime, program: Pointer, count: Int, options: Pointer) -> None:
    """HIPRTC_ERROR_COMPILATION where the compiler fails: the log says why."""
    given, asked = _program(rt, program), _texts(options, count)
    archs = [o.split("=", 1)[1].split(":")[0] for o in asked if o.startswith(ARCH_OPTIONS)]
    rest = (o for o in asked if not o.startswith(ARCH_OPTIONS) and o != RELOCATABLE)
    flags = (*FLAGS, *command_line.all_from_anywhere(rest))
    relocatable = RELOCATABLE in asked
    given.code = given.bitcode = None
    try:
        made, given.log, lowered = compiled(given, archs[-1] if archs else rt.arch, flags, relocatable)
    except toolchain.UnsupportedArch as error:
        given.log = str(error)
        raise RtcError(Rtc.ERROR_INVALID_OPTION) from error
    except IsaError as error:
        given.log = str(error)
        raise RtcError(Rtc.ERROR_COMPILATION) from error
    given.code, given.bitcode = (None, made) if relocatable else (made, None)
    given.names = dict(zip(given.names, lowered, strict=True))


@call
def hiprtcAddNameExpression(rt: Runtime, program: Pointer, expression: Pointer) -> None:
    given = _program(rt, program)
    _refuse_if(given.code or given.bitcode, code=Rtc.ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
    given.names.setdefault(os.fsdecode(_text(expression)), "")


@call
def hiprtcGetLoweredName(rt: Runtime, program: Pointer, expression: Pointer, out: Pointer) -> None:
    given, name = _program(rt, program), os.fsdecode(_text(expression))
    _refuse_if(not given.code and not given.bitcode, code=Rtc.ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
    _refuse_if(name not in given.names, code=Rtc.ERROR_NAME_EXPRESSION_NOT_VALID)
    store(out, ctypes.c_uint64, rt.text_address(given.names[name]))


def _pointers(names: Iterable[str]) -> str:
    """C++ that points at what each expression names."""
    texts = (name if name.lstrip().startswith(("&", "(")) else f"&{name}" for name in names)
    return "".join(
        f'\nextern "C" {{ __attribute__((used)) __device__ const void *{POINTER}{i} = (const void *)({text}); }}'
        for i, text in enumerate(texts)
    )


def compiled(
    program: RtcProgram, arch: str, flags: tuple[str, ...] = FLAGS, relocatable: bool = False
) -> tuple[bytes, str, list[str]]:
    """The code object, or the bitcode if it is to be linked later, what the compiler said, and the symbols of the name
    expressions; found in the cache if all of it was compiled before."""
    tools = toolchain.find()
    toolchain.check_arch(arch)
    headers = (part for item in sorted(program.headers.items()) for part in item)
    amds = None if tools.kind == "hipcc" else hip_headers.amds_header()
    include = hip_headers.AMD if amds else INCLUDE
    own = [file.read_bytes() for file in (*hip_headers.files(), *([amds] if amds else []))]
    if amds:
        header = [*hip_headers.of_hiprtc(amds, tools, arch), f"-DHIP_VERSION={VERSION_NUMBER}"]
    else:
        header = ["-include", "hip/hip_runtime.h", *hip_headers.PRINTF]
    flags = (*header, *flags)
    mode = RELOCATABLE if relocatable else "|"
    pointers = _pointers(program.names)
    texts = [program.source, *(text.encode() for text in program.headers.values())]
    own += [file.read_bytes() for file in kept.included([(text, None) for text in texts], flags)]
    key = cache.key(program.source, pointers, program.name, *headers, mode, arch, *flags, tools.identity, *own)

    def fill(folder: Path) -> None:
        for name, text in program.headers.items():
            if (at := (folder / name).resolve()).is_relative_to(folder.resolve()):
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_text(text)
        source, assembly, made = (folder / f"{program.name}{end}" for end in (".hip", ".s", ".o"))
        source.write_bytes(program.source + pointers.encode())
        options = [f"-I{folder}", *flags]
        said = []
        if not relocatable or program.names:
            said.append(
                tools.compile(source, assembly, arch=arch, cu_mode=False, include=include, flags=options, keep=False)
            )
            found = {int(i): symbol for i, symbol in LOWERED.findall(assembly.read_text())}
            (folder / "names").write_text("\n".join(found[i] for i in range(len(program.names))))
        if relocatable:
            source.write_bytes(program.source)
            # Each unit defines a symbol that is called after this id: units that are linked need different ones.
            options.append(f"-cuid={key[:16]}")
            said.append(tools.bitcode(source, folder / "code", arch=arch, include=include, flags=options))
        else:
            said.append(tools.assemble(assembly, made, arch=arch))
            said.append(tools.link([made], folder / "code"))
        (folder / "log").write_text("\n".join(filter(None, said)))

    folder = cache.make("hiprtc", key, fill)
    lowered = (folder / "names").read_text().split("\n") if program.names else []
    return (folder / "code").read_bytes(), (folder / "log").read_text(), lowered


def _declare(what: str, data: Callable[[RtcProgram], bytes]) -> None:
    """The call that gives something of a program, and the one that says how long it is."""
    does(f"hiprtcGet{what}", "Pointer Pointer", lambda rt, program, out: _give(out, data(_program(rt, program))))
    answers(f"hiprtcGet{what}Size", "Pointer Size*", lambda rt, program: len(data(_program(rt, program))))


_declare("ProgramLog", lambda program: program.log.encode() + b"\0")
_declare("Code", lambda program: _made(program.code))
_declare("Bitcode", lambda program: _made(program.bitcode))
