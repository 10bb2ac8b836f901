"""LLVM IR text -> an object file -> native code in this process.

The processor and its features are the host's, or those of a level of x86-64 chosen by name. The width of its vectors
decides how many lanes a strip has.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from isa import llvm
from isa.errors import IsaError

OPT_LEVEL = 1
LINEAR = ("-cgpp-huge-func=50", "-grow-region-complexity-budget=500", "-disable-lsr", "-enable-tail-merge=false")
"""Options of LLVM for functions of hundreds of blocks and more, as kernels become: CodeGenPrepare starts again from the
first block after each change in a function of fewer blocks than that, and the register allocator tries regions of many
blocks for each live range that it splits. Together they were half the time. The reduction of loops' strength looks in
each loop at all uses of each pointer, a wave's state among them: of 128 unrolled chains of 31 comparisons that was 95 %
of minutes, and code without it is as fast. Merging of equal tails compares the ends of all blocks that go to one."""
LINEAR_KNOWN = range(20, 23)
"""Versions of LLVM that have these options: LLVM ends the process at one that it does not know."""
NATIVE = "native"
Result = TypeVar("Result")
_EXPORTED = 1  # LLVMJITSymbolGenericFlagsExported


@dataclass(frozen=True)
class Level:
    """What LLVM does not tell of a processor by its name: lanes of a vector register, whether it converts f16 and
    computes FMAs in hardware, and the features that code for it uses, by LLVM's names."""

    lanes: int
    native_half: bool
    native_fma: bool
    needs: frozenset[str]


_V2 = frozenset("cx16 popcnt sahf sse3 ssse3 sse4.1 sse4.2".split())
_V3 = _V2 | frozenset("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave".split())
_V4 = _V3 | frozenset("avx512f avx512bw avx512cd avx512dq avx512vl".split())
LEVELS = {
    "x86-64": Level(4, False, False, frozenset()),
    "x86-64-v2": Level(4, False, False, _V2),
    "x86-64-v3": Level(8, True, True, _V3),
    "x86-64-v4": Level(16, True, True, _V4),
}
"""Processors that can be chosen by name: levels of the x86-64 psABI ("Micro-Architecture Levels"). LLVM ends the
process at a name that it does not know."""


_told: list[str] = []


def host_features() -> str:
    """What this processor can do, as LLVM writes it: "+avx2,-avx512f,..."."""
    return _told[0] if _told else llvm.text(llvm.function("LLVMGetHostCPUFeatures", llvm.P)())


def tell_host_features(features: str) -> None:
    """For a process that must not ask: LLVM's answer goes through C++ streams, and where a program brings parts of a
    libstdc++ of its own, as cyllama-rocm's libggml-hip does, it ends the process."""
    _told[:] = [features]


@dataclass(frozen=True)
class HostTarget:
    """A processor to compile for. cpu: NATIVE, which is this one, or one of LEVELS; IsaError for any other.
    baseline: code that is ready sooner and runs slower; None: that first, and the other where it pays
    (`isa.sim.run.tiers`), which is the other for what compiles once."""

    cpu: str = NATIVE
    baseline: bool | None = False

    @functools.cached_property
    def features(self) -> str:
        return host_features() if self.cpu == NATIVE else ""

    @functools.cached_property
    def name(self) -> str:
        return llvm.text(llvm.function("LLVMGetHostCPUName", llvm.P)()) if self.cpu == NATIVE else self.cpu

    def __post_init__(self) -> None:
        if self.cpu != NATIVE and (self.cpu not in LEVELS or not is_x86()):
            known = [NATIVE, *LEVELS] if is_x86() else [NATIVE]
            raise IsaError(
                f"cannot compile for a host processor {self.cpu!r}",
                expected=f"one of {', '.join(known)} on {platform.machine()}",
            )

    def check_host(self) -> None:
        """IsaError if this machine cannot run code for the target, which would end the process."""
        if self.cpu == NATIVE:
            return
        have = {word[1:] for word in host_features().split(",") if word[:1] == "+"}
        if missing := sorted(LEVELS[self.cpu].needs - have):
            able = [name for name, level in LEVELS.items() if level.needs <= have]
            raise IsaError(
                f"this machine cannot run code for a host processor {self.cpu!r}",
                expected=", ".join([NATIVE, *able]),
                got=f"a processor without {', '.join(missing)}",
            )

    @property
    def runs_here(self) -> bool:
        """Whether this machine can run code for it."""
        try:
            self.check_host()
        except IsaError:
            return False
        return True

    @property
    def strip(self) -> int:
        """Lanes of 32 bits in one vector register, at least 4."""
        if self.cpu != NATIVE:
            return LEVELS[self.cpu].lanes
        have = self.features.split(",")
        if "+avx512f" in have:
            return 16
        return 8 if "+avx2" in have or "+avx" in have else 4

    @property
    def native_half(self) -> bool:
        """Whether it converts f16 in hardware."""
        if self.cpu != NATIVE:
            return LEVELS[self.cpu].native_half
        return "+f16c" in self.features.split(",") or platform.machine() in ("aarch64", "arm64")

    @property
    def native_nans(self) -> bool:
        """Whether it has the FMA of x86, which prefers the NaN of a multiplicand to that of the addend."""
        if self.cpu != NATIVE:
            return LEVELS[self.cpu].native_fma
        return is_x86() and "+fma" in self.features.split(",")

    def __hash__(self) -> int:
        return hash((self.cpu, self.baseline))


