"""What symbolic execution has in hand at one point of a path, and what a path leaves behind.

Accesses that are in flight are counted as the hardware counts them, a number for each, by queue: vmcnt counts global
loads ("vm"), in order; lgkmcnt counts LDS accesses ("lds"), in order, and scalar loads ("smem"), which may return in
any order, so that only lgkmcnt(0) covers those (ISA guide 4.4).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from isa.analysis.memory_order import Access
from isa.prove.equivalence.decode import Registers, Step
from isa.prove.equivalence.term import Term
from isa.semantics.instruction import Instruction


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A store of one dword; or, without an address, a barrier or (space "invalidation") an invalidation of caches."""

    space: str
    inst: Instruction
    address: Term | None = None
    value: Term | None = None


@dataclass(slots=True)
class State:
    """All that a wave's generic work-item has in hand at one point. Copied where paths part.

    loads:    what was loaded, and by which instruction; kernel arguments apart.
    trace:    all accesses and fences, as they come (`isa.analysis.memory_order`).
    pending:  register -> (queue, number) of the load that may still be filling it.
    issued:   queue -> number of its last access.  lds_busy: number of the last LDS access that no wait covered.
    arrivals: position -> branches decided when control last came there.
    """

    regs: Registers
    epoch: Term
    memory: Term
    own_lds: frozenset[tuple[Term, Term]] = frozenset()
    own_global: frozenset[tuple[Term, Term]] = frozenset()
    literals: tuple[tuple[Term, bool], ...] = ()
    branches: tuple[Instruction, ...] = ()
    events: list[MemoryEvent] = field(default_factory=list)
    trace: list[Access] = field(default_factory=list)
    loads: dict[Term, Instruction] = field(default_factory=dict)
    pending: dict[int, tuple[str, int]] = field(default_factory=dict)
    issued: dict[str, int] = field(default_factory=lambda: {"vm": 0, "lds": 0, "smem": 0})
    lds_busy: int | None = None
    arrivals: dict[int, int] = field(default_factory=dict)
    barriers: int = 0

    def in_flight(self) -> tuple[dict[int, tuple[str, int]], int | None]:
        """`pending` and `lds_busy` with numbers that count back from the last access: 0, -1, ..."""
        pending = {r: (q, n - self.issued[q]) for r, (q, n) in self.pending.items()}
        return pending, None if self.lds_busy is None else self.lds_busy - self.issued["lds"]

    def wait(self, step: Step) -> None:
        """What a wait leaves in flight: of a queue no more than its limit."""
        for counter, limit in step.waits:
            if counter == "vmcnt":
                done = {"vm": self.issued["vm"] - limit}
            elif counter == "lgkmcnt":
                done = {"lds": self.issued["lds"] - limit}
                if limit == 0:
                    done["smem"] = self.issued["smem"]
            else:
                continue
            if self.pending:
                self.pending = {r: (q, n) for r, (q, n) in self.pending.items() if n > done.get(q, n - 1)}
            if "lds" in done and self.lds_busy is not None and done["lds"] >= self.lds_busy:
                self.lds_busy = None

    def copy(self) -> State:
        return replace(
            self,
            regs=list(self.regs),
            events=list(self.events),
            trace=list(self.trace),
            loads=dict(self.loads),
            pending=dict(self.pending),
            issued=dict(self.issued),
            arrivals=dict(self.arrivals),
        )


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: at the cut `position`, or (None) at s_endpgm."""

    state: State
    position: int | None
