"""The HIP runtime's binary interface: how calls are declared, error codes, structures.

A HIP call is declared once, as a Python function whose annotations are its C types:

    @call
    def hipMemset(rt: Runtime, destination: Pointer, value: Int, size: Size) -> None: ...

or, where an expression does, by its types and that expression; where all that it does is to store one number through a
pointer, by what that number is:

    does("hipFree", "Pointer", lambda rt, address: release(rt, address, "device"))
    answers("hipStreamGetFlags", "Pointer UInt*", lambda rt, stream: known_stream(rt, stream).flags)

From that declaration come the C function that the library exports (`library.py`) and the conversion of its arguments.
The function returns None for hipSuccess, or what the C function returns, or raises `HipError` with a code. Names and
types are those of HIP's own headers (hip_runtime_api.h, ROCm 6 and newer; hip-python's cyhip.pxd repeats them); the
tests compare each declaration with hip-python's.
"""

from __future__ import annotations

import ctypes
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

T = TypeVar("T")
VERSION = (7, 2, 0)
"""Of HIP: major, minor, patch."""
VERSION_TEXT = ".".join(map(str, VERSION))
VERSION_NUMBER = VERSION[0] * 10_000_000 + VERSION[1] * 100_000 + VERSION[2]

Pointer: TypeAlias = int
"""An address: a buffer, a handle, or where an answer is to be stored. 0 is NULL."""
Size: TypeAlias = int
Int: TypeAlias = int
Device: TypeAlias = int
"""The number of a device, of which there is one: any other is hipErrorInvalidDevice before the call is answered."""
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
    "Device": "int",
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
    LaunchTimeOut = 702
    PeerAccessNotEnabled = 705
    ContextIsDestroyed = 709
    Assert = 710
    HostMemoryAlreadyRegistered = 712
    HostMemoryNotRegistered = 713
    LaunchFailure = 719
    CooperativeLaunchTooLarge = 720
    NotSupported = 801
    StreamCaptureUnsupported = 900
    StreamCaptureInvalidated = 901
    StreamCaptureUnmatched = 903
    StreamCaptureUnjoined = 904
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
    ErrorCode.LaunchTimeOut: "the launch timed out and was terminated",
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
    """A declared HIP call: its C name, the Python function, C types of arguments and answer, how many of the arguments
    the function takes, and which of them number a device."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]
    answer: str
    taken: int
    devices: tuple[int, ...]


CALLS: dict[str, Call] = {}
"""Every declared call by its C name."""


def _declare(name: str, function: Callable[..., Any], words: Sequence[str], answer: str, taken: int) -> None:
    devices = tuple(i for i, word in enumerate(words) if word == "Device")
    CALLS[name] = Call(name, function, tuple(C_TYPES[word] for word in words), C_TYPES[answer], taken, devices)


def call(
    function: Callable[..., Any] | None = None,
    *,
    alias: tuple[str, ...] = (),
    ignoring: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Any:
    """Declare a HIP call (see the module's text). `alias`: further C names with the same meaning; `ignoring`: and those
    that take more arguments, of these types, which make no difference here."""
    if function is None:
        return lambda f: call(f, alias=alias, ignoring=ignoring)
    parameters = [p.annotation for p in inspect.signature(function).parameters.values()][1:]
    answer = function.__annotations__["return"]
    for name, more in {function.__name__: (), **dict.fromkeys(alias, ()), **ignoring}.items():
        _declare(name, function, (*parameters, *more), answer, len(parameters))
    return function


def does(names: str, arguments: str, work: Callable[..., object]) -> None:
    """Declare a HIP call under one or more C names. arguments: C types in their order; work: done with the runtime and
    the arguments but for devices' numbers; what it returns does not matter."""
    words = arguments.split()

    def function(rt: Any, *given: Any) -> None:
        work(rt, *(value for word, value in zip(words, given, strict=True) if word != "Device"))

    function.__module__ = work.__module__
    for name in names.split():
        _declare(name, function, words, "None", len(words))


def refuse(code: IntEnum) -> NoReturn:
    """What a call does that has no other answer."""
    raise HipError(code)


def refuse_if(
    wrong: object, code: IntEnum = ErrorCode.InvalidValue, error: Callable[[Any], HipError] = HipError
) -> None:
    """The answer to what a program must not ask."""
    if wrong:
        raise error(code)


def known(found: T | None, code: IntEnum = ErrorCode.InvalidValue, error: Callable[[Any], HipError] = HipError) -> T:
    """What was looked for; the code where it is not there."""
    refuse_if(found is None, code, error)
    return cast(T, found)


def store(where: Pointer, ctype: type, value: Any) -> None:
    """Write an answer of a C type through a pointer that the caller gave; NULL is hipErrorInvalidValue."""
    refuse_if(not where)
    ctype.from_address(where).value = value  # type: ignore[attr-defined]


def store_if_asked(where: Pointer, ctype: type, value: Any) -> None:
    """The same; nothing for NULL."""
    if where:
        store(where, ctype, value)


def store_bytes(where: Pointer, data: bytes | ctypes.Structure) -> None:
    """The same of a structure, or of bytes."""
    refuse_if(not where)
    ctypes.memmove(where, bytes(data), len(bytes(data)))


_STORED = {
    "Int*": ctypes.c_int,
    "UInt*": ctypes.c_uint,
    "Size*": ctypes.c_size_t,
    "Handle*": ctypes.c_uint64,
    "Bool*": ctypes.c_bool,
    "Float*": ctypes.c_float,
}


def answers(
    names: str, arguments: str, value: Callable[..., Any], storing: Callable[[Pointer, type, Any], None] = store
) -> None:
    """Declare a HIP call that stores one number, under one or more C names. arguments: as of `does`, of which the one
    with a star is where the number goes; value: what it is, of the runtime and the other arguments."""
    words = arguments.split()
    (place,) = (i for i, word in enumerate(words) if word in _STORED)
    at = place - words[:place].count("Device")

    def work(rt: Any, *given: Any) -> None:
        storing(given[at], _STORED[words[place]], value(rt, *given[:at], *given[at + 1 :]))

    work.__module__ = value.__module__
    does(names, " ".join("Pointer" if i == place else word for i, word in enumerate(words)), work)


def store_text(where: Pointer, room: int, text: str) -> None:
    """Write a string with its final zero into `room` bytes, cut where it does not fit."""
    refuse_if(not where or room <= 0)
    ctypes.memmove(where, text.encode()[: room - 1] + b"\0", min(len(text.encode()), room - 1) + 1)


_FIELD_TYPES: dict[str, type[Any]] = {
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "char": ctypes.c_char,
    "void": ctypes.c_void_p,
}


def c_fields(declarations: str) -> tuple[tuple[str, type[Any]], ...]:
    """Fields of a structure from its C declarations: `int major, minor; char name[256]; void *pointer;`."""
    found: list[tuple[str, type[Any]]] = []
    for declaration in filter(None, map(str.strip, declarations.split(";"))):
        type_name, names = declaration.split(maxsplit=1)
        for name, count in re.findall(r"(\w+)(?:\[(\d+)\])?", names):
            type_ = _FIELD_TYPES[type_name]
            found.append((name, type_ * int(count) if count else type_))
    return tuple(found)


class DeviceProp(ctypes.Structure):
    """hipDeviceProp_tR0600 (hip_runtime_api.h, ROCm 6 and newer), 1472 bytes. textureLimits: from maxTexture1D to
    maxSurfaceCubemapLayered, since images are not simulated."""

    _fields_ = c_fields("""
        char name[256], uuid[16], luid[8];
        unsigned luidDeviceNodeMask;
        size_t totalGlobalMem, sharedMemPerBlock;
        int regsPerBlock, warpSize;
        size_t memPitch;
        int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
        size_t totalConstMem;
        int major, minor;
        size_t textureAlignment, texturePitchAlignment;
        int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode,
            textureLimits[40];
        size_t surfaceAlignment;
        int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
            unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
            maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
        size_t sharedMemPerMultiprocessor;
        int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
            singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
            canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
        size_t sharedMemPerBlockOptin;
        int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
            accessPolicyMaxWindowSize;
        size_t reservedSharedMemPerBlock;
        int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported,
            timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
        unsigned gpuDirectRDMAFlushWritesOptions;
        int gpuDirectRDMAWritesOrdering;
        unsigned memoryPoolSupportedHandleTypes;
        int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, reserved[63],
            hipReserved[32];
        char gcnArchName[256];
        size_t maxSharedMemoryPerMultiProcessor;
        int clockInstructionRate;
        unsigned arch;
        void *hdpMemFlushCntl, *hdpRegFlushCntl;
        int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim,
            cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem, isLargeBar, asicRevision;
    """)


class DevicePropBefore6(ctypes.Structure):
    """hipDeviceProp_tR0000: hipDeviceProp_t as it was before ROCm 6; the names of the same things are the same."""

    _fields_ = c_fields("""
        char name[256];
        size_t totalGlobalMem, sharedMemPerBlock;
        int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate,
            memoryBusWidth;
        size_t totalConstMem;
        int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode,
            clockInstructionRate;
        unsigned arch;
        int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
        size_t maxSharedMemoryPerMultiProcessor;
        int isMultiGpuBoard, canMapHostMemory, gcnArch;
        char gcnArchName[256];
        int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch, textureLimits[7];
        void *hdpMemFlushCntl, *hdpRegFlushCntl;
        size_t memPitch, textureAlignment, texturePitchAlignment;
        int kernelExecTimeoutEnabled, ECCEnabled, tccDriver, cooperativeMultiDeviceUnmatchedFunc,
            cooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedBlockDim,
            cooperativeMultiDeviceUnmatchedSharedMem, isLargeBar, asicRevision, managedMemory,
            directManagedMemAccessFromHost, concurrentManagedAccess, pageableMemoryAccess,
            pageableMemoryAccessUsesHostPageTables;
    """)


class PointerAttributes(ctypes.Structure):
    """hipPointerAttribute_t."""

    _fields_ = c_fields("""
        int type, device;
        void *devicePointer, *hostPointer;
        int isManaged;
        unsigned allocationFlags;
    """)


class LaunchConfig(ctypes.Structure):
    """HIP_LAUNCH_CONFIG."""

    _fields_ = c_fields("""
        unsigned grid[3], block[3], dynamic_lds;
        void *stream, *attribute_list;
        unsigned attributes;
    """)


class FuncAttributes(ctypes.Structure):
    """hipFuncAttributes."""

    _fields_ = c_fields("""
        int binaryVersion, cacheModeCA;
        size_t constSizeBytes, localSizeBytes;
        int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
        size_t sharedSizeBytes;
    """)
