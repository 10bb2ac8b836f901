"""Programs built by hipcc: kernels and variables, by their host addresses.

`kernel<<<...>>>(...)` is hipLaunchKernel with the address of a stub, and a symbol is the address of a host variable
that stands for the device's. Compilers register both before `main`; the library (shim.c) notes them, and here the notes
are read when a call names an address. An image is loaded when something in it is first needed, as AMD's runtime does
it, and unloaded some time after its library was closed.

A managed variable is memory of the host that kernels reach by a pointer in the module, which is set as it is loaded.

Sources: ROCm/clr, hipamd/src/hip_platform.cpp, hip_global.cpp, hip_memory.cpp (hipMemcpyToSymbol).
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from hipgemm.simulated_hip.abi import (
    Dim3,
    ErrorCode,
    HipError,
    Pointer,
    Size,
    Text,
    answers,
    call,
    does,
    known,
    refuse_if,
)
from hipgemm.simulated_hip.calls import modules
from hipgemm.simulated_hip.calls.copies import DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, hipMemcpyAsync
from hipgemm.simulated_hip.calls.occupancy import launch_cooperative
from hipgemm.simulated_hip.calls.streams import between_events
from hipgemm.simulated_hip.card import ReachesHost
from hipgemm.simulated_hip.runtime import Runtime
from isa.errors import IsaError

FUNCTION, VARIABLE, MANAGED = range(3)


class _Note(ctypes.Structure):
    """`struct registered` of shim.c."""

    _fields_ = (
        ("next", ctypes.c_uint64),
        ("fat_binary", ctypes.c_uint64),
        ("host", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Registered:
    """fat_binary: address of the image's address, which is 0 once its library was closed."""

    fat_binary: int
    name: str
    kind: int
    size: int

    @property
    def image(self) -> int:
        return ctypes.c_uint64.from_address(self.fat_binary).value


def _read_notes(rt: Runtime) -> None:
    """What was registered since the last time; and what was unregistered goes."""
    newest = at = ctypes.c_uint64.from_address(rt.registered_at).value if rt.registered_at else 0
    fresh = []
    while at != rt.notes_read:
        note = _Note.from_address(at)
        if ctypes.c_uint64.from_address(note.fat_binary).value:
            name = (note.name or b"").decode(errors="replace")
            fresh.append((note.host, Registered(note.fat_binary, name, note.kind, note.size)))
        at = note.next
    rt.notes_read = newest
    rt.registrations.update(reversed(fresh))
    for binary, module in list(rt.fat_binaries.items()):
        if not ctypes.c_uint64.from_address(binary).value:
            del rt.fat_binaries[binary]
            rt.registrations = {h: r for h, r in rt.registrations.items() if r.fat_binary != binary}
            modules.hipModuleUnload(rt, module)


def find(rt: Runtime, host: int) -> Registered | None:
    """What was registered under an address of the host, in an image that is still there."""
    _read_notes(rt)
    found = rt.registrations.get(host)
    return found if found and found.image else None


def _module(rt: Runtime, binary: int) -> int:
    """The handle of an image's module, loaded if it is not yet, with its managed variables in their places."""
    module = rt.fat_binaries.get(binary)
    if module is not None and module in rt.modules:
        return module
    module = modules.load_at(rt, ctypes.c_uint64.from_address(binary).value)
    rt.fat_binaries[binary] = module
    memory, variables = rt.card.memory, rt.modules[module].module.globals
    for host, registered in rt.registrations.items():
        if registered.fat_binary == binary and registered.kind == MANAGED and registered.name in variables:
            if isinstance(memory, ReachesHost) and memory.find(host) is None:
                memory.register(host, registered.size)
                rt.registered[host] = registered.size
            ctypes.c_uint64.from_address(variables[registered.name][0]).value = host
    return module


def function_of(rt: Runtime, host: int) -> int:
    """The handle of a kernel by its stub's address, or a handle as it is. hipErrorInvalidDeviceFunction for others."""
    if host in rt.functions:
        return host
    found = known(find(rt, host), ErrorCode.InvalidDeviceFunction)
    refuse_if(found.kind != FUNCTION, ErrorCode.InvalidDeviceFunction)
    try:
        return modules.function_of_module(rt, _module(rt, found.fat_binary), found.name)
    except HipError as error:
        if error.code is ErrorCode.NotFound:
            raise HipError(ErrorCode.InvalidDeviceFunction) from error
        raise


