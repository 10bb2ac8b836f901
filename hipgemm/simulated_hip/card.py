"""Card protocol: what a card must offer to serve the simulated HIP runtime.

`isa.sim.run.card.Card` is such a card; the tests bring small ones of their own. Device memory is memory of this process
at its own address, so the runtime copies with `memmove` once it has checked the range against `CardMemory.find`.

Errors: every method raises a subclass of `isa.errors.IsaError` whose text is complete (which kernel, instruction,
lane, workgroup, address). The runtime turns it into a HIP error code and keeps it as the report; an error that has an
`address`, and is no StoppedFault, is an access outside every allocation, hipErrorIllegalAddress; a spent budget is
hipErrorLaunchTimeOut, any other hipErrorLaunchFailure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

CARD = "HIPGEMM_CARD"
"""The variable that names the card which the simulated one of a program stands for."""


class CardMemory(Protocol):
    """The card's allocations."""

    def allocate(self, size: int) -> int:
        """Address of `size` new bytes, at least 256-byte aligned. Raises an IsaError when there is no room."""
        ...

    def free(self, address: int) -> None:
        """Give back what `allocate` returned."""
        ...

    def find(self, address: int) -> tuple[int, int] | None:
        """(base, size) of the live allocation that holds this address, or None."""
        ...


@runtime_checkable
class ReachesHost(Protocol):
    """Memory that can also let kernels reach a range of the host's own (hipHostRegister)."""

    def register(self, address: int, size: int) -> None: ...

    def unregister(self, address: int) -> None: ...


@runtime_checkable
class KnowsItsOwn(Protocol):
    """Memory that knows which addresses can only be its own, allocated or not."""

    def owns(self, address: int) -> bool: ...


@runtime_checkable
class ExpectsTimedLaunches(Protocol):
    """A card that may begin to work out the time of a launch before it is asked for it."""

    def expect(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernarg: bytes,
        dynamic_lds: int = 0,
    ) -> None:
        """The launch with these arguments follows."""
        ...


class CardKernel(Protocol):
    """A kernel of a loaded code object, ready to be launched."""

    @property
    def name(self) -> str: ...


class Module(Protocol):
    """A loaded code object. `globals` maps a variable's name to its (address, size in bytes)."""

    @property
    def kernels(self) -> Mapping[str, CardKernel]: ...

    @property
    def globals(self) -> Mapping[str, tuple[int, int]]: ...


class LaunchReport(Protocol):
    """What is known after a launch. `time_s`: predicted seconds on the card, None where no model gave any."""

    @property
    def time_s(self) -> float | None: ...


class HipCard(Protocol):
    """A card: memory, code objects, launches."""

    @property
    def memory(self) -> CardMemory: ...

    def load(self, image: bytes) -> Module:
        """Load a gfx11 code object (ELF)."""
        ...

    def unload(self, module: Module) -> None:
        """Give back what `load` took."""
        ...

    def launch(
        self,
        kernel: CardKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernarg: bytes,
        dynamic_lds: int = 0,
        *,
        threads: int | None = None,
    ) -> LaunchReport:
        """Run `grid` workgroups of `block` work-items to the end.

        kernarg:     the explicit arguments as they lie in the kernarg segment; the card fills the hidden ones.
        dynamic_lds: bytes of LDS after the static ones.
        threads:     how many workgroups must be running at a time, where they wait for one another; else the
                     card's to choose.
        """
        ...
