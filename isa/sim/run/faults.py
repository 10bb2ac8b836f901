"""Faults of a launch: a stopped wave -> an error that names place and cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.errors import IsaError

if TYPE_CHECKING:
    from isa.semantics.instruction import Instruction
    from isa.sim.run.memory import Allocation


@dataclass(frozen=True, slots=True)
class Place:
    """A point in a launch. lane: -1 where all lanes do the same."""

    kernel: str
    instruction: Instruction
    workgroup: tuple[int, int, int]
    wave: int
    lane: int

    def __str__(self) -> str:
        lane = f", lane {self.lane}" if self.lane >= 0 else ""
        return (
            f"kernel {self.kernel} at {self.instruction.address or 0:#x} `{self.instruction}`, "
            f"workgroup {self.workgroup}, wave {self.wave}{lane}"
        )


class KernelFault(IsaError):
    """A wave touched what it may not. `address` is what it asked for, in the space that `place` and the text tell."""

    def __init__(
        self, message: str, place: Place, address: int, *, expected: str, got: str = "", hint: str | None = None
    ) -> None:
        self.place, self.address = place, address
        super().__init__(f"{place}: {message}", expected=expected, got=got or f"{address:#x}", hint=hint)


class MemoryFault(KernelFault):
    """An address outside every allocation, of which `near` is the nearest, without those of the launch itself."""

    def __init__(
        self, message: str, place: Place, address: int, near: Allocation | None, hint: str | None = None
    ) -> None:
        self.near = near
        nearest = f"the nearest is {near}" if near else "there is none"
        super().__init__(message, place, address, expected=f"inside an allocation; {nearest}", hint=hint)


class LdsFault(KernelFault):
    """An LDS address beyond the workgroup's LDS."""


class RegisterFault(KernelFault):
    """A register that the wave does not have."""


class StoppedFault(KernelFault):
    """What no wave goes on from: a trap, a jump to no code, a barrier that not all workgroups can come to."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a loop that waits looks at: the access, its first lane that is on, the address, and the allocation that it
    lies in, None for LDS. what: the dword that memory holds there; of LDS, the place."""

    instruction: Instruction
    lane: int
    what: str
    address: int
    near: Allocation | None

    def text(self, place: str) -> str:
        """place: the address in words, of memory."""
        return f"`{self.instruction}` reads {self.what if self.near is None else f'{place}, which holds {self.what}'}"


class BudgetSpent(IsaError):
    """A launch ran more instructions than it was allowed to, or waits in vain. `loop` is the first instruction of the
    loop it was in, or that by which this looks for what it waits for; `look` says more of that."""

    def __init__(self, message: str, loop: Instruction, look: Look | None = None, *, hint: str) -> None:
        self.loop, self.look = loop, look
        super().__init__(message, hint=hint, got=look.text(f"{look.address:#x}") if look else "")


class LaunchError(IsaError):
    """A launch that cannot begin."""
