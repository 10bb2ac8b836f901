"""The HIP runtime's binary interface: how calls are declared, error codes, structures.

A HIP call is declared once, as a Python function whose annotations are its C types:

    @call
    def hipMemset(rt: Runtime, destination: Pointer, value: Int, size: Size) -> None: ...

From that declaration come the C function that the library exports (`library.py`) and the conversion of its arguments.
The function returns None for hipSuccess, or what the C function returns, or raises `HipError` with a code. Names and
types are those of HIP's own headers (hip_runtime_api.h, ROCm 6 and newer; hip-python's cyhip.pxd repeats them); the
tests compare each declaration with hip-python's.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

VERSION = (7, 2, 0)
"""Of HIP: major, minor, patch."""

Pointer: TypeAlias = int
"""An address: a buffer, a handle, or where an answer is to be stored. 0 is NULL."""
Size: TypeAlias = int
Int: TypeAlias = int
UInt: TypeAlias = int
ULongLong: TypeAlias = int
UShort: TypeAlias = int
UByte: TypeAlias = int
Dim3: TypeAlias = tuple[int, int, int]
"""HIP's dim3, by value."""
Text: TypeAlias = str
"""The answer of hipGetErrorName and its kind: a string that lives as long as the process."""

C_TYPES = {
    "Pointer": "void *",
    "Size": "size_t",
    "Int": "int",
    "UInt": "unsigned int",
    "ULongLong": "unsigned long long",
    "UShort": "unsigned short",
    "UByte": "unsigned char",
    "Dim3": "dim3",
    "Text": "const char *",
    "None": "int",
}


class ErrorCode(IntEnum):
    """hipError_t: the codes that this runtime gives, by their names without `hipError`."""

    Success = 0
    InvalidValue = 1
    OutOfMemory = 2
    NotInitialized = 3
    Deinitialized = 4
    InvalidConfiguration = 9
    InvalidPitchValue = 12
    InvalidSymbol = 13
    InvalidDevicePointer = 17
    InvalidMemcpyDirection = 21
    InvalidDeviceFunction = 98
    NoDevice = 100
    InvalidDevice = 101
    InvalidImage = 200
    InvalidContext = 201
    NoBinaryForGpu = 209
    UnsupportedLimit = 215
    PeerAccessUnsupported = 217
    FileNotFound = 301
    InvalidHandle = 400
    IllegalState = 401
    NotFound = 500
    NotReady = 600
    IllegalAddress = 700
    LaunchOutOfResources = 701
    PeerAccessNotEnabled = 705
    Assert = 710
    HostMemoryAlreadyRegistered = 712
    HostMemoryNotRegistered = 713
    LaunchFailure = 719
    CooperativeLaunchTooLarge = 720
    NotSupported = 801
    StreamCaptureUnsupported = 900
    StreamCaptureUnmatched = 903
    CapturedEvent = 907
    GraphExecUpdateFailure = 910
    Unknown = 999

    @property
    def hip_name(self) -> str:
        """As HIP spells it: "hipErrorInvalidValue"."""
        return "hipSuccess" if self is ErrorCode.Success else f"hipError{self.name}"

    @property
    def text(self) -> str:
        """In words, as hipGetErrorString says it."""
        return _WORDS.get(self) or "".join(" " + c.lower() if c.isupper() else c for c in self.name).strip()


_WORDS = {
    ErrorCode.Success: "no error",
    ErrorCode.InvalidValue: "invalid argument",
    ErrorCode.NotInitialized: "initialization error",
    ErrorCode.Deinitialized: "driver shutting down",
    ErrorCode.NoDevice: "no ROCm-capable device is detected",
    ErrorCode.InvalidSymbol: "invalid device symbol",
    ErrorCode.InvalidContext: "invalid device context",
    ErrorCode.InvalidDevice: "invalid device ordinal",
    ErrorCode.InvalidImage: "device kernel image is invalid",
    ErrorCode.NoBinaryForGpu: "no kernel image is available for execution on the device",
    ErrorCode.FileNotFound: "file not found",
    ErrorCode.InvalidHandle: "invalid resource handle",
    ErrorCode.NotFound: "named symbol not found",
    ErrorCode.IllegalAddress: "an illegal memory access was encountered",
    ErrorCode.LaunchFailure: "unspecified launch failure",
    ErrorCode.CooperativeLaunchTooLarge: "too many blocks in cooperative launch",
    ErrorCode.NotSupported: "operation not supported",
    ErrorCode.Unknown: "unknown error",
}


class HipError(Exception):
    """A call's answer other than hipSuccess. `report` is what there is to say beyond the code."""

    def __init__(self, code: IntEnum, report: BaseException | None = None) -> None:
        super().__init__(code.name)
        self.code, self.report = code, report