def is_x86() -> bool:
    """Whether this machine is a 64-bit x86."""
    return platform.machine().lower() in ("x86_64", "amd64")


class Native:
    """Loaded code; it lives as long as this object."""

    def __init__(self, engine: int) -> None:
        self._engine = engine

    def address(self, symbol: str) -> int:
        found = ctypes.c_uint64()
        look = llvm.function("LLVMOrcLLJITLookup", llvm.P, llvm.P, llvm.P, ctypes.c_char_p)
        _succeed(look(self._engine, ctypes.addressof(found), symbol.encode()))
        return found.value

    def __del__(self) -> None:
        if not sys.is_finalizing():
            _succeed(llvm.function("LLVMOrcDisposeLLJIT", llvm.P, llvm.P)(self._engine))


def _succeed(error: int | None) -> None:
    """RuntimeError with LLVM's words of an error that a function gave back."""
    if error:
        message = llvm.function("LLVMGetErrorMessage", llvm.P, llvm.P)(error)
        said = ctypes.string_at(message).decode(errors="replace")
        llvm.function("LLVMDisposeErrorMessage", None, llvm.P)(message)
        raise RuntimeError(said)


@functools.cache
def _initialize() -> None:
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        llvm.function(f"LLVMInitialize{'X86' if is_x86() else 'AArch64'}{part}", None)()
    if llvm.version()[0] in LINEAR_KNOWN:
        words = (ctypes.c_char_p * (1 + len(LINEAR)))(b"hipgemm", *(option.encode() for option in LINEAR))
        llvm.library().LLVMParseCommandLineOptions(len(words), words, None)


def _machine(target: HostTarget) -> AbstractContextManager[int]:
    _initialize()
    level = 0 if target.baseline else OPT_LEVEL
    return llvm.machine(llvm.host_triple(), target.name.encode(), target.features.encode(), level)


def compile_ir(text: str, target: HostTarget) -> bytes:
    """An object file for a module, without LLVM's passes, which the code of kernels does not need and which take long.
    The text is the project's own: an error in it is a bug, and raises RuntimeError."""
    return _aside(lambda: _compile(text, target))


def _compile(text: str, target: HostTarget) -> bytes:
    # A context of its own: LLVM keeps a context's types and constants for as long as that lives.
    with llvm.lock, _machine(target) as machine, llvm.context() as context:
        return llvm.emit(machine, llvm.module(text.encode(), context, machine))


_symbols: dict[str, int] = {}


def define_symbols(addresses: Mapping[str, int]) -> None:
    """Functions of this process that objects which are loaded later may call by these names."""
    _symbols.update(addresses)


class _Symbol(ctypes.Structure):
    """LLVMOrcCSymbolMapPair: an interned name, an address, its flags."""

    _fields_: ClassVar = [
        ("name", ctypes.c_void_p), ("address", ctypes.c_uint64), ("generic", ctypes.c_uint8), ("own", ctypes.c_uint8),
    ]  # fmt: skip


def load_object(code: bytes, target: HostTarget) -> Native:
    """What compile_ir made, in memory and ready to be called."""
    with llvm.lock:
        _initialize()
        engine = ctypes.c_void_p()
        _succeed(llvm.function("LLVMOrcCreateLLJIT", llvm.P, llvm.P, llvm.P)(ctypes.addressof(engine), None))
        assert engine.value
        native = Native(engine.value)
        names = llvm.function("LLVMOrcLLJITGetMainJITDylib", llvm.P, llvm.P)(engine)
        prefix = llvm.function("LLVMOrcLLJITGetGlobalPrefix", ctypes.c_char, llvm.P)(engine)
        process, types = ctypes.c_void_p(), (llvm.P, ctypes.c_char, llvm.P, llvm.P)
        search = llvm.function("LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess", llvm.P, *types)
        _succeed(search(ctypes.addressof(process), prefix, None, None))
        llvm.function("LLVMOrcJITDylibAddGenerator", None, llvm.P, llvm.P)(names, process)
        if _symbols:
            intern = llvm.function("LLVMOrcLLJITMangleAndIntern", llvm.P, llvm.P, ctypes.c_char_p)
            pairs = [_Symbol(intern(engine, name.encode()), at, _EXPORTED) for name, at in _symbols.items()]
            make = llvm.function("LLVMOrcAbsoluteSymbols", llvm.P, llvm.P, ctypes.c_size_t)
            unit = make((_Symbol * len(pairs))(*pairs), len(pairs))
            _succeed(llvm.function("LLVMOrcJITDylibDefine", llvm.P, llvm.P, llvm.P)(names, unit))
        add = llvm.function("LLVMOrcLLJITAddObjectFile", llvm.P, llvm.P, llvm.P, llvm.P)
        _succeed(add(engine, names, llvm.buffer(code)))
    return native


def _aside(work: Callable[[], Result]) -> Result:
    """What `work` gives, from another thread: LLVM holds its thread for seconds, in which Ctrl-C would go unheard. Who
    is interrupted while he waits leaves it to its end."""
    done: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return done[0]


RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
NEED_PLAIN = ctypes.CFUNCTYPE(ctypes.c_uint64)
