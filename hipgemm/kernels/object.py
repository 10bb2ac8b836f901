"""A kernel as an object: what every verb takes, whether it is a rung of the ladder or somebody's own file.

    kernel_files    ->      Kernel: its code, the name of its symbol, and how the code is made
      build.readable  ->    Program or CodeObject: what lint, inspect, order and prove look at
      build.linked    ->    Linked: a code object that can be loaded: what check, run, time and timeline start from
    hipgemm.launch.launch.Launch   grid, block, arguments, and what the arrays must hold afterwards, where that is known

The code of a kernel is one of four things: HIP source, which is compiled; parameters of `isa.gemm`, which generates it;
assembly text; a linked code object. `hipgemm.kernels.ladder.Gemm` is a kernel that is known to be a GEMM, and so knows
its own launch; a rung of the ladder is one of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import kernels_hip

if TYPE_CHECKING:
    from isa.asm.program import Program
    from isa.gemm.gemv.parameters import GemvParameters
    from isa.gemm.matrix.parameters import MatrixParameters
    from isa.gemm.vector.parameters import Parameters

SOURCES = Path(kernels_hip.__file__).parent
"""The folder of the HIP sources."""
INCLUDE = SOURCES / "include"
"""The freestanding hip/hip_runtime.h."""
FLAGS = ("-O3",)


@dataclass(frozen=True)
class Kernel:
    """A kernel and where its code comes from.

    name:     the kernel's symbol in the code object; "" for the only one there is.
    title:    what it is, or what a user typed.
    source:   a HIP file, in SOURCES where the path is relative; "" where the code is no HIP source.
    function: the __global__ function in that file, where it is compiled under another name, as kernels 6 to 8 are.
    cu_mode:  compiled with -mcumode (each half of the WGP's LDS serves its own CU), else in WGP mode.
    pipeline: the passes that rewrite the compiler's assembly, as text; empty where nothing is rewritten.
    parameters: of a kernel that `isa.gemm` generates.
    code:     assembly, or the bytes of a code object, that is there already and stands in place of what is built.
    flags:    for the compiler.
    """

    name: str
    title: str
    source: str
    function: str
    cu_mode: bool
    pipeline: str = field(default="", kw_only=True)
    parameters: Parameters | MatrixParameters | GemvParameters | None = field(default=None, kw_only=True)
    code: Program | bytes | None = field(default=None, kw_only=True, repr=False, compare=False)
    flags: tuple[str, ...] = field(default=FLAGS, kw_only=True)

    @property
    def arch(self) -> str | None:
        """The target of code that is there already, where it is known."""
        from isa.object import code_object

        if isinstance(self.code, bytes):
            return code_object.arch_of(self.code)
        return self.code.target.name if self.code and self.code.target else None

    @property
    def path(self) -> Path:
        return SOURCES / self.source

    @property
    def stem(self) -> str:
        """What its files are called: as the kernel, or as the file that somebody gave."""
        source = Path(self.source)
        return source.stem if source.is_absolute() else self.name or Path(self.title).stem

    @property
    def called(self) -> str:
        """What a user calls it: the file that it was given as, or its name."""
        return self.title if Path(self.source).is_absolute() or self.code is not None else self.name

    @property
    def mode(self) -> str:
        return "CU" if self.cu_mode else "WGP"


class HasKernel(Protocol):
    """What is made around a kernel, as `hipgemm.kernel(...)` is."""

    @property
    def kernel(self) -> Kernel: ...
