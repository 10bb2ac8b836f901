"""LLVM IR text -> an object file -> native code in this process.

The processor and its features come from the host, or from `Target.cpu` ("x86-64" for a plain one). The width of its
vectors decides how many lanes a strip has.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from dataclasses import dataclass
from typing import Any

from isa.errors import IsaError

OPT_LEVEL = 1
LEVELS = {"x86-64": (4, False), "x86-64-v2": (4, False), "x86-64-v3": (8, True), "x86-64-v4": (16, True)}
"""Processors that can be chosen by name (levels of the x86-64 psABI): lanes of a vector register, and whether
f16 is converted in hardware. LLVM tells neither for a name, and ends the process at a name that it does not know."""
_lock = threading.Lock()


@dataclass(frozen=True)
class Target:
    """A processor to compile for. cpu: one of LEVELS; "" for this one. IsaError for any other."""

    cpu: str = ""

    @functools.cached_property
    def features(self) -> str:
        import llvmlite.binding as llvm

        return str(llvm.get_host_cpu_features().flatten()) if not self.cpu else ""

    @functools.cached_property
    def name(self) -> str:
        import llvmlite.binding as llvm

        return self.cpu or str(llvm.get_host_cpu_name())

    def __post_init__(self) -> None:
        import platform

        if self.cpu and (self.cpu not in LEVELS or platform.machine().lower() not in ("x86_64", "amd64")):
            raise IsaError(
                f"cannot compile for a host processor {self.cpu!r}",
                expected=f"one of {', '.join(LEVELS)}, on such a machine",
                got=f"{self.cpu!r} on {platform.machine()}",
            )

    @property
    def strip(self) -> int:
        """Lanes of 32 bits in one vector register, at least 4."""
        if self.cpu:
            return LEVELS[self.cpu][0]
        have = self.features.split(",")
        if "+avx512f" in have:
            return 16
        return 8 if "+avx2" in have or "+avx" in have else 4

    @property
    def native_half(self) -> bool:
        """Whether it converts f16 in hardware."""
        import platform

        if self.cpu:
            return LEVELS[self.cpu][1]
        return "+f16c" in self.features.split(",") or platform.machine() in ("aarch64", "arm64")

    def __hash__(self) -> int:
        return hash(self.cpu)


@dataclass(eq=False)
class Native:
    """Loaded code; it lives as long as this object."""

    engine: Any

    def address(self, symbol: str) -> int:
        address: int = self.engine.get_function_address(symbol)
        assert address, symbol
        return address


@functools.cache
def _initialize() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _machine(target: Target) -> Any:
    import llvmlite.binding as llvm

    _initialize()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=target.name, features=target.features, opt=OPT_LEVEL
    )


def compile_ir(text: str, target: Target, *, optimise: bool = False) -> bytes:
    """An object file for a module. The text is the project's own: an error in it is a bug, and raises RuntimeError.

    optimise: also run LLVM's passes, which the code of kernels does not need and which take long.
    """
    import llvmlite.binding as llvm

    with _lock:
        machine = _machine(target)
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()  # LLVM ends the process when it compiles what is not valid
        if optimise:
            passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
            passes.getModulePassManager().run(module, passes)
        code: bytes = machine.emit_object(module)
    return code


def load_object(code: bytes, target: Target) -> Native:
    """What compile_ir made, in memory and ready to be called."""
    import llvmlite.binding as llvm

    with _lock:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(target))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
    return Native(engine)


RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
NEED_PLAIN = ctypes.CFUNCTYPE(ctypes.c_uint64)
