"""Modules, functions and launches: the HIP calls that load code and start kernels. Codes for misuse are those of AMD's
runtime (ROCm/clr, hipamd/src/hip_module.cpp).

Explicit arguments come either as one buffer (`extra`: {1, address, 2, address of its size, 3}) or one by one
(`kernelParams`: an array of addresses); which bytes lie where in the kernarg segment says the code object's metadata.
Hidden arguments are the card's to fill.

What a launch needs of the host beside its arguments: where kernels print to (printf.py, hostcall.py), and where the
workgroups of a cooperative launch meet.

They meet in a `struct mg_info` of AMD's device libraries (ROCm/llvm-project, amd/device-libs/ockl/src/cg.cl):
grid.sync() of cooperative_groups.h counts them there in memory, since ROCm 6.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any, TypeAlias

from hipgemm.launch.launch import LARGEST_GRID
from hipgemm.simulated_hip import hostcall, printf
from hipgemm.simulated_hip.abi import (
    ErrorCode,
    HipError,
    LaunchConfig,
    Pointer,
    answers,
    call,
    does,
    known,
    refuse_if,
    store,
    store_if_asked,
)
from hipgemm.simulated_hip.calls import device
from hipgemm.simulated_hip.calls.streams import between_events, known_stream, submit
from hipgemm.simulated_hip.card import ExpectsTimedLaunches
from hipgemm.simulated_hip.host import is_mapped, read, read_text
from hipgemm.simulated_hip.runtime import KernelHandle, LoadedModule, Runtime
from isa import targets
from isa.errors import IsaError
from isa.object import bundle, code_object
from isa.object.code_object import Argument, DescribedKernel
from isa.sim.run.faults import BudgetSpent, StoppedFault

Triple: TypeAlias = tuple[int, int, int]
BUFFER_POINTER, BUFFER_SIZE, END = 1, 2, 3  # HIP_LAUNCH_PARAM_*


def _text(address: int) -> str:
    return os.fsdecode(known(read_text(address)))


def _load(rt: Runtime, image: bytes) -> int:
    """The handle of a module."""
    try:
        elf = bundle.unbundle(image, rt.arch)
        code = code_object.load(elf)
        if not targets.runs_on(code.arch, rt.arch):
            raise code_object.OtherTarget("a code object for another GPU", expected=rt.arch, got=code.arch)
        loaded = LoadedModule(rt.card.load(elf), code)
    except code_object.OtherTarget as error:
        raise HipError(ErrorCode.NoBinaryForGpu, error) from error
    except IsaError as error:
        raise HipError(ErrorCode.InvalidImage, error) from error
    return rt.handle(rt.modules, loaded)


def load_kernel(rt: Runtime, image: bytes, name: str) -> int:
    """The handle of a kernel of a code object that this project built."""
    return function_of_module(rt, _load(rt, image), name)


def load_at(rt: Runtime, image: int) -> int:
    """The handle of a module whose image lies at an address; how long it is, it says itself."""
    try:
        size = code_object.image_size(lambda offset, size: read(image + offset, size))
    except IsaError as error:
        raise HipError(ErrorCode.InvalidImage, error) from error
    return _load(rt, read(image, size))


@call
def hipModuleLoad(rt: Runtime, out: Pointer, file: Pointer) -> None:
    name = _text(file)
    refuse_if(not out)
    try:
        with open(os.fsencode(name), "rb") as stream:
            data = stream.read()
    except FileNotFoundError as error:  # programs ask for what may be there
        raise HipError(ErrorCode.FileNotFound) from error
    except OSError as error:
        raise HipError(ErrorCode.FileNotFound, error) from error
    store(out, ctypes.c_uint64, _load(rt, data))


@call(alias=("hipModuleLoadFatBinary",), ignoring={"hipModuleLoadDataEx": ("UInt", "Pointer", "Pointer")})
def hipModuleLoadData(rt: Runtime, out: Pointer, image: Pointer) -> None:
    refuse_if(not out or not image)
    store(out, ctypes.c_uint64, load_at(rt, image))


@call
def hipModuleUnload(rt: Runtime, module: Pointer) -> None:
    loaded = rt.find(rt.modules, module)
    for handle in loaded.functions.values():
        del rt.functions[handle]
    del rt.modules[module]
    rt.card.unload(loaded.module)


def function_of_module(rt: Runtime, module: int, wanted: str) -> int:
    """The handle of a module's kernel; hipErrorNotFound."""
    loaded = rt.find(rt.modules, module)
    refuse_if(wanted not in loaded.code.kernels, ErrorCode.NotFound)
    if wanted not in loaded.functions:
        loaded.functions[wanted] = rt.handle(
            rt.functions,
            KernelHandle(loaded.module.kernels[wanted], loaded.code.kernel(wanted), printf.formats(loaded.code.printf)),
        )
    return loaded.functions[wanted]


