"""LLVM IR text -> native code in this process.

The processor and its features come from the host, or from `Target.cpu` ("x86-64" for a plain one). The width of its
vectors decides how many lanes a strip has.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from dataclasses import dataclass
from typing import Any

OPT_LEVEL = 1
_lock = threading.Lock()


@dataclass(frozen=True)
class Target:
    """A processor to compile for. cpu: LLVM's name; "" for this one."""

    cpu: str = ""

    @functools.cached_property
    def features(self) -> str:
        import llvmlite.binding as llvm

        return str(llvm.get_host_cpu_features().flatten()) if not self.cpu else ""

    @functools.cached_property
    def name(self) -> str:
        import llvmlite.binding as llvm

        return self.cpu or str(llvm.get_host_cpu_name())

    @property
    def strip(self) -> int:
        """Lanes of 32 bits in one vector register, at least 4."""
        have = self.features.split(",")
        if "+avx512f" in have:
            return 16
        return 8 if "+avx2" in have or "+avx" in have else 4

    @property
    def native_half(self) -> bool:
        """Whether it converts f16 in hardware."""
        import platform

        return "+f16c" in self.features.split(",") or platform.machine() in ("aarch64", "arm64")

    def __hash__(self) -> int:
        return hash(self.cpu)


@dataclass(eq=False)
class Native:
    """Compiled code; it lives as long as this object."""

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


def compile_ir(text: str, target: Target, *, optimise: bool = False) -> Native:
    """Native code for a module. The text is the project's own: an error in it is a bug, and raises RuntimeError.

    optimise: also run LLVM's passes, which the code of kernels does not need and which take long.
    """
    import llvmlite.binding as llvm

    with _lock:
        _initialize()
        module = llvm.parse_assembly(text)
        module.verify()  # LLVM ends the process when it compiles what is not valid
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=target.name, features=target.features, opt=OPT_LEVEL
        )
        if optimise:
            passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
            passes.getModulePassManager().run(module, passes)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
    return Native(engine)


RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
NEED_PLAIN = ctypes.CFUNCTYPE(ctypes.c_uint64)
