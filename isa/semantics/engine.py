"""Engine protocol: the registers and memory that an instruction needs of whoever runs it, whatever is in them.

`isa.semantics.execute` and its helpers are written against this protocol; `isa.semantics` lists the engines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from isa.errors import IsaError
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Access, Instruction, bit_width
from isa.semantics.values import Value

V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Request(Generic[V]):
    """One access to memory, in an engine's own values.

    address: in bytes: u64 for flat, global and scalar space, u32 for lds and for scratch (within the lane's own
    scratch); a vector, or a scalar where it is the same in each lane.
    mask:    lanes; None for all. Lanes that are off touch nothing. Of scalar space a scalar b1, or None.
    offset:  of flat space, what the instruction adds to its register (a scalar): the register alone says whether the
             address is one of LDS or scratch.
    rest:    what is left of an access of which another request did nearly all: lanes at a buffer's end.
    """

    inst: Instruction
    access: Access
    address: V
    mask: V | None
    rest: bool = False
    offset: V | int = 0

    @property
    def bytes(self) -> int:
        """The size of the element."""
        return bit_width(self.access.element) // 8

    @property
    def words(self) -> int:
        """How many registers hold it."""
        return max(1, self.bytes // 4)


class Engine(Protocol):
    """An engine for one wave, with values of its own: it gets back what it gave, and what was computed from that.

    Registers are raw: VGPRs and SGPRs hold u32 (an SGPR by its hardware number, VCC, M0 and EXEC among them), SCC b1.
    A mask is a b1 vector, or None for all lanes. A scalar written to a VGPR goes to each lane. `relative` is a u32
    scalar that is added to the register's number.
    """

    mode: FloatMode

    def constant(self, type_: str, number: float) -> Value:
        """A scalar."""

    def lane_ids(self) -> Value:
        """u32, 0 to 31."""

    def exec_mask(self) -> Value | None:
        """EXEC as b1 a lane, or None where all lanes are known to be on."""

    def read_vgpr(self, index: int, relative: Any = None) -> Value: ...
    def write_vgpr(self, index: int, value: Any, mask: Any, relative: Any = None) -> None: ...
    def read_sgpr(self, index: int, relative: Any = None) -> Value: ...
    def write_sgpr(self, index: int, value: Any, relative: Any = None) -> None: ...
    def read_scc(self) -> Value: ...
    def write_scc(self, value: Any) -> None: ...

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> Any:
        """The number that a memory instruction says by this modifier, 0 where it does not; or a scalar of that type
        for it."""

    def special(self, name: str) -> Value:
        """u64: src_shared_base, src_shared_limit, src_private_base, src_private_limit."""

    def next_address(self) -> Value:
        """u64: the address of the instruction after this one."""

    def hardware(self, name: str) -> Value:
        """A u64 scalar that the hardware knows: "cycles" and "realtime", counters that grow, no measurement; "place",
        HW_ID1; "queue", HW_ID2."""

    def load(self, at: Request[Any]) -> tuple[Value, ...]:
        """u32 values, one for each register; smaller elements extended by their sign. Scalar space gives scalars; what
        lanes get that are off is not used."""

    def store(self, at: Request[Any], values: tuple[Any, ...]) -> None:
        """The reverse of `load`: the low bits of the values."""

    def atomic(self, at: Request[Any], body: Callable[..., Any], data: tuple[Any, ...]) -> Value:
        """Lane by lane, lowest first: memory becomes body(memory, *data of the lane), scalars of the element's type.

        Gives what each lane found.
        """

    def branch(self, inst: Instruction, condition: Any) -> None:
        """Go to `branch_address(inst)`; with a condition (scalar b1) only if it holds."""

    def jump(self, target: Any) -> None:
        """Go to the address in a scalar u64."""

    def end(self) -> None:
        """The wave has ended."""

    def trap(self) -> None:
        """The kernel asks to be stopped."""

    def barrier(self) -> None:
        """Wait for the other waves of the workgroup."""

    def grid_barrier(self, count: Any) -> None:
        """Wait until so many waves of the launch (a u32 scalar) wait here."""


UNKNOWN = (IsaError, AssertionError, AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError)
"""What `execute` raises where a body asks abstract values for something that they do not have."""


class Straight:
    """What engines have in common that follow values and leave control to others: all lanes are on, but where one says
    otherwise, and the code lies anywhere."""

    mode = FloatMode()

    def exec_mask(self) -> Any:
        return None

    def next_address(self) -> Any:
        raise IsaError("where the code lies is not known")

    def hardware(self, name: str) -> Any:
        raise IsaError("what the hardware answers is not known")

    def offset(self, inst: Instruction, name: str = "offset", type_: str = "u64") -> Any:
        return inst.number(name)

    def branch(self, inst: Instruction, condition: Any) -> None: ...
    def jump(self, target: Any) -> None: ...
    def end(self) -> None: ...
    def trap(self) -> None: ...
    def barrier(self) -> None: ...
    def grid_barrier(self, count: Any) -> None: ...
