"""LLVM IR -> assembly by AMD's own LLVM, for kernels that were measured as ROCm compiled them.

AMD's LLVM differs from the release of the same number: of the 32 kernels of rocm_sgemm many get other registers, and
with them up to three times as many cycles in which operands wait for a bank. AMD publishes that library in the wheel
rocm-llvm-python, of which each version is a ROCm's (`pip download --no-deps rocm-llvm-python==6.4.2.555.43`; in it
rocm/llvm/librocmllvm.so, "roc-6.4.2 25224"). It has no clang: clang 19 reads the source, and its IR, not yet optimised,
goes through LLVM's C interface here.
"""

from __future__ import annotations

import ctypes
import functools
import tempfile
from pathlib import Path

from isa.errors import IsaError

_TRIPLE = b"amdgcn-amd-amdhsa"
_AGGRESSIVE, _PIC, _ASSEMBLY = 3, 2, 0
_POINTERS = (
    "LLVMContextCreate", "LLVMCreateMemoryBufferWithMemoryRangeCopy", "LLVMCreateTargetMachine",
    "LLVMCreatePassBuilderOptions", "LLVMRunPasses",
)  # fmt: skip
FRONT_END = ("-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c")
"""The options with which clang leaves IR as the passes of -O3 want it."""


@functools.cache
def _library(path: Path) -> ctypes.CDLL:
    found = ctypes.CDLL(str(path))
    for what in ("TargetInfos", "Targets", "TargetMCs", "AsmPrinters", "AsmParsers"):
        getattr(found, f"LLVMInitializeAll{what}")()
    for name in _POINTERS:
        getattr(found, name).restype = ctypes.c_void_p
    found.LLVMGetErrorMessage.restype = ctypes.c_char_p
    return found


def assembly(library: Path, ir: bytes, arch: str) -> str:
    """What the library makes of bitcode at -O3. IsaError with its words where it does not take it."""
    llvm, said = _library(library), ctypes.c_char_p()
    module, target = ctypes.c_void_p(), ctypes.c_void_p()

    def done(failed: int) -> None:
        if failed:
            raise IsaError(f"{library} could not compile a published kernel", got=(said.value or b"").decode())

    context = ctypes.c_void_p(llvm.LLVMContextCreate())
    text = ctypes.c_void_p(llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, ctypes.c_size_t(len(ir)), b"kernel"))
    done(llvm.LLVMParseIRInContext(context, text, ctypes.byref(module), ctypes.byref(said)))
    done(llvm.LLVMGetTargetFromTriple(_TRIPLE, ctypes.byref(target), ctypes.byref(said)))
    machine = ctypes.c_void_p(llvm.LLVMCreateTargetMachine(target, _TRIPLE, arch.encode(), b"", _AGGRESSIVE, _PIC, 0))
    options = ctypes.c_void_p(llvm.LLVMCreatePassBuilderOptions())
    if failed := llvm.LLVMRunPasses(module, b"default<O3>", machine, options):
        said = ctypes.c_char_p(llvm.LLVMGetErrorMessage(ctypes.c_void_p(failed)))
        done(1)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "kernel.s")
        done(llvm.LLVMTargetMachineEmitToFile(machine, module, str(made).encode(), _ASSEMBLY, ctypes.byref(said)))
        return made.read_text(encoding="utf-8")