class Answer(HipError):
    """A code that is what was asked for, and no failure of the call that asked."""


@dataclass(frozen=True)
class Call:
    """A declared HIP call: its C name, the Python function, C types of arguments and answer."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]
    answer: str


CALLS: dict[str, Call] = {}
"""Every declared call by its C name."""


def call(function: Callable[..., Any] | None = None, *, alias: tuple[str, ...] = ()) -> Any:
    """Declare a HIP call (see the module's text). `alias`: further C names with the same meaning."""
    if function is None:
        return lambda f: call(f, alias=alias)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    arguments = tuple(C_TYPES[p.annotation] for p in parameters)
    answer = C_TYPES[function.__annotations__["return"]]
    for name in (function.__name__, *alias):
        CALLS[name] = Call(name, function, arguments, answer)
    return function


def store(where: Pointer, ctype: type, value: Any) -> None:
    """Write an answer of a C type through a pointer that the caller gave; NULL is hipErrorInvalidValue."""
    if not where:
        raise HipError(ErrorCode.InvalidValue)
    ctype.from_address(where).value = value  # type: ignore[attr-defined]


def store_text(where: Pointer, room: int, text: str) -> None:
    """Write a string with its final zero into `room` bytes, cut where it does not fit."""
    if not where or room <= 0:
        raise HipError(ErrorCode.InvalidValue)
    ctypes.memmove(where, text.encode()[: room - 1] + b"\0", min(len(text.encode()), room - 1) + 1)


_I, _U, _Z = ctypes.c_int, ctypes.c_uint, ctypes.c_size_t


class DeviceProp(ctypes.Structure):
    """hipDeviceProp_tR0600 (hip_runtime_api.h, ROCm 6 and newer), 1472 bytes."""

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("uuid", ctypes.c_char * 16),
        ("luid", ctypes.c_char * 8),
        ("luidDeviceNodeMask", _U),
        ("totalGlobalMem", _Z),
        ("sharedMemPerBlock", _Z),
        ("regsPerBlock", _I),
        ("warpSize", _I),
        ("memPitch", _Z),
        ("maxThreadsPerBlock", _I),
        ("maxThreadsDim", _I * 3),
        ("maxGridSize", _I * 3),
        ("clockRate", _I),
        ("totalConstMem", _Z),
        ("major", _I),
        ("minor", _I),
        ("textureAlignment", _Z),
        ("texturePitchAlignment", _Z),
        ("deviceOverlap", _I),
        ("multiProcessorCount", _I),
        ("kernelExecTimeoutEnabled", _I),
        ("integrated", _I),
        ("canMapHostMemory", _I),
        ("computeMode", _I),
        ("textureLimits", _I * 40),  # maxTexture1D ... maxSurfaceCubemapLayered: images are not simulated
        ("surfaceAlignment", _Z),
        ("concurrentKernels", _I),
        ("ECCEnabled", _I),
        ("pciBusID", _I),
        ("pciDeviceID", _I),
        ("pciDomainID", _I),
        ("tccDriver", _I),
        ("asyncEngineCount", _I),
        ("unifiedAddressing", _I),
        ("memoryClockRate", _I),
        ("memoryBusWidth", _I),
        ("l2CacheSize", _I),
        ("persistingL2CacheMaxSize", _I),
        ("maxThreadsPerMultiProcessor", _I),
        ("streamPrioritiesSupported", _I),
        ("globalL1CacheSupported", _I),
        ("localL1CacheSupported", _I),
        ("sharedMemPerMultiprocessor", _Z),
        ("regsPerMultiprocessor", _I),
        ("managedMemory", _I),
        ("isMultiGpuBoard", _I),
        ("multiGpuBoardGroupID", _I),
        ("hostNativeAtomicSupported", _I),
        ("singleToDoublePrecisionPerfRatio", _I),
        ("pageableMemoryAccess", _I),
        ("concurrentManagedAccess", _I),
        ("computePreemptionSupported", _I),
        ("canUseHostPointerForRegisteredMem", _I),
        ("cooperativeLaunch", _I),
        ("cooperativeMultiDeviceLaunch", _I),
        ("sharedMemPerBlockOptin", _Z),
        ("pageableMemoryAccessUsesHostPageTables", _I),
        ("directManagedMemAccessFromHost", _I),
        ("maxBlocksPerMultiProcessor", _I),
        ("accessPolicyMaxWindowSize", _I),
        ("reservedSharedMemPerBlock", _Z),
        ("hostRegisterSupported", _I),
        ("sparseHipArraySupported", _I),
        ("hostRegisterReadOnlySupported", _I),
        ("timelineSemaphoreInteropSupported", _I),
        ("memoryPoolsSupported", _I),
        ("gpuDirectRDMASupported", _I),
        ("gpuDirectRDMAFlushWritesOptions", _U),
        ("gpuDirectRDMAWritesOrdering", _I),
        ("memoryPoolSupportedHandleTypes", _U),
        ("deferredMappingHipArraySupported", _I),
        ("ipcEventSupported", _I),
        ("clusterLaunch", _I),
        ("unifiedFunctionPointers", _I),
        ("reserved", _I * 63),
        ("hipReserved", _I * 32),
        ("gcnArchName", ctypes.c_char * 256),
        ("maxSharedMemoryPerMultiProcessor", _Z),
        ("clockInstructionRate", _I),
        ("arch", _U),
        ("hdpMemFlushCntl", ctypes.c_void_p),
        ("hdpRegFlushCntl", ctypes.c_void_p),
        ("cooperativeMultiDeviceUnmatchedFunc", _I),
        ("cooperativeMultiDeviceUnmatchedGridDim", _I),
        ("cooperativeMultiDeviceUnmatchedBlockDim", _I),
        ("cooperativeMultiDeviceUnmatchedSharedMem", _I),
        ("isLargeBar", _I),
        ("asicRevision", _I),
    )


