"""Modules, functions and launches.

Explicit arguments come either as one buffer (`extra`: {1, address, 2, address of its size, 3}) or one by one
(`kernelParams`: an array of addresses); which bytes lie where in the kernarg segment says the code object's metadata.
Hidden arguments are the card's to fill.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any

from hipgemm.simulated_hip.abi import Code, FuncAttributes, HipError, Int, Pointer, UInt, call, store
from hipgemm.simulated_hip.calls import device
from hipgemm.simulated_hip.calls.streams import known_stream
from hipgemm.simulated_hip.image import (
    ImageError,
    NoCodeForCard,
    Reader,
    bytes_reader,
    code_object,
    is_mapped,
    memory_reader,
)
from hipgemm.simulated_hip.runtime import Function, LoadedModule, Runtime
from isa.errors import IsaError

BUFFER_POINTER, BUFFER_SIZE, END = 1, 2, 3  # HIP_LAUNCH_PARAM_*
# hipFunction_attribute -> key of the kernel's metadata.
FUNCTION_ATTRIBUTES = {
    0: ".max_flat_workgroup_size",
    1: ".group_segment_fixed_size",
    3: ".private_segment_fixed_size",
    4: ".vgpr_count",
}
FUNCTION_CONSTANTS = {2: 0, 5: 110, 6: 110, 7: 0, 9: 0}  # constant memory, "ptx" and binary version, cache, carveout
MAX_DYNAMIC_LDS = 8


def _text(address: int) -> str:
    if not is_mapped(address, 1):
        raise HipError(Code.InvalidValue)
    return ctypes.string_at(address).decode("utf-8", "surrogateescape")


def _load(rt: Runtime, out: int, read: Reader) -> None:
    try:
        image = code_object(read, rt.arch)
        loaded = LoadedModule(rt.card.load(image), image)
    except NoCodeForCard as error:
        raise HipError(Code.NoBinaryForGpu, error) from error
    except (ImageError, IsaError) as error:
        raise HipError(Code.InvalidImage, error) from error
    store(out, ctypes.c_uint64, rt.handle(rt.modules, loaded))


@call
def hipModuleLoad(rt: Runtime, out: Pointer, file: Pointer) -> None:
    name = _text(file)
    if not out:
        raise HipError(Code.InvalidValue)
    try:
        with open(os.fsencode(name), "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise HipError(Code.FileNotFound, error) from error
    _load(rt, out, bytes_reader(data))


@call
def hipModuleLoadData(rt: Runtime, out: Pointer, image: Pointer) -> None:
    if not out or not image:
        raise HipError(Code.InvalidValue)
    _load(rt, out, memory_reader(image))


@call
def hipModuleLoadDataEx(
    rt: Runtime, out: Pointer, image: Pointer, count: UInt, options: Pointer, values: Pointer
) -> None:
    hipModuleLoadData(rt, out, image)


@call
def hipModuleUnload(rt: Runtime, module: Pointer) -> None:
    for handle in rt.find(rt.modules, module).functions.values():
        del rt.functions[handle]
    del rt.modules[module]


@call
def hipModuleGetFunction(rt: Runtime, out: Pointer, module: Pointer, name: Pointer) -> None:
    loaded, wanted = rt.find(rt.modules, module), _text(name)
    if wanted not in loaded.module.kernels:
        raise HipError(Code.NotFound)
    if wanted not in loaded.functions:
        loaded.functions[wanted] = rt.handle(rt.functions, Function(loaded.module.kernels[wanted], loaded))
    store(out, ctypes.c_uint64, loaded.functions[wanted])


@call
def hipModuleGetFunctionCount(rt: Runtime, out: Pointer, module: Pointer) -> None:
    store(out, ctypes.c_uint, len(rt.find(rt.modules, module).module.kernels))


@call
def hipModuleGetGlobal(rt: Runtime, address: Pointer, size: Pointer, module: Pointer, name: Pointer) -> None:
    variables = rt.find(rt.modules, module).module.globals
    found = variables.get(_text(name))
    if found is None:
        raise HipError(Code.NotFound)
    if address:
        store(address, ctypes.c_uint64, found[0])
    if size:
        store(size, ctypes.c_size_t, found[1])


def function(rt: Runtime, handle: int) -> Function:
    """The function of a handle; a bad one is hipErrorInvalidDeviceFunction."""
    if handle not in rt.functions:
        raise HipError(Code.InvalidDeviceFunction)
    return rt.functions[handle]


@call
def hipFuncGetAttribute(rt: Runtime, out: Pointer, attribute: Int, handle: Pointer) -> None:
    metadata = function(rt, handle).kernel.metadata
    if attribute in FUNCTION_ATTRIBUTES:
        value = metadata.get(FUNCTION_ATTRIBUTES[attribute], 0)
    elif attribute == MAX_DYNAMIC_LDS:
        value = device.LDS_OF_WORKGROUP - metadata.get(".group_segment_fixed_size", 0)
    elif attribute in FUNCTION_CONSTANTS:
        value = FUNCTION_CONSTANTS[attribute]
    else:
        raise HipError(Code.InvalidValue)
    store(out, ctypes.c_int, value)


@call
def hipFuncGetAttributes(rt: Runtime, out: Pointer, handle: Pointer) -> None:
    metadata = function(rt, handle).kernel.metadata
    if not out:
        raise HipError(Code.InvalidValue)
    fixed = metadata.get(".group_segment_fixed_size", 0)
    answer = FuncAttributes(
        binaryVersion=FUNCTION_CONSTANTS[6],
        ptxVersion=FUNCTION_CONSTANTS[5],
        localSizeBytes=metadata.get(".private_segment_fixed_size", 0),
        maxDynamicSharedSizeBytes=device.LDS_OF_WORKGROUP - fixed,
        maxThreadsPerBlock=metadata.get(".max_flat_workgroup_size", device.MAX_WORKGROUP),
        numRegs=metadata.get(".vgpr_count", 0),
        sharedSizeBytes=fixed,
    )
    ctypes.memmove(out, ctypes.addressof(answer), ctypes.sizeof(answer))


@call
def hipModuleLaunchKernel(
    rt: Runtime,
    handle: Pointer,
    grid_x: UInt,
    grid_y: UInt,
    grid_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    dynamic_lds: UInt,
    stream: Pointer,
    parameters: Pointer,
    extra: Pointer,
) -> None:
    """Grid in workgroups, block in work-items. A fault is hipErrorIllegalAddress or hipErrorLaunchFailure."""
    kernel = function(rt, handle).kernel
    known_stream(rt, stream)
    grid, block = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    _check_shape(kernel.metadata, grid, block, dynamic_lds)
    if parameters and extra:
        raise HipError(Code.InvalidValue)
    arguments = [a for a in kernel.metadata.get(".args", ()) if not str(a[".value_kind"]).startswith("hidden_")]
    kernarg = _from_extra(extra, arguments) if extra else _from_parameters(parameters, arguments)
    try:
        report = rt.card.launch(kernel, grid, block, kernarg, dynamic_lds)
    except IsaError as error:
        raise HipError(_code_of_fault(error), error) from error
    rt.last_launch = report
    rt.clock_s += report.time_s or 0.0


def _check_shape(metadata: Mapping[str, Any], grid: tuple[int, ...], block: tuple[int, ...], dynamic_lds: int) -> None:
    """Refuse what the card cannot start: hipErrorInvalidConfiguration, for LDS hipErrorOutOfMemory."""
    threads = block[0] * block[1] * block[2]
    most = min(metadata.get(".max_flat_workgroup_size", device.MAX_WORKGROUP), device.MAX_WORKGROUP)
    required = metadata.get(".reqd_workgroup_size")
    if (
        0 in grid
        or not 0 < threads <= most
        or any(g * b >= 1 << 32 for g, b in zip(grid, block, strict=True))
        or (required and tuple(required) != tuple(block))
    ):
        raise HipError(
            Code.InvalidConfiguration,
            IsaError(
                f"{metadata.get('.name', 'the kernel')} cannot start with this grid and workgroup",
                expected=f"at least 1 workgroup, 1 to {most} work-items in each"
                + (f", exactly {tuple(required)}" if required else ""),
                got=f"grid {grid}, workgroup {block}",
            ),
        )
    if metadata.get(".group_segment_fixed_size", 0) + dynamic_lds > device.LDS_OF_WORKGROUP:
        raise HipError(Code.OutOfMemory, IsaError(f"a workgroup has at most {device.LDS_OF_WORKGROUP} bytes of LDS"))


def _end_of(arguments: list[Mapping[str, Any]]) -> int:
    return max((a[".offset"] + a[".size"] for a in arguments), default=0)


def _from_extra(extra: int, arguments: list[Mapping[str, Any]]) -> bytes:
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
        raise HipError(Code.InvalidValue)
    needed = _end_of(arguments)
    if size < needed:
        raise HipError(
            Code.InvalidValue,
            IsaError("the argument buffer is too short", expected=f"{needed} bytes", got=f"{size} bytes"),
        )
    return ctypes.string_at(address, size)[:needed]


def _from_parameters(parameters: int, arguments: list[Mapping[str, Any]]) -> bytes:
    """The kernarg bytes from an array with one address an argument."""
    kernarg = bytearray(_end_of(arguments))
    if arguments and not is_mapped(parameters, 8 * len(arguments)):
        raise HipError(Code.InvalidValue)
    for i, argument in enumerate(arguments):
        offset, size = argument[".offset"], argument[".size"]
        source = ctypes.c_uint64.from_address(parameters + 8 * i).value
        if not is_mapped(source, size):
            raise HipError(Code.InvalidValue)
        kernarg[offset : offset + size] = ctypes.string_at(source, size)
    return bytes(kernarg)


def _code_of_fault(error: IsaError) -> Code:
    return Code.LaunchFailure if getattr(error, "address", None) is None else Code.IllegalAddress