def _variable(rt: Runtime, symbol: int) -> tuple[int, int]:
    """(address, bytes) on the card of a variable by its host's address; hipErrorInvalidSymbol for others."""
    found = known(find(rt, symbol), ErrorCode.InvalidSymbol)
    refuse_if(found.kind == FUNCTION, ErrorCode.InvalidSymbol)
    if found.kind == MANAGED:
        _module(rt, found.fat_binary)
        return symbol, found.size
    variable = rt.modules[_module(rt, found.fat_binary)].module.globals.get(found.name)
    if variable is None:
        raise HipError(ErrorCode.InvalidSymbol, IsaError(f"the module has no variable {found.name}"))
    return variable


@call(alias=("hipLaunchKernel_spt",))
def hipLaunchKernel(
    rt: Runtime, host: Pointer, grid: Dim3, block: Dim3, parameters: Pointer, dynamic_lds: Size, stream: Pointer
) -> None:
    try:
        modules.launch(rt, function_of(rt, host), grid, block, dynamic_lds, stream, parameters, 0)
    except HipError as error:
        if error.code in (ErrorCode.IllegalAddress, ErrorCode.LaunchFailure, ErrorCode.LaunchTimeOut):
            rt.unseen = ErrorCode(error.code)
        raise


def _with_events(rt: Runtime, host: int, *given: Any) -> None:
    *rest, start, stop, _ = given
    with between_events(rt, rest[-1], start, stop):
        hipLaunchKernel(rt, host, *rest)


does("hipExtLaunchKernel", "Pointer Dim3 Dim3 Pointer Size Pointer Pointer Pointer Int", _with_events)


does(
    "hipLaunchCooperativeKernel hipLaunchCooperativeKernel_spt",
    "Pointer Dim3 Dim3 Pointer UInt Pointer",
    lambda rt, host, grid, block, parameters, dynamic_lds, stream: launch_cooperative(
        rt, function_of(rt, host), grid, block, dynamic_lds, stream, parameters
    ),
)


@call
def hipLaunchKernelExC(rt: Runtime, config: Pointer, host: Pointer, parameters: Pointer) -> None:
    """By a hipLaunchConfig_t, which lies as HIP_LAUNCH_CONFIG does but for the width of dynamic_lds."""
    modules.hipDrvLaunchKernelEx(rt, config, function_of(rt, host), parameters, 0)


answers("hipGetFuncBySymbol", "Handle* Pointer", function_of)


@call
def hipKernelNameRefByPtr(rt: Runtime, host: Pointer, stream: Pointer) -> Text:
    found = find(rt, host)
    return found.name if found else ""


answers("hipGetSymbolAddress", "Handle* Pointer", lambda rt, symbol: _variable(rt, symbol)[0])
answers("hipGetSymbolSize", "Size* Pointer", lambda rt, symbol: _variable(rt, symbol)[1])


def _place(rt: Runtime, symbol: int, size: int, offset: int, kind: int, kinds: tuple[int, ...]) -> int:
    """Address on the card of `size` bytes of a variable, where that many are there and the direction is one of
    `kinds`."""
    address, there = _variable(rt, symbol)
    if size + offset > there:
        raise HipError(
            ErrorCode.InvalidValue, IsaError(f"{size} bytes from {offset} extend beyond a variable of {there} bytes")
        )
    refuse_if(kind not in kinds, ErrorCode.InvalidMemcpyDirection)
    return address + offset


def _to_symbol(rt: Runtime, symbol: int, source: int, size: int, offset: int, kind: int, stream: int = 0) -> None:
    place = _place(rt, symbol, size, offset, kind, (HOST_TO_DEVICE, DEVICE_TO_DEVICE, DEFAULT))
    hipMemcpyAsync(rt, place, source, size, kind, stream)


def _from_symbol(rt: Runtime, out: int, symbol: int, size: int, offset: int, kind: int, stream: int = 0) -> None:
    place = _place(rt, symbol, size, offset, kind, (DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT))
    hipMemcpyAsync(rt, out, place, size, kind, stream)


for _name, _work in (("hipMemcpyToSymbol", _to_symbol), ("hipMemcpyFromSymbol", _from_symbol)):
    does(f"{_name} {_name}_spt", "Pointer Pointer Size Size Int", _work)
    does(f"{_name}Async {_name}Async_spt", "Pointer Pointer Size Size Int Pointer", _work)
