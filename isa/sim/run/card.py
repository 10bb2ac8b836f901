"""The simulated card: memory, code objects, launches.

card = Card()
module = card.load(image)
buffer = card.memory.allocate(1024)
card.launch(module.kernels["f"], (1, 1, 1), (256, 1, 1), struct.pack("<Q", buffer))
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from dataclasses import dataclass

from isa.object import code_object
from isa.object.code_object import CodeObject
from isa.sim.ir.jit import NATIVE, HostTarget
from isa.sim.run import selfcheck
from isa.sim.run.compiled import CompiledKernel
from isa.sim.run.launch import LaunchReport, SimulatedLaunch
from isa.sim.run.memory import CAPACITY, DeviceMemory

__all__ = ["Card", "CompiledKernel", "LaunchReport", "Module"]


@dataclass(frozen=True)
class Module:
    """A code object in the card's memory. `globals`: a variable's name -> (address, size in bytes)."""

    kernels: Mapping[str, CompiledKernel]
    globals: Mapping[str, tuple[int, int]]
    address: int


class Card:
    """A gfx11 card. cpu: the host processor to compile for (`isa.sim.ir.jit.HostTarget`). baseline: as for that.
    capacity: bytes.

    IsaError for a processor that is not known, or whose code this machine cannot run."""

    def __init__(self, *, cpu: str = NATIVE, baseline: bool | None = None, capacity: int = CAPACITY) -> None:
        self.cpu, self._asked = cpu, HostTarget(cpu, baseline)
        self._asked.check_host()
        self.memory = DeviceMemory(capacity)

    @functools.cached_property
    def target(self) -> HostTarget:
        """What is compiled for: what was asked for, unless its code computes wrong numbers here (`selfcheck`)."""
        return selfcheck.settled(self._asked)

    def load(self, image: bytes | CodeObject) -> Module:
        """Put a code object (ELF, offload bundle, or what was read of one) into memory. CodeObjectError if it cannot be
        read."""
        loaded = image if isinstance(image, CodeObject) else code_object.load(image)
        base = self.memory.allocate(loaded.extent)
        ctypes.memset(base, 0, loaded.extent)
        for segment in loaded.segments:
            ctypes.memmove(base + segment.address, segment.data, len(segment.data))
        for where, addend in loaded.relative:
            ctypes.c_uint64.from_address(base + where).value = base + addend
        kernels = {name: CompiledKernel(facts, loaded, base) for name, facts in loaded.kernels.items()}
        variables = {
            s.name: (base + s.address, s.size)
            for s in loaded.symbols.values()
            if s.kind == "object" and not s.name.endswith(".kd")
        }
        return Module(kernels, variables, base)

    def unload(self, module: Module) -> None:
        """Give a module's memory back."""
        self.memory.free(module.address)

    def launch(
        self,
        kernel: CompiledKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernarg: bytes,
        dynamic_lds: int = 0,
        *,
        threads: int | None = None,
        fast: bool = True,
        budget: int | None = None,
        cooperative: bool = False,
        last: tuple[int, int, int] | None = None,
    ) -> LaunchReport:
        """Run `grid` workgroups of `block` work-items to the end.

        kernarg: the explicit arguments as they lie in the kernarg segment. dynamic_lds: bytes of LDS after the static
        ones. threads: how many to use; all cores if not given. fast=False: only the plain version of the code, which
        gives the same bits. budget: instructions, roughly, that a workgroup may run (`isa.sim.run.launch.BUDGET` if not
        given); each look in vain, while nothing makes progress, counts as IN_VAIN. cooperative: ds_gws_barrier is one
        of the whole grid. last: the last workgroup along each axis, if it has fewer work-items.

        Raises KernelFault, BudgetSpent, LaunchError (isa.sim.run.faults), and IsaError for an instruction that is not
        described. A launch that failed may have written to memory.
        """
        return SimulatedLaunch(
            kernel, self.memory, self.target, grid, block, kernarg, dynamic_lds, fast, budget, cooperative, last
        ).run(threads)  # fmt: skip