class DevicePropBefore6(ctypes.Structure):
    """hipDeviceProp_tR0000: hipDeviceProp_t as it was before ROCm 6; the names of the same things are the same."""

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("totalGlobalMem", _Z),
        ("sharedMemPerBlock", _Z),
        ("regsPerBlock", _I),
        ("warpSize", _I),
        ("maxThreadsPerBlock", _I),
        ("maxThreadsDim", _I * 3),
        ("maxGridSize", _I * 3),
        ("clockRate", _I),
        ("memoryClockRate", _I),
        ("memoryBusWidth", _I),
        ("totalConstMem", _Z),
        ("major", _I),
        ("minor", _I),
        ("multiProcessorCount", _I),
        ("l2CacheSize", _I),
        ("maxThreadsPerMultiProcessor", _I),
        ("computeMode", _I),
        ("clockInstructionRate", _I),
        ("arch", _U),
        ("concurrentKernels", _I),
        ("pciDomainID", _I),
        ("pciBusID", _I),
        ("pciDeviceID", _I),
        ("maxSharedMemoryPerMultiProcessor", _Z),
        ("isMultiGpuBoard", _I),
        ("canMapHostMemory", _I),
        ("gcnArch", _I),
        ("gcnArchName", ctypes.c_char * 256),
        ("integrated", _I),
        ("cooperativeLaunch", _I),
        ("cooperativeMultiDeviceLaunch", _I),
        ("textureLimits", _I * 7),  # images are not simulated
        ("hdpMemFlushCntl", ctypes.c_void_p),
        ("hdpRegFlushCntl", ctypes.c_void_p),
        ("memPitch", _Z),
        ("textureAlignment", _Z),
        ("texturePitchAlignment", _Z),
        ("kernelExecTimeoutEnabled", _I),
        ("ECCEnabled", _I),
        ("tccDriver", _I),
        ("cooperativeMultiDeviceUnmatchedFunc", _I),
        ("cooperativeMultiDeviceUnmatchedGridDim", _I),
        ("cooperativeMultiDeviceUnmatchedBlockDim", _I),
        ("cooperativeMultiDeviceUnmatchedSharedMem", _I),
        ("isLargeBar", _I),
        ("asicRevision", _I),
        ("managedMemory", _I),
        ("directManagedMemAccessFromHost", _I),
        ("concurrentManagedAccess", _I),
        ("pageableMemoryAccess", _I),
        ("pageableMemoryAccessUsesHostPageTables", _I),
    )


class PointerAttributes(ctypes.Structure):
    """hipPointerAttribute_t."""

    _fields_ = (
        ("type", _I),
        ("device", _I),
        ("devicePointer", ctypes.c_void_p),
        ("hostPointer", ctypes.c_void_p),
        ("isManaged", _I),
        ("allocationFlags", _U),
    )


class LaunchConfig(ctypes.Structure):
    """HIP_LAUNCH_CONFIG."""

    _fields_ = (
        ("grid", _U * 3),
        ("block", _U * 3),
        ("dynamic_lds", _U),
        ("stream", ctypes.c_void_p),
        ("attribute_list", ctypes.c_void_p),
        ("attributes", _U),
    )


class FuncAttributes(ctypes.Structure):
    """hipFuncAttributes."""

    _fields_ = (
        ("binaryVersion", _I),
        ("cacheModeCA", _I),
        ("constSizeBytes", _Z),
        ("localSizeBytes", _Z),
        ("maxDynamicSharedSizeBytes", _I),
        ("maxThreadsPerBlock", _I),
        ("numRegs", _I),
        ("preferredShmemCarveout", _I),
        ("ptxVersion", _I),
        ("sharedSizeBytes", _Z),
    )