answers("hipModuleGetFunction", "Handle* Pointer Pointer", lambda rt, m, name: function_of_module(rt, m, _text(name)))
answers("hipModuleGetFunctionCount", "UInt* Pointer", lambda rt, module: len(rt.find(rt.modules, module).code.kernels))


@call
def hipModuleGetGlobal(rt: Runtime, address: Pointer, size: Pointer, module: Pointer, name: Pointer) -> None:
    variables = rt.find(rt.modules, module).module.globals
    found = known(variables.get(_text(name)), ErrorCode.NotFound)
    store_if_asked(address, ctypes.c_uint64, found[0])
    store_if_asked(size, ctypes.c_size_t, found[1])


def function(rt: Runtime, handle: int) -> KernelHandle:
    """The function of a handle; a bad one is hipErrorInvalidHandle."""
    return rt.find(rt.functions, handle)


SHAPE = "UInt UInt UInt UInt UInt UInt"
"""x, y, z of the grid, in workgroups, and of the block, in work-items."""
does(
    "hipModuleLaunchKernel",
    f"Pointer {SHAPE} UInt Pointer Pointer Pointer",
    lambda rt, handle, *given: launch(rt, handle, given[:3], given[3:6], *given[6:]),
)


def _launch_items(rt: Runtime, handle: int, *given: int) -> None:
    """As hipModuleLaunchKernel, by work-items in place of workgroups, and with events before and after. A workgroup is
    no larger than the grid; the last along an axis may be smaller, unless the kernel was compiled for whole ones."""
    items, asked, (*rest, start, stop, _) = given[:3], given[3:6], given[6:]
    block = tuple(map(min, items, asked))
    refuse_if(0 in block)
    x, y, z = (-(-i // b) for i, b in zip(items, block, strict=True))
    last = tuple(i - (n - 1) * b for i, n, b in zip(items, (x, y, z), block, strict=True))
    partial = {} if last == block else {"last": last}
    if partial and (facts := function(rt, handle).facts).metadata.get(".uniform_work_group_size"):
        raise HipError(
            ErrorCode.InvalidValue,
            IsaError(
                f"{facts.name} was compiled for whole workgroups",
                expected=f"a multiple of {block} work-items",
                got=f"{items}",
                hint="-fno-offload-uniform-block compiles for any number",
            ),
        )
    with between_events(rt, rest[1], start, stop):
        launch(rt, handle, (x, y, z), block, *rest, asked=asked, **partial)  # type: ignore[arg-type, misc]


_WITH_EVENTS = f"Pointer {SHAPE} Size Pointer Pointer Pointer Pointer Pointer UInt"
does("hipExtModuleLaunchKernel hipHccModuleLaunchKernel", _WITH_EVENTS, _launch_items)


def launch(
    rt: Runtime,
    handle: int,
    grid: Triple,
    block: Triple,
    dynamic_lds: int,
    stream: int,
    parameters: int,
    extra: int,
    asked: Triple | None = None,
    **options: Any,
) -> None:
    """Check a launch as HIP does, run it, and keep its report. asked: the workgroup that was asked for, if it is larger
    than the grid; `options` go to the card's `launch`."""
    launched = function(rt, handle)
    known_stream(rt, stream)
    _check_shape(launched.facts, grid, asked or block, dynamic_lds)
    if parameters and extra:
        raise HipError(ErrorCode.InvalidValue, IsaError("arguments are given both as kernelParams and as extra"))
    arguments = [a for a in launched.facts.args if not a.hidden]
    kernarg = _from_extra(extra, arguments) if extra else _from_parameters(parameters, arguments)
    submit(
        rt, stream, "kernel",
        lambda: launch_checked(rt, launched, grid, block, dynamic_lds, kernarg, **options),
    )  # fmt: skip


def launch_checked(
    rt: Runtime, launched: KernelHandle, grid: Triple, block: Triple, dynamic_lds: int, kernarg: bytes, **options: Any
) -> None:
    """Run a launch that the card can start, and keep its report. kernarg: the explicit arguments as they lie."""
    if rt.budget is not None:
        options["budget"] = rt.budget
    together = prod(grid) if options.get("cooperative") else 0
    try:
        with services(rt, launched, kernarg, together) as segment:
            if rt.timing_asked and isinstance(rt.card, ExpectsTimedLaunches):
                rt.card.expect(launched.kernel, grid, block, segment, dynamic_lds)
            report = rt.card.launch(launched.kernel, grid, block, segment, dynamic_lds, **options)
    except IsaError as error:
        raise HipError(_code_of_fault(error), error) from error
    rt.last_launch = report
    if rt.timing_asked:
        rt.timed.append(report)


@call
def hipDrvLaunchKernelEx(rt: Runtime, config: Pointer, handle: Pointer, parameters: Pointer, extra: Pointer) -> None:
    """As hipModuleLaunchKernel, by a HIP_LAUNCH_CONFIG; attributes of a launch are not simulated."""
    refuse_if(not is_mapped(config, ctypes.sizeof(LaunchConfig)))
    given = LaunchConfig.from_address(config)
    if given.attributes:
        raise HipError(ErrorCode.NotSupported, IsaError("the simulated card supports no launch attributes"))
    grid, block = tuple(given.grid), tuple(given.block)
    launch(rt, handle, grid, block, given.dynamic_lds, given.stream or 0, parameters, extra)


def _check_shape(kernel: DescribedKernel, grid: Triple, block: Triple, dynamic_lds: int) -> None:
    """An error for what the card cannot start: more work-items than the kernel was compiled for is
    hipErrorLaunchFailure, LDS that does not fit beside the kernel's own hipErrorOutOfMemory, anything else
    hipErrorInvalidValue."""
    threads = block[0] * block[1] * block[2]
    required = tuple(kernel.metadata.get(".reqd_workgroup_size") or ())
    limits = zip(grid, LARGEST_GRID, block, strict=True)
    code = None
    if (
        0 in grid
        or not 0 < threads <= device.MAX_WORKGROUP
        or any(g > limit or g * b >= 1 << 32 for g, limit, b in limits)
        or dynamic_lds > device.LDS_OF_WORKGROUP
    ):
        code = ErrorCode.InvalidValue
    elif threads > kernel.max_workgroup or (required and required != tuple(block)):
        code = ErrorCode.LaunchFailure
    if code is not None:
        most = min(kernel.max_workgroup, device.MAX_WORKGROUP)
        raise HipError(
            code,
            IsaError(
                f"{kernel.name} cannot start with this grid and workgroup",
                expected=f"a grid of at most {LARGEST_GRID}, 1 to {most} work-items in a workgroup"
                + (f", exactly {required}" if required else "")
                + f", {device.LDS_OF_WORKGROUP - kernel.descriptor.lds_bytes} bytes of dynamic LDS",
                got=f"grid {grid}, workgroup {block}, {dynamic_lds} bytes of dynamic LDS",
            ),
        )
    if kernel.descriptor.lds_bytes + dynamic_lds > device.LDS_OF_WORKGROUP:
        raise HipError(
            ErrorCode.OutOfMemory, IsaError(f"a workgroup has at most {device.LDS_OF_WORKGROUP} bytes of LDS")
        )


def _end_of(arguments: Sequence[Argument]) -> int:
    return max((a.offset + a.size for a in arguments), default=0)


def _from_extra(extra: int, arguments: Sequence[Argument]) -> bytes:
    """The kernarg bytes of a HIP_LAUNCH_PARAM list."""
    address = size = None
    for at in range(extra, extra + 16 * 8, 16):
        if not is_mapped(at, 16):
            break
        key, value = (ctypes.c_uint64 * 2).from_address(at)
        if key == BUFFER_POINTER:
            address = value
        elif key == BUFFER_SIZE and is_mapped(value, 8):
            size = ctypes.c_size_t.from_address(value).value
        else:
            break
    if key != END or address is None or size is None or not is_mapped(address, size):
        raise HipError(ErrorCode.InvalidValue)
    needed = _end_of(arguments)
    if size and not needed:
        raise HipError(
            ErrorCode.LaunchOutOfResources,
            IsaError("the kernel takes no arguments", got=f"an argument buffer of {size} bytes"),
        )
    if size < needed:
        raise HipError(
            ErrorCode.InvalidValue,
            IsaError("the argument buffer is too short", expected=f"{needed} bytes", got=f"{size} bytes"),
        )
    return ctypes.string_at(address, size)[:needed]


def _from_parameters(parameters: int, arguments: Sequence[Argument]) -> bytes:
    """The kernarg bytes from an array with one address an argument."""
    kernarg = bytearray(_end_of(arguments))
    refuse_if(arguments and not is_mapped(parameters, 8 * len(arguments)))
    for i, argument in enumerate(arguments):
        source = ctypes.c_uint64.from_address(parameters + 8 * i).value
        refuse_if(not is_mapped(source, argument.size))
        kernarg[argument.offset : argument.offset + argument.size] = ctypes.string_at(source, argument.size)
    return bytes(kernarg)


def _code_of_fault(error: IsaError) -> ErrorCode:
    if isinstance(error, BudgetSpent):
        return ErrorCode.LaunchTimeOut
    accesses = getattr(error, "address", None) is not None and not isinstance(error, StoppedFault)
    return ErrorCode.IllegalAddress if accesses else ErrorCode.LaunchFailure


MEETING_ARGUMENT = "hidden_multigrid_sync_arg"
MEETING = struct.Struct("<QIIQQIIIxxxx")
"""struct mg_info: of many grids, which there are none; this grid's number, how many; work-items before it and of all;
two words that the barrier counts in; the workgroups of this grid."""


@contextmanager
def services(rt: Runtime, launched: KernelHandle, kernarg: bytes, together: int = 0) -> Iterator[bytes]:
    """The kernarg bytes with what a kernel needs that prints: a buffer whose text goes to stdout afterwards, or one
    that is served while it runs. together: workgroups that may wait for one another, in a cooperative launch."""
    places = {a.kind: a.offset for a in launched.facts.args if a.hidden}
    with ExitStack() as ending:
        if hostcall.ARGUMENT in places and rt.take is not None:
            buffer = ending.enter_context(hostcall.Hostcalls(rt.card.memory, rt.take, _print))
            kernarg = _with(kernarg, places[hostcall.ARGUMENT], buffer)
        if printf.ARGUMENT in places and launched.formats:
            buffer = ending.enter_context(_printed(rt, launched.formats))
            kernarg = _with(kernarg, places[printf.ARGUMENT], buffer)
        if MEETING_ARGUMENT in places and together:
            buffer = ending.enter_context(_meeting(rt, together))
            kernarg = _with(kernarg, places[MEETING_ARGUMENT], buffer)
        yield kernarg


def _with(kernarg: bytes, offset: int, address: int) -> bytes:
    padded = kernarg.ljust(offset + 8, b"\0")
    return padded[:offset] + address.to_bytes(8, "little") + padded[offset + 8 :]


@contextmanager
def _meeting(rt: Runtime, workgroups: int) -> Iterator[int]:
    """The address of an mg_info of one grid, at which no workgroup has arrived yet."""
    buffer = rt.card.memory.allocate(MEETING.size)
    try:
        ctypes.memmove(buffer, MEETING.pack(0, 0, 1, 0, 0, 0, 0, workgroups), MEETING.size)
        yield buffer
    finally:
        rt.card.memory.free(buffer)


@contextmanager
def _printed(rt: Runtime, formats: dict[int, str]) -> Iterator[int]:
    """The address of a buffer that printf fills."""
    size = printf.HEADER.size + printf.ROOM
    buffer = rt.card.memory.allocate(size)
    try:
        ctypes.memmove(buffer, printf.HEADER.pack(0, printf.ROOM), printf.HEADER.size)
        try:
            yield buffer
        finally:  # what a launch printed before it stopped
            used, _ = printf.HEADER.unpack(ctypes.string_at(buffer, printf.HEADER.size))
            written = ctypes.string_at(buffer, min(size, printf.HEADER.size + used))
            for to_stderr, text in printf.lines(written, formats):
                _print(to_stderr, text)
    finally:
        rt.card.memory.free(buffer)


def _print(to_stderr: bool, text: str) -> None:
    (sys.stderr if to_stderr else sys.stdout).write(text)
